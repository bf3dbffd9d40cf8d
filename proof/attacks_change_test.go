package proof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestNoReviewIsTurnedAround: the review that was kept decides about a change.
func TestNoReviewIsTurnedAround(t *testing.T) {
	t.Parallel()
	review := func(verdict, more string) string {
		return `{"change_id":"$CHANGE","verdict":"` + verdict + `","summary":"s"` + more + `}`
	}
	const (
		onward = `{"change_id":"$CHANGE"}`
		high   = `,"issues":[{"title":"Loses data","severity":"High","category":"Bug","description":"d"}]`
		failed = `,"test_results":{"passed":1,"failed":2,"total":3}`
	)
	started := func(t *testing.T, v victim, calls ...try) {
		t.Helper()
		for _, c := range append([]try{{"change_start", onward, ""}}, calls...) {
			if answer := v.asCalled(t, c.tool, v.fill(c.args)); codeOf(answer) != "" {
				t.Fatalf("%s: %s", c.tool, answer.Get("error").Get("message").Str())
			}
		}
	}
	major := func(t *testing.T, v victim) {
		started(t, v, try{"create_review", review("MAJOR_ISSUES", high), ""}, try{"change_advance", onward, ""})
	}
	rewrite := func(t *testing.T, v victim, change func(text string) string) {
		t.Helper()
		path := filepath.Join(v.dir, "agentd", "changes", v.change, "REVIEW.md")
		text := must.Get(os.ReadFile(path))(t)
		must.Do(t, os.WriteFile(path, []byte(change(string(text))), 0o600))
	}
	notComplete := func(t *testing.T, v victim) {
		t.Helper()
		text := must.Get(os.ReadFile(filepath.Join(v.dir, "agentd", "changes", v.change, "STATE.yaml")))(t)
		if strings.Contains(string(text), "phase: complete") {
			t.Errorf("the change is complete:\n%s", text)
		}
	}
	attacks := []attack{
		{wants: "to complete after major issues, with a High issue and failed tests", given: major, tries: []try{
			{"create_review", review("APPROVED", high+failed), ""}, {"change_advance", onward, ""},
		}},
		{wants: "to complete after major issues, with a clean approval", given: major, tries: []try{
			{"create_review", review("APPROVED", ""), ""}, {"change_advance", onward, ""},
		}},
		{wants: "to complete with a High issue", given: func(t *testing.T, v victim) { started(t, v) }, tries: []try{
			{"create_review", review("APPROVED", high), ""}, {"change_advance", onward, ""},
		}},
		{wants: "to complete with failed tests", given: func(t *testing.T, v victim) { started(t, v) }, tries: []try{
			{"create_review", review("APPROVED", failed), ""}, {"change_advance", onward, ""},
		}},
		{wants: "to complete by a word exchanged in REVIEW.md",
			given: func(t *testing.T, v victim) {
				started(t, v, try{"create_review", review("MAJOR_ISSUES", high), ""})
				rewrite(t, v, func(text string) string { return strings.ReplaceAll(text, "MAJOR_ISSUES", "APPROVED") })
			},
			tries: []try{{"change_advance", onward, tidegate.GateBlocked}}},
		{wants: "to complete without any kept review",
			given: func(t *testing.T, v victim) {
				started(t, v, try{"create_review", review("APPROVED", ""), ""})
				for _, name := range []string{"reviews", "log.jsonl", "log.head"} {
					must.Do(t, os.RemoveAll(filepath.Join(v.dir, "agentd", "changes", v.change, name)))
				}
			},
			tries: []try{{"change_advance", onward, tidegate.GateBlocked}}},
		{wants: "more rounds than a person allows", given: func(t *testing.T, v victim) { started(t, v) }, tries: []try{
			{"create_review", review("NEEDS_FIX", high), ""}, {"change_advance", onward, ""},
			{"create_review", review("NEEDS_FIX", high), ""}, {"change_advance", onward, ""},
			{"create_review", review("NEEDS_FIX", high), ""}, {"change_advance", onward, ""},
			{"create_review", review("APPROVED", ""), ""}, {"change_advance", onward, ""},
		}},
	}
	for _, header := range []string{`NEEDS\_FIX`, "REJECTED", "NOT APPROVED", "needs_fix", "A&#112;PROVED-NOT", "**REJECTED**"} {
		attacks = append(attacks, attack{wants: "the hand-written verdict " + header + " to read as approved",
			given: func(t *testing.T, v victim) {
				started(t, v)
				path := filepath.Join(v.dir, "agentd", "changes", v.change, "REVIEW.md")
				must.Do(t, os.WriteFile(path, []byte("# Review\n\n## Verdict: "+header+"\n\n- [x] APPROVED: naming\n- [ ] NEEDS_FIX\n"), 0o600))
			},
			tries: []try{{"change_advance", onward, tidegate.GateBlocked}}})
	}
	for i := range attacks {
		attacks[i].holds = notComplete
	}
	besiege(t, attacks)
}

