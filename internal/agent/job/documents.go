package job

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// MaxQuoted is how many bytes of a person's own documents a prompt quotes. Where they
// have more, it quotes the passages that fit its perspective.
const MaxQuoted = 128 << 10

// ownDocuments are what the perspectives of a wave are shown.
type ownDocuments struct {
	whole  *shownDocuments // the same for all of them; nil where passages are chosen
	chosen map[string]*shownDocuments
}

// shownDocuments is what one prompt shows of a person's own documents.
type shownDocuments struct {
	Shown  string // how much that is
	List   []shownDocument
	Others []string // names of those of which it shows nothing
}

type shownDocument struct {
	Name, URL string
	Of        string // how much of it is shown; "" for all
	Passages  []shownPassage
}

type shownPassage struct{ Heading, Text string }

// documents are the person's own documents as the prompt of a perspective shows them, nil
// for a run without any.
func (b *Board) documents(stage run.Stage, perspective string) (*shownDocuments, error) {
	if b.own[stage] == nil {
		own, err := b.readDocuments(stage)
		if err != nil {
			return nil, err
		}
		b.own[stage] = own
	}
	if own := b.own[stage]; own.chosen != nil {
		return own.chosen[perspective], nil
	}
	return b.own[stage].whole, nil
}

// attached lists the person's own documents. It is read once.
func (b *Board) attached() ([]step.Document, error) {
	if b.files == nil {
		list, err := step.AttachedDocuments(b.run)
		if err != nil {
			return nil, err
		}
		b.files = append([]step.Document{}, list...)
	}
	return b.files, nil
}

// readDocuments reads what the perspectives of a wave are shown: the documents as a
// whole where there is room for them, else of each what fits the perspective.
func (b *Board) readDocuments(stage run.Stage) (*ownDocuments, error) {
	list, err := b.attached()
	if err != nil || len(list) == 0 {
		return &ownDocuments{}, err
	}
	whole, room := &shownDocuments{Shown: "All of them stand here as a whole."}, MaxQuoted
	err = step.ReadAttached(context.Background(), b.run, list, func(d step.Document, c page.Content) bool {
		text := shownText(c.Text)
		room -= len(text)
		whole.List = append(whole.List, shownDocument{Name: d.Name, URL: d.URL, Passages: []shownPassage{{Text: text}}})
		return room >= 0
	})
	if err != nil || room >= 0 {
		return &ownDocuments{whole: whole}, err
	}
	return b.chooseDocuments(stage, list)
}

// chooseDocuments chooses the passages that fit each perspective of a wave.
func (b *Board) chooseDocuments(stage run.Stage, list []step.Document) (*ownDocuments, error) {
	c, err := b.contracts(stage)
	if err != nil {
		return nil, err
	}
	var ids, questions []string
	for _, p := range c.doc.List {
		gap, err := b.gap(stage, p.ID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, p.ID)
		questions = append(questions, strings.Join([]string{p.Title, gap, b.run.Manifest().Query()}, "\n"))
	}
	chooser, sizes, total := claim.NewChooser(questions, MaxQuoted), make([]int, 0, len(list)), 0
	err = step.ReadAttached(context.Background(), b.run, list, func(d step.Document, content page.Content) bool {
		sizes = append(sizes, len(content.Text))
		total += len(content.Text)
		chooser.Look(claim.PageOf(d.CID, d.Name, content))
		return true
	})
	if err != nil {
		return nil, err
	}
	own := &ownDocuments{chosen: map[string]*shownDocuments{}}
	for i, id := range ids {
		own.chosen[id] = showChosen(list, sizes, total, chooser.Chosen(i))
	}
	return own, nil
}

// shownText is text as a quotation shows all of it, with blanks between cells.
func shownText(text string) string {
	return markdown.Fold(strings.ReplaceAll(text, "\t", "  "))
}

func showChosen(list []step.Document, sizes []int, total int, windows []claim.Window) *shownDocuments {
	s, shown := &shownDocuments{}, 0
	for i, d := range list {
		one, bytes := shownDocument{Name: d.Name, URL: d.URL}, 0
		for len(windows) > 0 && windows[0].CID == d.CID {
			bytes += len(windows[0].Text)
			one.Passages = append(one.Passages, shownPassage{windows[0].Heading, shownText(windows[0].Text)})
			windows = windows[1:]
		}
		if len(one.Passages) == 0 {
			s.Others = append(s.Others, markdown.OneLine(d.Name))
			continue
		}
		shown += bytes
		one.Of = fmt.Sprintf("%s, %d of its %d bytes of text", report.Counted(len(one.Passages), "passage"), bytes, sizes[i])
		s.List = append(s.List, one)
	}
	s.Shown = fmt.Sprintf("They are too long to stand here: %s %d bytes of text. A rule chose the passages that share words, numbers and names with your perspective and the question, best first, %d bytes in all. What stands between two passages is not shown.",
		report.Counted(len(list), "document")+verb(len(list)), total, shown)
	if n := len(s.Others); n > maxOthers {
		s.Others = append(s.Others[:maxOthers:maxOthers], fmt.Sprintf("and %d more", n-maxOthers))
	}
	return s
}

// maxOthers is how many documents a prompt names of which it shows nothing.
const maxOthers = 100

func verb(n int) string {
	if n == 1 {
		return " has"
	}
	return " have"
}
