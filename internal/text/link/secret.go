package link

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MaskSecrets takes secrets out of a text, in the spellings in which services repeat them.
func MaskSecrets(text string, secrets []string) string {
	var pairs []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted := strconv.Quote(secret)
		for _, spelling := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1 : len(quoted)-1], base64.StdEncoding.EncodeToString([]byte(secret))} {
			if !slices.Contains(pairs, spelling) {
				pairs = append(pairs, spelling, "[REDACTED]")
			}
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
