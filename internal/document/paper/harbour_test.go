package paper_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// The pages that the harbour's synthesis cites, by short names.
var harbourPages = map[string]paper.Source{
	"cost": {
		Title: "What a tug costs: eleven harbour tugs compared", Author: "M. Holt; I. Kessel; T. Arnaud; R. Okafor", Publisher: "National Port Institute", Date: "2025-11-04",
		URL: "https://ports.example/reports/tug-costs-2025", Status: "valid", FetchedAt: "2026-02-03T09:14:22Z",
		Text: "Summary for decision makers. We compared eleven harbour tugs of 70 tonnes bollard pull over three years of service, four of them electric. " +
			"Energy is the largest difference. Electricity for an electric tug came to 118 euros per working hour at the prices of 2025, diesel for its conventional twin to 341 euros. " +
			"Maintenance was 41 euros for the electric boats and 97 euros for the others; crews cost the same, 290 euros per hour. " +
			"Over a service life of 25 years, and with the purchase price written off, an electric tug is 1.9 million euros cheaper than its diesel twin. " +
			"The result is sensitive to one assumption only: at an electricity price of 0.31 euros per kWh the advantage is gone, and the two kinds cost the same to run.",
	},
	"authority": {
		Title: "One season with our electric tug", Author: "P. Sandoval", Publisher: "Port Authority of Nordhaven", Date: "2024-12-11",
		URL: "https://nordhaven.example/news/2024/electric-tug", Status: "valid", FetchedAt: "2026-02-03T09:14:25Z",
		Text: "The Havfrue entered service in the spring of 2023. She was not cheap, and we were asked often whether she would ever pay. " +
			"By our books the boat has paid back a fifth of its extra price in the first fourteen months, with electricity bought at the market price. " +
			"Our masters were sceptical. After one season they report less noise, less vibration and no smell of diesel in the mess, and two of them do not want to go back. " +
			"What we learned: an electric tug is not a diesel tug with another engine. It is a smaller number of hours, planned better. We plan her day the evening before.",
	},
	"logs": {
		Title: "Tug assists 2025", File: "tug-log-2025.csv", Attached: true,
		URL: "https://files.invalid/tug-log-2025.csv", Status: "valid", FetchedAt: "2026-02-03T08:55:00Z",
		Text: "Annual summary of the harbour master. Assists in 2025: 6212. Median duration 41 minutes. Share of assists that ended within 90 minutes: 94 %. " +
			"Longest assist: 7 hours 5 minutes (MV Castor, 12 November). Assists longer than four hours: 35.",
	},
	"yard": {
		Title: "RT-70E: technical description and warranty", Publisher: "Brandt & Sons Shipyard", Date: "2025-06-01",
		URL: "https://brandt-yard.example/rt-70e", Status: "valid", FetchedAt: "2026-02-03T09:14:31Z",
		Text: "The RT-70E is the first harbour tug of 70 tonnes bollard pull that runs on batteries alone. The first boat was delivered in 2022 for 16.2 million euros. " +
			"Battery capacity 2,800 kWh, mean load in harbour service 620 kW. We warrant 80 % of the capacity after 8,000 cycles. " +
			"No boat of this class has been in service for longer than four years, and we publish what we learn from each.",
	},
	"paper": {
		Title: "Shipyard wins third order for electric tugs", Publisher: "The Harbour Gazette", Date: "2025-09-19",
		URL: "https://gazette.example/2025/09/third-order", Status: "paywalled", Reason: "the page says that it is for subscribers", FetchedAt: "2026-02-03T09:14:40Z",
		Text: "Brandt & Sons has won a third order for its battery tug. The price is said to be 14.4 million euros a boat, a tenth less than three years ago. Subscribe to read on.",
	},
	"grid": {
		Title: "Connection study for the inner basin", Publisher: "Coastal Grid Company", Date: "2026-01-15",
		URL: "https://grid.example/studies/basin.pdf", ReplacedBy: "https://archive.example/2026/grid-basin.pdf", Status: "valid", FetchedAt: "2026-02-04T16:02:10Z",
		Text: "Available power in the inner basin: 1.2 MW after the existing cranes. Two tugs that charge at the same time need 3 MW. " +
			"One charger of 1.5 MW can be connected to the existing line outside the hours of the cranes. A second charger needs the new substation, which will not be in service before the spring of 2029.",
	},
	"owners": {
		Title: "Batteries at sea: a sober look", Publisher: "Association of Coastal Shipowners", Date: "2023-03",
		URL: "https://owners.example/papers/sober-look", Status: "paywalled", Reason: "only the abstract is free to read", FetchedAt: "2026-02-03T09:14:44Z",
	},
	"mirror": {
		Title: "What a tug costs", URL: "https://mirror.example/tug-costs-2025", Status: "valid", FetchedAt: "2026-02-03T09:14:23Z",
	},
	"forum": {
		Title: "Electric tugs? Not in my lifetime", URL: "https://forum.example/t/8812", Status: "blocked", Reason: "the site asks for a login (403)", FetchedAt: "2026-02-03T09:15:02Z",
	},
	"gone": {
		Title: "Tug market outlook", Publisher: "Maritime Data", URL: "https://maritime.example/outlook-2021", Status: "invalid", Reason: "the page does not exist (404)", FetchedAt: "2026-02-03T09:15:04Z",
	},
}

