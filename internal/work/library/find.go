package library

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
	"github.com/tidegate/tidegate/internal/work/run"
)

// FindInput are the arguments of [Find].
type FindInput struct {
	Words string `json:"words" jsonschema:"the words to look for; a word finds those that begin with it, too"`
	Most  int    `json:"max_results,omitzero" jsonschema:"how many are shown" minimum:"1" maximum:"200" default:"20"`

	Runs    string `json:"-"` // the home of runs
	Folders int    `json:"-"` // most of those that came or changed that are read before it answers, the last written first; 0 for all
}

// FindResult is the result of [Find].
type FindResult struct {
	OK    codec.True `json:"ok"`
	Words []string   `json:"words" jsonschema:"as they are compared"`
	Found int        `json:"found" jsonschema:"how many texts have one of the words"`
	Hits  []Hit      `json:"hits" jsonschema:"the best first"`
	Left  int        `json:"-"` // folders that were not looked at
}

// Hit is a text in which words were found.
type Hit struct {
	Kind    string `json:"kind" jsonschema:"run, audit, review or answer"`
	ID      string `json:"id"`
	Part    string `json:"part" jsonschema:"question, report, source or page"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Passage string `json:"passage" jsonschema:"the sentence that has most of the words, with what follows it"`
}

// weights are how much more a word counts in a part.
var weights = map[string]float64{partQuestion: 3, partReport: 2, partSource: 1.5, partPage: 1}

const (
	mostForms  = 64 // words of the index that one word may stand for
	longText   = 0.75
	saturation = 1.2
)

// Find finds words in everything that a home keeps: questions, reports, answers,
// sources, archived pages, audits and code reviews. It reads an index, which it first brings up to date, in
// full or as far as Folders allows, and shows passages as they stand in the folders today. It returns INVALID_ARGS without a
// word, READ_FAILED and CANCELLED.
func Find(ctx context.Context, desk run.Desk, in FindInput) (FindResult, error) {
	out := FindResult{Words: []string{}, Hits: []Hit{}}
	page.EachFolded(in.Words, func(word []byte, _ int) {
		if w := string(word); !slices.Contains(out.Words, w) {
			out.Words = append(out.Words, w)
		}
	})
	if len(out.Words) == 0 {
		return out, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("words", tidegate.Cut(in.Words)), "there is no word to look for in %q", tidegate.Cut(in.Words))
	}
	indexes, there, left, err := upToDate(ctx, desk, in.Runs, in.Folders)
	if err != nil {
		return out, err
	}
	out.Left = left
	var all []scored
	for _, x := range indexes {
		all = append(all, x.find(out.Words, there)...)
		for _, f := range x.folders {
			delete(there, f) // a folder counts once
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out.Found = len(all)
	for _, s := range all {
		if len(out.Hits) == cmp.Or(in.Most, 20) {
			break
		}
		e, err := readEntry(s.entry)
		if err != nil {
			continue
		}
		text, err := e.text(ctx, desk, in.Runs)
		if err != nil {
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			continue // it is no longer there
		}
		out.Hits = append(out.Hits, Hit{e.Kind, e.ID, e.Part, e.Title, e.URL, passageOf(text, out.Words)})
	}
	return out, nil
}

// scored is an entry with how well it fits.
type scored struct {
	entry []byte
	score float64
}

// find scores the entries that have one of the words, by how often they have it and how
// few others do. Entries of folders that are gone or were changed do not count.
func (x *index) find(words []string, there map[indexedFolder]bool) []scored {
	total := 0.0
	for _, n := range x.lengths {
		total += float64(n)
	}
	mean := math.Max(1, total/math.Max(1, float64(len(x.lengths))))
	scores := map[uint32]float64{}
	has := map[uint32]int{}
	for _, word := range words {
		times := map[uint32]float64{}
		from, to := x.beginning(word, mostForms)
		for w := from; w < to; w++ {
			weight := 1.0
			if string(x.words[w]) != word {
				weight = 0.5
			}
			for _, p := range x.postings(w) {
				times[p.entry] += weight * float64(p.times)
			}
		}
		rare := math.Log(1 + (float64(len(x.entries))-float64(len(times))+0.5)/(float64(len(times))+0.5))
		for entry, n := range times {
			scores[entry] += rare * n * (saturation + 1) / (n + saturation*(1-longText+longText*float64(x.lengths[entry])/mean))
			has[entry]++
		}
	}
	places := make([]uint32, 0, len(scores))
	for entry := range scores {
		if there[x.folders[x.of[entry]]] {
			places = append(places, entry)
		}
	}
	slices.Sort(places)
	out := make([]scored, 0, len(places))
	for _, entry := range places {
		share := float64(has[entry]) / float64(len(words))
		out = append(out, scored{x.entries[entry], scores[entry] * share * share * weights[parts[x.parts[entry]]]})
	}
	return out
}

const mostPassage = 300 // characters

// passageOf is the sentence of a text that has most of the words, with what follows.
func passageOf(text string, words []string) string {
	best, most := 0, -1
	for _, span := range sentence.Split(text, "") {
		n := 0
		p := newWords(text[span.Start:span.End])
		for _, word := range words {
			if p.begins(word) {
				n++
			}
		}
		if n > most {
			best, most = span.Start, n
		}
	}
	return page.TidySpace(page.CutBytes(text[best:], mostPassage))
}

// wordSet is the words of a text.
type wordSet []string

func newWords(text string) (out wordSet) {
	page.EachFolded(text, func(word []byte, _ int) { out = append(out, string(word)) })
	return out
}

func (w wordSet) begins(with string) bool {
	return slices.ContainsFunc(w, func(word string) bool { return strings.HasPrefix(word, with) })
}

// Report shows the hits.
func (f FindResult) Report() report.Report {
	r := report.Report{Name: "find", Title: "Found: " + strings.Join(f.Words, " "), Summary: report.Counted(len(f.Hits), "text") + " of " + report.Counted(f.Found, "text")}
	for _, h := range f.Hits {
		fields := report.Fields{{Name: h.Part, Value: h.Passage}}
		if h.URL != "" {
			fields = append(fields, report.Field{Name: "source", Value: strings.TrimSpace(h.Title + " " + h.URL)})
		}
		r.Add(report.Heading(h.Kind+" "+h.ID), fields)
	}
	if len(f.Hits) == 0 {
		r.Add(report.Paragraph("Nothing has these words."))
	}
	return r
}
