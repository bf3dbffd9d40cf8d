package audit_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
)

// web answers fetches from memory.
type web map[string]func(c *archive.Capture)

func (w web) fetch(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	for _, url := range urls {
		c := archive.Capture{URL: url, Kind: archive.NoSuchName, Time: noon()}
		if answer := w[url]; answer != nil {
			c.Kind = archive.Responded
			answer(&c)
		}
		packed, err := archive.Pack(c)
		if err != nil {
			return err
		}
		if err := keep([]*archive.Packed{packed}); err != nil {
			return err
		}
	}
	return nil
}

func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

func hop(url string, status int, body string, header ...archive.Field) archive.Hop {
	return archive.Hop{URL: url, Time: noon(), Status: status, Header: append(header, archive.Field{Name: "Content-Type", Value: "text/html; charset=utf-8"}), Body: []byte(body)}
}

// shows is a page with a title and paragraphs.
func shows(url string, status int, title string, paragraphs ...string) func(*archive.Capture) {
	return func(c *archive.Capture) {
		c.Hops = append(c.Hops, hop(url, status, "<!doctype html><html lang=en><title>"+title+"</title><body><h1>"+title+"</h1><p>"+strings.Join(paragraphs, "</p><p>")+"</p>"))
	}
}

func moves(from string, to string, answer func(*archive.Capture)) func(*archive.Capture) {
	return func(c *archive.Capture) {
		c.Hops = append(c.Hops, hop(from, 301, "", archive.Field{Name: "Location", Value: to}))
		answer(c)
	}
}

var ports = []string{"Ardmore", "Belhaven", "Castrup", "Dunmarra", "Elsgate", "Fornhavn", "Gilford", "Hovik", "Inverloch", "Jarlsund", "Kilbride", "Lomvik", "Marstal",
	"Nordby", "Oxelund", "Porthcawl", "Quaymouth", "Rendsvik", "Sandhaven", "Torvik", "Ulverton", "Varberg", "Westray", "Yarmouk", "Zeldam"}