// harbourOrder is the order of the run's records.
var harbourOrder = strings.Fields("authority cost forum gone grid logs mirror owners paper yard")

func cid(name string) string {
	sum := sha256.Sum256([]byte(harbourPages[name].URL))
	return "cid_" + hex.EncodeToString(sum[:])
}

// hold holds the sentences of a draft against the pages of a report's sources.
func hold(t testing.TB, r paper.Report, draft string, facts evidence.Facts) (evidence.Report, evidence.Claims) {
	t.Helper()
	facts.Language, facts.Question = "en", r.Question
	for _, s := range r.Sources {
		facts.Sources = append(facts.Sources, evidence.Source{CID: s.CID, SameAs: s.SameAs})
	}
	read := evidence.Read(markdown.Read([]byte(draft)), facts)
	held := must.Get(read.Hold(t.Context(), "en", func(id string) (*claim.Page, error) {
		for _, s := range r.Sources {
			if s.CID == id {
				return &claim.Page{CID: id, Text: s.Text, Title: s.Title, Language: "en"}, nil
			}
		}
		return &claim.Page{CID: id, Text: "This run asked: " + r.Question}, nil
	}, claim.Titles{}))(t)
	return read, evidence.Assemble(read, "sha256:1", nil, held, nil)
}

// shown are sentences as a report shows them.
func shown(read evidence.Report, claims evidence.Claims, reader bool) (all []paper.ShownSentence) {
	for i, stand := range claims.Stands(reader) {
		s := paper.ShownSentence{Claim: claims.Sentences[i], Stand: stand}
		s.Start, s.End = read.Sentences[i].Start, read.Sentences[i].End
		all = append(all, s)
	}
	return all
}

