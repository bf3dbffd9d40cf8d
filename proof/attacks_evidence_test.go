package proof_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
)

// forgedRecord is a record that calls a source valid that nobody fetched.
const forgedRecord = `{"schema_version":"citation.v1","normalized_url":"https://example.org/moon","cid":"c","url":"https://example.org/moon","url_original":"https://example.org/moon","status":"valid","checked_at":"2026-03-04T05:06:07.000Z","found_by":[],"notes":"ok"}` + "\n"

// TestNoAgentBringsItsOwnEvidence: what a source is worth follows from what was
// fetched for the run, and from a person's decisions. No row reaches a network:
// runs at "sources judged" have an archive made from a web in this process, and
// the others fetch nothing.
func TestNoAgentBringsItsOwnEvidence(t *testing.T) {
	t.Parallel()
	judged := `{` + manifestOf + `,"online_dry_run":true,` + because + `}`
	blocked := []try{{"deep_research_stage_advance", resume, tidegate.GateBlocked}}
	notPassed := func(t *testing.T, v victim) { hasNotPassed(t, v, "C") }
	besiege(t, []attack{
		{wants: "a source that was never fetched called valid by a fixture", gap: withoutGap, at: "in citations",
			given: func(t *testing.T, v victim) {
				v.write(t, "citations/fixtures.json", `{"https://example.org/moon":"valid","https://example.org/sun":"valid"}`)
			},
			tries: append([]try{{"deep_research_citations_validate", strings.Replace(judged, `,"online`, `,"online_fixtures_path":"$RUN/citations/fixtures.json","online`, 1), tidegate.InvalidArgs}, {"deep_research_citations_validate", judged, ""}}, blocked...),
			holds: notPassed},
		{wants: "records of its own to count", gap: withoutGap, at: "in citations",
			given: func(t *testing.T, v victim) {
				v.write(t, "citations/citations.jsonl", forgedRecord+strings.ReplaceAll(forgedRecord, "moon", "sun"))
			},
			tries: blocked,
			holds: notPassed},
		{wants: "an archive of another run to count", gap: withoutGap, at: "in citations",
			given: func(t *testing.T, v victim) {
				other := newOffice(t).copied(t, "tides", withoutGap, "sources judged")
				for _, name := range []string{"evidence/archive.warc.gz", "evidence/index.json", "citations/citations.jsonl"} {
					v.write(t, name, string(other.read(t, name)))
				}
			},
			tries: append(slices.Clone(blocked), append([]try{{"deep_research_citations_validate", judged, ""}}, blocked...)...),
			holds: notPassed},
		{wants: "a list that leaves the bad sources out", gap: withoutGap, at: "in citations",
			given: func(t *testing.T, v victim) {
				v.write(t, "citations/normalized-urls.txt", "")
				v.write(t, "citations/url-map.json", `{"schema_version":"url_map.v1","run_id":"tides","items":[]}`)
			},
			tries: append([]try{
				{"deep_research_citations_validate", judged, ""},
			}, blocked...),
			holds: notPassed},
		{wants: "to leave the second wave out", gap: withGap, at: "in citations",
			tries: append([]try{
				{"deep_research_citations_validate", strings.Replace(judged, `,"online`, `,"include_wave2":false,"online`, 1), tidegate.InvalidArgs},
				{"deep_research_citations_validate", judged, ""},
			}, blocked...),
			holds: func(t *testing.T, v victim) {
				if n := strings.Count(string(v.read(t, "citations/citations.jsonl")), "\n"); n != 3 {
					t.Errorf("%d records", n)
				}
			}},
		{wants: "to attach a file, or to name another page", gap: withoutGap, at: "sources judged",
			tries: []try{
				{"deep_research_citations_attach", `{` + manifestOf + `,"cid":"` + sampleCID + `","file_path":"$DIR/drafts/good/moon.md"}`, tidegate.InvalidArgs},
				{"deep_research_citations_replace", `{` + manifestOf + `,"cid":"` + sampleCID + `","url":"https://example.org/sun"}`, tidegate.InvalidArgs},
			}},
		{wants: "gate C kept after an output cites one more source", gap: withoutGap, at: "citations judged", laundering: true,
			given: func(t *testing.T, v victim) {
				v.write(t, "wave-1/moon.md", string(v.read(t, "wave-1/moon.md"))+"- https://example.org/late\n")
			},
			tries: []try{{"deep_research_stage_advance", resume, tidegate.Tampered}}},
		{wants: "gate C kept after a record was written over", gap: withoutGap, at: "citations judged", laundering: true,
			given: func(t *testing.T, v victim) {
				v.write(t, "citations/citations.jsonl", strings.ReplaceAll(string(v.read(t, "citations/citations.jsonl")), `"notes":"ok"`, `"notes":"very ok"`))
			},
			tries: []try{{"deep_research_stage_advance", resume, tidegate.GateBlocked}}},
		{wants: "the archive written over by a tool", gap: withoutGap, at: "sources judged",
			tries: []try{
				{"deep_research_citations_validate", strings.Replace(judged, `,"online`, `,"citations_path":"$RUN/manifest.json","online`, 1), tidegate.PathNotAllowed},
			}},
		{wants: "to read a file that is not its own, by the words that a page must have", gap: withoutGap, at: "sources judged",
			tries: []try{{"deep_research_grounding_check", `{` + manifestOf + `,"document_path":"/etc/passwd"}`, tidegate.PathNotAllowed}}},
	})
}

// TestNoCitationReachesTheInside has an agent cite what only this machine or its
// network can reach, and checks what the built program keeps when it fetches it.
func TestNoCitationReachesTheInside(t *testing.T) {
	t.Parallel()
	urls := []string{
		"http://127.0.0.1/", "http://localhost/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://2130706433/", "http://0x7f.1/", "http://10.0.0.1/", "http://192.168.1.1:80/",
		"http://[::ffff:127.0.0.1]/", "http://metadata.google.internal/", "http://017700000001/", "http://example.invalid/", "https://example.com:22/", "http://localhost./", "http://[fe80::1%25lo]/",
	}
	text := strings.Replace(output("moon", ""), "- https://example.org/moon\n", "- <"+strings.Join(urls, ">\n- <")+">\n", 1)
	v := victim{newOffice(t).copied(t, "tides", withoutGap, "in wave1"), ""}
	v.write(t, "wave-1/moon.md", text)
	out := byCommand(t, v.dir, "deep_research_citations_fetch", v.fill(`{`+manifestOf+`}`))
	fetched, _ := out.Get("fetched").Int() // spellings of one address are one source
	if responded, _ := out.Get("responded").Int(); fetched < 9 || responded != 0 {
		t.Errorf("%d fetched, of which %d responded", fetched, responded)
	}
	unpacked := must.Get(gzip.NewReader(bytes.NewReader(v.read(t, "evidence/archive.warc.gz"))))(t)
	records, err := io.ReadAll(unpacked)
	if err != nil || strings.Count(string(records), `"kind":"refused"`) != int(fetched) || strings.Contains(string(records), "WARC-Type: response") {
		t.Errorf("%v\n%s", err, records)
	}
}
