package library

import (
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
)

// CompareInput are the arguments of [Compare].
type CompareInput struct {
	A string `json:"a" jsonschema:"the earlier run or audit, by its id, the beginning of it, or its folder"`
	B string `json:"b" jsonschema:"the later one"`

	Runs, Dir string `json:"-"` // the home of runs, and the working folder
}

// Compared is the result of [Compare].
type Compared struct {
	OK           codec.True         `json:"ok"`
	Same         bool               `json:"same" jsonschema:"nothing differs"`
	A            Subject            `json:"a"`
	B            Subject            `json:"b"`
	SameQuestion bool               `json:"same_question"`
	Kept         int                `json:"kept" jsonschema:"sentences that both have, word for word"`
	Sentences    []ComparedSentence `json:"sentences" jsonschema:"those that differ"`
	Numbers      []ComparedNumbers  `json:"numbers" jsonschema:"numbers that a sentence has in one report and not in the other"`
	Sources      []ComparedSource   `json:"sources" jsonschema:"those that differ"`
}

// ComparedSentence is a sentence that only one report has, that they have in other words,
// or that stands otherwise.
type ComparedSentence struct {
	Change     string         `json:"change" jsonschema:"added, removed, changed, or stands (the same words, which stand otherwise)"`
	A          string         `json:"a" jsonschema:"the sentence in the earlier report; empty where it has none"`
	B          string         `json:"b"`
	StandingA  claim.Standing `json:"standing_a"`
	StandingB  claim.Standing `json:"standing_b"`
	Difference []drift.Piece  `json:"difference"`
}

// ComparedNumbers are the numbers in which two forms of one sentence differ.
type ComparedNumbers struct {
	A        []string `json:"a"`
	B        []string `json:"b"`
	Sentence string   `json:"sentence" jsonschema:"in the later report"`
}

// ComparedSource is a source that only one report has, or that was worth something else.
type ComparedSource struct {
	Change string `json:"change" jsonschema:"added, removed or changed"`
	URL    string `json:"url"`
	A      string `json:"a" jsonschema:"what it was worth; empty where the report does not have it"`
	B      string `json:"b"`
}

// The changes.
const (
	added   = "added"
	removed = "removed"
	changed = "changed"
	stands  = "stands"
)

// Passed reports whether nothing differs.
func (c Compared) Passed() bool { return c.Same }

// Compare says how the reports of two runs or audits differ. It returns the errors of
// [Open].
func Compare(ctx context.Context, desk run.Desk, in CompareInput) (Compared, error) {
	a, err := Open(ctx, desk, in.Runs, in.Dir, in.A)
	if err != nil {
		return Compared{}, err
	}
	defer a.Close()
	b, err := Open(ctx, desk, in.Runs, in.Dir, in.B)
	if err != nil {
		return Compared{}, err
	}
	defer b.Close()
	out := Compared{A: a.Subject, B: b.Subject, SameQuestion: a.Title == b.Title, Sentences: []ComparedSentence{}, Numbers: []ComparedNumbers{}}
	out.compareSentences(a, b)
	out.Sources = compareSources(a.all, b.all)
	out.Same = out.SameQuestion && len(out.Sentences)+len(out.Sources) == 0
	return out, nil
}

func (c *Compared) compareSentences(a, b *Item) {
	texts := func(i *Item) (out []string) {
		for k := range i.Sentences {
			out = append(out, i.Sentences[k].Text)
		}
		return out
	}
	for _, pair := range drift.Pairs(texts(a), texts(b)) {
		switch {
		case pair.Then < 0:
			s := &b.Sentences[pair.Now]
			c.Sentences = append(c.Sentences, ComparedSentence{Change: added, B: s.Text, StandingB: s.Standing, Difference: drift.Mark("", s.Text)})
			continue
		case pair.Now < 0:
			s := &a.Sentences[pair.Then]
			c.Sentences = append(c.Sentences, ComparedSentence{Change: removed, A: s.Text, StandingA: s.Standing, Difference: drift.Mark(s.Text, "")})
			continue
		}
		was, is := &a.Sentences[pair.Then], &b.Sentences[pair.Now]
		change := ComparedSentence{Change: changed, A: was.Text, B: is.Text, StandingA: was.Standing, StandingB: is.Standing, Difference: drift.Mark(was.Text, is.Text)}
		switch {
		case was.Text != is.Text:
			if numbers := compareNumbers(was.Text, is.Text, a.Language, b.Language); len(numbers.A)+len(numbers.B) > 0 {
				c.Numbers = append(c.Numbers, numbers)
			}
		case was.Standing != is.Standing:
			change.Change = stands
		default:
			c.Kept++
			continue
		}
		c.Sentences = append(c.Sentences, change)
	}
}

