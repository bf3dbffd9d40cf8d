package paper

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/chart"
)

//go:embed report.html
var pageText string

// Style is how a report looks, in its file and in a page around it.
//
//go:embed report.css
var Style string

var styleText = sync.OnceValue(func() string { return Style + chart.Style })

// pages are the page in each language. To make one takes longer than to fill it, so each
// is made once, when the first report in its language is written.
var pages sync.Map

func page(language string) *template.Template {
	if !slices.Contains(evidence.Languages(), language) {
		language = "en"
	}
	made, ok := pages.Load(language)
	if !ok {
		say := func(phrase string, args ...any) string { return evidence.Say(language, phrase, args...) }
		made, _ = pages.LoadOrStore(language, template.Must(template.New("report").Funcs(template.FuncMap{"say": say}).Parse(pageText)))
	}
	return made.(*template.Template)
}

// HTML is the report as one file that asks for nothing: no script, and no address
// but those that a reader follows. Its policy forbids everything else, should a
// text get past the escaping after all.
func (r Report) HTML() []byte { return r.html(false) }

// PrintHTML is the report as a page to be printed: what a citation opens on a screen
// stands with its source, and its number leads there.
func (r Report) PrintHTML() []byte { return r.html(true) }

func (r Report) html(print bool) []byte {
	view := r.view(Frame{}, print)
	view.Style = template.CSS(styleText())
	var out bytes.Buffer
	if err := page(r.Language).Execute(&out, view); err != nil {
		panic(err) // a buffer takes everything, and the page fits its view
	}
	return out.Bytes()
}

// Frame is what the page around a report has for it.
type Frame struct {
	Archived func(cid, sentence string) string // the address of an archived page, at what a sentence rests on
	Links    []Link                            // behind the line above the title
	Kind     string                            // what it is, "" for the report of a run or an audit
	Inner    bool                              // the page around it has its title
}

// Link leads to another page.
type Link struct{ Words, Address string }

// Document is the report for a page with a frame of its own: the same as in the file of
// [Report.HTML], under [Style].
func (r Report) Document(frame Frame) template.HTML {
	view := r.view(frame, false)
	var out strings.Builder
	if err := page(r.Language).ExecuteTemplate(&out, "document", view); err != nil {
		panic(err) // as above
	}
	return template.HTML(out.String())
}

func (r Report) view(frame Frame, print bool) *pageView {
	r = r.shown()
	l := r.layout()
	w := &htmlWriter{layout: l, frame: frame, linked: map[*reference]bool{}, begun: map[*ShownSentence]bool{}, print: print, room: mostBeside}
	w.lead = l.lead()
	w.leadingAnswer()
	for i := range l.parts {
		w.document(&l.parts[i])
	}
	view := &pageView{
		Report: &r, Frame: frame, Answer: template.HTML(w.answer), AnswerState: w.answerState,
		Body: template.HTML(w.String()), Contents: w.contents, Print: print,
		Banners: l.banners(), Tiles: l.tiles(), Line: l.line(),
		Lang: cmp.Or(r.Language, "en"), Dir: evidence.Direction(r.Language),
	}
	for i := range l.Parts {
		view.Checked = view.Checked || l.Parts[i].Sentences != nil
	}
	if view.Checked {
		view.Chips = l.chips()
		_, view.All = l.counts()
	}
	view.Badge = view.badge()
	if own := l.say("It was read by the writer's own agent."); strings.Contains(r.Trust, own) {
		view.Caveat, r.Trust = own, strings.TrimSpace(strings.Replace(r.Trust, own, "", 1))
	}
	for _, ref := range l.cited {
		s := l.sourceView(ref)
		s.Back = w.linked[ref] && !print
		for _, e := range ref.passages {
			shown := viewExcerpt(e)
			if w.room -= shown.size(); w.room > 0 || print {
				s.Excerpts = append(s.Excerpts, shown)
			}
		}
		view.Sources = append(view.Sources, s)
	}
	for _, s := range l.others {
		view.Others = append(view.Others, l.sourceView(&reference{Source: s}))
	}
	for _, s := range l.appendix() {
		w.Reset()
		w.document(s.part())
		view.Appendix = append(view.Appendix, drawnSection{s.ID, s.Title, template.HTML(w.String())})
	}
	return view
}

// line says above the title what a reader asks first: when it was checked, against how much,
// and at what cost.
func (l *layout) line() string {
	var parts []string
	if day := l.day(l.CreatedAt); day != "" {
		parts = append(parts, l.say("Checked %s", day))
	}
	pages := 0
	for i := range l.Sources {
		pages += codec.Flag(l.Sources[i].FetchedAt != "" && l.Sources[i].SameAs == "")
	}
	if pages > 0 {
		parts = append(parts, l.say("pages archived: %d", pages))
	}
	if l.Minutes > 0 {
		parts = append(parts, l.say("%d min", l.Minutes))
	}
	if l.Cost.Priced {
		parts = append(parts, evidence.USD(l.Language, max(l.Cost.USD, l.Cost.All)))
	}
	return strings.Join(parts, " · ")
}

