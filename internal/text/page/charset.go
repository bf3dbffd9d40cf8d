package page

import (
	"bytes"
	"encoding/binary"
	"io"
	"mime"
	"regexp"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// utf8Reader reads a body as UTF-8. The encoding is that of the byte-order mark,
// the header, or the document's own declaration, in this order. There are two
// exceptions: a body that is UTF-8, and not only ASCII, is read as UTF-8 whatever
// is declared; and one that is declared as UTF-8 but has no such character is not.
func utf8Reader(body []byte, contentType string) io.Reader {
	rest, label := encoded(body, contentType)
	if label == utf8Name {
		return bytes.NewReader(rest)
	}
	enc, _ := charset.Lookup(label)
	return transform.NewReader(bytes.NewReader(rest), enc.NewDecoder())
}

// encoded is a body without its byte-order mark, and the name of its encoding.
func encoded(body []byte, contentType string) (rest []byte, label string) {
	for mark, label := range marks {
		if rest, found := bytes.CutPrefix(body, []byte(mark)); found {
			return rest, label
		}
	}
	enc, name := declaredEncoding(body, contentType)
	wide, broken := utf8Signs(body)
	switch {
	case wide && !broken:
		name = utf8Name
	case enc == nil || name == utf8Name:
		name = utf8Name
		if broken && !wide {
			name = "windows-1252"
		}
	}
	return body, name
}

const utf8Name = "utf-8"

// marks are the byte-order marks; none begins with another.
var marks = map[string]string{"\xef\xbb\xbf": utf8Name, "\xfe\xff": "utf-16be", "\xff\xfe": "utf-16le"}

// declaration finds how a document names its own encoding, in XML or in a meta
// element. It is compiled on first use, so that not every call of the program pays
// for it.
var declaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<\?xml[^>]{0,200}encoding\s*=\s*["']([^"'>]{1,40})|<meta[^>]{0,400}charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})`)
})

// declarationSize is how far into a body a declaration is looked for. Browsers
// look at the first 1,024 bytes, and again if they meet one later.
const declarationSize = 16 << 10

func declaredEncoding(body []byte, contentType string) (encoding.Encoding, string) {
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		if enc, name := charset.Lookup(params["charset"]); enc != nil {
			return enc, name
		}
	}
	if found := declaration().FindSubmatch(body[:min(len(body), declarationSize)]); found != nil {
		if enc, name := charset.Lookup(string(append(found[1], found[2]...))); enc != nil {
			if name == "utf-16le" || name == "utf-16be" {
				return nil, "" // the declaration could be read, so it cannot be true
			}
			return enc, name
		}
	}
	return nil, ""
}

// utf8Signs says whether a body has characters of UTF-8 beyond ASCII, and
// whether it has bytes that are not UTF-8. A character that the end cuts counts as
// neither.
func utf8Signs(body []byte) (wide, broken bool) {
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			for len(body)-i >= 8 && binary.NativeEndian.Uint64(body[i:])&0x8080808080808080 == 0 {
				i += 8
			}
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		if r != utf8.RuneError || size > 1 {
			wide = true
		} else if utf8.FullRune(body[i:]) {
			broken = true
		}
		if wide && broken {
			return
		}
		i += size
	}
	return
}

// UTF8 is a body as UTF-8, by its encoding as [Read] finds it. Of a body that would
// become longer than 64 MiB it is the beginning.
func UTF8(body []byte, contentType string) []byte {
	text, _ := io.ReadAll(io.LimitReader(utf8Reader(body, contentType), 4*maxPageText))
	return bytes.ToValidUTF8(text, []byte("\ufffd"))
}