// planted is a report of 200 sentences, and the kind of each.
func planted() (report string, kinds map[string]string, pages web) {
	kinds, pages = map[string]string{}, web{}
	var body, list strings.Builder
	sources := 0
	cite := func(title, url string) int {
		sources++
		fmt.Fprintf(&list, "[%d] %s: %s\n", sources, title, url)
		return sources
	}
	say := func(kind, text string, n int) {
		kinds[text] = kind
		if n > 0 {
			text = fmt.Sprintf("%s [%d].", strings.TrimSuffix(text, "."), n)
		}
		body.WriteString(text + "\n\n")
	}
	for i, p := range ports {
		year, months, people, night, grain, ships := 1990+i, 11+i%7, 213+17*i, 12+i%30, 41_300+1_070*i, 388+9*i
		url := fmt.Sprintf("https://ports.example/%s/terminal", strings.ToLower(p))
		title := "The terminal of " + p
		pages[url] = shows(url, 200, title,
			fmt.Sprintf("The harbour of %s opened its new terminal in %d, after %d months of work on the quay and the sheds.", p, year, months),
			fmt.Sprintf("The port employs %d people today, and %d %% of them work at night, when most ships arrive.", people, night),
			fmt.Sprintf("In the last season it handled %d,%03d tonnes of grain, which is more than in any year before.", grain/1000, grain%1000),
			fmt.Sprintf("“We dredge the channel of %s every spring, whatever the winter has left there”, says the master of the harbour.", p),
			fmt.Sprintf("<table><tr><th>year</th><th>ships</th></tr><tr><td>2019</td><td>%d</td></tr><tr><td>2020</td><td>%d</td></tr></table>", ships, ships+31))
		n := cite(title, url)
		say("supported", fmt.Sprintf("The new terminal of %s was opened in %d, after %d months of work.", p, year, months), n)
		say("supported", fmt.Sprintf("At %s the port has %d people, of whom %d %% work at night.", p, people, night), n)
		say("supported", fmt.Sprintf("Its grain traffic at %s reached %d,%03d tonnes in the last season, a record.", p, grain/1000, grain%1000), n)
		say("supported", fmt.Sprintf("The master of the harbour of %s says that “We dredge the channel of %s every spring”.", p, p), n)
		switch {
		case i < 20:
			say("wrong number", fmt.Sprintf("The port of %s employs %d people.", p, people+1000), n)
		}
		switch {
		case i < 15:
			say("wrong source", fmt.Sprintf("Whale watching from %s draws Canadian novelists and their translators to its lighthouse museum.", p), n)
		}
		switch {
		case i < 10:
			say("altered quotation", fmt.Sprintf("The master of the harbour of %s says: “We dredge the channel of %s every autumn, whatever it costs”.", p, p), n)
			say("another row", fmt.Sprintf("In 2019 %s saw %d ships.", p, ships+31), n)
		}
		about := fmt.Sprintf("The ferry line of %s carried %d passengers in June.", p, 1200+i)
		text := fmt.Sprintf("The ferry line of %s carried %d passengers in June, and the harbour office expects as many again in July and August of this year.", p, 1200+i)
		more := []string{"The office counts tickets at the gate, on paper and by telephone, and publishes the figures on the first day of the following month.", "Nobody knows how many of the passengers are commuters who come back in the evening, and how many are visitors on their way to the islands."}
		other := fmt.Sprintf("https://lines.example/%s/passengers-in-june", strings.ToLower(p))
		title = "Passengers of " + p
		switch {
		case i < 10:
			pages[other] = shows(other, 404, "Not found", "There is no such page.")
			say("dead", about, cite(title, other))
		case i < 15:
			pages[other] = shows(other, 403, "Forbidden", "Access denied.")
			say("walled", about, cite(title, other))
		case i < 20:
			home := "https://lines.example/"
			pages[other] = moves(other, home, shows(home, 200, "Lines", "All lines of the coast.", "Please use the search to find what you are looking for."))
			say("moved to the home page", about, cite(title, other))
		default:
			to := other + "/archive"
			pages[other] = moves(other, to, shows(to, 200, title, append([]string{text}, more...)...))
			say("supported, moved", about, cite(title, other))
		}
		if i < 5 {
			doi := fmt.Sprintf("10.5555/tides.%d", i)
			paper := "https://doi.org/" + doi
			pages[paper] = shows(paper, 200, "Tides at "+p, fmt.Sprintf("We measured a tidal range of %d centimetres at %s over two years, with gauges at three stations on the inner and the outer pier.", 231+i, p))
			registry := "https://api.crossref.org/works/10.5555%2Ftides." + fmt.Sprint(i)
			for _, address := range []string{registry, "https://api.crossref.org/works/" + doi} {
				pages[address] = func(c *archive.Capture) {
					c.Hops = append(c.Hops, archive.Hop{URL: c.URL, Time: noon(), Status: 200, Header: []archive.Field{{Name: "Content-Type", Value: "application/json"}},
						Body: []byte(`{"message":{"title":["Tides at ` + p + `"],"updated-by":[{"type":"retraction","DOI":"10.5555/r"}]}}`)})
				}
			}
			say("retracted", fmt.Sprintf("The tidal range at %s is %d centimetres.", p, 231+i), cite("Tides at "+p, paper))
		}
		if i < 15 {
			say("uncited", fmt.Sprintf("Locals of %s call their %d herring boats the grey fleet.", p, 20+i), 0)
		}
	}
	return "# Ports of the coast\n\n" + body.String() + "## References\n\n" + list.String(), kinds, pages
}

