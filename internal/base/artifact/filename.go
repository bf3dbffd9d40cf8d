package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxFileName is the length in bytes up to which a file name is kept whole. File
// systems take 255, and something may be appended.
const maxFileName = 200

// FileName is the name of a file or folder for an id: the id itself, with every
// byte that some file system does not take in a name written as %XX. Different
// ids have different names. One that is too long ends in a digest of the id.
func FileName(id string) string {
	var name strings.Builder
	for i, b := range []byte(id) {
		last := i == len(id)-1
		if b < 0x20 || b == 0x7f || strings.IndexByte(`%/\:*?"<>|~`, b) >= 0 || last && (b == '.' || b == ' ') || i == 0 && b == '.' {
			fmt.Fprintf(&name, "%%%02X", b)
		} else {
			name.WriteByte(b)
		}
	}
	if name.Len() <= maxFileName {
		return name.String()
	}
	sum := sha256.Sum256([]byte(id))
	return strings.ToValidUTF8(name.String()[:maxFileName-17], "") + "~" + hex.EncodeToString(sum[:8])
}
