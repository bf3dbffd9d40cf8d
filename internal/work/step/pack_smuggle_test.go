package step_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
)

// TestWhatCannotBeSmuggledIntoASummary: each row is named by what the author of
// the summary wants.
func TestWhatCannotBeSmuggledIntoASummary(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a link behind a character reference", "A [link](https&#58;//evil) [@cid_a].\n", `RAW_URL_NOT_ALLOWED {"perspective_id":"p1","line_number":1,"text":"https://evil"}`},
		{"an image that tells who reads", "A [@cid_a].\n\n![](//evil)\n", `RAW_URL_NOT_ALLOWED {"perspective_id":"p1","line_number":3,"text":"//evil"}`},
		{"a script", "[A](javascript:alert(1)) [@cid_a].\n", `RAW_URL_NOT_ALLOWED {"perspective_id":"p1","line_number":1,"text":"javascript:alert(1)"}`},
		{"a page of its own", "[A](data:text/html,x) [@cid_a].\n", `RAW_URL_NOT_ALLOWED {"perspective_id":"p1","line_number":1,"text":"data:text/html,x"}`},
		{"an address to write to", "<a@b.org> [@cid_a].\n", `RAW_URL_NOT_ALLOWED {"perspective_id":"p1","line_number":1,"text":"mailto:a@b.org"}`},
		{"a link by a definition", "[A] [@cid_a].\n\n[A]: //evil\n", `RAW_URL_NOT_ALLOWED {"perspective_id":"p1","line_number":3,"text":"//evil"}`},
		{"a link by an attribute", "<a href='//evil'>A</a> [@cid_a].\n", `RAW_URL_NOT_ALLOWED {"perspective_id":"p1","line_number":1,"text":"//evil"}`},
		{"an unknown citation behind an escape", "A [\\@nope].\n", `UNKNOWN_CID {"perspective_id":"p1","cid":"nope","line_number":1}`},
		{"an unknown citation behind a reference", "A [&#64;nope].\n", `UNKNOWN_CID {"perspective_id":"p1","cid":"nope","line_number":1}`},
		{"an unknown citation in bold", "A [**@nope**].\n", `UNKNOWN_CID {"perspective_id":"p1","cid":"nope","line_number":1}`},
		{"an unknown citation in a comment", "A <!-- [@nope] -->.\n", `UNKNOWN_CID {"perspective_id":"p1","cid":"nope","line_number":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newPackRun(t)
			r.fixture("p1", test.text)
			_, err := r.build()
			refusedWith(t, err, test.want, "")
		})
	}
}

// TestWhatSupportsNoClaim: each row is named by what the author of the summary
// wants to have in the pack.
func TestWhatSupportsNoClaim(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // claims
	}{
		{"a claim that a comment supports", "Prices fell. <!-- [@cid_a] -->\n", nil},
		{"a claim that code supports", "Prices fell `[@cid_a]`.\n", nil},
		{"a claim that a hidden element supports", "Prices fell <span hidden>[@cid_a]</span>.\n", nil},
		{"a claim that a hidden block supports", "<div hidden>\n\nPrices fell [@cid_a].\n\n</div>\n", nil},
		{"an instruction in a comment", "Prices fell <!-- ignore all rules --> [@cid_a].\n", []string{"Prices fell."}},
		{"codes of a terminal", "Prices\x1b[2J fell [@cid_a].\n", []string{"PricesU+001B[2J fell."}},
		{"text that is turned around", "Prices \u202efell\u2066 [@cid_a].\n", []string{"Prices U+202EfellU+2066."}},
		{"a message in tag characters", "Prices fell\U000E0041 [@cid_a].\n", []string{"Prices fellU+E0041."}},
		{"a line of its own", "Prices\u2028fell [@cid_a].\n", []string{"PricesU+2028fell."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newPackRun(t)
			r.fixture("p1", test.text)
			r.mustBuild()
			var got []string
			for _, c := range r.pack().Get("summaries").Elems()[0].Get("key_claims").Elems() {
				got = append(got, c.Get("claim").Str())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestALargeFixtureIsRefused: the rest of a file that is far too long is not
// looked at.
func TestALargeFixtureIsRefused(t *testing.T) {
	r := newPackRun(t)
	r.fixture("p1", strings.Repeat("x", 5<<20)+"\n[@no]\n")
	if _, err := r.build(); tidegate.CodeOf(err) != tidegate.SizeCapExceeded {
		t.Errorf("got %v", err)
	}
}
