package link_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/text/link"
)

// findURLs lists the raw URLs of a text, trimmed.
func findURLs(text string) []string {
	var found []string
	finder := link.FindURLs([]byte(text))
	for at := 0; ; {
		url, ok := finder.Next(at)
		if !ok {
			return found
		}
		url = link.TrimURL([]byte(text), url)
		found = append(found, text[url.Start:url.End])
		at = url.End
	}
}

func TestRawURLs(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		// The four forms, and their letter case.
		{"http", "see http://example.org now", []string{"http://example.org"}},
		{"https", "see https://example.org now", []string{"https://example.org"}},
		{"ftp", "see ftp://example.org now", []string{"ftp://example.org"}},
		{"www", "see www.example.org now", []string{"www.example.org"}},
		{"upper case http", "HTTP://EXAMPLE.ORG", []string{"HTTP://EXAMPLE.ORG"}},
		{"mixed case https", "hTTpS://a.b", []string{"hTTpS://a.b"}},
		{"upper case ftp", "FTP://a.b", []string{"FTP://a.b"}},
		{"mixed case www", "wWw.Example.org", []string{"wWw.Example.org"}},
		// Anywhere in the text.
		{"at the very start", "http://a.b", []string{"http://a.b"}},
		{"inside a word", "xhttp://a.b", []string{"http://a.b"}},
		{"scheme that ends in ftp", "sftp://a.b", []string{"ftp://a.b"}},
		{"www inside a word", "xwww.a.b", []string{"www.a.b"}},
		{"four w", "wwww.a.b", []string{"www.a.b"}},
		{"after a line end", "x\nhttp://a.b\ny", []string{"http://a.b"}},
		{"in inline code", "`http://a.b`", []string{"http://a.b"}},
		{"in a fence", "```\nhttp://a.b\n```\n", []string{"http://a.b"}},
		{"in indented code", "    www.a.b\n", []string{"www.a.b"}},
		{"in a comment", "<!-- http://a.b -->", []string{"http://a.b"}},
		{"in an attribute", `<a href="https://a.b/c">x</a>`, []string{"https://a.b/c"}},
		{"in an attribute with single quotes", "<a href='https://a.b/c'>x</a>", []string{"https://a.b/c"}},
		{"as an autolink", "<https://a.b>", []string{"https://a.b"}},
		{"as the target of a link", "[x](https://a.b/c)", []string{"https://a.b/c"}},
		{"as the text of a link", "[https://a.b](x)", []string{"https://a.b"}},
		{"as a definition", "[1]: https://a.b \"t\"", []string{"https://a.b"}},
		{"in a heading", "# http://a.b", []string{"http://a.b"}},
		{"in a table", "|http://a.b|x|", []string{"http://a.b"}},
		{"in a citation", "[@http://a.b]", []string{"http://a.b"}},
		{"behind a byte-order mark", "\ufeffhttp://a.b", []string{"http://a.b"}},
		{"beside bytes that are not UTF-8", "\xffhttp://a.b\xff", []string{"http://a.b\xff"}},
		{"two of them", "http://a.b and www.c.d", []string{"http://a.b", "www.c.d"}},
		{"www after a scheme is the same URL", "https://www.a.b", []string{"https://www.a.b"}},
		{"www before a scheme", "www.a.b http://c.d", []string{"www.a.b", "http://c.d"}},
		{"one inside the other", "https://web.archive.org/web/https://a.b", []string{"https://web.archive.org/web/https://a.b"}},
		// What follows the mark.
		{"nothing after the scheme", "the prefix http:// is", []string{"http://"}},
		{"nothing after the scheme at the end", "https://", []string{"https://"}},
		{"host without a dot", "http://localhost:8080/x", []string{"http://localhost:8080/x"}},
		{"address", "http://127.0.0.1/x", []string{"http://127.0.0.1/x"}},
		{"IPv6 address", "http://[::1]/x.", []string{"http://[::1]/x"}},
		{"user and password", "ftp://u:p@a.b/x", []string{"ftp://u:p@a.b/x"}},
		{"international domain", "www.münchen.de", []string{"www.münchen.de"}},
		{"international domain of another script", "www.例え.jp", []string{"www.例え.jp"}},
		{"international domain with a symbol", "www.☃.net", []string{"www.☃.net"}},
		{"domain that begins with a digit", "www.3sat.de", []string{"www.3sat.de"}},
		{"domain of one label", "www.localhost", []string{"www.localhost"}},
		// Where it ends.
		{"before a full stop", "See http://a.b/c.", []string{"http://a.b/c"}},
		{"before other punctuation", "http://a.b/c, http://a.b/d; http://a.b/e!", []string{"http://a.b/c", "http://a.b/d", "http://a.b/e"}},
		{"before a closing parenthesis", "(http://a.b/c)", []string{"http://a.b/c"}},
		{"after its own parentheses", "(http://a.b/c_(d))", []string{"http://a.b/c_(d)"}},
		{"before emphasis ends", "**http://a.b/c**", []string{"http://a.b/c"}},
		{"before a citation", "http://a.b/c[@x]", []string{"http://a.b/c"}},
		{"before a wide full stop", "http://a.b/c。次", []string{"http://a.b/c"}},
		{"before a typographic quote", "“http://a.b/c”", []string{"http://a.b/c"}},
		{"after a dash of its own", "http://a.b/c–d", []string{"http://a.b/c–d"}},
		{"before a no-break space", "http://a.b/c\u00a0d", []string{"http://a.b/c"}},
		// Other forms.
		{"any scheme", "file:///x gopher://a.b ssh://x a+b.c-1://x", []string{"file:///x", "gopher://a.b", "ssh://x", "a+b.c-1://x"}},
		{"defanged", "hxxp://a.b", []string{"hxxp://a.b"}},
		{"no scheme", "see //a.b/c.", []string{"//a.b/c"}},
		{"no scheme and an address of numbers", "//127.0.0.1/x", []string{"//127.0.0.1/x"}},
		{"no scheme and an international domain", "//例え.jp", []string{"//例え.jp"}},
		{"no scheme and a user", "//u:p@a.b/c", []string{"//u:p@a.b/c"}},
		{"broken behind the colon", "http: //a.b http[:]//a.b", []string{"//a.b", "//a.b"}},
		{"broken over lines", "http:\n//a.b", []string{"//a.b"}},
		{"a scheme of letters that only fold into it", "httpſ://a.b", []string{"//a.b"}},
		{"a scheme of wide letters", "ｈｔｔｐ://a.b ｗｗｗ.a.b", []string{"//a.b"}},
		{"javascript", "x JavaScript:alert(1).", []string{"JavaScript:alert(1)"}},
		{"vbscript", "vbscript:x", []string{"vbscript:x"}},
		{"mailto", "(mailto:a@b.c)", []string{"mailto:a@b.c"}},
		{"data", "data:text/html,x data:,y data:image/png;base64,AA==", []string{"data:text/html,x", "data:,y", "data:image/png;base64,AA=="}},
		// What is not a URL.
		{"no text", "", nil},
		{"word http", "use HTTP here", nil},
		{"one slash", "http:/a.b", nil},
		{"backslashes", `http:\\a.b`, nil},
		{"a scheme without slashes", "doi:10.1/2 urn:x tel:1", nil},
		{"no scheme and no domain", "example.org a.b/c // a.b //x //1.5 and//or 1//2", nil},
		{"prose about data", "The data: it grew. Data:2024 metadata:x,y", nil},
		{"prose about a language", "We chose JavaScript: it runs. typescript:x", nil},
		{"prose about a protocol", "mailto: is one", nil},
		{"www alone", "the www. is www and www", nil},
		{"www before a blank", "www. example.org", nil},
		{"www before a dot", "www..org", nil},
		{"www before punctuation", "www.-a.org www._a www./x", nil},
		{"www without a dot", "wwwexample.org", nil},
		{"www at the end", "go to www.", nil},
		{"two w", "ww.example.org", nil},
		{"www before half a character", "www.\xc3", nil},
		{"escaped", "http%3A//x", nil},
		{"e-mail address", "a@example.org", nil},
		{"citation", "[@cid_www] [@http]", nil},
	}
	if len(tests) < 60 {
		t.Fatalf("only %d cases", len(tests))
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, findURLs(test.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var rawURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://|[Ww][Ww][Ww]\.[\p{L}\p{N}]`)

// otherURL are the forms that the rule above leaves out.
var otherURL = regexp.MustCompile(`^(?i:www\.|//|(?:javascript|vbscript|mailto|data):)`)

// FuzzURL: a URL is found exactly where the rule, written as a regular
// expression, finds one, and what is found is part of the text and can be
// quoted on one line.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"", "http://", "xHTTPS://a.b/(c))", "www.a wWw.b", "ftp://[@x]", "www.\xff", "[x](<http://a b>)", "www.☃"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := findURLs(text)
		want := rawURL.FindStringIndex(strings.ToValidUTF8(text, "\uFFFD"))
		if want == nil {
			for _, url := range found {
				if !otherURL.MatchString(url) {
					t.Errorf("found %q in %q", url, text)
				}
			}
			return
		}
		if len(found) == 0 {
			t.Fatalf("found nothing in %q", text)
		}
		rest := text
		for _, url := range found {
			i := strings.Index(rest, url)
			if i < 0 || strings.ContainsAny(url, " \n\r\t<>\"`") {
				t.Fatalf("%q is not a URL in %q", url, text)
			}
			if rawURL.MatchString(strings.ToValidUTF8(rest[:i], "\uFFFD")) {
				t.Errorf("nothing found in %q", rest[:i])
			}
			rest = rest[i+len(url):]
		}
		if rawURL.MatchString(strings.ToValidUTF8(rest, "\uFFFD")) {
			t.Errorf("nothing found in %q", rest)
		}
	})
}

