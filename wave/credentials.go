package wave

import (
	"net/url"
	"strings"

	"github.com/tidegate/tidegate/citation"
)

// mask stands in the place of what lets the bearer of a URL in.
const mask = "[REDACTED]"

// MaskCredentials writes [REDACTED] over the user names, passwords, tokens and
// keys in the URLs of a text that is kept although it was refused. It changes
// nothing else, and nothing the second time.
func MaskCredentials(text []byte) []byte {
	var out []byte
	at := 0
	for _, found := range citation.Inspect(text).URLs {
		masked := maskURL(found.Text)
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

// maskURL is a URL without what lets its bearer in: user name and password, also
// in a URL inside the URL, and the values of parameters that hold a secret.
func maskURL(raw string) string { return maskParameters(maskUsers(raw)) }

func maskUsers(rest string) string {
	var b strings.Builder
	mark := "//"
	if !strings.HasPrefix(rest, mark) {
		mark = "://"
	}
	for {
		before, after, found := strings.Cut(rest, mark)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(mark)
		authority := after
		if end := strings.IndexAny(after, `/\?#`); end >= 0 {
			authority = after[:end]
		}
		if user := strings.LastIndexByte(authority, '@'); user > 0 {
			b.WriteString(mask)
			after = after[user:]
		}
		rest, mark = after, "://"
	}
}

func maskParameters(url string) string {
	at := strings.IndexByte(url, '?')
	if at < 0 {
		return url
	}
	end := len(url)
	if i := strings.IndexByte(url[at:], '#'); i >= 0 {
		end = at + i
	}
	var b strings.Builder
	for at < end {
		b.WriteByte(url[at]) // the sign before the parameter
		next := at + 1
		for next < end && url[next] != '&' && url[next] != ';' {
			next++
		}
		name, value, _ := strings.Cut(url[at+1:next], "=")
		if value != "" && isSecret(name) {
			b.WriteString(name + "=" + mask)
		} else {
			b.WriteString(url[at+1 : next])
		}
		at = next
	}
	return url[:strings.IndexByte(url, '?')] + b.String() + url[end:]
}

// isSecret reports whether a parameter of that name lets its bearer in.
func isSecret(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	switch strings.ToLower(name) {
	case "token", "access_token", "api_key", "apikey", "auth", "session", "password":
		return true
	}
	return false
}
