package sourcing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
)

// How many bytes of a person's own documents a prompt quotes: all of a few, else an outline
// and the passages that fit its perspective best. The passages in all prompts of a wave
// together are at most half of the documents.
const (
	MaxWhole   = 16 << 10
	MaxQuoted  = 10 << 10
	maxOutline = 12 << 10
	maxBegins  = 200 // of a document in the outline
)

// Quoted is what one prompt shows of a person's own documents.
type Quoted struct {
	Shown    string          // how much that is
	Whole    []QuotedPassage // documents, where all of them are shown
	Outline  string          // a list of them, where they are not
	Passages []QuotedPassage // the best first
}

// QuotedPassage is a document, or a part of one.
type QuotedPassage struct{ Name, URL, Heading, Text string }

// all are the passages and documents that are shown.
func (q *Quoted) all() []QuotedPassage { return append(slices.Clone(q.Whole), q.Passages...) }

// Quote is what the prompt of each question shows of attached documents. It returns
// READ_FAILED.
func Quote(ctx context.Context, r *run.Run, list []Document, questions []string) ([]*Quoted, error) {
	whole, total, outline := &Quoted{Shown: "All of them stand here as a whole."}, 0, newOutliner(len(list))
	err := ReadAttached(ctx, r, list, func(d Document, c page.Content) bool {
		if total += len(c.Text); total <= MaxWhole {
			whole.Whole = append(whole.Whole, QuotedPassage{Name: d.Name, URL: d.URL, Text: shownText(c.Text)})
		}
		outline.add(d, c)
		return true
	})
	quoted := make([]*Quoted, len(questions))
	if err != nil || total <= MaxWhole {
		for i := range quoted {
			quoted[i] = whole
		}
		return quoted, err
	}
	chooser := claim.NewChooser(questions, min(MaxQuoted, total/2/max(1, len(questions))))
	byCID := map[string]Document{}
	err = ReadAttached(ctx, r, list, func(d Document, content page.Content) bool {
		byCID[d.CID] = d
		chooser.Look(claim.PageOf(d.CID, d.Name, content))
		return true
	})
	for i := range quoted {
		q, bytes := &Quoted{Outline: outline.text.String()}, 0
		for _, w := range chooser.Chosen(i) {
			d := byCID[w.CID]
			bytes += len(w.Text)
			q.Passages = append(q.Passages, QuotedPassage{d.Name, d.URL, w.Heading, shownText(w.Text)})
		}
		q.Shown = fmt.Sprintf("They are too long to stand here: %s with %d bytes of text. Their outline stands here, and below it the passages that share words, numbers and names with your perspective and the question, chosen by a rule, the best first, %d bytes in all.",
			report.Counted(len(list), "document"), total, bytes)
		quoted[i] = q
	}
	return quoted, err
}

// Outline lists the attached documents of a run: each with its address, title, headings and
// first paragraph. It is "" for a run without any, and returns READ_FAILED.
func Outline(ctx context.Context, r *run.Run) (string, error) {
	list, err := AttachedDocuments(r)
	o := newOutliner(len(list))
	if err == nil {
		err = ReadAttached(ctx, r, list, func(d Document, c page.Content) bool {
			o.add(d, c)
			return true
		})
	}
	return o.text.String(), err
}

func newOutliner(documents int) *outliner {
	return &outliner{each: max(80, maxOutline/max(1, documents))}
}

// outliner lists documents: each with its address, title, headings and first paragraph, as
// far as there is room for each.
type outliner struct {
	text   strings.Builder
	each   int // bytes
	others int
}

