package wave

import (
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/link"
)

// MaskCredentials writes [REDACTED] over the user names, passwords, tokens and
// keys in the URLs of a text that is kept although it was refused. It changes
// nothing else, and nothing when it is applied again.
func MaskCredentials(text []byte) []byte {
	var out []byte
	at := 0
	for _, found := range claim.Inspect(text).URLs {
		masked := link.Mask(found.Text)
		if masked == found.Text || found.Start < at {
			continue
		}
		out = append(append(out, text[at:found.Start]...), masked...)
		at = found.End
	}
	if at == 0 {
		return text
	}
	return append(out, text[at:]...)
}
