package link

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"github.com/tidegate/tidegate"
)

// maxURL is the length in bytes of the longest URL that can be a source.
const maxURL = 2048

// Normalize gives the form in which URLs that name the same source are the same
// bytes:
//
//  1. the URL is parsed as browsers do, and must be http or https
//  2. scheme and host are in lower case, the host in ASCII
//  3. the fragment is dropped
//  4. parameters whose name begins with utm_, gclid and fbclid are dropped
//  5. parameters are in byte order of name, then of value
//  6. the port is dropped where it is the scheme's own
//  7. slashes at the end of the path are dropped
//
// Percent escapes have upper-case digits; apart from that, path and parameters
// keep their bytes. Credentials (see [HasCredentials]) are left out.
// Normalising twice gives the same as normalising once.
//
// It returns SCHEMA_VALIDATION_FAILED for what is not an http or https URL, or is
// longer than 2,048 bytes; the message says why.
func Normalize(raw string) (string, error) {
	if len(raw) > maxURL {
		return "", malformed(raw, "the URL has %d bytes, at most %d are allowed", len(raw), maxURL)
	}
	u, err := parseURL(raw)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(u.Protocol() + "//" + u.Hostname())
	if port := u.Port(); port != "" {
		b.WriteString(":" + port)
	}
	if path := strings.TrimRight(upperEscapeDigits(u.Pathname()), "/"); path != "" {
		b.WriteString(path)
	} else {
		b.WriteString("/")
	}
	if query := normalQuery(u.Query()); query != "" {
		b.WriteString("?" + query)
	}
	if b.Len() > maxURL {
		return "", malformed(raw, "the normalised URL has %d bytes, at most %d are allowed", b.Len(), maxURL)
	}
	return b.String(), nil
}

// Resolve is [Normalize] for a URL that may be relative to another.
func Resolve(base, raw string) (string, error) {
	normalized, err := Normalize(raw)
	if err == nil || raw == "" {
		return normalized, err
	}
	from, err := parseURL(base)
	if err != nil {
		return "", err
	}
	joined, err := from.Parse(raw)
	if err != nil {
		return "", malformed(raw, "it is not a URL")
	}
	return Normalize(joined.Href(true))
}

// parseURL reads a URL as browsers do. Bytes that are not UTF-8 are escaped
// first, so that different bytes stay different URLs.
func parseURL(raw string) (*whatwg.Url, error) {
	u, err := whatwg.Parse(escapeInvalid(raw))
	switch {
	case err != nil:
		return nil, malformed(raw, "it is not a URL")
	case u.Scheme() != "http" && u.Scheme() != "https":
		return nil, malformed(raw, "the scheme is %s, and must be http or https", tidegate.Cut(u.Scheme()))
	}
	return u, nil
}

func malformed(raw, format string, args ...any) error {
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("url_original", tidegate.Cut(Mask(raw))), format, args...)
}

func escapeInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, width := 0, 0; i < len(s); i += width {
		var r rune
		if r, width = utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && width == 1 {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{s[i]})))
			continue
		}
		b.WriteString(s[i : i+width])
	}
	return b.String()
}

// normalQuery sorts the parameters and leaves out those that only track readers
// or let them in.
func normalQuery(raw string) string {
	var pairs [][2]string
	for pair := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(pair, "=")
		plain := parameterName(name)
		if pair == "" || strings.HasPrefix(plain, "utm_") || plain == "gclid" || plain == "fbclid" || isCredential(plain) {
			continue
		}
		pair = upperEscapeDigits(pair)
		name, _, _ = strings.Cut(pair, "=")
		pairs = append(pairs, [2]string{name, pair})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		if c := strings.Compare(a[0], b[0]); c != 0 {
			return c
		}
		return strings.Compare(a[1], b[1])
	})
	parts := make([]string, len(pairs))
	for i, pair := range pairs {
		parts[i] = pair[1]
	}
	return strings.Join(parts, "&")
}

// upperEscapeDigits writes the digits of percent escapes in upper case.
func upperEscapeDigits(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := []byte(s)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' && isHex(out[i+1]) && isHex(out[i+2]) {
			out[i+1], out[i+2] = upperByte(out[i+1]), upperByte(out[i+2])
		}
	}
	return string(out)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}
