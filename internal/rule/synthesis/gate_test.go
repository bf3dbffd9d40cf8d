package synthesis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// metric is a figure of a gate as it is printed.
func metric(t *testing.T, g synthesis.Gate, key string) string {
	t.Helper()
	value, ok := g.Metrics.Get(key)
	if !ok {
		t.Fatalf("gate %s has no metric %s", g.ID, key)
	}
	text := must.Get(codec.MarshalLine(value))(t)
	return string(text)
}

// TestGoldenDigests are the vectors of the earlier system.
func TestGoldenDigests(t *testing.T) {
	draft := []byte("## Summary\nRevenue grew 20% [@cid_a]\n")
	pool := []synthesis.Citation{{CID: "cid_a"}, {CID: "cid_b"}}
	passed, faults := synthesis.ParseReview([]byte(`{"decision":"PASS","findings":[],"directives":[]}`), draft, true)
	if faults != nil {
		t.Fatal(faults)
	}
	for name, test := range map[string]struct{ got, want string }{
		"gate E": {
			synthesis.GateE(synthesis.SynthesisFacts{RunID: "r1", Draft: draft}, synthesis.Judge(markdown.Read(draft), synthesis.Facts{Citations: pool})).InputsDigest,
			"sha256:ba34915908c5f2ff0bcd0dea0d34d0a34e010ecdc536bae50557a7ee37286366"},
		"gate F": {
			synthesis.GateF(synthesis.RolloutFacts{RunID: "r1", Sensitivity: synthesis.NoWeb, CitationsMode: "offline"}).InputsDigest,
			"sha256:442e66ec37eb1f570b269b30af8422c0ca813ab65238d80f3c91676e43e5093d"},
		"review": {
			passed.InputsDigest("r1"),
			"sha256:b937596859856fa70bf40ed4c483f471aa098ac85371f1ef76dc800586810a11"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %s, want %s", name, test.got, test.want)
		}
	}
}

// judged is a draft of a body, judged with three sources of which two are one.
func judged(body string) (synthesis.SynthesisFacts, synthesis.Result) {
	draft := []byte(body + strings.ReplaceAll(sections, " [@a]", ""))
	pool := []synthesis.Citation{{CID: "a"}, {CID: "b", SameAs: "a"}, {CID: "p"}}
	return synthesis.SynthesisFacts{RunID: "r1", Draft: draft}, synthesis.Judge(markdown.Read(draft), synthesis.Facts{Citations: pool})
}

func TestGateE(t *testing.T) {
	for _, test := range []struct {
		name, body                                                           string
		generated, packGenerated                                             bool
		status, utilization, duplicates, sections, uncited, warnings, faults string
	}{
		{name: "clean", body: "It has 20 tugs [@a]. It has 4 docks [@p].\n",
			status: "pass", utilization: "1", duplicates: "0", sections: "100", uncited: "0"},
		{name: "no mentions", body: "Loud.\n",
			status: "pass", utilization: "0", duplicates: "1", sections: "100", uncited: "0", warnings: "HIGH_DUPLICATE_CITATION_RATE LOW_CITATION_UTILIZATION"},
		{name: "a page under two cids is one source", body: "Loud [@a], very loud [@b].\n",
			status: "pass", utilization: "0.5", duplicates: "0.5", sections: "100", uncited: "0", warnings: "HIGH_DUPLICATE_CITATION_RATE LOW_CITATION_UTILIZATION"},
		{name: "one mention in six repeats", body: "Loud [@a] [@a] [@a] [@p] [@p] [@p].\n",
			status: "pass", utilization: "1", duplicates: "0.666667", sections: "100", uncited: "0", warnings: "HIGH_DUPLICATE_CITATION_RATE"},
		{name: "hidden mentions count for nothing", body: "Loud [@a]. `[@p]` <!-- [@p] -->\n",
			status: "fail", utilization: "0.5", duplicates: "0", sections: "100", uncited: "0", warnings: "LOW_CITATION_UTILIZATION", faults: "HTML_NOT_ALLOWED"},
		{name: "two numbers", body: "20 tugs and 4 docks. [@x]\n",
			status: "fail", utilization: "0", duplicates: "1", sections: "100", uncited: "2", warnings: "HIGH_DUPLICATE_CITATION_RATE LOW_CITATION_UTILIZATION", faults: "UNKNOWN_CID"},
		{name: "made by rule", body: "Loud [@a] [@p].\n", generated: true, packGenerated: true,
			status: "fail", utilization: "1", duplicates: "0", sections: "100", uncited: "0", warnings: "SCAFFOLD_SUMMARY_PACK", faults: "SCAFFOLD_SYNTHESIS"},
		{name: "pack made by rule", body: "Loud [@a] [@p].\n", packGenerated: true,
			status: "pass", utilization: "1", duplicates: "0", sections: "100", uncited: "0", warnings: "SCAFFOLD_SUMMARY_PACK"},
	} {
		t.Run(test.name, func(t *testing.T) {
			facts, result := judged(test.body)
			facts.Generated, facts.PackGenerated = test.generated, test.packGenerated
			g := synthesis.GateE(facts, result)
			got := fmt.Sprintln(g.Status(), metric(t, g, "citation_utilization_rate"), metric(t, g, "duplicate_citation_rate"),
				metric(t, g, "report_sections_present"), metric(t, g, "uncited_numeric_claims"), strings.Join(g.Warnings, " "), strings.Join(g.Faults, " "))
			want := fmt.Sprintln(test.status, test.utilization, test.duplicates, test.sections, test.uncited, test.warnings, test.faults)
			if got != want {
				t.Errorf("got  %swant %s", got, want)
			}
			if (g.Status() == synthesis.GateFail) != (g.Notes != "") {
				t.Errorf("status %s with the notes %q", g.Status(), g.Notes)
			}
		})
	}
}

