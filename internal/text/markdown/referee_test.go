package markdown_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// documents is the number of random documents that the referees judge. With
// -full they also judge all crossings of containers and blocks, not a sample.
func documents() int { return 30000 / full.Stride(40, 1) }

// verdict is what a referee, or this package, says of a document.
type verdict struct {
	Headings []heading `json:"headings"`
	Places   []int     `json:"places"`   // of the lines from the first heading on
	Passages []passage `json:"passages"` // only items have a line
}

type heading struct {
	Line  int    `json:"line"`
	Level int    `json:"level"`
	Text  string `json:"text"`
}

type passage struct {
	Line int    `json:"line"`
	Item bool   `json:"item"`
	Text string `json:"text"`
}

// ours makes sure that what is found does not depend on what is asked for.
func ours(t testing.TB, doc string) verdict {
	t.Helper()
	v := facts(t, strings.NewReader(doc), true)
	quick := facts(t, strings.NewReader(doc), false)
	quick.Passages = v.Passages
	if want, got := fmt.Sprint(v), fmt.Sprint(quick); want != got {
		t.Errorf("%q\nwith passages:    %s\nwithout passages: %s", doc, want, got)
	}
	return v
}

func facts(t testing.TB, r io.Reader, passages bool) verdict {
	t.Helper()
	var v verdict
	on := markdown.Events{
		Heading: func(h markdown.Heading) bool {
			v.Headings = append(v.Headings, heading{h.Line, h.Level, string(h.Text)})
			v.Places = append(v.Places, int(markdown.InText))
			return true
		},
		Line: func(l markdown.Line) {
			if want := v.Headings[0].Line + len(v.Places); l.Number != want {
				t.Errorf("line %d is numbered %d", want, l.Number)
			}
			v.Places = append(v.Places, int(l.In))
		},
	}
	if passages {
		on.Passage = func(p markdown.Passage) {
			if !p.Item {
				p.Line = 0
			}
			v.Passages = append(v.Passages, passage{p.Line, p.Item, string(p.Text)})
		}
	}
	var s markdown.Scanner
	must.Get(s.Scan(r, on))(t)
	return v
}

// linesAndLevels is the part of a verdict that every referee gives.
func linesAndLevels(v verdict) any {
	short := []heading{}
	for _, h := range v.Headings {
		short = append(short, heading{Line: h.Line, Level: h.Level})
	}
	return short
}

// difference is a shape about which a referee is wrong.
type difference struct {
	name     string
	sentence string         // of CommonMark 0.31.2, that decides it
	example  string         // on which the referee differs from us
	applies  *regexp.Regexp // matches the documents that may have the shape
}

// listed reports whether a document may have one of the shapes.
func listed(known []difference, doc string) bool {
	return slices.ContainsFunc(known, func(d difference) bool { return d.applies.MatchString(doc) })
}

// corpus is the examples of the specification, one in every stride of the
// crossings, and random documents.
func corpus(t *testing.T, seed uint64, stride, random int) []string {
	t.Helper()
	docs := slices.Clone(specExamples(t))
	for i, doc := range crossings() {
		if i%stride == 0 || full.Asked() {
			docs = append(docs, doc)
		}
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	for i := range random {
		if i%3 == 0 {
			docs = append(docs, soup(rnd))
		} else {
			docs = append(docs, document(rnd, 12))
		}
	}
	return docs
}

// specExamples are the examples of CommonMark 0.31.2, as goldmark's module has them.
func specExamples(t *testing.T) []string {
	t.Helper()
	docs := must.Get(readSpecExamples())(t)
	if len(docs) < 600 {
		t.Fatalf("the specification has %d examples, want more than 600", len(docs))
	}
	return docs
}

var readSpecExamples = sync.OnceValues(func() (docs []string, err error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err != nil {
		return nil, err
	}
	var examples []struct{ Markdown string }
	err = json.Unmarshal(data, &examples)
	for _, e := range examples {
		docs = append(docs, e.Markdown)
	}
	return docs, err
})

// compare reports the documents for which a referee's verdict and ours differ in
// the given part, unless a listed difference may be the reason.
func compare(t *testing.T, docs []string, verdicts []verdict, part func(verdict) any, known []difference) {
	t.Helper()
	compared, differ := 0, 0
	for i, doc := range docs {
		if listed(known, doc) {
			continue
		}
		compared++
		want, got := fmt.Sprint(part(verdicts[i])), fmt.Sprint(part(ours(t, doc)))
		if want == got {
			continue
		}
		differ++
		if differ <= 5 {
			t.Errorf("%q\nreferee: %s\nours:    %s", doc, want, got)
		}
	}
	t.Logf("%d of %d documents compared, %d differ", compared, len(docs), differ)
	if compared < len(docs)/4 {
		t.Errorf("%d of %d documents were compared, want a quarter at least", compared, len(docs))
	}
}

// checkListed makes sure that a listed difference is one, and is recognised.
func checkListed(t *testing.T, d difference, referee verdict, part func(verdict) any) {
	t.Run(d.name, func(t *testing.T) {
		if !d.applies.MatchString(d.example) {
			t.Errorf("the example %q does not match %v", d.example, d.applies)
		}
		if d.sentence == "" {
			t.Error("no sentence of CommonMark decides it")
		}
		if want, got := fmt.Sprint(part(referee)), fmt.Sprint(part(ours(t, d.example))); want == got {
			t.Errorf("the referee agrees on %q: %s", d.example, want)
		}
	})
}