// Status is how a report stands at a glance. State is "" where nobody can say.
type Status struct {
	State       State
	Sign, Words string
}

// Status names the gravest state of the sentences, and how many of them are in it.
func (r *Report) Status() Status {
	counts, all := r.counts()
	for _, state := range States {
		if n := counts[state]; n > 0 && !state.Firm() {
			return Status{state, looks[state].sign, r.amount(n, all) + " " + r.words(state)}
		}
	}
	if all == 0 {
		return Status{"", "○", r.say("No sentence of it was checked.")}
	}
	return Status{Stands, looks[Stands].sign, r.say("nothing doubtful")}
}

// badge is the status with what the report is.
func (v *pageView) badge() Status {
	s := v.Report.Status()
	switch {
	case v.Kind != "" && v.Partial != "":
		return Status{"", "○", v.Kind}
	case v.Partial != "":
		return Status{"", "○", v.say("Partial research report")}
	case v.Kind != "":
		s.Words = v.Kind + ": " + s.Words
	case v.Audit != nil:
		s.Words = "Audit: " + s.Words
	case s.State == Stands:
		s.Words = v.say("Finished") + ", " + s.Words
	}
	return s
}

// counts are the sentences by state, and how many they are. What only introduces others is
// none of them.
func (r *Report) counts() (counts map[State]int, all int) {
	counts = map[State]int{}
	for _, part := range r.Parts {
		for i := range part.Sentences {
			if s := &part.Sentences[i]; s.Form != evidence.Frame && s.Form != foreign.Structural || s.Doubted {
				counts[s.State()]++
				all++
			}
		}
	}
	return counts, all
}

// mostWorst is how many sentences stand before an audit.
const mostWorst = 4

// worst are the sentences of an audit that its pages do not have, each with what is wrong.
func (w *htmlWriter) worst() string {
	var b strings.Builder
	for i := range w.Parts[0].Sentences {
		s := &w.Parts[0].Sentences[i]
		if s.State() != Refused {
			continue
		}
		fmt.Fprintf(&b, `<li dir="auto"><a href="#%s">%s</a>`, template.HTMLEscapeString(s.ID), template.HTMLEscapeString(shownText(s.Text)))
		for _, f := range s.wrong() {
			page := template.HTMLEscapeString(w.say("not on the page"))
			if f.page != "" {
				page = w.say("the page says") + ` <ins dir="auto">` + template.HTMLEscapeString(f.page) + "</ins>"
			}
			fmt.Fprintf(&b, `<br><del dir="auto">%s</del>: %s`, template.HTMLEscapeString(f.has), page)
		}
		b.WriteString("</li>\n")
		if strings.Count(b.String(), "<li ") == mostWorst {
			break
		}
	}
	if b.Len() == 0 {
		return ""
	}
	counts, all := w.counts()
	return fmt.Sprintf("<h2>%d of %s not on the page that they cite</h2>\n<ul>\n%s</ul>\n", counts[Refused], report.Counted(all, "sentence"), b.String())
}

// lead is the first of the sentences in the gravest state, of those that have passages; where
// all are firm, the first.
func (r *Report) lead() (lead *ShownSentence) {
	grave := func(s *ShownSentence) int {
		if s.State().Firm() {
			return len(States)
		}
		return slices.Index(States, s.State())
	}
	for p := range r.Parts {
		for i := range r.Parts[p].Sentences {
			if s := &r.Parts[p].Sentences[i]; (len(s.Windows) > 0 || s.Drift != nil) && (lead == nil || grave(s) < grave(lead)) {
				lead = s
			}
		}
	}
	return lead
}

// chip is a state with how many sentences are in it, and shows those alone.
type chip struct {
	State State
	N     int
	Words string
}

func (l *layout) chips() (out []chip) {
	counts, _ := l.counts()
	for _, state := range States {
		if n := counts[state]; n > 0 {
			out = append(out, chip{state, n, looks[state].sign + " " + l.thousands(int64(n)) + " " + l.words(state)})
		}
	}
	return out
}

// Policy is the Content-Security-Policy of the report in HTML: its own style, and
// nothing else. It is the same for all reports.
func (r *Report) Policy() string {
	sum := sha256.Sum256([]byte(styleText()))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
}

