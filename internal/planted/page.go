package planted

// Page is a source as an agent would name it, and what must be said of it.
type Page struct {
	URL       string
	Title     string   // that the agent gave it
	Kind      string   // of the fault, "honest" for none
	Variant   string   // what is special about it
	Verdict   string   // valid, paywalled, blocked, mismatch or invalid
	Sentences []string // that stand on the page, for honest ones
}

// The verdicts.
const (
	valid     = "valid"
	paywalled = "paywalled"
	blocked   = "blocked"
	mismatch  = "mismatch"
	invalid   = "invalid"
)

// Honest is the kind of a page without a fault.
const Honest = "honest"

// verdicts are the kinds of fault, and what must be said of them.
var verdicts = map[string]string{
	Honest: valid,

	"malformed":           invalid, // what looks like a URL and is none
	"too_long":            invalid, // a URL of more than 2,048 bytes
	"credentials":         invalid, // in the URL
	"address_literal":     invalid, // a private or reserved address in the URL, in any spelling
	"private_address":     invalid, // a name that resolves to one
	"redirect_to_private": invalid,
	"port":                invalid, // other than 80 and 443
	"no_such_name":        invalid,
	"loop":                invalid, // more redirects than are followed
	"status_404":          invalid,
	"status_410":          invalid,
	"status_451":          invalid,
	"soft_404":            invalid,
	"parked":              invalid,

	"unreachable": blocked,
	"timeout":     blocked,
	"tls":         blocked,
	"broken":      blocked, // not HTTP, or not all of it
	"too_large":   blocked, // after decompression
	"no_text":     blocked, // status 200, and nothing to read without a browser
	"status_401":  blocked,
	"status_403":  blocked,
	"status_429":  blocked,
	"status_5xx":  blocked,
	"bot_wall":    blocked, // whatever its status

	"status_402": paywalled,
	"paywall":    paywalled,

	"login":      mismatch,
	"consent":    mismatch,
	"home_page":  mismatch, // where a deep link ends
	"other_site": mismatch,
	"title":      mismatch, // that has nothing to do with the page
}

// Pages are all planted pages, in a stable order.
func Pages() []Page { return build().pages }
