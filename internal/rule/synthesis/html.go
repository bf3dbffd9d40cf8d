package synthesis

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/chart"
)

//go:embed report.html
var pageText string

//go:embed report.css
var ownStyle string

var styleText = sync.OnceValue(func() string { return ownStyle + chart.Style })

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
	r = r.shown()
	l := r.layout()
	w := &htmlWriter{layout: l, cardOf: map[cardKey]string{}, linked: map[*reference]bool{}, print: print}
	for i := range l.parts {
		w.document(&l.parts[i])
	}
	view := pageView{
		Report: &r, Style: template.CSS(styleText()), Policy: policy(styleText()),
		Body: template.HTML(w.String()), Contents: w.contents, Cards: w.cards, Print: print,
		Banners: l.banners(), Tiles: l.tiles(), Spent: l.spent(), Created: l.day(r.CreatedAt),
		Lang: cmp.Or(r.Language, "en"), Dir: evidence.Direction(r.Language),
	}
	if print {
		view.Cards = nil
	}
	if r.Since != nil {
		view.SinceKept, view.SinceLists = l.sinceKept(), l.sinceLists()
	}
	for i := range l.Parts {
		view.Checked = view.Checked || l.Parts[i].Sentences != nil
	}
	for _, ref := range l.cited {
		s := l.sourceView(ref, ref.places)
		s.Excerpts, s.Back = viewExcerpts(ref.passages), w.linked[ref] && !print
		view.Sources = append(view.Sources, s)
	}
	for _, s := range l.others {
		view.Others = append(view.Others, l.sourceView(&reference{Source: s}, nil))
	}
	for _, g := range r.Gates {
		word, class := l.gateWord(g)
		view.Gates = append(view.Gates, gateView{g, word, class})
	}
	for _, c := range r.Contracts {
		view.Contracts = append(view.Contracts, contractView{c.Title, c.Wave, l.amount(c.Words, c.MaxWords), l.amount(c.Sources, c.MaxSources),
			strings.Join(c.Sections, ", ")})
	}
	var out bytes.Buffer
	if err := page(r.Language).Execute(&out, view); err != nil {
		panic(err) // a buffer takes everything, and the page fits its view
	}
	return out.Bytes()
}

// Policy is the Content-Security-Policy of the report in HTML: its own style, and
// nothing else.
func Policy() string { return policy(styleText()) }

// policy lets a page have its own style and nothing else.
func policy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
}

type pageView struct {
	*Report
	Style     template.CSS
	Policy    string
	Body      template.HTML
	Contents  []content
	Cards     []card
	Banners   []banner
	Tiles     []tile
	Sources   []sourceView
	Others    []sourceView
	Gates     []gateView
	Contracts []contractView

	SinceKept  string
	SinceLists []sinceList

	Checked bool // its sentences were
	Print   bool // it is read on paper

	Spent, Created, Lang, Dir string
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
	if r.Legacy {
		out = append(out, banner{r.say("Legacy run"), r.say("The gates of this run count as they were written. They were not judged.")})
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
	tiles := []tile{{l.say("Sources cited"), strconv.Itoa(len(l.cited)), strings.Join(sources, ", "), ""}, l.foundTile()}
	// A gate that its judge passed says nothing to a client. One that it did not does.
	passed, accepted := 0, 0
	for _, g := range l.Gates {
		passed += flag(g.Status == GatePass)
		accepted += flag(g.Accepted != "")
	}
	switch {
	case accepted > 0:
		tiles = append(tiles, tile{l.say("Gates passed"), l.amount(passed, len(l.Gates)), l.say("%d accepted by a person", accepted), "poor"})
	case passed < len(l.Gates):
		tiles = append(tiles, tile{l.say("Gates passed"), l.amount(passed, len(l.Gates)), l.say("the others are listed below"), "poor"})
	}
	return tiles
}

// foundTile is how much of the report stands on its pages: sentences, or, where those
// were not checked, quotations and numbers.
func (l *layout) foundTile() tile {
	sentences, doubted := 0, 0
	for _, part := range l.Parts {
		for i := range part.Sentences {
			sentences++
			doubted += flag(part.Sentences[i].Doubted || part.Sentences[i].Accepted != nil)
		}
	}
	if sentences > 0 {
		t := tile{l.say("Sentences"), strconv.Itoa(sentences), l.say("none is marked as not confirmed"), "good"}
		if doubted > 0 {
			t.Text, t.Class = l.say("%d marked in the text", doubted), "poor"
		}
		return t
	}
	all := l.matches.Quotations + l.matches.Numbers
	gone := l.matches.QuotationsMissing + l.matches.NumbersMissing
	found := tile{l.say("Found on their pages"), l.amount(all-gone, all), l.say("quotations and numbers"), "good"}
	switch {
	case all == 0:
		found = tile{l.say("Found on their pages"), "–", l.say("no quotation or number was looked for"), ""}
	case gone > 0:
		found.Text, found.Class = l.say("quotations and numbers; the others are marked"), "poor"
	}
	if l.unchecked > 0 {
		found.Text += "; " + l.say("statements that could not be checked: %d", l.unchecked)
	}
	return found
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
	Excerpts  []excerptView // all that the report takes from it
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

func (l *layout) sourceView(ref *reference, matches []claim.Match) sourceView {
	v := sourceView{
		Number: ref.number, Name: ref.name(), Authors: authors(ref.Author), Year: year(ref.Date), Publisher: ref.Publisher, Date: l.day(ref.Date), Origin: l.origin(ref), Link: ref.link(matches),
		Status: l.say(ref.Status), Class: statusClass(ref.Status), Reason: l.reason(ref.Source), Fetched: l.moment(ref.FetchedAt), FetchedAt: ref.FetchedAt,
		Attached: ref.Attached, Replaced: shownText(ref.ReplacedBy), File: ref.File,
	}
	if ref.Undated {
		v.Year, v.Date = l.say("no date"), l.say("no date")
	}
	if ref.File == "" {
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

// excerptView is an excerpt with its marks.
type excerptView struct {
	Pieces     []pieceView
	Start, End bool
}

type pieceView struct {
	Text   string
	Marked bool
}

func viewExcerpts(list []excerpt) []excerptView {
	var out []excerptView
	for _, e := range list {
		v := excerptView{Start: e.start, End: e.end}
		for i, text := range e.pieces {
			var b strings.Builder
			for _, r := range text {
				b.WriteString(shown(r))
			}
			v.Pieces = append(v.Pieces, pieceView{b.String(), i%2 == 1})
		}
		out = append(out, v)
	}
	return out
}

type gateView struct {
	GateLine
	Word, Class string
}

func (r *Report) gateWord(g GateLine) (word, class string) {
	switch {
	case g.Accepted != "":
		return r.say("accepted by a person"), "fair"
	case g.Status == GatePass:
		return r.say("passed"), "good"
	case g.Status == GateFail:
		return r.say("failed"), "bad"
	}
	return r.say("not run"), ""
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

type contractView struct {
	Title          string
	Wave           int
	Words, Sources string
	Sections       string
}

func (r *Report) amount(has, most int) string {
	return r.say("%s of %s", r.thousands(int64(has)), r.thousands(int64(most)))
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
