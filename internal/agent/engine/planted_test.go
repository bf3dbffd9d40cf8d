package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/markdown"
	textpage "github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

// shape is a lie, with its honest twin. Both are Markdown that cites pages by name.
type shape struct {
	name  string
	rule  string // what the rules alone say of the lie: a code, byWeak or byReader
	place string // where it stands in the report, "" for among the evidence
	words []string
	lie   string
	truth string
}

// What the rules say of lies that they do not refuse.
const (
	byWeak   = "weak"
	byReader = "reader"
)

// seen reports whether a reader gets to see the lie.
func (s shape) seen() bool { return s.rule == byWeak || s.rule == byReader }

// world is some pages, and what is said about them.
type world struct {
	language string
	question string
	pages    map[string]string // by name
	shapes   []shape
}

// readWorld reads the archives of a world: pages, shapes, and its question.
func readWorld(t *testing.T, files ...string) world {
	t.Helper()
	w := world{question: "What is known about Norland?", pages: map[string]string{}}
	for _, file := range files {
		a := must.Get(txtar.ParseFile(filepath.Join("testdata", "planted", file+".txtar")))(t)
		for _, f := range a.Files {
			switch name, isPage := strings.CutSuffix(f.Name, ".html"); {
			case isPage:
				w.pages[name] = string(f.Data)
			case name == "question":
				w.question = strings.TrimSpace(string(f.Data))
			default:
				w.shapes = append(w.shapes, readShape(t, f.Name, string(f.Data)))
			}
		}
	}
	w.language = textpage.Language(w.question)
	return w
}

var shapeKey = regexp.MustCompile(`(?m)^(rule|place|words|lie|true): ?`)

func readShape(t *testing.T, name, data string) shape {
	t.Helper()
	s := shape{name: name}
	at := shapeKey.FindAllStringSubmatchIndex(data, -1)
	for i, m := range at {
		end := len(data)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		value := strings.Trim(data[m[1]:end], "\n")
		switch data[m[2]:m[3]] {
		case "rule":
			s.rule = value
		case "place":
			s.place = value
		case "words":
			s.words = strings.Split(value, " | ")
		case "lie":
			s.lie = strings.ReplaceAll(value, "(×10000", strings.Repeat("(", 10000))
		case "true":
			s.truth = value
		}
	}
	if s.rule == "" || s.lie == "" {
		t.Fatalf("%s is no shape", name)
	}
	return s
}

// draft is a report in which texts are planted, with the lines that each of them takes.
type draft struct {
	text  string
	lines map[string][2]int // by shape: the first line, and the first behind it
}

// report writes a report: an honest sentence of each page under each heading, and what
// is planted.
func (w world) report(planted []shape, text func(shape) string) draft {
	d := draft{lines: map[string][2]int{}}
	var b strings.Builder
	plant := func(place string) {
		for _, s := range planted {
			if s.place != place || text(s) == "" {
				continue
			}
			if strings.ContainsAny(text(s)[:1], "-> 0123456789|") {
				b.WriteString(w.honest(slices.Min(slices.Collect(maps.Keys(w.pages))), 0) + "\n\n") // ends the list before
			}
			from := strings.Count(b.String(), "\n") + 1
			b.WriteString(text(s) + "\n\n")
			d.lines[s.name] = [2]int{from, strings.Count(b.String(), "\n")}
		}
	}
	base := func(k int) {
		for _, name := range slices.Sorted(maps.Keys(w.pages)) {
			b.WriteString(w.honest(name, k) + "\n\n")
		}
	}
	shape, _ := evidence.Shape{}.Checked(w.question)
	template, _ := shape.Sections()
	heading := func(i int) { b.WriteString("## " + template.Sections[i].Title + "\n\n") }
	plant("before everything") // the places of shapes
	heading(0)
	base(0)
	heading(1)
	base(1)
	plant("end of findings")
	heading(2)
	base(2)
	plant("")
	plant("behind the evidence")
	heading(3)
	base(3)
	plant("under caveats")
	plant("behind everything")
	d.text = b.String()
	return d
}

var (
	pageSentence = regexp.MustCompile(`<p>([^.。<]+[.。])`)
	cites        = regexp.MustCompile(`@([a-z]+)\b`)
)

// honest is the first sentence of a paragraph of a page.
func (w world) honest(name string, k int) string {
	all := pageSentence.FindAllStringSubmatch(w.pages[name], -1)
	return all[k%len(all)][1] + " [@" + name + "]"
}

// liar writes and reads in a run of a world.
type liar struct {
	w       world
	drafts  []draft // the answers to the first task of a synthesis, one after the other
	mu      sync.Mutex
	written int
	ids     map[string]string // of the sources, by the name of their page
	truths  map[string]shape  // by sentence
}

