package foreign

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"html/template"
	"sync"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("audit").Funcs(template.FuncMap{"seen": report.Visible}).Parse(pageText))
})

// Policy is the Content-Security-Policy of the page: its own style, an icon that is empty, and
// nothing else.
func Policy() string {
	sum := sha256.Sum256([]byte(styleText))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

// pageView is what the page shows.
type pageView struct {
	*Result
	Style  template.CSS
	Policy string
	Line   string
	Tested string // how the second reader was tested
	Parts  []pagePart
}

// pagePart is a heading, or a block of the report with what is said of its sentences.
type pagePart struct {
	Level     int // of a heading; 0 for a block
	Heading   string
	Kind      string
	Sentences []pageSentence
}

type pageSentence struct {
	Judged
	Number int
	State  string
	Why    []string
}

// Export is the result as a page, for the format html: the whole report, each sentence
// underlined by how it stands, with the archived passage beside it. It asks for nothing:
// no script, and no address but those that a reader follows. For the format wacz it is
// that page with those that it rests on.
func (r Result) Export(format string) (document []byte, ok bool, err error) {
	if format == "wacz" {
		document, err = r.Archive()
		return document, true, err
	}
	if format != "html" {
		return nil, false, nil
	}
	view := pageView{Result: &r, Style: template.CSS(styleText), Policy: Policy(), Line: r.line()}
	if read := r.Summary.Read; read != nil {
		view.Tested = read.tested()
	}
	next, block := 0, -1
	for i := range r.Sentences {
		for next < len(r.document.Headings) && r.document.Headings[next].Before <= i {
			view.heading(r.document.Headings[next])
			next++
			block = -1
		}
		if of := &r.document.Sentences[i]; of.Block != block {
			block = of.Block
			view.Parts = append(view.Parts, pagePart{Kind: of.Kind})
		}
		part := &view.Parts[len(view.Parts)-1]
		s := pageSentence{Judged: r.Sentences[i], Number: i + 1, State: r.Sentences[i].state()}
		for _, f := range s.Findings {
			if f.Level != claim.Remark {
				s.Why = append(s.Why, said(f))
			}
		}
		if s.Verdict != "" {
			s.Why = append(s.Why, s.heard())
		}
		part.Sentences = append(part.Sentences, s)
	}
	for _, h := range r.document.Headings[next:] {
		view.heading(h)
	}
	var out bytes.Buffer
	err = pageTemplate().Execute(&out, view)
	return out.Bytes(), true, err
}

func (v *pageView) heading(h Heading) {
	v.Parts = append(v.Parts, pagePart{Level: min(max(h.Level, 1), 4), Heading: h.Text})
}
