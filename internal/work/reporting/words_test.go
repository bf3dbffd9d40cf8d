package reporting_test

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// greek is a sentence that no language of reports has.
const greek = "Ὁ λιμὴν ἔχει δύο ναῦς"

// everyStanding are sentences of which each stands in another way.
func everyStanding(t *testing.T) *evidence.Claims {
	t.Helper()
	verdict := func(v string) *evidence.Verdict {
		return &evidence.Verdict{Verdict: v, Words: greek, Because: greek, Look: 1}
	}
	fault := func(code tidegate.Code, rule string) []claim.Finding {
		return []claim.Finding{{Rule: rule, Level: claim.Fault, Text: greek, Code: code}}
	}
	c := &evidence.Claims{SchemaVersion: evidence.ClaimsVersion, Rules: evidence.Rules, Pairs: evidence.Pairs{Asked: 6, Hard: 3}}
	for _, s := range []evidence.Claim{
		{Form: evidence.Cited, Standing: claim.Found, Verdict: verdict(evidence.Supported)},
		{Form: evidence.Cited, Standing: claim.Weak, Verdict: verdict(evidence.Supported)},
		{Form: evidence.Cited, Standing: claim.Found, Verdict: verdict(evidence.Partly)},
		{Form: evidence.Cited, Standing: claim.Found, Verdict: verdict(evidence.Unclear)},
		{Form: evidence.Carried, Standing: claim.Found, Verdict: verdict(evidence.Unsupported)},
		{Form: evidence.Inferred, Standing: claim.Found, Verdict: verdict(evidence.Supported)},
		{Form: evidence.Cited, Standing: claim.Weak},
		{Form: evidence.Frame},
		{Form: evidence.Frame, Verdict: verdict(evidence.Supported)},
		{Form: evidence.Cited, Standing: claim.Missing, Findings: fault(tidegate.QuotationNotFound, "quotations"), Verdict: verdict(evidence.Supported)},
		{Form: evidence.Cited, Standing: claim.Missing, Findings: fault(tidegate.NumberNotFound, "numbers"), Verdict: &evidence.Verdict{Verdict: evidence.Supported, Words: "δύο 2", Look: 1}},
		{Form: evidence.Cited, Standing: claim.Found, Accepted: &evidence.Acceptance{By: "Ἀδα", Reason: greek}},
		{Form: evidence.Cited, Standing: claim.Found, Verdict: verdict(evidence.Supported), Calculation: &evidence.Calculation{Text: "1 + 2 = 3",
			Operands: []evidence.Operand{{Text: "1", From: evidence.FromResult}, {Text: "2", From: evidence.FromConstant}, {Text: "3"}, {Text: "4", From: "cid_a"}}}},
	} {
		s.ID, s.Text, s.CIDs, s.Windows = "c"+string(rune('a'+len(c.Sentences))), greek, []string{"cid_a"}, []claim.Window{{CID: "cid_a", Text: greek, Title: greek}}
		c.Sentences = append(c.Sentences, s)
	}
	return c
}