func (l *liar) answer(_ context.Context, task driver.Task) (driver.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := ""
	switch task.Kind {
	case "wave1", "wave2":
		text = "## Findings\n\nThe pages below say it.\n\n## Gaps\n\nNothing is open.\n\n## Sources\n\n"
		for _, name := range slices.Sorted(maps.Keys(l.w.pages)) {
			text += fmt.Sprintf("- %s https://example.org/%s\n", titleOf(l.w.pages[name]), name)
		}
	case "summary":
		l.learn(task.Prompt)
		text = "- " + l.withIDs(l.w.honest(slices.Sorted(maps.Keys(l.w.pages))[0], 4)) + "\n"
	case "synthesis":
		if task.Turn == 1 {
			l.learn(task.Prompt)
		}
		if task.Job == "synthesis" {
			text = l.withIDs(l.drafts[min(l.written, len(l.drafts)-1)].text)
			l.written++
			break
		}
		text = l.drops(task.Prompt)
	case "verify":
		text = reader.Answer(task.Prompt, l.read)
	case "review":
		text = `{"decision":"PASS","findings":[],"directives":[]}`
	default:
		return driver.Answer{}, &driver.Error{Kind: driver.Refused, Message: "no idea what a " + task.Kind + " is"}
	}
	return driver.Answer{Text: text, Session: "s"}, nil
}

func titleOf(page string) string {
	_, title, _ := strings.Cut(page, "<title>")
	title, _, _ = strings.Cut(title, "</title>")
	return title
}

var listedPage = regexp.MustCompile(`(?m)^- (s[0-9]+): .*https://example\.org/([a-z]+) `)

// learn reads the ids of the sources in a prompt.
func (l *liar) learn(prompt string) {
	for _, m := range listedPage.FindAllStringSubmatch(prompt, -1) {
		if l.ids == nil {
			l.ids = map[string]string{}
		}
		l.ids[m[2]] = m[1]
	}
}

// withIDs puts the ids of the sources in the place of the names of their pages.
func (l *liar) withIDs(text string) string {
	return cites.ReplaceAllStringFunc(text, func(name string) string {
		if id := l.ids[name[1:]]; id != "" {
			return "@" + id
		}
		return name
	})
}

// read is a reader that knows what is true: a sentence that stands in a passage, and an
// honest twin of which a passage has the words that bear it out.
func (l *liar) read(c reader.Claim) reader.Verdict {
	sentence := strings.Join(strings.Fields(c.Sentence), " ")
	twin, known := l.truths[sentence]
	if c.Form == "frame" && known {
		return reader.Verdict{Verdict: "supported"}
	}
	if known {
		var there []string // the words that passages have
		var in []int       // by them: the number of the passage
		for i, p := range c.Passages {
			for _, words := range twin.words {
				if strings.Contains(strings.Join(strings.Fields(p), " "), words) {
					there, in = append(there, words), append(in, i+1)
				}
			}
		}
		if len(there) > 0 {
			k, _ := reader.Words(sentence, there)
			k = max(k, 1) - 1 // a number alone is as good
			return reader.Verdict{Verdict: "supported", Passage: in[k], Words: there[k]}
		}
	}
	return reader.Honest(c)
}

// sentencesOf are the sentences of a text that is planted.
func (w world) sentencesOf(text string) (all []string) {
	facts := evidence.Facts{Template: evidence.Template{Sections: []evidence.Section{{Title: "Evidence"}}}, Language: w.language}
	for _, s := range evidence.Read(markdown.Read([]byte("## Evidence\n\n"+text+"\n")), facts).Sentences {
		all = append(all, s.Text)
	}
	return all
}

var shownLine = regexp.MustCompile(`(?m)^ *([0-9]+).*$`)

// drops takes out everything that is planted. The prompt shows the draft with the numbers
// of its lines, and the id of each sentence before it.
func (l *liar) drops(prompt string) string {
	_, shown, _ := strings.Cut(prompt, "The draft, with the numbers of its lines, and the id")
	shown, _, _ = strings.Cut(shown, "\n## Example\n")
	planted := l.drafts[min(l.written, len(l.drafts))-1]
	var all []string
	for _, m := range shownLine.FindAllStringSubmatch(shown, -1) {
		if n, _ := strconv.Atoi(m[1]); planted.shapeAt(n) != "" {
			for _, id := range shownID.FindAllStringSubmatch(m[0], -1) {
				all = append(all, fmt.Sprintf(`{"sentence":%q,"with":""}`, id[1]))
			}
		}
	}
	return `{"replace":[` + strings.Join(all, ",") + `]}`
}