type pageView struct {
	*Report
	Frame
	Style    template.CSS
	Line     string
	Badge    Status
	Answer   template.HTML
	Body     template.HTML
	Contents []content
	Chips    []chip
	Banners  []banner
	Tiles    []tile
	Sources  []sourceView
	Others   []sourceView
	Appendix []drawnSection

	AnswerState State  // the gravest of the answer
	Caveat      string // what a reader must know of how it was checked, before the rest
	All         int    // sentences that are counted

	Checked bool // its sentences were
	Print   bool // it is read on paper

	Lang, Dir string
}

// drawnSection is a section behind the sources.
type drawnSection struct {
	ID, Title string
	Body      template.HTML
}

// banner is what a reader must know before the first line.
type banner struct{ Title, Text string }

func (r *Report) banners() []banner {
	var out []banner
	if r.Partial != "" {
		out = append(out, banner{r.say("Partial report"), r.Partial})
	}
	if r.Unsourced {
		out = append(out, banner{r.say("No source was checked"), r.say("A person let this run continue without one source that could be looked at. Nothing below has been compared with a page.")})
	}
	for _, note := range r.Notes {
		out = append(out, banner{r.say("Please note"), note})
	}
	return out
}

// tile is one figure at the head of the report.
type tile struct{ Label, Figure, Text, Class string }

func (l *layout) tiles() []tile {
	statuses := map[string]int{}
	for _, ref := range l.cited {
		statuses[ref.Status]++
	}
	var sources []string
	for _, status := range []string{"valid", "paywalled", "blocked", "mismatch", "invalid"} {
		if n := statuses[status]; n > 0 {
			sources = append(sources, strconv.Itoa(n)+" "+l.say(status))
		}
	}
	tiles := []tile{{l.say("Sources cited"), l.amount(len(l.cited), len(l.cited)+len(l.others)), strings.Join(sources, ", "), ""}, l.foundTile()}
	// A gate that its judge passed says nothing to a client. One that it did not does.
	passed, accepted := 0, 0
	for _, g := range l.Gates {
		passed += codec.Flag(g.Status == synthesis.GatePass)
		accepted += codec.Flag(g.Accepted != "")
	}
	switch {
	case accepted > 0:
		tiles = append(tiles, tile{l.say("Gates passed"), l.amount(passed, len(l.Gates)), l.say("%d accepted by a person", accepted), "poor"})
	case passed < len(l.Gates):
		tiles = append(tiles, tile{l.say("Gates passed"), l.amount(passed, len(l.Gates)), l.say("the others are listed below"), "poor"})
	}
	return tiles
}

// foundTile is how much of the report stands on its pages: its
// sentences, as far as they were checked.
func (l *layout) foundTile() tile {
	counts, sentences := l.counts()
	doubted, cited, found := sentences-counts[Inferred]-counts[Calculated]-counts[Stands], 0, 0
	for _, part := range l.Parts {
		for i := range part.Sentences {
			cited += codec.Flag(part.Sentences[i].Standing != "")
			found += codec.Flag(part.Sentences[i].Standing == claim.Found)
		}
	}
	if l.Audit != nil {
		t := tile{"Words and numbers there", l.amount(found, cited), "of the sentences that cite something", "good"}
		if found < cited || cited == 0 {
			t.Class = "poor"
		}
		return t
	}
	if sentences > 0 {
		t := tile{l.say("Sentences"), strconv.Itoa(sentences), l.say("none is marked as not confirmed"), "good"}
		if doubted > 0 {
			t.Text, t.Class = l.say("%d marked in the text", doubted), "poor"
		}
		return t
	}
	return tile{l.say("Found on their pages"), "–", l.say("No sentence of it was checked."), ""}
}

// sourceView is a source as a page shows it.
type sourceView struct {
	Number    int
	Name      string
	Authors   string // the first three
	Year      string
	Publisher string
	Date      string // to the day, where it is known so well
	Origin    string
	Link      string
	Address   string // the one that was cited
	Replaced  string
	File      string
	Status    string
	Class     string // how good the status is
	Reason    string
	Fetched   string
	FetchedAt string
	Attached  bool
	Excerpts  []ExcerptView // all that the report takes from it
	Back      bool          // the reader can go back to it
}

// authors are the first three names of a list, and whether there are more.
func authors(list string) string {
	const most = 3
	if names := strings.Split(list, "; "); len(names) > most {
		return strings.Join(names[:most], "; ") + " et al."
	}
	return list
}

// origin says where the address of a source comes from, "" in a run that does not say.
func (r *Report) origin(ref *reference) string {
	if ref.Origin == "" {
		return ""
	}
	return r.say("origin: %s", shownText(ref.Origin))
}

// reason says why a source has its status. In other languages than English that is the
// rule alone, without what a record adds to it.
func (r *Report) reason(s *Source) string {
	rule, _, _ := strings.Cut(s.Reason, ": ")
	said := r.say(rule)
	switch {
	case r.english():
		return s.Reason
	case said == rule || said == r.say(s.Status):
		return ""
	}
	return said
}

