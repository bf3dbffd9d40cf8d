package web

import (
	"bytes"
	"embed"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
)

//go:embed pages/*.html
var templates embed.FS

// views are the pages, each parsed with the frame that they share, when the first
// is asked for.
var views = sync.OnceValue(func() map[string]*template.Template {
	frame := template.Must(template.New("frame.html").Funcs(functions).ParseFS(templates, "pages/frame.html", "pages/parts.html"))
	out := map[string]*template.Template{}
	for _, name := range []string{"runs", "run", "made", "jobs", "job", "outputs", "gates", "sources", "report", "log", "audits", "changes", "change", "reviews", "review", "decisions", "decide", "work", "problem"} {
		out[name] = template.Must(template.Must(frame.Clone()).ParseFS(templates, "pages/"+name+".html"))
	}
	return out
})

// page is what all views have.
type page struct {
	View  string
	Title string
	Run   *heading  // nil on pages that are not of a run
	Rail  *railView // what stands beside it; nil for files
	// Layout names the order of the parts: a page that is put in its place by another
	// layout is put there as a whole.
	Layout string
	Live   string // where the stream of events is, "" without one
	Seen   string // the state that the page shows: a line of the log, or a digest
	Files  bool   // it is one of several files, without a server
	// Decides holds where the page offers decisions about what it shows.
	Decides bool
	Data    any
	Now     time.Time // when it was made

	link func(view string, args ...string) string
}

// To is the address of another page.
func (p *page) To(view string, args ...string) string { return p.link(view, args...) }

// heading is what all pages of a run begin with.
type heading struct {
	ID, Question string
	State        state
	Tabs         []tab // of the pages that say how it was made
}

type tab struct {
	View, Name string
	Count      string
	Here       bool
}

// when is a moment as people say it, with the exact time behind it.
type when struct{ Exact, Time, Words string }

// When says how long ago a moment of the log was.
func (p *page) When(text string) when {
	t, ok := tidegate.ParseTime(text)
	if !ok {
		return when{Words: report.Visible(text)}
	}
	if p.Now.IsZero() { // only its digest is wanted
		return when{Words: moment(text)}
	}
	return when{t.UTC().Format(time.RFC3339), moment(text), ago(p.Now.Sub(t), t)}
}

// ago is a time that has passed, or is to come, in one unit.
func ago(d time.Duration, then time.Time) string {
	in := func(d time.Duration) string {
		switch {
		case d < time.Minute:
			return strconv.Itoa(int(d.Seconds())) + " s"
		case d < time.Hour:
			return strconv.Itoa(int(d.Minutes())) + " min"
		}
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	switch {
	case d.Abs() >= 48*time.Hour:
		return then.UTC().Format("2 Jan 2006")
	case d < 0:
		return "in " + in(-d)
	}
	return in(d) + " ago"
}

func (p *page) render() ([]byte, error) {
	var out bytes.Buffer
	if err := views()[p.View].ExecuteTemplate(&out, "frame.html", p); err != nil {
		return nil, tidegate.Errorf(tidegate.Internal, tidegate.Pairs("view", p.View), "the page cannot be made: %w", err)
	}
	return out.Bytes(), nil
}

// functions are those that templates may call.
var functions = template.FuncMap{
	"seen":   report.Visible,
	"number": number,
	"usd":    func(f float64) string { return "$" + strconv.FormatFloat(f, 'f', 2, 64) },
	"short":  short,
	"person": person,
	"icon":   icon,
	"tests":  testsState,
	"fields": fieldsOf,
	// The files that a report can be had as.
	"downloads": downloads,
	// Every second part of a split text was in backticks.
	"split": func(text string) []string { return strings.Split(text, "`") },
	"odd":   func(i int) bool { return i%2 == 1 },
}

// number is a whole number with its thousands separated.
func number(v any) string {
	var f float64
	switch n := v.(type) {
	case int:
		f = float64(n)
	case int64:
		f = float64(n)
	case float64:
		f = n
	}
	if math.IsInf(f, 0) {
		return "no limit"
	}
	digits := strconv.FormatFloat(math.Round(f), 'f', 0, 64)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// moment is a time to the second, as people read it.
func moment(text string) string {
	if t, ok := tidegate.ParseTime(text); ok {
		return t.UTC().Format("2 Jan 2006, 15:04:05")
	}
	return report.Visible(text)
}

// lasting is how long something took.
func lasting(d time.Duration) string {
	switch {
	case d < 0:
		return "–"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min " + strconv.Itoa(int(d.Seconds())%60) + " s"
	}
	return strconv.Itoa(int(d.Hours())) + " h " + strconv.Itoa(int(d.Minutes())%60) + " min"
}

// short is a text of one line, cut where it is long.
func short(most int, text string) string {
	text = report.OneLine(text)
	if runes := []rune(text); len(runes) > most {
		kept := string(runes[:most])
		if at := strings.LastIndexByte(kept, ' '); at > len(kept)/2 { // not in a word
			kept = kept[:at]
		}
		return kept + "…"
	}
	return text
}

// state is how something stands: a word, and the class that gives it colour. The
// sign distinguishes it without colour.
type state struct{ Class, Sign, Word string }

// The states that have a meaning of their own.
func good(word string) state    { return state{"good", "✓", word} }
func bad(word string) state     { return state{"bad", "✕", word} }
func working(word string) state { return state{"working", "▸", word} }
func waiting(word string) state { return state{"waiting", "○", word} }
func person(word string) state  { return state{"person", "◆", word} }

// icon is the sign of a page in the tab of a browser: a disc in the colour of its state.
func icon(class string) template.URL {
	colour := map[string]string{"good": "1a7f4b", "bad": "b3261e", "person": "b26a00", "working": "0b6e8a"}[class]
	if colour == "" {
		colour = "5b6b73"
	}
	return template.URL("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%23" + colour + "'/%3E%3C/svg%3E")
}

// cut is one piece of a long list, with links to the other pieces.
type cut struct {
	All, From, To int // From and To are counted from 1
	Before, After string
	Query         string
	Filter        string
}

// perPage is how many rows a page shows.
const perPage = 100

// cutAt is the piece that a query asks for, of a list of n.
func cutAt(query url.Values, n, size int, here string) cut {
	at, _ := strconv.Atoi(query.Get("page"))
	at = max(1, min(at, (n+size-1)/size))
	c := cut{All: n, From: min(n, (at-1)*size+1), To: min(n, at*size), Query: query.Get("q"), Filter: query.Get("state")}
	to := func(number int) string {
		values := url.Values{}
		for _, name := range listQuery[:3] {
			if v := query.Get(name); v != "" {
				values.Set(name, v)
			}
		}
		values.Set("page", strconv.Itoa(number))
		return here + "?" + values.Encode()
	}
	if at > 1 {
		c.Before = to(at - 1)
	}
	if c.To < n {
		c.After = to(at + 1)
	}
	return c
}

// piece is the part of a list that a cut shows.
func piece[T any](c cut, list []T) []T {
	if c.All == 0 {
		return nil
	}
	return list[c.From-1 : c.To]
}

// matches reports whether every word of a query is in one of the texts.
func matches(query string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\n"))
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}
