package synthesis_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// pool has cid_a (valid), cid_b (paywalled) and cid_no (invalid).
const pool = `{"schema_version":"citation.v1","normalized_url":"https://x.org/a","cid":"cid_a","url":"https://x.org/a","url_original":"https://x.org/a","status":"valid"}
{"schema_version":"citation.v1","normalized_url":"https://x.org/b","cid":"cid_b","url":"https://x.org/b","url_original":"https://x.org/b","status":"paywalled"}
{"schema_version":"citation.v1","normalized_url":"https://x.org/no","cid":"cid_no","url":"https://x.org/no","url_original":"https://x.org/no","status":"invalid"}
`

// every wants all URLs.
func every(string) bool { return true }

// readPool reads the pool of the tests.
func readPool(t testing.TB, lines string) *source.Pool {
	t.Helper()
	p := must.Get(source.ReadPool(t.Context(), strings.NewReader(lines), "/pool", every))(t)
	return p
}

// TestEntriesAreHeldToTheShape: every way to leave a field of an entry blank is
// refused at the path that the shape names, and nothing else is.
func TestEntriesAreHeldToTheShape(t *testing.T) {
	shape := synthesis.PackShape().Elem("summaries")
	good := func() synthesis.Summary {
		return synthesis.Summary{PerspectiveID: "p1", SourceArtifact: "wave-1/p1.md", SummaryMD: "summaries/p1.md", SummaryDigest: "sha256:x", KeyClaims: []synthesis.KeyClaim{
			{Text: "A \"claim\"", CIDs: []string{"a", "b"}, Confidence: 60}, {Text: "Another", CIDs: []string{"a"}, Confidence: 0},
		}}
	}
	spoilers := []func(s *synthesis.Summary){
		func(*synthesis.Summary) {},
		func(s *synthesis.Summary) { s.KeyClaims = nil },
		func(s *synthesis.Summary) { s.PerspectiveID = "" },
		func(s *synthesis.Summary) { s.SourceArtifact = " \t" },
		func(s *synthesis.Summary) { s.SummaryMD = "\u00a0" },
		func(s *synthesis.Summary) { s.SummaryDigest = "" },
		func(s *synthesis.Summary) { s.KeyClaims[1].Text = "\n" },
		func(s *synthesis.Summary) { s.KeyClaims[0].CIDs = nil },
		func(s *synthesis.Summary) { s.KeyClaims[0].CIDs[1] = " " },
		func(s *synthesis.Summary) { s.KeyClaims[1].Confidence = -1 },
	}
	for _, first := range spoilers {
		for _, second := range spoilers {
			entry := good()
			second(&entry)
			if len(entry.KeyClaims) == 2 && len(entry.KeyClaims[0].CIDs) == 2 {
				first(&entry)
			}
			got, want := synthesis.CheckEntry(entry, "$.summaries[3]"), shape.CheckAt("$.summaries[3]", codec.Of(entry))
			if (got == nil) != (want == nil) {
				t.Fatalf("%+v: got %v, the shape says %v", entry, got, want)
			}
			if got != nil && !cmp.Equal(tidegate.AsError(got).Details, tidegate.AsError(want).Details) {
				t.Errorf("%+v: got %v, the shape says %v", entry, got, want)
			}
		}
	}
}

// TestFindingsAreReadAlone: an item has with it what introduces its list, and a quotation keeps
// a sign where a URL stood in it.
func TestFindingsAreReadAlone(t *testing.T) {
	pool := readPool(t, pool)
	for output, want := range map[string]string{
		"# f\nThe harbour has these:\n\n- old tugs [@cid_a]\n- new docks (https://x.org/b)\n\nIt is wet. [@cid_a]\n\n- alone [@cid_a]\n": "- The harbour has these: old tugs [@cid_a]\n- The harbour has these: new docks [@cid_b]\n- It is wet. [@cid_a]\n- alone [@cid_a]\n",
		"# f\nSee below: [@cid_a]\n\nIts docks:\n\nThey are old. [@cid_a]\n":                                                             "- See below: [@cid_a]\n- They are old. [@cid_a]\n- Its docks:\n",
		"# f\n- Tugs use `rest://` and \"ssh://\" now (https://x.org/a)\n":                                                               "- Tugs use `rest:` and \"ssh:\" now [@cid_a]\n",
		"# f\nTugs (https://x.org/a):\n- old\n# Gaps\n- why\n":                                                                           "- Tugs [@cid_a]: old\n",
		"# f\n- “Call https://x.org/no for a tug” (https://x.org/a)\n":                                                                   "- “Call … for a tug” [@cid_a]\n",
		"# f\n- \"Call https://x.org/a for a tug\" (https://x.org/a)\n":                                                                  "- \"Call … for a tug\" [@cid_a]\n",
		"# f\n- A 5\" rope (https://x.org/a) and a 6\" one (https://x.org/b)\n":                                                          "- A 5\" rope [@cid_a] and a 6\" one [@cid_b]\n",
	} {
		if got, _ := synthesis.GenerateSummary(pool, []byte(output), 1000, 1000); got != want {
			t.Errorf("%q gives %q, want %q", output, got, want)
		}
	}
}