func TestGateEWithoutSources(t *testing.T) {
	draft := []byte("It has 20 tugs.\n" + strings.ReplaceAll(sections, " [@a]", ""))
	g := synthesis.GateE(synthesis.SynthesisFacts{RunID: "r1", Draft: draft}, synthesis.Judge(markdown.Read(draft), synthesis.Facts{Unsourced: true}))
	if g.Status() != synthesis.GatePass || metric(t, g, "unsourced") != "1" || len(g.Warnings) != 0 {
		t.Errorf("%+v", g)
	}
}

// TestSectionsPresent rounds down, as the earlier system does.
func TestSectionsPresent(t *testing.T) {
	draft := []byte("## Summary\n## Evidence\n## Caveats\n")
	g := synthesis.GateE(synthesis.SynthesisFacts{Draft: draft}, synthesis.Judge(markdown.Read(draft), synthesis.Facts{}))
	if got := metric(t, g, "report_sections_present"); got != "75" || g.Status() != synthesis.GateFail {
		t.Errorf("%s %s", got, g.Status())
	}
}

func TestGateD(t *testing.T) {
	summary := func(id string, bytes int) synthesis.SummaryFacts {
		return synthesis.SummaryFacts{PerspectiveID: id, Bytes: bytes}
	}
	for _, test := range []struct {
		name         string
		perspectives string
		summaries    []synthesis.SummaryFacts
		status       string
		ratio        string
		warnings     string
	}{
		{"all there", "p1 p2", []synthesis.SummaryFacts{summary("p1", 1024), summary("p2", 2048)}, "pass", "1", ""},
		{"equal to both caps", "p1 p2", []synthesis.SummaryFacts{summary("p1", 2048), summary("p2", 1536)}, "pass", "1", ""},
		{"one byte above the cap", "p1", []synthesis.SummaryFacts{summary("p1", 2049)}, "fail", "1", "LARGE_SUMMARIES:1"},
		{"one byte above the total", "p1 p2", []synthesis.SummaryFacts{summary("p1", 2048), summary("p2", 1537)}, "fail", "1", "TOTAL_TOO_LARGE"},
		{"one left out of eleven", "a b c d e f g h i j k", summaries("a b c d e f g h i j"), "fail", "0.909091", "MISSING_SUMMARIES:1"},
		{"one has no file", "p1 p2", []synthesis.SummaryFacts{summary("p1", 1), {PerspectiveID: "p2", Missing: true}}, "fail", "0.5", "MISSING_SUMMARIES:1"},
		{"one twice instead of the other", "p1 p2", []synthesis.SummaryFacts{summary("p1", 1), summary("p1", 1)}, "fail", "0.5", "DUPLICATE_SUMMARIES:1 MISSING_SUMMARIES:1"},
		{"of no perspective", "p1", []synthesis.SummaryFacts{summary("p1", 1), summary("x", 1)}, "fail", "1", "UNKNOWN_SUMMARIES:1"},
		{"cites what the pool does not have", "p1", []synthesis.SummaryFacts{{PerspectiveID: "p1", Bytes: 1, Faults: 2}}, "fail", "1", "FAULTY_SUMMARIES:1"},
		{"no perspectives", "", nil, "fail", "0", "NO_PERSPECTIVES"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := synthesis.GateD(synthesis.PackFacts{RunID: "r1", Perspectives: strings.Fields(test.perspectives), Summaries: test.summaries,
				MaxSummaryKB: 2, MaxTotalKB: 3.5, PackPath: "summaries/summary-pack.json", Entries: codec.Of([]string{})})
			got := []string{g.Status(), metric(t, g, "summary_count_ratio"), strings.Join(g.Faults, " ")}
			if diff := cmp.Diff([]string{test.status, test.ratio, test.warnings}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func summaries(ids string) (out []synthesis.SummaryFacts) {
	for _, id := range strings.Fields(ids) {
		out = append(out, synthesis.SummaryFacts{PerspectiveID: id, Bytes: 100})
	}
	return out
}

// TestRateRoundsHalfUp: the earlier system's rounding of 1000/1024 and 104/1024.
func TestRateRoundsHalfUp(t *testing.T) {
	for rate, want := range map[synthesis.Rate]string{
		{1000, 1024}: "0.976563", {104, 1024}: "0.101563", {4, 7}: "0.571429", {0, 3}: "0", {3, 3}: "1", {3, 2}: "1.5", {0, 0}: "0",
		{1, 3_000_000}: "0", {100, 10}: "10",
	} {
		if got := rate.String(); got != want {
			t.Errorf("%d/%d = %s, want %s", rate.Of, rate.In, got, want)
		}
	}
}

func TestGateF(t *testing.T) {
	good := synthesis.RolloutFacts{RunID: "r1", Sensitivity: synthesis.Normal, FinalSynthesis: true, CitationsMode: "online",
		Fetches: []synthesis.Fetch{{URL: "https://x.org/a", Sensitivity: synthesis.Normal}},
		Cited:   []synthesis.CitedSource{{CID: "a", Status: "valid"}, {CID: "p", Status: "paywalled"}},
		Budget:  []synthesis.Spent{{Name: "max_cost_usd", Used: 5, Limit: 5}, {Name: "max_tokens", Used: 9}}}
	for _, test := range []struct {
		name     string
		change   func(*synthesis.RolloutFacts)
		warnings string
	}{
		{"kept everything", func(*synthesis.RolloutFacts) {}, ""},
		{"no endpoint for the earlier system", func(f *synthesis.RolloutFacts) { f.RunConfig = true }, ""},
		{"no synthesis", func(f *synthesis.RolloutFacts) { f.FinalSynthesis = false }, "NO_FINAL_SYNTHESIS"},
		{"fetched without web", func(f *synthesis.RolloutFacts) {
			f.Sensitivity, f.Fetches[0].Sensitivity = synthesis.NoWeb, synthesis.NoWeb
		}, "SENSITIVITY_NOT_HONOURED:1"},
		{"fetched under another sensitivity", func(f *synthesis.RolloutFacts) { f.Sensitivity = synthesis.Restricted }, "SENSITIVITY_NOT_HONOURED:1"},
		{"a line of the log without one", func(f *synthesis.RolloutFacts) { f.Fetches[0].Sensitivity = "" }, "SENSITIVITY_NOT_HONOURED:1"},
		{"nothing fetched without web", func(f *synthesis.RolloutFacts) { f.Sensitivity, f.Fetches = synthesis.NoWeb, nil }, ""},
		{"blocked source cited", func(f *synthesis.RolloutFacts) { f.Cited[0].Status = "blocked" }, "BLOCKED_SOURCES_CITED:1"},
		{"nothing cited", func(f *synthesis.RolloutFacts) { f.Cited = nil }, "NOTHING_CITED"},
		{"nothing cited, as a person decided", func(f *synthesis.RolloutFacts) { f.Cited, f.Unsourced = nil, true }, ""},
		{"decision not signed", func(f *synthesis.RolloutFacts) { f.Unsigned = []string{"gate C accepted"} }, "UNSIGNED_DECISIONS:1"},
		{"budget exceeded", func(f *synthesis.RolloutFacts) { f.Budget[0].Used = 5.01 }, "BUDGET_EXCEEDED:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			facts := good
			facts.Fetches = append([]synthesis.Fetch{}, good.Fetches...)
			facts.Cited = append([]synthesis.CitedSource{}, good.Cited...)
			facts.Budget = append([]synthesis.Spent{}, good.Budget...)
			test.change(&facts)
			g := synthesis.GateF(facts)
			if got := strings.Join(g.Faults, " "); got != test.warnings || (g.Status() == synthesis.GatePass) != (test.warnings == "") {
				t.Errorf("%s %q, want %q", g.Status(), got, test.warnings)
			}
		})
	}
}