var shownID = regexp.MustCompile(`⟦(c[0-9]+)⟧`)

// drive takes a run of a world through to its end. The writer hands in the drafts one
// after the other.
func (w world) drive(t *testing.T, choice run.EvidenceChoice, drafts ...draft) (string, engine.Outcome) {
	t.Helper()
	desk := run.Desk{Now: time.Now}
	made := runs.CreateAt(t, desk, run.InitInput{Query: w.question, RunID: "planted", Evidence: choice})
	contract := tidegate.Pairs("id", "p", "title", "Everything", "track", "standard", "agent_type", "researcher",
		"prompt_contract", tidegate.Pairs("max_words", 300, "max_sources", 12, "tool_budget", tidegate.Pairs(), "must_include_sections", []string{"Findings", "Gaps", "Sources"}))
	doc := codec.Of(tidegate.Pairs("schema_version", wave.PerspectivesVersion, "run_id", "planted", "created_at", "2026-02-14T12:00:00.000Z", "perspectives", []tidegate.Details{contract}))
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Rule})
	must.Get(step.WritePerspectives(ctx, desk, step.PerspectivesInput{PerspectivesPath: filepath.Join(made.Root, "perspectives.json"), Value: doc, Reason: "test"}))(t)
	l := &liar{w: w, drafts: drafts, truths: map[string]shape{}}
	for _, s := range w.shapes {
		for _, text := range w.sentencesOf(s.truth) {
			l.truths[text] = s
		}
	}
	manifest := filepath.Join(made.Root, run.ManifestFile)
	out := must.Get(engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: &crew{agent: l.answer}, Fetch: w.fetch, Wait: noWait, Agents: agents}))(t)
	return manifest, out
}

func (w world) fetch(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	for _, url := range urls {
		if err := keepPage(keep, url, 200, w.pages[url[strings.LastIndexByte(url, '/')+1:]]); err != nil {
			return err
		}
	}
	return nil
}

// faultsOf are the codes of the faults in an answer to the first task of the synthesis,
// by shape.
func faultsOf(t *testing.T, manifest string, d draft, submission int) map[string][]string {
	t.Helper()
	b := boardOf(t, run.Desk{Now: time.Now}, manifest)
	found := must.Get(b.Show("synthesis"))(t)
	var all []*job.Submission
	for _, a := range found.Attempts {
		all = append(all, a.Submissions...)
	}
	if len(all) <= submission {
		t.Fatalf("%d answers were handed in: %s", len(all), shown(found))
	}
	by := map[string][]string{}
	for _, f := range all[submission].Faults {
		name := "the report"
		if f.Line != nil {
			name = d.shapeAt(*f.Line)
		}
		by[name] = append(by[name], f.Code)
	}
	return by
}

// shapeAt is the shape that stands on a line, "" for none.
func (d draft) shapeAt(line int) string {
	for name, lines := range d.lines {
		if line >= lines[0] && line < lines[1] {
			return name
		}
	}
	return ""
}

func lieOf(s shape) string   { return s.lie }
func truthOf(s shape) string { return s.truth }

// TestPlantedLies plants shapes of lies into runs. The rules alone refuse those that they
// name or call them weak; with a reader that knows the truth none gets past gate E; and
// the honest twin of each does. The short form has one in seven of the English pages
// with all of it, and of the calculations and one other language what the rules say.
func TestPlantedLies(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		files  []string
		shapes int
	}{{[]string{"pages", "shapes"}, 160}, {[]string{"calculations"}, 14}, {[]string{"de"}, 10}, {[]string{"fr"}, 7}, {[]string{"fi"}, 6}, {[]string{"zh"}, 6}, {[]string{"ar"}, 5}} {
		if !full.Asked() && i > 2 {
			continue
		}
		t.Run(c.files[len(c.files)-1], func(t *testing.T) {
			t.Parallel()
			w := readWorld(t, c.files...)
			if len(w.shapes) < c.shapes {
				t.Errorf("only %d shapes", len(w.shapes))
			}
			var some []shape
			for j := 0; j < len(w.shapes); j += full.Stride(len(w.shapes), 24) {
				some = append(some, w.shapes[j])
			}
			w.shapes = some
			asked := i == 0 || full.Asked()
			alone, read := w.byRule(t), map[string]string{}
			if asked {
				read = w.byReader(t)
			}
			rows := []string{"| shape | by rule alone | with a second reader |", "| --- | --- | --- |"}
			for _, s := range w.shapes {
				rows = append(rows, fmt.Sprintf("| %s | %s | %s |", s.name, alone[s.name], cmp.Or(read[s.name], "refused before")))
				if !slices.Contains(strings.Fields(alone[s.name]), s.rule) {
					t.Errorf("%s: by rule it is %q, want %q", s.name, alone[s.name], s.rule)
				}
				if asked && s.seen() && read[s.name] != evidence.Unsupported {
					t.Errorf("%s: the reader says %q", s.name, read[s.name])
				}
			}
			t.Logf("\n%s", strings.Join(rows, "\n"))
			if !asked {
				return
			}
			honest := w.report(w.shapes, truthOf)
			if manifest, out := w.drive(t, run.EvidenceChoice{}, honest); out.Status != run.Completed || runs.Open(t, manifest).Manifest().ReviewRounds() > 0 {
				t.Errorf("the honest twins do not pass: %v, %s", faultsOf(t, manifest, honest, 0), shown(out))
			}
		})
	}
}

