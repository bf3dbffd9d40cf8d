package seal

// What tests use to make signatures and archives that the package itself never
// makes.
var (
	SignFor = (*Key).signFor
	Pack    = pack
	Rewrite = rewrite
	Match   = match
)
