package proof_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
)

// plantedPage is a page with text that a reader sees, and text that no reader
// sees.
const plantedPage = `<!doctype html><html lang="en"><head><title>planted</title></head><body>
<p>This page is about planted things, and about the water that the moon and the sun pull at, twice a day. The harbour has 12 tugs.[64]</p>
<p>The therapist was found guilty of nothing. The captain will re-sign in spring. There are 10<sup>6</sup> small fish in it. Call 555-0199, Room 101.</p>
<p>Profit was 3 million euros; the 400m, 50 ore carriers and 12 bin bags are in section 70, 30 percent of the coast is not.</p>
<table><tr><th>Year<th>Share (%)<tr><td>2020<td>45</table>
<p hidden>The hidden part has 4,711 tugs and says that all of them are loud.</p>
<div style="display:none">The styled part has 4,712 tugs.</div>
<video>The film has 4,713 tugs.</video><dialog>The dialog has 4,714 tugs.</dialog><noscript>The rest has 4,715 tugs.</noscript>
<b><template></b>The template has 4,716 tugs.</template><svg><defs><text>The drawing has 4,717 tugs.</text></defs></svg>
<!-- %PDF-1.4 --></body></html>`

// sourced is a run without a second reader, so that the rules alone judge its
// sentences, in its synthesis, with the planted page and a picture as its sources.
func sourced(t *testing.T) (f folder, planted, picture string) {
	t.Helper()
	f = newOffice(t).run("tides")
	must.Get(run.Create(t.Context(), run.Desk{Now: time.Now}, filepath.Join(f.dir, "runs"), run.InitInput{Query: question, RunID: f.id, Evidence: run.EvidenceChoice{NoReader: true}}))(t)
	f.climbFrom(t, withoutGap, "made", "in wave1")
	outputs := []tidegate.Details{}
	for _, id := range perspectiveIDs {
		outputs = append(outputs, tidegate.Pairs("perspective_id", id, "tool_usage", tidegate.Pairs("search", 2),
			"markdown", "## Findings\n\nThe "+id+" pulls.\n\n## Gaps\n\n## Sources\n\n- https://example.org/planted\n- https://example.org/picture\n"))
	}
	f.must(t, "deep_research_wave_output_ingest", tidegate.Pairs("manifest_path", f.manifest(), "perspectives_path", f.path("perspectives.json"), "wave", "wave1", "outputs", outputs))
	f.climbFrom(t, withoutGap, "wave1 handed in", "in synthesis")
	for line := range strings.Lines(string(f.read(t, "citations/citations.jsonl"))) {
		record := parsed(t, []byte(line))
		switch url := record.Get("normalized_url").Str(); {
		case strings.HasSuffix(url, "planted"):
			planted = record.Get("cid").Str()
		case strings.HasSuffix(url, "picture"):
			picture = record.Get("cid").Str()
		}
	}
	return f, planted, picture
}

// draftWith is a synthesis with a claim in it, whose other sentences all stand on
// the planted page.
func draftWith(claim, cid string) string {
	const stands = "The moon and the sun pull at the water, twice a day [@s]."
	draft := "## Summary\n\n" + stands + "\n\n## Key Findings\n\n" + stands + "\n\n" + stands + "\n\n" + claim + "\n\n## Evidence\n\n" + stands + "\n\n## Caveats\n\n" + stands + "\n"
	return strings.ReplaceAll(draft, "@s]", "@"+cid+"]")
}