// TestPlantedReport audits a report of 200 sentences of which every one is known, and
// prints how each kind is judged. Of the honest sentences at most two in a hundred are
// called missing; numbers and quotations that were changed are. The number of another row
// stands on the page, so that no rule finds it: a reader is shown the rows.
func TestPlantedReport(t *testing.T) {
	report, kinds, pages := planted()
	if len(kinds) != 200 {
		t.Fatalf("%d sentences are planted", len(kinds))
	}
	home := scratch.Short(t)
	desk := run.Desk{Now: noon, Pinned: true, Program: "test"}
	result := must.Get(audit.Make(t.Context(), desk, pages.fetch, audit.Input{Report: report, Home: filepath.Join(home, "audits")}))(t)
	table, total := map[string]map[string]int{}, map[string]int{}
	for _, s := range result.Sentences {
		kind, known := kinds[s.Text]
		if !known {
			t.Errorf("nobody planted %q", s.Text)
		}
		state := string(s.Standing)
		if state == "" {
			state = string(s.Form)
		}
		if table[kind] == nil {
			table[kind] = map[string]int{}
		}
		table[kind][state]++
		total[kind]++
		if kind == "another row" && !slices.ContainsFunc(s.Windows, func(w foreign.Window) bool { return strings.Contains(w.Text, "year: 2020\tships: ") }) {
			t.Errorf("the rows with their headers are not shown for %q", s.Text)
		}
		if strings.HasPrefix(kind, "supported") && state == "missing" {
			t.Logf("honest and missing: %q: %v", s.Text, s.Findings)
		}
	}
	states := []string{"found", "weak", "missing", "unchecked", "uncited"}
	t.Logf("%-24s %6s %6s", "kind", "total", strings.Join(states, " "))
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		line := fmt.Sprintf("%-24s %6d", kind, total[kind])
		for _, state := range states {
			line += fmt.Sprintf(" %*d", len(state), table[kind][state])
		}
		t.Log(line)
	}
	honest, lost := total["supported"]+total["supported, moved"], table["supported"]["missing"]+table["supported, moved"]["missing"]
	if 100*lost > 2*honest {
		t.Errorf("%d of %d honest sentences are called missing", lost, honest)
	}
	for kind, state := range map[string]string{"wrong number": "missing", "altered quotation": "missing", "dead": "unchecked", "walled": "unchecked", "moved to the home page": "unchecked", "retracted": "unchecked", "uncited": "uncited"} {
		if table[kind][state] != total[kind] || total[kind] == 0 {
			t.Errorf("%s: %d of %d are %s", kind, table[kind][state], total[kind], state)
		}
	}
	if table["wrong source"]["found"] > 0 {
		t.Errorf("%d sentences with a wrong source are found", table["wrong source"]["found"])
	}
	if s := result.Summary.Sources; s.Invalid != 10 || s.Blocked != 5 || s.Mismatch != 10 {
		t.Errorf("the sources: %+v", s)
	}
	if result.Pass {
		t.Error("it passes")
	}
}

// TestSameArchiveSameBytes audits a report twice, the second time from the archive of the
// first.
func TestSameArchiveSameBytes(t *testing.T) {
	report, _, pages := planted()
	home := filepath.Join(scratch.Short(t), "audits")
	at := noon()
	desk := run.Desk{Now: func() time.Time { at = at.Add(time.Second); return at }, Program: "test"}
	first := must.Get(audit.Make(t.Context(), desk, pages.fetch, audit.Input{Report: report, Home: home}))(t)
	second, err := audit.Make(t.Context(), desk, nil, audit.Input{Report: report, Home: home, Offline: first.AuditID})
	if err != nil {
		t.Fatal(err)
	}
	one, two := document(t, first), document(t, second)
	if first.AuditID == second.AuditID || one != two {
		t.Error("the second audit differs from the first in more than its id")
	}
	for _, r := range []foreign.Result{first, second} {
		v, err := audit.Verify(t.Context(), desk, filepath.Join(r.AuditPath, audit.File), "test")
		if err != nil || !v.Pass {
			t.Errorf("%v %v", v.Wrong, err)
		}
	}
}

func document(t *testing.T, r foreign.Result) string {
	t.Helper()
	r.AuditID = ""
	data := must.Get(r.Document())(t)
	return string(data)
}