// fullReport is a report with all that it can say of itself. All that others wrote is
// Greek.
func fullReport(t *testing.T, language string, reader bool) paper.Report {
	t.Helper()
	claims := everyStanding(t)
	r := paper.Report{Question: greek, RunID: "ῥ", CreatedAt: "2026-02-03T04:05:06Z", Program: "tidegate", Language: language, Unsourced: true,
		Partial: reporting.NotEnded(language, run.Paused, run.Synthesis), Cost: paper.Cost{InputTokens: 12000, OutputTokens: 3000}, LeftOut: []paper.Gap{{ID: "γ", Priority: "P1", Text: greek}},
		Contracts: []paper.Contract{{ID: "α", Title: greek, Wave: 1, Words: 5, MaxWords: 9, Sources: 1, MaxSources: 2, Sections: []string{greek}}}}
	for _, status := range []run.Status{run.Created, run.Running, run.Paused, run.Failed, run.Cancelled} {
		for _, stage := range []run.Stage{run.Init, run.Perspectives, run.Wave1, run.Pivot, run.Wave2, run.Citations, run.Summaries, run.Synthesis, run.Review, run.Finalize} {
			r.Notes = append(r.Notes, reporting.NotEnded(language, status, stage))
		}
	}
	for _, by := range []evidence.Readers{{}, {Unsourced: true}, {Off: true}, {None: true}, {OneAgent: true}, {Undriven: true}, {Recorded: true}, {Person: true}, {Adapted: true}, {Unfit: 1}, {Unfit: 2}} {
		r.Notes = append(r.Notes, evidence.TrustLineIn(language, claims, by), evidence.TrustLineIn(language, nil, by))
	}
	untested := *claims
	untested.Pairs = evidence.Pairs{}
	r.Trust = evidence.TrustLineIn(language, &untested, evidence.Readers{})
	text := "## " + greek + "\n\n"
	part := paper.Part{}
	for i, stand := range claims.Stands(reader) {
		s := paper.ShownSentence{Claim: claims.Sentences[i], Stand: stand, Reader: []string{sentences.ReadByPerson, sentences.ReadByHand, ""}[i%3], Start: len(text)}
		mark := " [@cid_a]"
		switch {
		case s.Form == evidence.Inferred:
			mark = " [inferred from @cid_a @run]"
		case s.Calculation != nil:
			mark = " [@cid_a] [calculated: 1 + 2 = 3]"
		}
		text += greek + mark
		s.End = len(text)
		text += "\n\n"
		part.Sentences = append(part.Sentences, s)
	}
	part.Text = []byte(text + "| " + greek + " | ναῦς |\n|---|---|\n| Α | 1 |\n| Β | 2 |\n\n[chart: bar]\n")
	r.Parts = append(r.Parts, part)
	for _, origin := range []*source.Origin{nil, {Kind: source.FromSearch, Rank: 2, Search: "σ"}, {Kind: source.FromLink, Page: "σ"}, {Kind: source.FromPerson}, {Kind: source.FromClient}, {Kind: source.FromNowhere}} {
		r.Sources = append(r.Sources, paper.Source{CID: "cid_" + string(rune('a'+len(r.Sources))), Title: greek, URL: "https://σ.example/", Status: "valid", Origin: origin.In(language), FetchedAt: r.CreatedAt, Text: greek})
	}
	r.Sources[1].Undated, r.Sources[2].Attached, r.Sources[3].File, r.Sources[4].ReplacedBy = true, true, "ναῦς", "https://ναῦς.example/"
	for _, rule := range source.Rules() {
		if rule.Status != source.Valid {
			r.Sources = append(r.Sources, paper.Source{CID: "cid_" + rule.Name, Title: greek, URL: "https://σ.example/", Status: string(rule.Status), Reason: rule.Reason + ": " + greek})
		}
	}
	for i, row := range run.GateTable {
		g := paper.GateLine{ID: row.ID, Name: row.Name, Status: []string{"pass", "fail", "not_run"}[i%3]}
		if i == 3 {
			g.Accepted = greek
		}
		r.Gates = append(r.Gates, g)
	}
	for _, role := range reporting.Roles() {
		r.Agents = append(r.Agents, paper.Agent{Role: role, Driver: evidence.Say(language, "by hand"), Answers: 2})
	}
	for _, c := range []run.Confinement{{Mode: run.ModeConfined, System: "σ", ABI: 6}, {Mode: run.ModeUnconfined}, {Mode: run.ModeUnconfined, By: run.ByWorker}} {
		r.Confined = append(r.Confined, c.In(language))
	}
	for _, d := range []run.Decided{{At: "2026-02-03T04:05:06Z", What: run.AcceptedGate, About: "E", Reason: greek}, {What: run.AcceptedGate, About: "E", By: "Ἀδα"}, {What: run.AcceptedGate, About: "E", By: "Ἀδα", Signed: true}} {
		r.Decisions = append(r.Decisions, d.In(language)) // that every kind is told, a test of package run shows
	}
	for _, p := range []policy.Policy{{AllowDomains: []string{"σ"}, DenyDomains: []string{"σ"}, Since: "2020", Languages: []string{"σ"}, Classes: []string{"σ"}}, {Since: "2020", Dated: true}, {Dated: true}} {
		r.Allowed = append(r.Allowed, p.Lines(language)...)
	}
	r.Allowed = append(r.Allowed, run.Frozen{RunID: "σ", Root: "σ"}.Lines(language)...)
	return r
}

var (
	styles   = regexp.MustCompile(`(?s)<(style|title)[^>]*>.*?</(style|title)>`)
	labels   = regexp.MustCompile(`(?:aria-label|alt)="([^"]*)"`)
	tags     = regexp.MustCompile(`(?s)<[^>]*>`)
	targets  = regexp.MustCompile(`\]\([^)]*\)`)
	entities = regexp.MustCompile(`&[a-z]+;`)
	letters  = regexp.MustCompile(`\pL{3,}`)
)