// compareNumbers are the numbers that one form of a sentence has and the other has not.
func compareNumbers(a, b, languageA, languageB string) ComparedNumbers {
	read := func(text, language string) (texts []string, figures []figure.Figure) {
		plain, found := figure.Stated(text, []string{language})
		for _, f := range found {
			texts = append(texts, strings.TrimSpace(plain[f.Start:f.End]))
		}
		return texts, found
	}
	lacks := func(texts []string, figures []figure.Figure, in, language string) []string {
		out := []string{}
		for i, f := range figures {
			index := figure.NewIndex()
			index.Want(f.Readings)
			index.ReadIn(in, []string{language})
			if _, _, found := index.Find(f.Readings); !found && !strings.Contains(in, texts[i]) {
				out = append(out, texts[i])
			}
		}
		return out
	}
	textsA, figuresA := read(a, languageA)
	textsB, figuresB := read(b, languageB)
	return ComparedNumbers{A: lacks(textsA, figuresA, b, languageB), B: lacks(textsB, figuresB, a, languageA), Sentence: b}
}

// compareSources compares what two reports make of their sources, in byte order of URLs.
func compareSources(a, b []source.Record) []ComparedSource {
	worth := func(r *source.Record) string {
		if r == nil {
			return ""
		}
		return string(r.Status) + ", " + r.Notes
	}
	byURL := map[string][2]*source.Record{}
	for side, records := range [][]source.Record{a, b} {
		for i := range records {
			both := byURL[records[i].NormalizedURL]
			both[side] = &records[i]
			byURL[records[i].NormalizedURL] = both
		}
	}
	out := []ComparedSource{}
	for url, both := range byURL {
		change := ComparedSource{Change: changed, URL: link.Mask(url), A: worth(both[0]), B: worth(both[1])}
		switch {
		case both[0] == nil:
			change.Change = added
		case both[1] == nil:
			change.Change = removed
		case both[0].Status == both[1].Status:
			continue
		}
		out = append(out, change)
	}
	slices.SortFunc(out, func(a, b ComparedSource) int { return strings.Compare(a.URL, b.URL) })
	return out
}

// Report shows what differs.
func (c Compared) Report() report.Report {
	r := report.Report{Name: "run_compare", Title: c.A.ID + " and " + c.B.ID, Status: report.PassIf(c.Same)}
	r.Summary = report.Counted(c.Kept, "sentence") + " the same, " + report.Counted(len(c.Sentences), "sentence") + ", " + report.Counted(len(c.Numbers), "number") + " and " + report.Counted(len(c.Sources), "source") + " differ"
	fields := report.Fields{{Name: c.A.ID, Value: c.A.Title}}
	if !c.SameQuestion {
		fields = append(fields, report.Field{Name: c.B.ID, Value: c.B.Title})
	}
	r.Add(fields)
	if len(c.Sentences) > 0 {
		table := report.NewTable("Change", "Stands", "Sentence")
		for _, s := range c.Sentences {
			standing := string(s.StandingA)
			if s.StandingA != s.StandingB {
				standing = strings.Trim(string(s.StandingA)+" → "+string(s.StandingB), " ")
			}
			text := drift.Marked(s.Difference)
			table.Row(report.None, s.Change, standing, text)
		}
		r.Add(report.Heading("Sentences"), table)
	}
	if len(c.Numbers) > 0 {
		table := report.NewTable(c.A.ID, c.B.ID, "Sentence")
		for _, n := range c.Numbers {
			table.Row(report.None, strings.Join(n.A, ", "), strings.Join(n.B, ", "), n.Sentence)
		}
		r.Add(report.Heading("Numbers"), table)
	}
	if len(c.Sources) > 0 {
		table := report.NewTable("Change", "Source", c.A.ID, c.B.ID)
		for _, s := range c.Sources {
			table.Row(report.None, s.Change, s.URL, s.A, s.B)
		}
		r.Add(report.Heading("Sources"), table)
	}
	return r
}
