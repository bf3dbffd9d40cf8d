package seal

import (
	"strings"

	"golang.org/x/crypto/ssh"
)

// What tests use to make signatures and archives that the package itself never
// makes.
var (
	SignFor = (*Key).signFor
	Pack    = pack
	Rewrite = rewrite
	Match   = match
)

// PublicKey is the public half in the form of OpenSSH, type and base64. With a
// principal before it, it is a line of a signers file.
func (k *Key) PublicKey() string {
	return strings.TrimSuffix(string(ssh.MarshalAuthorizedKey(k.public)), "\n")
}
