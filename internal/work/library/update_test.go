package library_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

func desk() run.Desk {
	return run.Desk{Now: noon, Pinned: true, Program: "tidegate test", Reach: artifact.Everywhere}
}

// answer is what a server says to a request for a page.
type answer func(c *archive.Capture, known []archive.Field)

// web answers fetches from memory.
type web map[string]answer

func (w web) again(known func(string) []archive.Field) sourcing.Fetch {
	return func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for _, url := range urls {
			c := archive.Capture{URL: url, Kind: archive.NoSuchName, Time: noon()}
			if answer := w[url]; answer != nil {
				c.Kind = archive.Responded
				var fields []archive.Field
				if known != nil {
					fields = known(url)
				}
				answer(&c, fields)
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
}

func hop(url string, status int, kind, body string, header ...archive.Field) archive.Hop {
	return archive.Hop{URL: url, Time: noon(), Status: status, Header: append(header, archive.Field{Name: "Content-Type", Value: kind}), Body: []byte(body)}
}

const html = "text/html; charset=utf-8"

func document(title string, paragraphs ...string) string {
	return "<!doctype html><html lang=en><title>" + title + "</title><body><h1>" + title + "</h1><p>" + strings.Join(paragraphs, "</p><p>") + "</p>"
}

func shows(body string) func(url string) answer {
	return func(url string) answer {
		return func(c *archive.Capture, _ []archive.Field) { c.Hops = append(c.Hops, hop(url, 200, html, body)) }
	}
}

func status(code int, body string) func(url string) answer {
	return func(url string) answer {
		return func(c *archive.Capture, _ []archive.Field) { c.Hops = append(c.Hops, hop(url, code, html, body)) }
	}
}

func moved(to string, body string) func(url string) answer {
	return func(url string) answer {
		return func(c *archive.Capture, _ []archive.Field) {
			c.Hops = append(c.Hops, hop(url, 301, html, "", archive.Field{Name: "Location", Value: to}), hop(to, 200, html, body))
		}
	}
}

func fails(kind archive.Kind) func(url string) answer {
	return func(string) answer { return func(c *archive.Capture, _ []archive.Field) { c.Kind = kind } }
}

// The page of every way before it changes, and what the report says by it.
const (
	opened = "The harbour of PORT opened its new terminal on 3 May 2021, after 14 months of work on the quay and the sheds."
	people = "The port employs 412 people today, and most of them work at night, when the ships arrive."
	fee    = "Boats longer than twelve metres pay a fee of 40 euro for each night at the pier."
	grain  = "The council of PORT approved the plan for a second grain silo, and the traffic of grain rose in the last season."
	filler = "The master of the harbour lives in the old customs house, which has a garden and a view of the roads."
)

var said = []string{
	"The new terminal of PORT was opened on 3 May 2021, after 14 months of work.",
	"At PORT the port employs 412 people.",
	"Boats longer than twelve metres pay 40 euro for each night at the pier of PORT.",
	"The council of PORT approved the plan for a second grain silo.",
}

func before(port string, more ...string) string {
	var all []string
	for _, p := range append([]string{opened, people, fee, grain, filler}, more...) {
		all = append(all, strings.ReplaceAll(p, "PORT", port))
	}
	return document("The terminal of "+port, all...)
}

// with is the page with sentences exchanged.
func with(port string, pairs ...string) string {
	for i := range pairs {
		pairs[i] = strings.ReplaceAll(pairs[i], "PORT", port)
	}
	return strings.NewReplacer(pairs...).Replace(before(port))
}

// way is one way in which a page changes, and how the four sentences then stand.
type way struct {
	name string
	now  func(port string) func(url string) answer
	want [4]drift.State
}

const (
	ok   = drift.Stands
	chg  = drift.Changed
	gone = drift.Gone
	wall = drift.Walled
	down = drift.Unreachable
)

func edit(pairs ...string) func(port string) func(string) answer {
	return func(port string) func(string) answer { return shows(with(port, append([]string(nil), pairs...)...)) }
}

func all(state drift.State) [4]drift.State { return [4]drift.State{state, state, state, state} }

// ways are the ways in which the planted web changes.
var ways = []way{
	{"nothing", edit(), all(ok)},
	{"a number", edit("412 people", "389 people"), [4]drift.State{ok, chg, ok, ok}},
	{"a number, the old one kept beside it", edit("a fee of 40 euro for each night at the pier", "a fee of 55 euro (40 euro until March) for each night at the pier"), [4]drift.State{ok, ok, chg, ok}},
	{"a date", edit("3 May 2021", "7 June 2021"), [4]drift.State{chg, ok, ok, ok}},
	{"a word turned into its opposite", edit("approved the plan", "rejected the plan"), [4]drift.State{ok, ok, ok, chg}},
	{"a negation", edit("approved the plan", "has not approved the plan"), [4]drift.State{ok, ok, ok, chg}},
	{"another word for what was done", edit("approved the plan", "postponed the plan"), [4]drift.State{ok, ok, ok, chg}},
	{"a paragraph taken out", edit("<p>"+people+"</p>", ""), [4]drift.State{ok, gone, ok, ok}},
	{"a number struck out", edit("412 people", "<del>412</del> people"), [4]drift.State{ok, chg, ok, ok}},
	{"a retraction notice", func(port string) func(string) answer {
		return shows(with(port, "<h1>", "<p>This article has been retracted at the request of the harbour office.</p><h1>"))
	}, all(chg)},
	{"the page gone", func(string) func(string) answer {
		return status(404, document("Not found", "There is no such page."))
	}, all(gone)},
	{"the page gone, with status 200", func(string) func(string) answer {
		return shows(document("Page not found", "The page that you are looking for does not exist."))
	}, all(gone)},
	{"the host gone", func(string) func(string) answer { return fails(archive.NoSuchName) }, all(gone)},
	{"moved, with its text", func(port string) func(string) answer {
		return moved("https://harbours.example/ports/"+strings.ToLower(port)+"/terminal", before(port))
	}, all(ok)},
	{"moved to the home page", func(port string) func(string) answer {
		return moved("https://harbours.example/", document("Harbours", "Welcome to the harbours of the coast.", "Choose a harbour from the list to read more about its history and its ships.", "The office is open every day but Sunday."))
	}, all(gone)},
	{"walled by the server", func(string) func(string) answer {
		return status(403, document("Forbidden", "Access denied."))
	}, all(wall)},
	{"walled by a paywall", func(string) func(string) answer {
		return shows(document("The terminal", "Subscribe to continue reading.", "This article is for subscribers only. Already a subscriber? Log in."))
	}, all(wall)},
	{"written anew with the same facts", func(port string) func(string) answer {
		return shows(document("Terminal of "+port, "Since 3 May 2021 ships have been handled at a new building in "+port+"; the works on sheds and quay had taken 14 months in all.",
			"412 people have a job there, mostly on the late shift, because that is when vessels come in.",
			"Whoever moors a boat of more than twelve metres overnight is charged 40 euro per night at the pier.",
			"A plan for a second grain silo was approved by the council in "+port+"; in the last season more grain came through."))
	}, all(ok)},
	{"written anew with another number", func(port string) func(string) answer {
		return shows(document("Terminal of "+port, "Since 3 May 2021 ships have been handled at a new building in "+port+"; the works on sheds and quay had taken 14 months in all.",
			"450 people have a job there at the port, which employs them mostly on the late shift.",
			"Whoever moors a boat of more than twelve metres overnight is charged 40 euro per night at the pier.",
			"A plan for a second grain silo was approved by the council in "+port+"; in the last season more grain came through."))
	}, [4]drift.State{ok, chg, ok, ok}},
	{"another charset", func(port string) func(string) answer {
		return func(url string) answer {
			return func(c *archive.Capture, _ []archive.Field) {
				body := with(port, filler, "Das Caf\xe9 am Kai ist ge\xf6ffnet.")
				c.Hops = append(c.Hops, hop(url, 200, "text/html; charset=iso-8859-1", body))
			}
		}
	}, all(ok)},
	{"menus, a date of the day and an advertisement", edit("<h1>", "<nav>Home | Ports | 17 November 2026</nav><h1>", filler, "Buy 2 ropes for the price of 1 at the chandler."), all(ok)},
	{"paragraphs in another order", func(port string) func(string) answer {
		return shows(strings.ReplaceAll(document("The terminal of "+port, filler, grain, fee, people, opened), "PORT", port))
	}, all(ok)},
	{"a number spelled otherwise", edit("412 people", "four hundred and twelve people", "40 euro", "€40"), all(ok)},
	{"a sentence made longer", edit("The port employs 412 people today, and most of them work at night, when the ships arrive.", "The port employs 412 people today, and most of them work at night, when the ships from abroad arrive."), all(ok)},
	{"not modified", func(port string) func(string) answer {
		return func(url string) answer {
			return func(c *archive.Capture, known []archive.Field) {
				if len(known) == 0 { // a server that was asked without validators would send a page
					shows(document("Other", "Another page."))(url)(c, nil)
					return
				}
				c.Hops = append(c.Hops, hop(url, 304, html, ""))
			}
		}
	}, all(ok)},
	{"the server fails", func(string) func(string) answer { return status(503, "") }, all(down)},
	{"no connection", func(string) func(string) answer { return fails(archive.Unreachable) }, all(down)},
	{"too many requests", func(string) func(string) answer { return status(429, "slow down") }, all(down)},
}

var ports = []string{"Ardmore", "Belhaven", "Castrup", "Dunmarra", "Elsgate", "Fornhavn", "Gilford", "Hovik", "Inverloch", "Jarlsund", "Kilbride", "Lomvik", "Marstal",
	"Nordby", "Oxelund", "Porthcawl", "Quaymouth", "Rendsvik", "Sandhaven", "Torvik", "Ulverton", "Varberg", "Westray", "Yarmouk", "Zeldam", "Aldermoor", "Brackness", "Corvoran"}

// plant makes an audit of a report whose every page later changes in one way, and the web
// as it is then.
func plant(t *testing.T, home string) (id string, later web) {
	t.Helper()
	var body, list strings.Builder
	first := web{}
	later = web{}
	for i, w := range ways {
		port := ports[i]
		url := "https://ports.example/" + strings.ToLower(port) + "/terminal"
		first[url] = func(c *archive.Capture, _ []archive.Field) {
			c.Hops = append(c.Hops, hop(url, 200, html, before(port), archive.Field{Name: "Etag", Value: `"1"`}))
		}
		later[url] = w.now(port)(url)
		fmt.Fprintf(&list, "[%d] The terminal of %s: %s\n", i+1, port, url)
		for _, s := range said {
			fmt.Fprintf(&body, "%s [%d].\n\n", strings.TrimSuffix(strings.ReplaceAll(s, "PORT", port), "."), i+1)
		}
	}
	made := must.Get(audit.Make(t.Context(), desk(), first.again(nil), audit.Input{Report: body.String() + "## Sources\n\n" + list.String(), Home: store.Audits.Home(home), Dir: home}))(t)
	if made.Summary.Found+made.Summary.Weak != 4*len(ways) {
		t.Fatalf("the planted report does not stand: %+v", made.Summary)
	}
	return made.AuditID, later
}

func open(t *testing.T, runs, id string) *library.Item {
	t.Helper()
	item := must.Get(library.Open(t.Context(), desk(), runs, runs, id))(t)
	t.Cleanup(item.Close)
	return item
}

// TestPlantedChanges holds every sentence of a report against a web that has changed in
// every way of ways, and prints how many alarms are right and how many changes are found.
func TestPlantedChanges(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	id, later := plant(t, runs)
	before := tree(t, filepath.Dir(runs))
	u := must.Get(library.Update(t.Context(), desk(), runs, later.again, open(t, runs, id)))(t)
	if len(u.Sentences) != 4*len(ways) {
		t.Fatalf("%d sentences, want %d", len(u.Sentences), 4*len(ways))
	}
	right, alarms, changes := 0, 0, 0
	for i, s := range u.Sentences {
		w := ways[i/4]
		want := w.want[i%4]
		if want != ok {
			changes++
		}
		if s.State != ok {
			alarms++
			if s.State == want {
				right++
			}
		}
		if s.State != want {
			t.Errorf("%s: %q is %s, want %s: %+v", w.name, s.Text, s.State, want, s.Pages)
		}
		if s.State == chg && (len(s.Pages) != 1 || len(s.Pages[0].Passages) == 0 || s.Pages[0].Passages[0].Now == "" || s.Pages[0].Why == "") {
			t.Errorf("%s: %q has changed and does not show how: %+v", w.name, s.Text, s.Pages)
		}
	}
	t.Logf("%d ways, %d sentences: precision %.2f, recall %.2f", len(ways), len(u.Sentences), float64(right)/float64(alarms), float64(right)/float64(changes))
	if u.Pass || !u.Reached() {
		t.Errorf("pass %v, reached %v: want neither a pass nor silence", u.Pass, u.Reached())
	}
	for name, data := range before {
		if now := tree(t, filepath.Dir(runs))[name]; now != data {
			t.Errorf("%s was changed by the update", name)
		}
	}
	data := must.Get(os.ReadFile(filepath.Join(store.Updates.Home(runs), u.UpdateID, "about.json")))(t)
	about, err := codec.Parse(data)
	if err != nil || about.Get("of").Elems()[0].Get("id").Str() != id || about.Get("of").Elems()[0].Get("head").Str() != u.Of.Head || u.Of.Head == "" {
		t.Errorf("the update is not bound to the audit: %s", data)
	}
}

// tree is the content of every file below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	}))
	return files
}
