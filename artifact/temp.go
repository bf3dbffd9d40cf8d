package artifact

import (
	"crypto/sha256"
	"fmt"
	"path"
)

// tempName is a name beside target for what is to become target. It has a fixed
// length, so that the longest name that a folder takes can be written.
func tempName(target string, slot any) string {
	sum := sha256.Sum256([]byte(path.Base(target)))
	return path.Join(path.Dir(target), fmt.Sprintf(".tidegate-%x-%v.tmp", sum[:6], slot))
}
