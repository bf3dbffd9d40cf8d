package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
)

// readingBlock is a heading, a paragraph or an item of a list of the report.
type readingBlock struct {
	Heading   string // "" for text
	Item      bool
	Sentences []readingSentence
}

// readingSentence is a sentence that leads to its passage on the archived page.
type readingSentence struct {
	ID, Text, Class, Words string
	Link                   string // "" where it has no page
}

// reading is the report as text, sentence by sentence.
func (l *visit) reading(part *synthesis.Part) []readingBlock {
	var blocks []readingBlock
	at := 0
	for i := range part.Sentences {
		s := &part.Sentences[i]
		if s.Start < at || s.End > len(part.Text) {
			continue // of a text that has changed since
		}
		headings, apart, item := gapOf(string(part.Text[at:s.Start]))
		if part.Text[s.Start] == '|' { // each row of a table stands for itself
			apart, item = true, true
		}
		for _, h := range headings {
			blocks = append(blocks, readingBlock{Heading: h})
		}
		if len(blocks) == 0 || len(headings) > 0 || apart {
			blocks = append(blocks, readingBlock{Item: item})
		}
		shown := readingSentence{ID: s.ID, Text: short(maxLine, s.Text), Class: standingClass(s), Words: s.Words}
		if j := slices.IndexFunc(s.Windows, func(w evidence.Window) bool { return w.CID != "" }); j >= 0 {
			shown.Link = l.link("archived", l.run.ID(), s.Windows[j].CID) + queryOf(url.Values{"s": {s.ID}})
		}
		last := &blocks[len(blocks)-1]
		last.Sentences = append(last.Sentences, shown)
		at = s.End
	}
	return blocks
}

// stripPart is a sentence in the strip along the report, in hundredths of it.
type stripPart struct {
	ID, Class, About string
	From, Wide       float64
}

// stripOf draws how the sentences stand, one after the other, each as wide as it is long.
func stripOf(all []synthesis.ShownSentence) []stripPart {
	letters := 0
	for i := range all {
		letters += len(all[i].Text)
	}
	var out []stripPart
	at := 0
	for i := range all {
		s := &all[i]
		out = append(out, stripPart{s.ID, standingClass(s), s.Words + ": " + short(120, s.Text), round(float64(at) / float64(letters) * 100), round(float64(len(s.Text)) / float64(letters) * 100)})
		at += len(s.Text)
	}
	return out
}

// standingClass is the class of a sentence by how it stands.
func standingClass(s *synthesis.ShownSentence) string {
	group := groupOf(s)
	if group == "inferred" || group == "frame" {
		return group
	}
	return groupState(group, "").Class
}

// openedLink is the archived page of the sentence that is asked for, and its id, else the
// first page that a sentence leads to.
func openedLink(blocks []readingBlock, asked string) (link, chosen string) {
	for _, b := range blocks {
		for _, s := range b.Sentences {
			if s.ID == asked {
				return s.Link, s.ID
			}
			if link == "" {
				link = s.Link
			}
		}
	}
	return link, ""
}

// gapOf reads what stands between two sentences: headings, and whether the second
// begins a paragraph or an item of its own.
func gapOf(gap string) (headings []string, apart, item bool) {
	for i, line := range strings.Split(gap, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			headings, item = append(headings, short(200, strings.TrimLeft(line, "# "))), false
		case line == "" && i > 0:
			apart = apart || strings.Count(gap, "\n") > 1
		case strings.HasPrefix(line, "-"), strings.HasPrefix(line, "*"), strings.HasPrefix(line, "|"), line != "" && strings.Trim(line, "0123456789.)") == "":
			apart, item = true, true
		}
	}
	return headings, apart, item
}

// archivedView is the text of an archived page with the words that a sentence rests on.
type archivedView struct {
	Style            template.CSS
	Title, URL, Link string
	Fetched          when
	Stands           state
	Sentence         string
	Before, After    int // bytes that are not shown
	Parts            []passagePart
}

