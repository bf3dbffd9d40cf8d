package dispatch

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/text/sentence"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Wrong is a sentence of answers to a job with all that was wrong with it.
type Wrong struct {
	Text  string // "" for what is about no line
	Whys  []Why
	Tries int // in how many answers
}

// Why is a reason: what a sentence has and what its page says instead, or words.
type Why struct{ Has, Page, Words string }

// pageSays are the words of a rule between what a sentence has and what its page has.
const pageSays = ": the page says "

var (
	lineNumbers = pattern(` \(line \d+\)| (in|of) line \d+`)
	inMarks     = pattern(`\s*\[(@[^\]]*|inferred from [^\]]*|calculated: [^\]]*)\]`)
	named       = pattern(`"([^"]+)"`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// WithoutMarks is a text without its citations.
func WithoutMarks(text string) string { return inMarks().ReplaceAllString(text, "") }

// tell adds a reason, unless one that is known says more: what the page has instead. An
// address that the sentence has is not said again.
func (w *Wrong) tell(message string) {
	has, page, instead := strings.Cut(message, pageSays)
	why := Why{Has: has, Page: lineNumbers().ReplaceAllString(page, "")}
	if !instead {
		said := strings.FieldsFunc(w.Text, func(r rune) bool { return strings.ContainsRune(" ()<>[],", r) })
		words := slices.DeleteFunc(strings.Fields(message), func(word string) bool {
			return strings.Contains(word, "://") && slices.Contains(said, word)
		})
		why = Why{Words: strings.Join(words, " ")}
		if w.Text != "" {
			why.Words = lineNumbers().ReplaceAllString(why.Words, "")
		}
	}
	if !slices.ContainsFunc(w.Whys, func(known Why) bool {
		return known == why || known.Page != "" && strings.Contains(why.Words, `"`+known.Has+`"`)
	}) {
		w.Whys = append(w.Whys, why)
	}
}

// sentenceOf is the sentence of a line that a fault is about, without its marks: the line where
// the fault names nothing that it has.
func sentenceOf(line, message string) string {
	plain := WithoutMarks(line)
	name, _, instead := strings.Cut(message, pageSays)
	if m := named().FindStringSubmatch(message); !instead && m != nil {
		name = m[1]
	}
	at := strings.Index(line, name)
	if at < 0 || !instead && name == message {
		return strings.TrimLeft(plain, "-*+># ")
	}
	taken := 0
	for _, mark := range inMarks().FindAllStringIndex(line, -1) {
		if mark[0] < at {
			taken += min(mark[1], at+1) - mark[0]
		}
	}
	for _, s := range sentence.Split(plain, "") {
		if at-taken < s.End {
			return strings.TrimLeft(plain[s.Start:s.End], "-*+># ")
		}
	}
	return plain
}

// WrongWith groups the faults of an answer by its sentences.
func WrongWith(kind string, answer []byte, faults []job.Fault) (groups []Wrong) {
	lines := strings.Split(job.AsJudged(kind, answer), "\n")
	for _, f := range faults {
		text := ""
		if f.Line != nil && *f.Line >= 1 && *f.Line <= len(lines) {
			text = sentenceOf(lines[*f.Line-1], f.Message)
		}
		at := slices.IndexFunc(groups, func(w Wrong) bool { return text != "" && w.Text == text })
		if at < 0 {
			at, groups = len(groups), append(groups, Wrong{Text: text, Tries: 1})
		}
		groups[at].tell(f.Message)
	}
	return groups
}

// mostWrong is how many kinds of faults are told, and stand in a note.
const mostWrong = 8

// Refusals are what was wrong with the answers to a job.
type Refusals struct {
	Groups    []Wrong // by sentences, the most frequent first
	Answers   int
	Sentences int
	Same      bool    // each answer has all of them
	Note      string  // tells the next agent what to change, as the rules said it
	Cost      float64 // of a try so far, 0 where nobody knows
}

// WhatIsWrong says why the answers to a job were refused.
func WhatIsWrong(board *job.Board, id string) (out Refusals) {
	shown, err := board.Show(id)
	if err != nil {
		return out
	}
	priced := 0
	var changes []string
	for _, a := range shown.Attempts {
		if usd := a.Usage.CostUSD; usd != nil && *usd > 0 {
			out.Cost, priced = out.Cost+*usd, priced+1
		}
		if len(a.Submissions) == 0 && a.Reason != "" {
			out.add(Wrong{Whys: []Why{{Words: a.Reason}}, Tries: 1})
		}
		for _, s := range a.Submissions {
			out.Answers++
			text, _ := board.Run().Folder().Read(run.AttemptDir(a.JobID, a.Number) + "/" + s.Answer) // without it only the reasons are told
			for _, w := range WrongWith(a.Kind, text, s.Faults) {
				out.add(w)
			}
			for _, f := range s.Faults {
				if f.ChangeNote != "" && !slices.Contains(changes, f.ChangeNote) && len(changes) < mostWrong {
					changes = append(changes, f.ChangeNote)
				}
			}
		}
	}
	out.Cost /= float64(max(priced, 1))
	slices.SortStableFunc(out.Groups, func(a, b Wrong) int { // of two as frequent, the one whose page says something else
		return cmp.Or(b.Tries-a.Tries, cmp.Compare(a.Whys[0].Words, "")-cmp.Compare(b.Whys[0].Words, ""))
	})
	out.Same = true
	for _, w := range out.Groups {
		if w.Text != "" {
			out.Sentences++
			out.Same = out.Same && w.Tries == out.Answers
		}
	}
	out.Groups = out.Groups[:min(len(out.Groups), mostWrong)]
	var notes []string
	for _, w := range out.Groups {
		for _, why := range w.Whys {
			if why.Page != "" {
				notes = append(notes, why.Has+pageSays+why.Page+".")
			}
		}
	}
	out.Note = strings.Join(append(notes, changes...), " ")
	return out
}

// add takes a sentence that is wrong in one more answer.
func (r *Refusals) add(w Wrong) {
	for i, known := range r.Groups {
		if known.Text == w.Text && (w.Text != "" || known.Whys[0] == w.Whys[0]) {
			r.Groups[i].Tries++
			for _, why := range w.Whys {
				if !slices.Contains(known.Whys, why) {
					r.Groups[i].Whys = append(r.Groups[i].Whys, why)
				}
			}
			return
		}
	}
	r.Groups = append(r.Groups, w)
}