// TestGateCStandsOnTheLogAlone: no source counts because of what somebody writes into
// the lists, the records, the index or the archive of a run, or puts into the run
// beside them.
func TestGateCStandsOnTheLogAlone(t *testing.T) {
	t.Parallel()
	judged := `{` + manifestOf + `,"online_dry_run":true,` + because + `}`
	refused := []try{{"deep_research_stage_advance", resume, tidegate.GateBlocked}}
	then := func(first ...try) []try { return append(first, refused...) }
	notPassed := func(t *testing.T, v victim) { hasNotPassed(t, v, "C") }
	// other is a file of another run with the same question, its sources judged.
	other := func(t *testing.T, name string) string {
		return string(newOffice(t).copied(t, "tides", withoutGap, "sources judged").read(t, name))
	}
	besiege(t, []attack{
		{wants: "lists that name no bad source", gap: withoutGap, at: "in citations",
			given: func(t *testing.T, v victim) {
				v.write(t, "citations/normalized-urls.txt", "")
				v.write(t, "citations/url-map.json", `{"schema_version":"url_map.v1","run_id":"tides","items":[]}`)
				v.write(t, "citations/citations.jsonl", "")
			},
			tries: then(),
			holds: notPassed},
		{wants: "a page that an index says is there", gap: withoutGap, at: "in citations",
			given: func(t *testing.T, v victim) {
				v.write(t, "evidence/index.json", other(t, "evidence/index.json"))
			},
			tries: then(try{"deep_research_citations_validate", judged, ""}), holds: notPassed},
		{wants: "a source replaced by what a record says", gap: withoutGap, at: "sources judged", laundering: true,
			given: func(t *testing.T, v victim) {
				text := string(v.read(t, "citations/citations.jsonl"))
				v.write(t, "citations/citations.jsonl", strings.Replace(text, `"notes":"ok"`, `"notes":"ok","replaced_by":"https://example.org/better"`, 1))
			},
			tries: then(), holds: notPassed},
		{wants: "an index of its own after the sources were judged", gap: withoutGap, at: "sources judged", laundering: true,
			given: func(t *testing.T, v victim) {
				v.write(t, "evidence/index.json", strings.ReplaceAll(string(v.read(t, "evidence/index.json")), "example.org", "example.net"))
			},
			tries: then(), holds: notPassed},
		{wants: "a later page of its own, at the end of the archive", gap: withoutGap, at: "sources judged",
			given: func(t *testing.T, v victim) {
				v.write(t, "evidence/archive.warc.gz", string(v.read(t, "evidence/archive.warc.gz"))+other(t, "evidence/archive.warc.gz"))
			},
			tries: []try{{"deep_research_citations_validate", judged, ""}},
			holds: func(t *testing.T, v victim) {
				if index := string(v.read(t, "evidence/index.json")); strings.Count(index, `"offset"`) < 2 {
					t.Error(index)
				}
			}},
		{wants: "the records of the run beside it", gap: withoutGap, at: "in citations",
			given: func(t *testing.T, v victim) {
				v.office.run("beside").write(t, "citations/citations.jsonl", other(t, "citations/citations.jsonl"))
			},
			tries: append([]try{
				{"deep_research_citations_validate", strings.Replace(judged, `,"online`, `,"citations_path":"$DIR/runs/beside/citations/citations.jsonl","online`, 1), tidegate.PathNotAllowed},
				{"deep_research_citations_validate", judged, ""},
			}, refused...), holds: notPassed},
	})
}