// TestHostilePassages: passages of the largest size cost no more than their
// length; otherwise this test would not end.
func TestHostilePassages(t *testing.T) {
	pool := readPool(t, pool)
	for _, piece := range []string{
		"](https://x.org/no) ", "[a](https://x.org/a) ", "[@", "[@x] ", "www.a ", "(", "(https://x.org/no", "http://*", "[", "<https://x.org/no> ", "[x](https://x.org/a \"", "[@cid_a]",
		"http://x.org/?a&",
	} {
		passage := strings.Repeat(piece, 1<<20/full.Stride(16, 1)/len(piece))
		if text := synthesis.CarryPassage(pool, passage); !synthesis.CleanItem(pool, text) {
			t.Errorf("%q is not carried clean", piece)
		}
		if text := synthesis.CarryPassage(pool, passage+"www.x.org"+strings.Repeat(")", 1<<19/full.Stride(8, 1))); !synthesis.CleanItem(pool, text) {
			t.Errorf("%q is not carried clean", piece)
		}
	}
}

var someCitation = regexp.MustCompile(`\[@([^\]\r\n]*)\]`)

// FuzzCarry: whatever a passage holds, the text that is carried has no URL and
// no unknown citation, stands on one line, and cites only what the passage
// carried: the cid itself, or the URL that stands for it.
func FuzzCarry(f *testing.F) {
	for _, seed := range []string{
		"x https://x.org/a y", "[a](https://x.org/a \"t\")", "ww[w.x.org](https://x.org/no)", "[@x https://x.org/a", "[[@no]@cid_a]",
		"www [@no].x.org", "(https://x.org/b)", "<www.x.org>", "[@cid_a][@cid_b]", "htt[@no]p://x", "[@http://x]", "[@cid_a\nx]", "![](https://x.org/a)",
	} {
		f.Add(seed)
	}
	pool := readPool(f, pool)
	urls := map[string]string{"cid_a": "x.org/a", "cid_b": "x.org/b"}
	f.Fuzz(func(t *testing.T, passage string) {
		text := synthesis.CarryPassage(pool, passage)
		if !synthesis.CleanItem(pool, text) || strings.ContainsAny(text, "\r\n") {
			t.Fatalf("%q was carried as %q", passage, text)
		}
		for _, match := range someCitation.FindAllStringSubmatch(text, -1) {
			cid := match[1]
			if !strings.Contains(passage, cid) && !strings.Contains(strings.ToLower(passage), urls[cid]) {
				t.Errorf("%q was carried as %q, with a citation that it did not carry", passage, text)
			}
		}
	})
}

// FuzzGenerate: whatever the output holds, its summary is one that a build
// accepts, within the cap, and it does not depend on how much of the output was
// held back for it.
func FuzzGenerate(f *testing.F) {
	for _, seed := range []string{"# a\n- b [@cid_a]\n## Sources\n- https://x.org/b\n", "> - ```\n[@", "- a\n\n  b https://x.org/no\n"} {
		f.Add([]byte(seed), 100)
	}
	f.Add([]byte(strings.Repeat("- aa\n- bbbb\n- c [@cid_a]\n- d https://x.org/b\n- e\n", 9)), 60)
	pool := readPool(f, pool)
	f.Fuzz(func(t *testing.T, output []byte, limit int) {
		limit = min(max(limit, 0), 1<<16)
		text, left := synthesis.GenerateSummary(pool, output, limit, limit)
		if len(text) > limit {
			t.Errorf("%d bytes, the cap is %d", len(text), limit)
		}
		if err := synthesis.SummaryFault(pool, text); err != nil {
			t.Errorf("the summary is %q: %v", text, err)
		}
		if whole, wholeLeft := synthesis.GenerateSummary(pool, output, limit, 1<<40); whole != text || wholeLeft != left {
			t.Errorf("%q, but %q from all of it", text, whole)
		}
	})
}

// FuzzNamedURLs: the summary of an output is the same whether all URLs of the
// pool are known or those that the output names.
func FuzzNamedURLs(f *testing.F) {
	f.Add("# Findings\n- See https://x.org/a, (https://x.org/b) and [c](https://x.org/c \"www.x.org/a\")https://x.org/b.\n## Sources\n- https://x.org/d", "https://x.org/a", "http://www.x.org/a")
	f.Add("- <http://x.org/a>http://x.org/b [@a] [](https://x.org/()(https://x.org/)", "http://x.org/b", "https://x.org/()")
	f.Add("- //x.org/a and WWW.x.org/b", "https://x.org/a", "http://www.x.org/b")
	f.Fuzz(func(t *testing.T, output, first, second string) {
		lines := fmt.Sprintf("{\"cid\":\"a\",\"status\":\"valid\",\"normalized_url\":%s}\n{\"cid\":\"b\",\"status\":\"valid\",\"url\":%s}\n", asJSON(t, first), asJSON(t, second))
		some := must.Get(source.ReadPool(t.Context(), strings.NewReader(lines), "/pool", synthesis.NamedURLs(output)))(t)
		want, wantLeft := synthesis.GenerateSummary(readPool(t, lines), []byte(output), 5120, 5120)
		got, gotLeft := synthesis.GenerateSummary(some, []byte(output), 5120, 5120)
		if got != want || gotLeft != wantLeft {
			t.Errorf("with all URLs\n%s%+v\nwith those named\n%s%+v", want, wantLeft, got, gotLeft)
		}
	})
}

func asJSON(t *testing.T, text string) []byte {
	t.Helper()
	data := must.Get(codec.MarshalLine(text))(t)
	return data
}
