package link

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
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

// shortestHidden is how long a secret must be to be looked for in other spellings: a short
// one stands in them by chance.
const shortestHidden = 8

// Hides reports whether a text has a secret in a spelling that [MaskSecrets] leaves: with
// escapes of JSON, HTML or URLs, several times over, parted by tags or by what nobody
// sees, as hexadecimal digits, or in base64 with something before it.
func Hides(text string, secrets []string) bool {
	for _, secret := range secrets {
		if len(secret) < shortestHidden {
			continue
		}
		decoded := text
		for range 4 {
			if containsCoded(decoded, secret) {
				return true
			}
			simpler := plainer(decoded)
			if simpler == decoded {
				break
			}
			decoded = simpler
		}
	}
	return false
}

// containsCoded reports whether a text has a secret as it is, in hexadecimal digits or in
// base64, wherever that begins.
func containsCoded(text, secret string) bool {
	if strings.Contains(text, secret) || strings.Contains(strings.ToLower(text), hex.EncodeToString([]byte(secret))) {
		return true
	}
	for before := range 3 {
		coded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		core := coded[(before*8+5)/6 : (before+len(secret))*8/6] // what only the secret decides
		if strings.Contains(text, core) || strings.Contains(text, strings.NewReplacer("+", "-", "/", "_").Replace(core)) {
			return true
		}
	}
	return false
}

var (
	jsonEscape    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|["\\/])`) })
	percentEscape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[0-9a-fA-F]{2}`) })
	anyTag        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<[^<>]*>`) })
)

// plainer is a text without one layer of escapes, tags and invisible characters.
func plainer(text string) string {
	text = jsonEscape().ReplaceAllStringFunc(text, func(escape string) string {
		if escape[1] != 'u' {
			return escape[1:]
		}
		n, _ := strconv.ParseUint(escape[2:], 16, 16)
		return string(rune(n))
	})
	text = percentEscape().ReplaceAllStringFunc(text, func(escape string) string {
		n, _ := strconv.ParseUint(escape[1:], 16, 8)
		return string([]byte{byte(n)})
	})
	text = anyTag().ReplaceAllString(html.UnescapeString(text), "")
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, text)
}
