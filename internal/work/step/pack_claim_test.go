package step_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestKeyClaims(t *testing.T) {
	claim := func(text string, confidence int, cids ...string) synthesis.KeyClaim {
		return synthesis.KeyClaim{Text: text, CIDs: cids, Confidence: confidence}
	}
	tests := []struct {
		name, text string
		want       []synthesis.KeyClaim
	}{
		{"none", "# Title\n\nA paragraph.\n\n- An item.\n", nil},
		{"paragraph and items", "One [@cid_a].\n\n- Two [@cid_a]\n- Three\n1. Four [@cid_a]\n",
			[]synthesis.KeyClaim{claim("One.", 100, "cid_a"), claim("Two", 100, "cid_a"), claim("Four", 100, "cid_a")}},
		{"citations and the white space before them go", "Grew \t[@cid_a], fell[@cid_b] and  [@cid_a] rose.\n",
			[]synthesis.KeyClaim{claim("Grew, fell and rose.", 60, "cid_a", "cid_b")}},
		{"citations in order of appearance, each once", "X [@cid_b] [@cid_a] [@cid_b]\n", []synthesis.KeyClaim{claim("X", 60, "cid_b", "cid_a")}},
		{"confidence", "A [@cid_a].\n\nB [@cid_b].\n\nC [@cid_a][@cid_b].\n",
			[]synthesis.KeyClaim{claim("A.", 100, "cid_a"), claim("B.", 60, "cid_b"), claim("C.", 60, "cid_a", "cid_b")}},
		{"several lines", "Revenue grew\nby a third\n[@cid_a].\n", []synthesis.KeyClaim{claim("Revenue grew by a third.", 100, "cid_a")}},
		{"nested items", "- Outer [@cid_a]\n  - Inner [@cid_b]\n", []synthesis.KeyClaim{claim("Outer", 100, "cid_a"), claim("Inner", 60, "cid_b")}},
		{"quotes", "> Said [@cid_a]\n", []synthesis.KeyClaim{claim("Said", 100, "cid_a")}},
		{"headings and code are not claims", "# H [@cid_a]\n\nT [@cid_a]\n===\n\n```\nC [@cid_a]\n```\n\n    D [@cid_a]\n", nil},
		{"nothing but citations is not a claim", "- [@cid_a]\n- [@cid_a] [@cid_b]\n", nil},
		{"markup stays", "- **Bold** `code` [@cid_a]\n", []synthesis.KeyClaim{claim("**Bold** `code`", 100, "cid_a")}},
		{"cut at 200 characters", strings.Repeat("é", 250) + " [@cid_b]\n", []synthesis.KeyClaim{claim(strings.Repeat("é", 200), 60, "cid_b")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newPackRun(t)
			r.fixture("p1", test.text)
			r.mustBuild()
			want := codec.Of(test.want)
			if test.want == nil {
				want = codec.Of([]synthesis.KeyClaim{})
			}
			got := r.pack().Get("summaries").Elems()[0].Get("key_claims")
			if diff := cmp.Diff(printed(t, want), printed(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func printed(t *testing.T, v *codec.Value) string {
	t.Helper()
	data := must.Get(codec.Marshal(v))(t)
	return string(data)
}

func TestAtMostTwentyClaims(t *testing.T) {
	r := newPackRun(t)
	var text strings.Builder
	for i := range 25 {
		fmt.Fprintf(&text, "- Claim %d [@cid_a]\n", i)
	}
	r.fixture("p1", text.String())
	r.mustBuild()
	claims := r.pack().Get("summaries").Elems()[0].Get("key_claims").Elems()
	if len(claims) != 20 || claims[19].Get("claim").Str() != "Claim 19" {
		t.Errorf("%d claims, want the first 20", len(claims))
	}
}

// TestPackHoldsNoOtherText: what is not a claim does not reach the pack.
func TestPackHoldsNoOtherText(t *testing.T) {
	r := newPackRun(t)
	r.fixture("p1", "# Secret heading\n\nSecret paragraph.\n\n- Open claim [@cid_a]\n- Secret item\n")
	r.write("wave-1/p1.md", "Secret output [@cid_a].")
	r.mustBuild()
	if pack := r.read("summaries/summary-pack.json"); strings.Contains(pack, "Secret") || !strings.Contains(pack, "Open claim") {
		t.Errorf("the pack is\n%s", pack)
	}
}