// harbour is the report on the question whether the harbour should buy electric
// tugs.
func harbour(t testing.TB) paper.Report {
	text := must.Get(os.ReadFile("testdata/harbour/synthesis.md"))(t)
	draft := string(text)
	var sources []paper.Source
	for _, name := range harbourOrder {
		s := harbourPages[name]
		s.CID = cid(name)
		if name == "mirror" {
			s.SameAs = cid("cost")
		}
		sources = append(sources, s)
		draft = strings.ReplaceAll(draft, "[@"+name+"]", "[@"+s.CID+"]")
	}
	// The institute's report is also known under another address.
	draft = strings.Replace(draft, "cost the same to run [@"+cid("cost")+"]", "cost the same to run [@"+cid("mirror")+"]", 1)
	r := paper.Report{
		Question: "Should the harbour buy electric tugs?", RunID: "harbour-tugs-2026", CreatedAt: "2026-02-03T08:50:00Z", Program: "tidegate 1.0.0",
		Sources: sources,
		Gates: []paper.GateLine{
			{ID: "A", Name: "Planning completeness", Status: "pass"},
			{ID: "B", Name: "Wave output contract compliance", Status: "pass"},
			{ID: "C", Name: "Citation validation integrity", Status: "pass", Accepted: "the forum is not needed; the two others are cited for nothing"},
			{ID: "D", Name: "Summary pack boundedness", Status: "pass"},
			{ID: "E", Name: "Synthesis quality", Status: "pass", Notes: "NUMBER_NOT_FOUND as a warning"},
			{ID: "F", Name: "Rollout safety", Status: "pass"},
		},
		Contracts: []paper.Contract{
			{ID: "costs", Title: "Cost over the life of a tug", Wave: 1, Words: 742, MaxWords: 900, Sources: 5, MaxSources: 8, Sections: []string{"Findings", "Sources", "Gaps"}},
			{ID: "operations", Title: "What tugs do all day", Wave: 1, Words: 655, MaxWords: 900, Sources: 3, MaxSources: 8, Sections: []string{"Findings", "Sources", "Gaps"}},
			{ID: "sceptic", Title: "The case against", Wave: 1, Words: 880, MaxWords: 900, Sources: 4, MaxSources: 8, Sections: []string{"Findings", "Sources", "Gaps"}},
			{ID: "gap_grid", Title: "How much power the basin has", Wave: 2, Words: 310, MaxWords: 900, Sources: 2, MaxSources: 8, Sections: []string{"Findings", "Sources", "Gaps"}},
		},
		Agents: []paper.Agent{
			{Role: "planner", Driver: "claude", Version: "2.1.4", Model: "opus", Answers: 1},
			{Role: "researcher", Driver: "claude", Version: "2.1.4", Model: "sonnet", Answers: 4},
			{Role: "writer", Driver: "claude", Version: "2.1.4", Model: "opus", Answers: 2},
			{Role: "reviewer", Driver: "codex", Version: "0.98.0", Answers: 2},
		},
		Cost:    paper.Cost{InputTokens: 1_284_300, OutputTokens: 61_250, USD: 7.418, Priced: true},
		LeftOut: []paper.Gap{{ID: "gap_sceptic_2", Priority: "P2", Text: "How insurers price a tug whose battery is older than ten years"}},
	}
	read, claims := hold(t, r, draft, evidence.Facts{Template: evidence.Template{Sections: []evidence.Section{{}}}})
	cited := slices.DeleteFunc(shown(read, claims, false), func(s paper.ShownSentence) bool { return len(s.CIDs) == 0 })
	r.Parts = []paper.Part{{Text: []byte(draft), Sentences: cited}}
	return r
}

// TestHarbourPassesGateE: the example is one that the rules let through.
func TestHarbourPassesGateE(t *testing.T) {
	r := harbour(t)
	var pool []synthesis.Citation
	for _, s := range r.Sources {
		if s.Status == "valid" || s.Status == "paywalled" {
			pool = append(pool, synthesis.Citation{CID: s.CID, SameAs: s.SameAs})
		}
	}
	result := synthesis.Judge(markdown.Read(r.Parts[0].Text), synthesis.Facts{Citations: pool})
	for _, f := range result.Faults {
		t.Errorf("%+v", f)
	}
	if result.Utilization != (synthesis.Rate{Of: 7, In: 7}) {
		t.Errorf("utilization %v", result.Utilization)
	}
}

func TestHarbourHTML(t *testing.T) {
	golden.Check(t, "testdata/harbour/report.html", harbour(t).HTML())
}

func TestHarbourText(t *testing.T) {
	text := harbour(t).Text(60, false)
	golden.Check(t, "testdata/harbour/report.txt", text)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); report.Columns(line) > 60 && strings.Contains(strings.TrimLeft(line, "- "), " ") {
			t.Errorf("wider than the terminal: %s", line)
		}
	}
	for _, mark := range []string{`\[`, "](", "data:", "**", "#source", "cid_"} {
		if strings.Contains(string(text), mark) {
			t.Errorf("the text has %q", mark)
		}
	}
}

func TestHarbourMarkdown(t *testing.T) {
	golden.Check(t, "testdata/harbour/report.md", harbour(t).Markdown())
}