// TestNothingIsGroundedThatNoReaderSees: what a page does not show, or shows as
// something else, supports no claim of a run that requires grounding.
func TestNothingIsGroundedThatNoReaderSees(t *testing.T) {
	t.Parallel()
	f, planted, picture := sourced(t)
	number, quotation := tidegate.NumberNotFound, tidegate.QuotationNotFound
	for _, a := range []struct {
		wants, claim string
		code         tidegate.Code // "" for what must pass
	}{
		{"what the page says", "The harbour has 12 tugs, 30 percent of the coast is not, and in 2020 it was 45% [@s].", ""},
		{"words of the page", "It says “the therapist was found guilty of nothing” and “captain will re-sign in spring” [@s].", ""},
		{"a number in a hidden element", "There are 4,711 tugs [@s].", number},
		{"a number in a style", "There are 4,712 tugs [@s].", number},
		{"a number in a film", "There are 4,713 tugs [@s].", number},
		{"a number in a closed dialog", "There are 4,714 tugs [@s].", number},
		{"a number for readers without scripts", "There are 4,715 tugs [@s].", number},
		{"a number in a template", "There are 4,716 tugs [@s].", number},
		{"a number that is not drawn", "There are 4,717 tugs [@s].", number},
		{"hidden words", "It says “all of them are loud” [@s].", quotation},
		{"words in the middle of a word", "It says “the rapist was found guilty of nothing” [@s].", quotation},
		{"words without their hyphen", "It says “the captain will resign in spring” [@s].", quotation},
		{"digits that are glued together", "It says “106 small fish in it” [@s].", quotation},
		{"the number of a note as a percentage", "It is 64 percent [@s].", number},
		{"a telephone number as money", "It costs 555 euros [@s].", number},
		{"the number of a room as a weight", "It weighs 101 kg [@s].", number},
		{"a race as millions", "There are 400 million of them [@s].", number},
		{"ore as hours", "It took 50 hours [@s].", number},
		{"a bin as a thousand", "There are 12,000 of them [@s].", number},
		{"a section as a percentage", "It is 70 percent [@s].", number},
		{"a year as a percentage", "It is 2020 percent [@s].", number},
		{"a number in circles", "It is ⑨⑨ percent [@s].", number},
		{"a raised number", "It is ⁹⁹ percent [@s].", number},
		{"a number that is glued to a word", "There are 4711tugs [@s].", number},
		{"a number with too many points", "There are 1.2.3 tugs [@s].", number},
		{"a number with too many digits", "There are 1234567890123456789012345 tugs [@s].", number},
		{"a number behind an apostrophe", "It is ʼ99 percent [@s].", number},
		{"a number behind a sign", "It is x99 more [@s].", number},
		{"a number in a compound", "It is a record-4,711-tug fleet [@s].", number},
		{"a number with a joiner in it", "Profit was 7\u200d3 million euros [@s].", number},
		{"a quotation after a blank", "They say \" this is wholly invented by nobody\" [@s].", quotation},
		{"a quotation right after a comma", "They said,\"this is wholly invented by nobody\" [@s].", quotation},
		{"a quotation right after a full stop", "Yes.\"This is wholly invented by nobody\" [@s].", quotation},
		{"a quotation after a sign", "It is =\"this is wholly invented by nobody\" [@s].", quotation},
		{"a quotation in single marks, doubled", "They say ''this is wholly invented by nobody'' [@s].", quotation},
		{"a quotation in commas", "They say ,,this is wholly invented by nobody'' [@s].", quotation},
		{"a quotation in primes", "They say ″this is wholly invented by nobody″ [@s].", quotation},
		{"a quotation that begins with a digit", "They say '4 of us have never been there' [@s].", quotation},
		{"a quotation that never ends", "They say \"this is wholly invented by nobody [@s].", quotation},
		{"a quotation over two paragraphs", "They say \"this is wholly invented [@s].\n\nIt was invented by nobody at all\" [@s].", quotation},
		{"a block quote", "> This is wholly invented by nobody [@s].", quotation},
		{"a quotation without a citation", "They say \"this is wholly invented by nobody\".\n\n- The harbour has 12 tugs [@s].", tidegate.UncitedSentence},
		{"a quotation in a heading", "### \"This is wholly invented by nobody\"\n\nThe harbour has 12 tugs [@s].", tidegate.HeadingClaims},
		{"a source without a text", "There are 4,711 tugs [@picture].", tidegate.ClaimNotChecked},
		{"the report's own words", "## How this report was made\n\nEvery gate passed.", tidegate.ReservedHeading},
		{"the report's own references", "## References\n\nNone.", tidegate.ReservedHeading},
	} {
		t.Run(a.wants, func(t *testing.T) {
			f.write(t, "synthesis/final-synthesis.md", draftWith(strings.ReplaceAll(a.claim, "@picture", "@"+picture), planted))
			r := must.Get(run.Open(t.Context(), run.Desk{Now: time.Now}, f.manifest()))(t)
			defer r.Close()
			found := must.Get(gates.Judge(t.Context(), r, "E"))(t)
			if passed := found.Passed(); passed != (a.code == "") || !strings.Contains(asJSON(found.Said()), string(a.code)) {
				t.Errorf("gate E says %s with %s, want %q", found.Status(), asJSON(found.Said()), a.code)
			}
		})
	}
	t.Run("handed in", func(t *testing.T) {
		f.lease(t, "synthesis")
		for i, claim := range []string{"There are 4,711 tugs [@s].", "They say ''this is wholly invented by nobody'' [@s].", "There are 4,711 tugs [@" + picture + "]."} {
			if verdict := f.submit(t, "synthesis", draftWith(claim, planted)); verdict.Get("accepted").Bool() {
				t.Errorf("claim %d is accepted: %s", i, asJSON(verdict))
			}
		}
	})
}