// maxArchived is how much of an archived page is shown behind what is marked, and leadIn
// about how much before it: a frame that scrolled to its mark would scroll our page, too.
const (
	maxArchived = 256 << 10
	leadIn      = 600
)

// archivedPolicy lets our own pages show an archived text, which can do nothing. It has no
// origin, in a frame and in a tab of its own, so that the style stands in the text and is
// named by its digest.
var archivedPolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(styleText))
	return "sandbox allow-popups; default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
})

var archivedTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("archived.html").Funcs(functions).ParseFS(templates, "pages/archived.html", "pages/parts.html"))
})

// archived answers with the text of an archived page, from our own archive, and with the
// passage of one sentence of the report marked in it.
func (s *server) archived(w http.ResponseWriter, r *http.Request) {
	l, done, err := s.open(r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	defer done()
	view, err := l.archivedPage(r.PathValue("cid"), r.URL.Query().Get("s"))
	var out bytes.Buffer
	if err == nil {
		view.Style = template.CSS(styleText)
		err = archivedTemplate().Execute(&out, view)
	}
	if err != nil {
		s.problem(w, r, err)
		return
	}
	w.Header().Set("Content-Security-Policy", archivedPolicy())
	w.Header().Set("X-Frame-Options", "SAMEORIGIN")
	s.send(w, http.StatusOK, out.Bytes())
}

// archivedPage finds a source and the words on it that a sentence rests on. It returns
// NOT_FOUND for a source that the report does not have.
func (l *visit) archivedPage(cid, sentence string) (archivedView, error) {
	reported, err := l.readReport(l.ctx, l.site.Version)
	if err != nil {
		return archivedView{}, err
	}
	r := reported.Report
	i := slices.IndexFunc(r.Sources, func(s synthesis.Source) bool { return s.CID == cid })
	if i < 0 {
		return archivedView{}, tidegate.Errorf(tidegate.FileNotFound, nil, "the report has no such source")
	}
	src := r.Sources[i]
	if j := slices.IndexFunc(r.Sources, func(s synthesis.Source) bool { return s.CID == src.SameAs }); j >= 0 && src.Text == "" {
		src.Text = r.Sources[j].Text
	}
	view := archivedView{Title: src.Title, URL: src.URL, Link: webAddress(src.URL), Fetched: (&page{Now: l.site.Desk.Now()}).When(src.FetchedAt), Stands: sourceState(src.Status)}
	from, to := 0, 0
	for _, part := range r.Parts {
		for k := range part.Sentences {
			if s := &part.Sentences[k]; s.ID == sentence {
				view.Sentence = s.Text
				from, to = placeOn(src, s)
			}
		}
	}
	first, last := lineAt(src.Text, from-leadIn), runeAt(src.Text, min(len(src.Text), to+maxArchived))
	view.Before, view.After = first, len(src.Text)-last
	for _, p := range []passagePart{{src.Text[first:from], false}, {src.Text[from:to], true}, {src.Text[to:last], false}} {
		if p.Text != "" {
			view.Parts = append(view.Parts, p)
		}
	}
	return view, nil
}

// lineAt is where the line of a text begins that has a byte.
func lineAt(text string, at int) int {
	return strings.LastIndexByte(text[:max(0, at)], '\n') + 1
}

// placeOn is where a page has what a sentence rests on: the words that the reader named,
// else the window.
func placeOn(src synthesis.Source, s *synthesis.ShownSentence) (from, to int) {
	for _, w := range s.Windows {
		if w.CID != src.CID || w.Start < 0 || w.End > len(src.Text) || src.Text[w.Start:w.End] != w.Text {
			continue
		}
		if a, b := s.WordsIn(w); b > 0 {
			return w.Start + a, w.Start + b
		}
		if to == 0 {
			from, to = w.Start, w.End
		}
	}
	return from, to
}