func TestURLKey(t *testing.T) {
	same := [][]string{
		{"https://example.com", "https://example.com/", "HTTPS://Example.COM:443/#top", "https://u:p@example.com"},
		{"https://example.com/path?a=1&b=2", "https://Example.com:443/path/?b=2&a=1&utm_source=abc#frag", "https://example.com/path?&b=2&&a=1&gclid=x&FBCLID=y"},
		{"https://example.com/?q=a%20b", "https://example.com?q=a+b"},
		{"https://example.com/x?foo", "https://example.com/x?foo="},
		{"https://example.com/%c3%bc", "https://example.com/ü", "https://example.com/%C3%BC"},
		{"http://example.com/dir", "http://example.com:80/dir/"},
	}
	seen := map[string]string{}
	for _, group := range same {
		for _, url := range group {
			if link.Key(url) != link.Key(group[0]) {
				t.Errorf("%s is %s, %s is %s", url, link.Key(url), group[0], link.Key(group[0]))
			}
			if link.Key(link.Key(url)) != link.Key(url) {
				t.Errorf("the key of %s has another key", url)
			}
		}
		if other, taken := seen[link.Key(group[0])]; taken {
			t.Errorf("%s and %s are not the same", group[0], other)
		}
		seen[link.Key(group[0])] = group[0]
	}
	different := []string{"https://a.b/c", "http://a.b/c", "https://a.b/C", "https://a.b/c?x=1", "https://a.b/c?x=2", "https://a.b:8443/c", "https://a.b/c%2Fd", "https://a.b/c/d", "not a URL", "ftp://a.b/c", "https://%zz"}
	keys := map[string]string{}
	for _, url := range different {
		if other, taken := keys[link.Key(url)]; taken {
			t.Errorf("%s and %s have one key", url, other)
		}
		keys[link.Key(url)] = url
	}
}
