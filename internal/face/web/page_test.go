package web_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/store"
)

var (
	prompts = regexp.MustCompile(`(?s)(<summary>Prompt</summary>).*?(</details>)`)
	charges = regexp.MustCompile(`(?s)(<dl class="figures">).*?(</details>)`)
	tokens  = regexp.MustCompile(`(>Tokens[^<]*<.*?num"[^>]*>)[0-9,]+`)
)

// TestPagesOfTheDemo compares every view of the demo's run and change with its file.
func TestPagesOfTheDemo(t *testing.T) {
	t.Parallel()
	s := demoSite(t)
	b := visit(t, s, nil)
	for name, path := range map[string]string{
		"runs": "/", "jobs": "/runs/harbour/jobs", "job": "/runs/harbour/jobs/wave1.operations", "outputs": "/runs/harbour/outputs",
		"gates": "/runs/harbour/gates", "sources": "/runs/harbour/sources?state=paywalled", "log": "/runs/harbour/log?q=moved",
		"changes": "/changes", "change": "/changes/" + changeOf(t, b), "problem": "/runs/nothing",
	} {
		t.Run(name, func(t *testing.T) {
			status, got := b.get(t, path)
			if want := map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[name == "problem"]; status != want {
				t.Fatalf("%s is answered with %d:\n%s", path, status, got)
			}
			if !strings.HasPrefix(got, web.FirstBytes) {
				t.Errorf("%s begins with %.100q", path, got)
			}
			got = strings.ReplaceAll(got, filepath.Dir(s.Home), "/home/you/harbour")
			// The words of prompts, and what they are charged, do not matter here.
			got = prompts.ReplaceAllString(got, "$1…$2")
			got = charges.ReplaceAllString(got, "$1…$2")
			got = tokens.ReplaceAllString(got, "$1…")
			golden := filepath.Join("testdata", name+".html")
			if *update {
				must.Do(t, os.WriteFile(golden, []byte(got), 0o600))
				return
			}
			want := must.Get(os.ReadFile(golden))(t)
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// TestTheReportBeginsAsEveryPage: its first bytes can be sent early, too.
func TestTheReportBeginsAsEveryPage(t *testing.T) {
	t.Parallel()
	if _, got := visit(t, demoSite(t), nil).get(t, "/runs/harbour/report.html"); !strings.HasPrefix(got, web.FirstBytes) {
		t.Errorf("the report begins with %.100q", got)
	}
}

// changeOf is the id of the demo's change.
func changeOf(t *testing.T, b *browser) string {
	t.Helper()
	_, list := b.get(t, "/changes")
	_, rest, found := strings.Cut(list, `href="/changes/`)
	id, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("the demo has no change:\n%s", list)
	}
	return id
}

// TestACompletedRunShowsItsReportFirst: in the list, and on its own page, the
// answer before the rest; how it was made is one step further.
func TestACompletedRunShowsItsReportFirst(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	_, list := b.get(t, "/")
	inOrder(t, list, `<th scope="row" class="what"><a href="/runs/harbour/report"`, "completed")
	_, report := b.get(t, "/runs/harbour/report")
	inOrder(t, report, "Finished, nothing doubtful", "Checked 2 March 2026", `href="/runs/harbour/made">How it was made`, "<h1", `<section class="answer"`, "Recommendation", `data-state="inferred"`, `id="show-inferred"`, "How it was checked", "<article>")
	_, first := b.get(t, "/runs/harbour")
	if _, article, found := strings.Cut(first, "<article>"); !found || !strings.Contains(report, article[:1000]) {
		t.Error("the page of the run is not its report")
	}
	_, made := b.get(t, "/runs/harbour/made")
	inOrder(t, made, "What happened, the newest first", "What does it cost", "Every gate passed by its judge.", "sentences", "Attempts over time", "What you may type")
}

// inOrder checks that a page has these texts, one after the other.
func inOrder(t *testing.T, page string, texts ...string) {
	t.Helper()
	at := 0
	for _, want := range texts {
		next := strings.Index(page[at:], want)
		if next < 0 {
			t.Fatalf("%q is missing, or in the wrong place", want)
		}
		at += next
	}
}

// TestAClosedReadingShowsItsPairs: the page of a reading lists the twins.
func TestAClosedReadingShowsItsPairs(t *testing.T) {
	t.Parallel()
	_, page := visit(t, demoSite(t), nil).get(t, "/runs/harbour/jobs/verify.1")
	if !strings.Contains(page, "twins of sentences</summary>") || !strings.Contains(page, "<td>told</td></tr>") {
		t.Error("the page of a reading does not show its pairs")
	}
}

// TestFaultsStandAtTheirLines: a refused answer shows its fault at the line, and
// what the next answer changed.
func TestFaultsStandAtTheirLines(t *testing.T) {
	t.Parallel()
	_, page := visit(t, demoSite(t), nil).get(t, "/runs/harbour/jobs/synthesis")
	for _, want := range []string{
		`<a href="#l-1-1-35">line 35</a>`,
		`<li value="35" id="l-1-1-35" class="wrong"><code dir="auto">An electric tug spends about 310,000 euro less`,
		`<p class="fault"><b>✕ NUMBER_NOT_FOUND</b>`,
		`<tr class="went"><td>-</td><td dir="auto">An electric tug spends about 310,000 euro less`,
		`<tr class="came"><td>&#43;</td><td dir="auto">An electric tug spends about 210,000 euro less`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// TestClaimsStandBesideTheirPassages: beside a sentence stand its calculation, each of its facts
// with the words of a page that carry it, the words of the second reader, and the passage.
func TestClaimsStandBesideTheirPassages(t *testing.T) {
	t.Parallel()
	_, page := visit(t, demoSite(t), nil).get(t, "/runs/harbour/report")
	inOrder(t, page, `<span class="ev" id="e-c9"`, "A buffer has to bring the missing 1.9 MW.", "= 3.0 - 1.1", "computed again", "<mark>3.0 MW</mark>", "<mark>1.1 MW</mark>", "the second reader&#39;s words", `<span class="pg">`, `<mark>They cannot do so on the present connection without a buffer</mark>`)
}

// TestSearch: words find runs, jobs, sources and lines of the log; what contains
// none of them is not shown.
func TestSearch(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	for _, c := range []struct{ path, has, not string }{
		{"/?q=HARBOUR+tugs", `href="/runs/harbour/report"`, "Nothing has these words"},
		{"/?q=qqqqqqqq", "Nothing has these words", `href="/runs/harbour/report"`},
		{"/?q=reefer+stacks", "archived page of a run", "Nothing has these words"},
		{"/?q=reefer+stacks&state=running", "Nothing has these words", "archived page of a run"},
		{"/?state=completed", `href="/runs/harbour/report"`, "No run stands so"},
		{"/?state=failed", "No run stands so", `href="/runs/harbour/report"`},
		{"/runs/harbour/jobs?q=synthesis", "synthesis", "wave1.grid"},
		{"/runs/harbour/jobs?state=exhausted", "Nothing to show", "wave1.grid"},
		{"/runs/harbour/sources?q=reefer", "reefer-2025", "paywalled-article"},
		{"/runs/harbour/log?q=judged", ">judged<", ">leased<"},
	} {
		_, page := b.get(t, c.path)
		main := page[strings.Index(page, "<main"):]
		if !strings.Contains(main, c.has) || strings.Contains(main, c.not) {
			t.Errorf("%s: has %q: %t, has %q: %t", c.path, c.has, strings.Contains(main, c.has), c.not, strings.Contains(main, c.not))
		}
	}
}

// TestTheFirstSearchAnswersAtOnce: it looks at what was written last, says how much is left,
// and what it left is read while the reader looks at it.
func TestTheFirstSearchAnswersAtOnce(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	for i := range 20 {
		made := must.Get(run.Create(person, s.Desk, s.Home, run.InitInput{Query: "Which quay has zinc?", RunID: fmt.Sprintf("quay-%02d", i)}))(t)
		written := pinned.Add(time.Duration(i) * time.Hour)
		must.Do(t, os.Chtimes(filepath.Join(made.Root, filepath.FromSlash(run.LogFile)), written, written))
	}
	b := visit(t, s, nil)
	_, first := b.get(t, "/?q=zinc")
	if !strings.Contains(first, "still to be read: 12.") || !strings.Contains(first, `href="/runs/quay-19`) || strings.Contains(first, `href="/runs/quay-11`) {
		t.Errorf("the first search shows:\n%s", first)
	}
	if _, none := b.get(t, "/?q=qqqq"); !strings.Contains(none, "Nothing that was read so far") {
		t.Errorf("a search for what nothing has shows:\n%s", none)
	}
	reading, stop := context.WithCancel(t.Context())
	defer stop()
	go s.ReadOn(reading)
	for index := []byte(nil); !bytes.Contains(index, []byte("quay-00")); runtime.Gosched() {
		index, _ = os.ReadFile(filepath.Join(filepath.Dir(s.Home), "index", "recent"))
	}
	if _, later := b.get(t, "/?q=zinc"); strings.Contains(later, "still to be read") || !strings.Contains(later, `href="/runs/quay-00`) {
		t.Errorf("the next search shows:\n%s", later)
	}
}

// TestTheListIsFilteredAndSorted: by what it shows, in the order that is asked for; the
// address keeps both.
func TestTheListIsFilteredAndSorted(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	for i, id := range []string{"apple", "cherry", "beech"} {
		made := must.Get(run.Create(person, s.Desk, s.Home, run.InitInput{Query: map[string]string{"apple": "Zinc?", "cherry": "Iron?", "beech": "Lead?"}[id], RunID: id}))(t)
		manifest := filepath.Join(made.Root, run.ManifestFile)
		if id == "cherry" {
			must.Get(stage.Pause(person, s.Desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"}))(t)
		}
		if id == "apple" {
			must.Get(stage.Cancel(person, s.Desk, stage.ControlInput{ManifestPath: manifest, Reason: "enough"}))(t)
		}
		written := pinned.Add(time.Duration(i) * time.Hour)
		must.Do(t, os.Chtimes(manifest, written, written))
	}
	b := visit(t, s, nil)
	for path, want := range map[string]string{"/": "beech cherry apple", "/?sort=oldest": "apple cherry beech", "/?sort=question": "cherry beech apple", "/?state=failed": "apple", "/?state=waiting&sort=oldest": "cherry beech", "/?state=completed": ""} {
		_, page := b.get(t, path)
		var got []string
		for _, link := range regexp.MustCompile(`<th scope="row" class="what"><a href="/runs/(\w+)"`).FindAllStringSubmatch(page, -1) {
			got = append(got, link[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s lists %q, want %q", path, got, want)
		}
	}
	_, page := b.get(t, "/?state=waiting&sort=oldest")
	for _, want := range []string{`<a href="/?sort=oldest&amp;state=failed">failed</a>`, `<a href="/?sort=oldest&amp;state=waiting" aria-current="true">waiting</a>`, `<a href="/?sort=question&amp;state=waiting">question</a>`, `data-live="/live/runs?sort=oldest&amp;state=waiting"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the list has no %s", want)
		}
	}
}

// TestPicturesSayWhatTheyShow: lanes with a time axis and a key, sums with their axes, a
// matrix of perspectives by sources, a strip of standing: each with a title, and its numbers
// beside it.
func TestPicturesSayWhatTheyShow(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	for path, wants := range map[string][]string{
		"/runs/harbour/made": {`<span class="key good">accepted</span>`, `<title>2 attempts: accepted after `, `<title>attempt 1: refused after `, `rowgroup">Second round of research</th>`,
			`<title>Tokens of all answers over time: `, `<text class="amount"`, `Tokens of accepted answers</dt>`},
		"/runs/harbour/sources": {`<th scope="col" class="turned" title="Which rules push, which pay, and when">`, `<td class="cites good"><span aria-hidden="true">●</span><span class="hidden">cites it</span></td>`,
			`<span aria-hidden="true">✓</span> <b class="num">17</b> valid`},
		"/runs/harbour/outputs": {`<td class="wide num" data-name="Sources">4 <span class="quiet">of 4</span>`, `<title>sources: 4 of 4</title>`, "closed by the second round</span> Nobody has measured", "A second round of research was needed, to close 1 gap.", "<b>Round 2</b>"},
	} {
		_, page := b.get(t, path)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %s", path, want)
			}
		}
		for _, picture := range regexp.MustCompile(`<svg[^>]*role="img".*?</svg>`).FindAllString(page, -1) {
			if !strings.Contains(picture, "<title>") || !strings.Contains(picture, `aria-label="`) {
				t.Errorf("%s has a picture that says nothing: %s", path, picture)
			}
		}
	}
}

// TestNothingIsNotShown: no bar without length, no count of zero, no phase that did not
// happen, no zero in place of a cost that nobody reports.
func TestNothingIsNotShown(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	for _, path := range []string{"/runs/harbour", "/runs/harbour/outputs", "/runs/harbour/sources", "/runs/harbour/report", "/changes/" + changeOf(t, b)} {
		_, page := b.get(t, path)
		main := page[strings.Index(page, "<main"):]
		for _, nothing := range []string{`width="0"`, `<b class="num">0</b>`, `<td class="right num">0</td>`, "$0.00", "to come", "clarifying"} {
			if strings.Contains(main, nothing) {
				t.Errorf("%s shows %s", path, nothing)
			}
		}
	}
	_, change := b.get(t, "/changes/"+changeOf(t, b))
	inOrder(t, change, "planned", "implementing", "complete", "1 failed, 41 passed")
	_, overview := b.get(t, "/runs/harbour/made")
	inOrder(t, overview, `<section id="happened"`, "<dt>Cost</dt>", "not reported by this agent")
	if strings.Contains(overview, `id="feed"`) { // of which only the first lines are shown
		t.Error("not all that happened is shown")
	}
}

// TestTheEstimateStandsBesideWhatWasSpent: as it was when the run began, and nothing where
// nobody estimated.
func TestTheEstimateStandsBesideWhatWasSpent(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	usd := 2.1
	for id, expected := range map[string]*run.Estimate{"priced": {Tokens: 700_000, CostUSD: &usd, Minutes: 31}, "unpriced": {Tokens: 700_000, Minutes: 31}, "none": nil} {
		must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: id, Asked: run.Asked{Estimate: expected}}))(t)
	}
	b := visit(t, s, nil)
	_, priced := b.get(t, "/runs/priced/made")
	inOrder(t, priced, "<dt>Cost</dt>", "estimated $2.10", "<dt>Tokens of all answers</dt>", "estimated 700,000", "<dt>Time</dt>", "estimated 31 min")
	_, unpriced := b.get(t, "/runs/unpriced/made")
	_, none := b.get(t, "/runs/none/made")
	if strings.Contains(unpriced, "estimated $") || !strings.Contains(unpriced, "estimated 700,000") || strings.Contains(none, "estimated") {
		t.Error("a page shows an estimate that nobody made")
	}
	_, demo := visit(t, demoSite(t), nil).get(t, "/runs/harbour/made")
	inOrder(t, demo, "For each perspective", "Planning", "What it costs over fifteen years, and who pays", "Close a gap: ", "Writing the report", "Reading and reviewing")
}

// TestPagesSpeakOfPeoplesThings: what the engine calls its parts stands in titles and
// details alone.
func TestPagesSpeakOfPeoplesThings(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	hidden := regexp.MustCompile(`(?s)<(code|pre)[ >].*?</(code|pre)>|<[^>]*>`)
	for _, path := range []string{"/", "/runs/harbour", "/runs/harbour/jobs", "/runs/harbour/outputs", "/runs/harbour/gates", "/runs/harbour/report"} {
		_, page := b.get(t, path)
		text := hidden.ReplaceAllString(page[strings.Index(page, "<main"):], " ")
		for _, engine := range []string{"wave1", "wave2", "gap_grid", "p0_count", "summary.", "verify.", "pivot"} {
			if at := strings.Index(text, engine); at >= 0 && !strings.Contains(text[:at], "By which rule") {
				t.Errorf("%s says %q: %s", path, engine, text[max(0, at-100):min(len(text), at+100)])
			}
		}
	}
}

// TestTheListIsReadAhead: a filter asks no run again that was looked at when the server
// started, and the index is there before the first search.
func TestTheListIsReadAhead(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	made := must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain"}))(t)
	manifest := filepath.Join(made.Root, run.ManifestFile)
	unseen := func(text []byte) { // it looks as it did before
		t.Helper()
		must.Do(t, os.WriteFile(manifest, text, 0o600))
		must.Do(t, os.Chtimes(manifest, pinned, pinned))
	}
	text := must.Get(os.ReadFile(manifest))(t)
	unseen(text)
	s.Warm(t.Context())
	unseen([]byte("nonsense"))
	b := visit(t, s, nil)
	for _, path := range []string{"/?state=waiting", "/?q=rain"} {
		if _, page := b.get(t, path); !strings.Contains(page, "Does it rain more?") {
			t.Errorf("%s reads the run again: %s", path, words(page))
		}
	}
}

// TestTimesSayHowLongAgo: with the exact time behind each; a log is read by its exact times.
func TestTimesSayHowLongAgo(t *testing.T) {
	t.Parallel()
	s := demoSite(t)
	later := site(s.Project)
	later.Desk.Now = func() time.Time { return pinned.Add(5 * time.Minute) }
	b := visit(t, later, nil)
	audits := site(t.TempDir())
	must.Get(audit.Make(t.Context(), audits.Desk, nil, audit.Input{Report: "It rains [1].\n\n[1] https://a.example/a\n", NoFetch: true, Home: store.Audits.Home(audits.Home)}))(t)
	audits.Desk.Now = later.Desk.Now
	behind := regexp.MustCompile(`<time datetime="[^"]+" title="2 Mar 2026, \d\d:\d\d:\d\d">5 min ago</time>`)
	shown := regexp.MustCompile(`(?s)<(?:pre|code)[ >].*?</(?:pre|code)>|<div class="listing".*?</ol>|<[^>]*>`)
	for _, path := range []string{"/", "/audits", "/changes/" + changeOf(t, b), "/runs/harbour/made", "/runs/harbour/jobs/wave1.operations", "/runs/harbour/gates", "/runs/harbour/sources"} {
		from := b
		if path == "/audits" {
			from = visit(t, audits, nil)
		}
		_, page := from.get(t, path)
		_, page, _ = strings.Cut(page, "<main")
		page, _, _ = strings.Cut(page, "<footer")
		if !behind.MatchString(page) {
			t.Errorf("%s does not say when", path)
		}
		text := shown.ReplaceAllString(behind.ReplaceAllString(page, " "), " ")
		if bare := regexp.MustCompile(`\d\d:\d\d:\d\d|\d (?:s|min|h) ago`).FindStringIndex(text); bare != nil {
			t.Errorf("%s has a time alone: %s", path, strings.Join(strings.Fields(text[max(0, bare[0]-100):bare[1]]), " "))
		}
	}
}

// TestTheLastWrittenRunComesFirst: whatever the names of runs are.
func TestTheLastWrittenRunComesFirst(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	want := []string{"middle", "alpha", "zulu"}
	for i, id := range want {
		made := must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: id}))(t)
		written := pinned.Add(-time.Duration(i) * time.Hour)
		must.Do(t, os.Chtimes(filepath.Join(made.Root, run.ManifestFile), written, written))
	}
	_, page := visit(t, s, nil).get(t, "/")
	var got []string
	for _, link := range regexp.MustCompile(`class="what"><a href="/runs/(\w+)"`).FindAllStringSubmatch(page, -1) {
		got = append(got, link[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the list has %q, want %q", got, want)
	}
}

// TestThePageSaysHowAgentsAreKept: in cells, without, and by the word of another machine.
func TestThePageSaysHowAgentsAreKept(t *testing.T) {
	t.Parallel()
	for _, kept := range []run.Confinement{{Mode: run.ModeConfined, System: "linux", ABI: 7, Network: "model; web"}, {Mode: run.ModeUnconfined}, {Mode: run.ModeConfined, ABI: 4, By: run.ByWorker}} {
		s := site(t.TempDir())
		must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain", Asked: run.Asked{Confinement: kept}}))(t)
		if _, page := visit(t, s, nil).get(t, "/runs/rain/made"); !strings.Contains(html.UnescapeString(page), kept.String()) {
			t.Errorf("the page does not say %q", kept)
		}
	}
}

// TestTheReportIsReadBesideItsPages: each sentence leads to its passage on the archived
// page, from our own archive, marked and as text, in a frame that can do nothing.
func TestTheReportIsReadBesideItsPages(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	_, page := b.get(t, "/runs/harbour/report")
	found := regexp.MustCompile(`(?s)<span class="s" data-state="stands" id="(\w+)">On 88 % of all boat-days.*?<a target="page" href="([^"]+)">as text</a>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the sentence leads nowhere:\n%s", page)
	}
	answer := must.Get(b.Get(b.base + html.UnescapeString(found[2])))(t)
	defer answer.Body.Close()
	text := must.Get(io.ReadAll(answer.Body))(t)
	inOrder(t, string(text), "Duty cycles from position logs", "as fetched", "<mark>On 88 % of all boat-days the energy used stays below 70 % of a 2.8 MWh battery</mark>")
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script") {
		t.Errorf("the archived text has the policy %q", policy)
	}
	for path, want := range map[string]int{"/runs/harbour/archived/none": 404, "/runs/harbour/archived/..%2f..": 404, strings.Split(html.UnescapeString(found[2]), "?")[0] + "?s=nobody": 200} {
		if status, _ := b.get(t, path); status != want {
			t.Errorf("%s is answered with %d, want %d", path, status, want)
		}
	}
}
