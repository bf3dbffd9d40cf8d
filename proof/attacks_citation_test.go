package proof_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
)

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
