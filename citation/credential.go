package citation

import "strings"

// masked stands in the place of a secret.
const masked = "[REDACTED]"

// HasCredentials reports whether a URL carries what lets its bearer in: a user
// name or password, or a parameter named token, access_token, api_key, apikey,
// auth, session or password, in any letter case.
func HasCredentials(raw string) bool {
	for _, secret := range secrets(raw) {
		if !secret.inFragment {
			return true
		}
	}
	u, err := parseURL(raw)
	if err != nil {
		return false
	}
	if u.Username() != "" || u.Password() != "" {
		return true
	}
	for pair := range strings.SplitSeq(u.Query(), "&") {
		name, _, found := strings.Cut(pair, "=")
		if found && isCredential(parameterName(name)) {
			return true
		}
	}
	return false
}

// Mask writes [REDACTED] over the credentials of the URLs in a text, also over
// those in a fragment. What it masked has the same normalised URL as before.
func Mask(text string) string {
	found := secrets(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range found {
		b.WriteString(text[at:s.start])
		b.WriteString(masked)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// isCredential says whether a parameter of that name, in lower case, lets its
// bearer in.
func isCredential(name string) bool {
	switch name {
	case "token", "access_token", "api_key", "apikey", "auth", "session", "password":
		return true
	}
	return false
}

// parameterName is a parameter's name as servers compare it: escapes resolved,
// ASCII letters in lower case.
func parameterName(raw string) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '%' && i+2 < len(raw) && isHex(raw[i+1]) && isHex(raw[i+2]) {
			c = hexValue(raw[i+1])<<4 | hexValue(raw[i+2])
			i += 2
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	return string(out)
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// secret is where a text shows a credential.
type secret struct {
	start, end int
	inFragment bool
}

// secrets finds the credentials of all URLs in a text, in order and apart from
// one another. It reads the text as it stands, so that it also finds those of
// what only looks like a URL.
func secrets(text string) []secret {
	var found []secret
	fragment := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ':':
			if start, end := userinfo(text, i); end > start {
				found = append(found, secret{start: start, end: end})
				i = end
			}
		case '?', '&', ';', '#':
			fragment = text[i] == '#' || fragment && text[i] != '?'
			if start, end := secretParameter(text, i+1); start > 0 {
				found = append(found, secret{start, end, fragment})
				i = end - 1
			}
		case ' ', '\t', '\n', '\r':
			fragment = false
		}
	}
	return found
}

// userinfo is the part before the @ of the authority that follows the colon of
// a scheme. Browsers read a backslash there as a slash.
func userinfo(text string, colon int) (start, end int) {
	start = colon + 1
	for start < len(text) && (text[start] == '/' || text[start] == '\\') {
		start++
	}
	if start-colon < 3 {
		return 0, 0
	}
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c <= ' ', strings.IndexByte(`/\?#<>"`, c) >= 0:
			return start, end
		case c == '@':
			end = i
		case c == '%' && strings.HasPrefix(text[i:], "%40"):
			end = i
		}
	}
	return start, end
}

// secretParameter is the value of the parameter whose name begins at from, if
// it is a credential. Start is 0 if not.
func secretParameter(text string, from int) (start, end int) {
	const longestName = 3 * len("access_token") // with every letter escaped
	i := from
	for i < len(text) && i-from <= longestName && (text[i] == '_' || text[i] == '%' || isAlnum(text[i])) {
		i++
	}
	if i == len(text) || text[i] != '=' || !isCredential(parameterName(text[from:i])) {
		return 0, 0
	}
	start = i + 1
	for i = start; i < len(text); i++ {
		if c := text[i]; c <= ' ' || strings.IndexByte(`&#<>"`, c) >= 0 {
			break
		}
	}
	return start, i
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