// said are the words that somebody reads in a report, in all formats that have words of
// their own.
func said(t *testing.T, r paper.Report) map[string]bool {
	t.Helper()
	text := targets.ReplaceAllString(string(r.Markdown()), "]")
	for _, page := range [][]byte{r.HTML(), r.PrintHTML()} {
		page = styles.ReplaceAll(page, nil)
		for _, label := range labels.FindAllSubmatch(page, -1) {
			text += "\n" + string(label[1])
		}
		text += "\n" + string(page)
	}
	archive := r.Docx()
	z := must.Get(zip.NewReader(bytes.NewReader(archive), int64(len(archive))))(t)
	f := must.Get(z.Open("word/document.xml"))(t)
	document := must.Get(io.ReadAll(f))(t)
	text += "\n" + string(document)
	all := map[string]bool{}
	for _, word := range letters.FindAllString(entities.ReplaceAllString(tags.ReplaceAllString(text, " "), " "), -1) {
		all[strings.ToLower(word)] = true
	}
	return all
}

// TestNoEnglishIsLeftInAReport: whatever a report in another language has in common with
// the English one is a word of that language, too, a name, or an address. The short form
// has one language in four.
func TestNoEnglishIsLeftInAReport(t *testing.T) {
	table := must.Get(os.ReadFile("../../rule/evidence/lists/words.txt"))(t)
	for _, reader := range []bool{true, false} {
		english := said(t, fullReport(t, "en", reader))
		for column, language := range evidence.Languages() {
			if column == 0 || column%full.Stride(len(evidence.Languages()), 4) > 0 {
				continue
			}
			own := map[string]bool{"tidegate": true, "https": true, "example": true, "utc": true, "usd": true, "evidence": true /* the name of rules */, "cid": true}
			for line := range strings.Lines(string(table)) {
				if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) == len(evidence.Languages()) {
					for _, word := range letters.FindAllString(cells[column], -1) {
						own[strings.ToLower(word)] = true
					}
				}
			}
			var left []string
			for _, word := range slices.Sorted(maps.Keys(said(t, fullReport(t, language, reader)))) {
				if english[word] && !own[word] && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
					left = append(left, word)
				}
			}
			if len(left) > 0 {
				t.Errorf("a report in %s says %s", language, strings.Join(left, ", "))
			}
		}
	}
}

// TestLinesInWords: what a person reads of the lines that say more than one thing.
func TestLinesInWords(t *testing.T) {
	for _, c := range []struct {
		event run.Event
		line  tidegate.Details
		want  reporting.Words
	}{
		{run.EventUnfit, tidegate.Pairs("job_id", "verify.1", "reader", "codex gpt-5"), reporting.Words{Job: "verify.1", Text: "codex gpt-5 missed too many pairs, and reads no more", Mark: report.Fail}},
		{run.EventVerdict, tidegate.Pairs("job_id", "review", "attempt", 2, "accepted", true), reporting.Words{Job: "review", Text: "attempt 2: accepted", Mark: report.Pass}},
		{run.EventVerdict, tidegate.Pairs("attempt", 1, "faults", []string{"NO_CITATION", "TOO_LONG"}), reporting.Words{Text: "attempt 1: refused, NO_CITATION, TOO_LONG", Mark: report.Fail}},
		{run.EventMoved, tidegate.Pairs("from", "review", "to", "finalize", "status", "completed"), reporting.Words{Text: "review → finalize, completed", Mark: report.Pass}},
		{run.EventAccepted, tidegate.Pairs("what", "claim", "claim", "x1"), reporting.Words{Text: "a person accepted the sentence x1"}},
		{run.EventSearched, tidegate.Pairs("failed", []tidegate.Details{tidegate.Pairs("reason", "brave: 429")}), reporting.Words{Text: "no search service answers; brave: 429", Mark: report.Fail}},
		{run.EventSources, tidegate.Pairs("validated", 3, "statuses", tidegate.Pairs("valid", 1, "paywalled", 1, "invalid", 1)), reporting.Words{Text: "2 of 3 sources can be cited"}},
		{run.EventSources, tidegate.Pairs("extracted", 3), reporting.Words{}},
		{run.EventAttached, tidegate.Pairs("cid", "cid_0123456789abcdef", "name", "tugs.md"), reporting.Words{Text: "a person attached tugs.md to cid_01234567"}},
		{run.EventAttached, tidegate.Pairs("cid", "cid_0123456789abcdef"), reporting.Words{Text: "a person attached a file to cid_01234567"}},
		{run.EventFiles, nil, reporting.Words{}},
	} {
		got, ok := reporting.InWords(run.Entry{Event: c.event, Entry: codec.Of(c.line)})
		if got != c.want || ok != (c.want.Text != "") {
			t.Errorf("%s: %+v, %v", c.event, got, ok)
		}
	}
}