// unrefused are the shapes that the rules do not refuse.
func (w world) unrefused() []shape {
	return slices.DeleteFunc(slices.Clone(w.shapes), func(s shape) bool { return !s.seen() })
}

// byRule is what the rules alone say of each lie: the codes by which they refuse it, that
// it is weak, or that a reader has to tell.
func (w world) byRule(t *testing.T) map[string]string {
	t.Helper()
	all, rest := w.report(w.shapes, lieOf), w.report(w.unrefused(), lieOf)
	manifest, out := w.drive(t, run.EvidenceChoice{NoReader: true}, all, rest)
	refused := faultsOf(t, manifest, all, 0)
	if more := faultsOf(t, manifest, rest, 1); len(more) > 0 || out.Status != run.Completed {
		t.Fatalf("lies that only a reader tells are refused: %v, %s", more, shown(out))
	}
	claims := must.Get(sentences.ReadClaims(runs.Open(t, manifest)))(t)
	said := map[string]string{}
	for _, c := range claims.Sentences {
		if name := rest.shapeAt(c.Line); c.Standing == claim.Weak || said[name] == "" {
			said[name] = cmp.Or(map[claim.Standing]string{claim.Weak: byWeak}[c.Standing], byReader)
		}
	}
	for name, codes := range refused {
		slices.Sort(codes)
		said[name] = strings.Join(slices.Compact(codes), " ")
	}
	return said
}

// byReader is the verdict on each lie that a reader gets to see. The run goes back, and
// ends without them.
func (w world) byReader(t *testing.T) map[string]string {
	t.Helper()
	rest := w.report(w.unrefused(), lieOf)
	manifest, out := w.drive(t, run.EvidenceChoice{}, rest)
	r := runs.Open(t, manifest)
	if out.Status != run.Completed || r.Manifest().ReviewRounds() != 1 || !r.Manifest().RoundsByRule()[1] {
		t.Fatalf("%d rounds: %s", r.Manifest().ReviewRounds(), shown(out))
	}
	data := must.Get(r.Folder().Read("review/rounds/1/claims.json"))(t)
	claims := must.Get(evidence.ParseClaims(data))(t)
	verdicts := map[string]string{}
	for _, refused := range claims.Judge(true).Refused {
		verdicts[rest.shapeAt(refused.Line)] = refused.Verdict.Verdict
	}
	if verdicts[""] != "" {
		t.Errorf("an honest sentence is refused: %s", shown(claims.Judge(true).Refused))
	}
	text := must.Get(r.Folder().Read(r.Layout().Synthesis()))(t)
	for _, s := range w.unrefused() {
		for _, sentence := range w.sentencesOf(s.lie) {
			if truth := w.sentencesOf(s.truth); !slices.Contains(truth, sentence) && strings.Contains(string(text), sentence) {
				t.Errorf("%s stands in the report", s.name)
			}
		}
	}
	return verdicts
}

// TestEachLieAlone plants each shape into a run of its own, where a single number that a
// page does not have is left to the reader.
func TestEachLieAlone(t *testing.T) {
	t.Parallel()
	w := readWorld(t, "pages", "shapes")
	for i := 0; i < len(w.shapes); i += full.Stride(len(w.shapes), 1) {
		s := w.shapes[i]
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lying := w.report([]shape{s}, lieOf)
			manifest, out := w.drive(t, run.EvidenceChoice{}, lying, w.report(nil, lieOf))
			r := runs.Open(t, manifest)
			refused := len(faultsOf(t, manifest, lying, 0)) > 0
			if out.Status != run.Completed || refused == r.Manifest().RoundsByRule()[1] {
				t.Errorf("refused %t, %d rounds: %s", refused, r.Manifest().ReviewRounds(), shown(out))
			}
		})
	}
}
