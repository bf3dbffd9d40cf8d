package link

import (
	"bytes"
	"unicode"
)

// LeadsAway reports whether a destination leads out of the document, as browsers
// read it: it names a scheme, or begins with two slashes of either kind.
func LeadsAway(destination []byte) bool {
	plain := browsed(destination)
	if len(plain) > 1 && plain[0] == '/' && plain[1] == '/' {
		return true
	}
	for i, c := range plain {
		switch {
		case isLetter(c):
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return true
		default:
			return hasURL(plain)
		}
	}
	return hasURL(plain)
}

func hasURL(text []byte) bool {
	_, found := FindURLs(text).Next(0)
	return found
}

// browsed is a destination as browsers take it: without white space and controls
// at its ends, tabs and line ends, and with slashes for backslashes.
func browsed(destination []byte) []byte {
	destination = bytes.TrimFunc(destination, func(r rune) bool { return r <= ' ' })
	return bytes.Map(func(r rune) rune {
		switch r {
		case '\t', '\n', '\r':
			return -1
		case '\\':
			return '/'
		}
		return r
	}, destination)
}

// AttributeLeadsAway reports whether the value of an attribute leads out of the
// document. Some attributes hold a destination, and all can hold one somewhere.
func AttributeLeadsAway(attribute string, value []byte) bool {
	switch attribute {
	case "href", "src", "action", "formaction", "poster", "cite", "background", "data", "ping", "longdesc", "manifest",
		"codebase", "classid", "archive", "profile", "icon", "dynsrc", "lowsrc", "xlink:href", "from", "to", "by", "values":
		if LeadsAway(value) {
			return true
		}
	}
	plain := browsed(value)
	if hasURL(plain) {
		return true
	}
	for _, part := range bytes.FieldsFunc(plain, func(r rune) bool { return unicode.IsSpace(r) || bytes.ContainsRune([]byte(`,;=('"`), r) }) {
		if bytes.HasPrefix(part, []byte("//")) && len(part) > 2 {
			return true
		}
	}
	return false
}