func (o *outliner) add(d Document, c page.Content) {
	line := fmt.Sprintf("- %s %s (%d bytes)", markdown.OneLine(d.Name), d.URL, len(c.Text))
	if o.text.Len()+len(line) > 2*maxOutline {
		if o.others++; o.others == 1 {
			o.text.WriteString("- and further documents, which the tools list\n")
		}
		return
	}
	o.text.WriteString(line + "\n")
	room := o.each - len(line)
	if slices.Contains(c.Headings, c.Title) {
		c.Title = ""
	}
	for _, part := range []struct{ name, text string }{{"title", c.Title}, {"headings", strings.Join(c.Headings, " | ")}, {"begins", firstParagraph(c)}} {
		text := markdown.OneLine(part.text)
		most := max(0, min(room, o.each/2)-len(part.name)-len("  : \n"))
		if text == "" || most < 24 {
			continue
		}
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + " …"
		}
		fmt.Fprintf(&o.text, "  %s: %s\n", part.name, text)
		room -= len(text) + len(part.name)
	}
}

// firstParagraph is the first one of some words that is no heading, and in a plain text no
// comment, list or example either.
func firstParagraph(c page.Content) string {
	end := "\n"
	if strings.Contains(c.Text, "\n\n") {
		end = "\n\n"
	}
	for paragraph := range strings.SplitSeq(c.Text, end) {
		paragraph = strings.TrimLeft(paragraph, "\n")
		if len(strings.Fields(paragraph)) >= 8 && !strings.ContainsAny(paragraph[:1], " \t.:#$>|+-*") && !slices.Contains(c.Headings, strings.TrimRight(paragraph, " ¶")) {
			return page.CutBytes(paragraph, maxBegins)
		}
	}
	return page.CutBytes(c.Text, maxBegins)
}

// QuestionOf is what the prompt of a perspective is about: its title, the gap that it is to
// close, and the question of the run.
func QuestionOf(title, gap, query string) string {
	return strings.Join([]string{title, gap, query}, "\n")
}

// shownText is text as a quotation shows all of it, with blanks between cells.
func shownText(text string) string {
	return markdown.Fold(strings.ReplaceAll(text, "\t", "  "))
}

// Seen are the ids of the gaps about which the researchers of the first wave have seen all
// that there is: those of a run without web of which no document has a passage that they were
// not shown. It returns READ_FAILED.
func Seen(ctx context.Context, r *run.Run, gaps []pivot.Gap) (map[string]bool, error) {
	seen := map[string]bool{}
	if r.Manifest().Sensitivity() != "no_web" {
		return seen, nil
	}
	shown, list, err := shownInFirstWave(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, g := range gaps {
		seen[g.ID] = true
	}
	err = ReadAttached(ctx, r, list, func(d Document, content page.Content) bool {
		known := func(sentence string) bool {
			sentence = shownText(sentence)
			return slices.ContainsFunc(shown[d.URL], func(passage string) bool { return strings.Contains(passage, sentence) })
		}
		for _, g := range gaps {
			seen[g.ID] = seen[g.ID] && !claim.PageOf(d.CID, d.Name, content).Unseen(g.Text, known)
		}
		return true
	})
	return seen, err
}

// shownInFirstWave is what the prompts of the first wave show of each document, by its
// address, and what its researchers read there.
func shownInFirstWave(ctx context.Context, r *run.Run) (map[string][]string, []Document, error) {
	list, err := AttachedDocuments(r)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	contracts, err := step.ReadContracts(r, run.Wave1)
	if err != nil {
		return nil, nil, err
	}
	var questions []string
	for _, p := range contracts.Doc.List {
		questions = append(questions, QuestionOf(p.Title, "", r.Manifest().Query()))
	}
	quoted, err := Quote(ctx, r, list, questions)
	if err != nil {
		return nil, nil, err
	}
	shown := map[string][]string{}
	for _, q := range quoted {
		for _, p := range q.all() {
			if !slices.Contains(shown[p.URL], p.Text) {
				shown[p.URL] = append(shown[p.URL], p.Text)
			}
		}
	}
	answers, err := consulted(ctx, r, "wave1.")
	for _, d := range list {
		shown[d.URL] = append(shown[d.URL], answers...)
	}
	return shown, list, err
}
