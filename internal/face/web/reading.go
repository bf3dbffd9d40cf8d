package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/document/paper"
)

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
	i := slices.IndexFunc(r.Sources, func(s paper.Source) bool { return s.CID == cid })
	if i < 0 {
		return archivedView{}, tidegate.Errorf(tidegate.FileNotFound, nil, "the report has no such source")
	}
	src := r.Sources[i]
	if j := slices.IndexFunc(r.Sources, func(s paper.Source) bool { return s.CID == src.SameAs }); j >= 0 && src.Text == "" {
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
func placeOn(src paper.Source, s *paper.ShownSentence) (from, to int) {
	for _, w := range s.Windows {
		if w.CID != src.CID || w.Start < 0 || w.End > len(src.Text) || src.Text[w.Start:w.End] != w.Text {
			continue
		}
		start, end, named := s.Place(w)
		if named {
			return start, end
		}
		if to == 0 {
			from, to = start, end
		}
	}
	return from, to
}
