package page_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/text/page"
)

// crumbs are what documents are made of, and what breaks them.
var crumbs = []string{
	"<", ">", "/", "<p>", "</p>", "<P CLASS=a>", "<a href='x&amp;y' id=\"b\">", "</A >", "<br/>", "<br / >", "<p a=/>", "<p a=1 A=/>", "<p =x>", "<p a = b>", "<p a='", "<p \"", "<!--", "-->", "--!>", "<!-->", "<!--->", "-", "!",
	"<!DOCTYPE html>", "<!doctype", "<!x>", "<?xml ?>", "<![CDATA[x]]>", "</>", "</ p>", "</1>", "<1>", "<script>", "<script type=module>", "</script>", "</script x>", "</scriptx>", "<style>", "</STYLE>", "<title>", "</title>", "<textarea>", "</textarea>",
	"<noscript>", "</noscript>", "<iframe src=x>", "</iframe>", "<plaintext>", "<xmp>", "</xmp>", "&amp;", "&notit;", "&not", "&#65;", "&#x110000;", "&#0;", "&", ";", "\r", "\n", "\r\n", "\x00", "\xff", "é", " ", "\t", "\f", "text", "=", "'", "\"",
	"<meta name=a content='x &copy= y'>", "<meta content=\"a\rb\x00c\">", "<ſcript>", "<x-note>", "<svg>", "<title/>", "<input value=&quot;>", "<p class=\"a\" class='b'>",
}

// FuzzTokens compares the tokens of a document with those of the referee.
func FuzzTokens(f *testing.F) {
	f.Add([]byte(strings.Join(crumbs[:40], "")))
	f.Fuzz(func(t *testing.T, doc []byte) {
		compareTokens(t, doc[:min(len(doc), 1<<10)]) // a longer one shows nothing more
	})
}

func compareTokens(t *testing.T, doc []byte) {
	t.Helper()
	before := string(doc)
	if theirs, ours := page.Tokens([]byte(before), false), page.Tokens(doc, true); !slices.Equal(theirs, ours) {
		t.Fatalf("%q (-referee +ours):\n%s", before, cmp.Diff(theirs, ours))
	}
	if string(doc) != before {
		t.Fatalf("%q has become %q", before, doc)
	}
}

func TestTokensAreThoseOfTheReferee(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	for i := 0; i < 50_000; i += full.Stride(50_000, 5_000) {
		var doc strings.Builder
		for range random.IntN(12) {
			doc.WriteString(crumbs[random.IntN(len(crumbs))])
		}
		compareTokens(t, []byte(doc.String()))
	}
	for _, body := range hostilePages(1 << 14) {
		compareTokens(t, body)
	}
	compareTokens(t, []byte("<p "+strings.Repeat("a b=c ", 40)+"><p a1 a2 a3 a4 a5 a6 a7 a8 a9 b1 b2 b3 b4 b5 b6 b7 b8 b9 c1 c2 c3 c4 c5 c6 c7 c8 c9 d1 d2 d3 d4 d5 d6 d7 id=x id=y>after"))
}