func (l *layout) sourceView(ref *reference) sourceView {
	v := sourceView{
		Number: ref.number, Name: ref.name(), Authors: authors(ref.Author), Year: year(ref.Date), Publisher: ref.Publisher, Date: l.day(ref.Date), Origin: l.origin(ref), Link: ref.link(ref.places),
		Status: l.say(ref.Status), Class: statusClass(ref.Status), Reason: l.reason(ref.Source), Fetched: l.moment(ref.FetchedAt), FetchedAt: ref.FetchedAt,
		Attached: ref.Attached, Replaced: shownText(ref.ReplacedBy), File: ref.File,
	}
	if ref.Undated {
		v.Year, v.Date = l.say("no date"), l.say("no date")
	}
	if ref.File == "" && (v.Name != shownText(ref.URL) || v.Replaced != "") {
		v.Address = shownText(ref.URL)
	}
	return v
}

// year is the year of a date, "" where it has none.
func year(date string) string {
	if len(date) < 4 || strings.Trim(date[:4], "0123456789") != "" {
		return ""
	}
	return date[:4]
}

// before and behind are what stands around the title of a source: its authors, its year
// behind them, or behind the title where nobody is known, and its publisher.
func (v *sourceView) before() string {
	switch {
	case v.Authors == "":
		return ""
	case v.Year == "":
		return v.Authors + ". "
	}
	return v.Authors + " (" + v.Year + "). "
}

func (v *sourceView) behind() string {
	text := ". "
	if v.Authors == "" && v.Year != "" {
		text = " (" + v.Year + "). "
	}
	if v.Publisher != "" {
		text += v.Publisher + ". "
	}
	return text
}

// standing says what a source is worth, and where that is from.
func (r *Report) standing(v sourceView) string {
	text := v.Status
	if v.Reason != "" {
		text += " (" + v.Reason + ")"
	}
	switch {
	case v.Attached:
		text += ", " + r.say("attached by a person")
	case v.Fetched != "":
		text += ", " + r.say("fetched %s", v.Fetched)
	}
	if v.Origin != "" {
		text += ", " + v.Origin
	}
	if v.File != "" {
		text += ". " + r.say("File") + " " + v.File
	}
	if v.Replaced != "" {
		text += ". " + r.say("Cited as") + " " + v.Address
	}
	return text + "."
}

// ExcerptView is an excerpt with its marks.
type ExcerptView struct {
	Pieces     []PieceView
	Start, End bool
}

type PieceView struct {
	Text   string
	Marked bool
}

func viewExcerpt(e excerpt) ExcerptView {
	v := ExcerptView{Start: e.start, End: e.end}
	for i, text := range e.pieces {
		v.Pieces = append(v.Pieces, PieceView{shownPiece(text), i%2 == 1})
	}
	return v
}

// shownPiece is a piece of a text with the blanks at its ends.
func shownPiece(text string) string {
	var b strings.Builder
	for _, r := range singleBlanks(text) {
		b.WriteString(shown(r))
	}
	return b.String()
}

// size is about how many bytes an excerpt takes on a page.
func (e *ExcerptView) size() (bytes int) {
	for _, p := range e.Pieces {
		bytes += len(p.Text) + len("<mark></mark>")
	}
	return bytes + len(`<blockquote class="excerpt" dir="auto"></blockquote>`)
}

// statusClass is how good a status of a source is.
func statusClass(status string) string {
	switch status {
	case "valid":
		return "good"
	case "paywalled":
		return "fair"
	}
	return "bad"
}

// thousands groups the digits of a number.
func (r *Report) thousands(n int64) string { return evidence.Thousands(r.Language, n) }

// spent says what the accepted answers took.
func (r *Report) spent() string {
	tokens := r.say("%s tokens read and %s written", r.thousands(r.Cost.InputTokens), r.thousands(r.Cost.OutputTokens))
	if r.Cost.Priced {
		return evidence.USD(r.Language, r.Cost.USD) + ", " + tokens
	}
	return tokens + "; " + r.say("cost not known")
}

// day is a date as people write it. Other texts stay as they are.
func (r *Report) day(text string) string {
	for _, form := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return evidence.Day(r.Language, t.UTC())
		}
	}
	if t, err := time.Parse("2006-01", text); err == nil && (r.Language == "" || r.Language == "en") {
		return t.Format("January 2006")
	}
	return text
}

// moment is a time to the minute.
func (r *Report) moment(text string) string {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return evidence.Day(r.Language, t.UTC()) + t.UTC().Format(", 15:04 UTC")
	}
	return text
}
