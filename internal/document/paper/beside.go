package paper

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// State is how a sentence stands at a glance.
type State string

// The states of sentences.
const (
	Stands     State = "stands"
	Inferred   State = "inferred"
	Calculated State = "calculated"
	Doubtful   State = "doubtful"
	Accepted   State = "accepted" // by a person
	Changed    State = "changed"  // since it was written, by pages that were fetched again
	Refused    State = "refused"  // its pages do not have it
	Unread     State = "unread"   // of an audit: rules found its words and numbers, and nobody read it
)

// States are all of them, the gravest first.
var States = []State{Refused, Changed, Doubtful, Accepted, Unread, Inferred, Calculated, Stands}

// looks are the sign and the words of each state.
var looks = map[State]struct{ sign, words string }{
	Refused: {"✕", "not on the page"}, Changed: {"≠", "changed since"}, Doubtful: {"?", "not confirmed"}, Accepted: {"◆", "accepted by a person"},
	Inferred: {"┄", "inferred"}, Calculated: {"ƒ", "calculated"}, Stands: {"✓", "stand on their page"}, Unread: {"○", "read by nobody"},
}

// words say of many sentences how they stand.
func (r *Report) words(s State) string { return r.say(looks[s].words) }

// Firm holds where nothing is held against a sentence, nobody had to read it, and no person had to let it stand.
func (s State) Firm() bool { return s == Inferred || s == Calculated || s == Stands }

// State is how the sentence stands at a glance.
func (s *ShownSentence) State() State {
	switch {
	case s.Drift != nil:
		return Changed
	case s.Accepted != nil:
		return Accepted
	case s.Doubted && (s.Standing == claim.Missing || s.Verdict != nil && s.Verdict.Verdict == evidence.Unsupported):
		return Refused
	case s.Doubted || s.Unsure:
		return Doubtful
	case s.ByRule:
		return Unread
	case s.Form == evidence.Inferred:
		return Inferred
	case s.Calculation != nil:
		return Calculated
	}
	return Stands
}

// Drift is what became of a sentence on pages that were fetched again.
type Drift struct {
	Words string // what became of it: changed, gone, …
	Now   string // what a page has in the place of its words, "" where that is not known
	Pages []DriftPage
}

// DriftPage is a page that no longer says it.
type DriftPage struct {
	Title, Link, Why string
	Then, Now        []PieceView // what differs is marked
}

// pageSays are the words of a rule between what a sentence has and what its page has.
const pageSays = ": the page says "

// wrong is what a rule holds against a sentence: what it has, and what its page has in its
// place, "" where that is not known.
type wrong struct{ has, page string }

// wrong leaves out what holds another wrong thing whose place on the page is known.
func (s *ShownSentence) wrong() (out []wrong) {
	for _, f := range s.Findings {
		if has, page, _ := strings.Cut(f.Text, pageSays); f.Level == claim.Fault && has != "" && f.Rule != "citation" {
			out = append(out, wrong{shownText(has), shownText(page)})
		}
	}
	return slices.DeleteFunc(slices.Clone(out), func(w wrong) bool {
		return w.page == "" && slices.ContainsFunc(out, func(known wrong) bool { return known.page != "" && strings.Contains(w.has, known.has) })
	})
}

// How much of pages stands beside the text: around a fact, and in all. Sentences beyond lead to
// their sources.
const (
	aroundFact = 70
	mostBeside = 2 << 20
)

// beside writes what a sentence rests on, as it is shown beside it: how it stands and why,
// each of its facts with the words of a page that carry it, and the passages.
func (w *htmlWriter) beside(s *ShownSentence) {
	w.openBeside(s.ID, w.say("Sentence")+" "+s.ID, s == w.lead)
	w.elem("b", "said", shownText(s.Text))
	state := s.State()
	w.write(`<span class="how" data-state="`, string(state), `">`)
	how := w.stands(s)
	switch {
	case state == Unread:
		how = looks[state].words + ": " + how
	case w.Audit != nil && !state.Firm():
		how = w.say(looks[state].words)
	}
	w.text(looks[state].sign + " " + shownText(how))
	w.write("</span>")
	held := s.wrong()
	if why := shownText(w.why(s)); why != "" && s.Form != evidence.Carried && !slices.ContainsFunc(held, func(f wrong) bool { return why == f.has+pageSays+f.page }) {
		w.elem("span", "why", why)
	}
	w.drifted(s)
	for _, f := range held {
		w.fact(f.has, func() {
			if f.page == "" {
				w.elem("span", "gone", w.say("not on the page"))
			} else {
				w.write(w.say("the page says"), " ")
				w.elem("ins", "", f.page)
			}
		})
	}
	if c := s.Calculation; c != nil {
		formula, _, _ := strings.Cut(c.Text, "=")
		w.fact(shownText(c.Result), func() {
			w.text("= " + strings.TrimSpace(shownText(formula)) + " ")
			if !s.Doubted {
				w.elem("span", "ok", "✓ "+w.say("computed again"))
			}
		})
	}
	marks := w.facts(s)
	if s.Verdict != nil {
		w.write(`<span class="reader">`)
		w.text(w.say("Second reader"))
		if s.Reader != "" {
			w.text(" (" + shownText(w.say(s.Reader)) + ")")
		}
		w.write(": <b>")
		w.text(w.say(s.Verdict.Verdict))
		w.write("</b>")
		if s.Verdict.Because != "" {
			w.elem("q", "", shownText(s.Verdict.Because))
		}
		w.write("</span>")
	}
	if w.nearlyQuoted(s) {
		w.elem("span", "why", w.say("These are nearly the words of the page. A quotation would say so."))
	}
	for i := range s.Windows {
		w.window(s, &s.Windows[i], marks[i])
	}
	w.write("</span>")
}

func (w *htmlWriter) openBeside(id, title string, lead bool) {
	w.write(`<span class="ev" id="e-`, id, `"`, map[bool]string{true: " data-lead"}[lead], ` role="group" dir="`, evidence.Direction(w.Language), `" aria-label="`)
	w.text(title)
	w.write(`"><a class="close" href="#-" aria-label="`, w.say("Close"), `">×</a>`)
	w.elem("span", "label", title)
}

// elem writes an element with a text.
func (w *htmlWriter) elem(tag, class, text string) {
	w.write("<", tag)
	if class != "" {
		w.write(` class="`, class, `"`)
	}
	w.write(` dir="auto">`)
	w.text(text)
	w.write("</", tag, ">")
}

// fact writes a fact beside what carries it.
func (w *htmlWriter) fact(text string, carried func()) {
	w.write(`<span class="fact">`)
	w.elem("b", "", text)
	w.write(`<span dir="auto">`)
	carried()
	w.write("</span></span>")
}

// facts writes what the sentence states with the words that carry it, and returns what is
// found in each of its windows.
func (w *htmlWriter) facts(s *ShownSentence) [][]span {
	marks := make([][]span, len(s.Windows))
	question := claim.Question{Text: s.Text, Language: w.Language, CIDs: s.CIDs}
	from := map[string]string{}
	if s.Calculation != nil {
		for _, o := range s.Calculation.Operands {
			question.Operands = append(question.Operands, o.Text)
			from[o.Text] = o.From
		}
	}
	facts := claim.Facts(question, s.Windows)
	for len(facts) > 0 {
		first := facts[0]
		page := s.Windows[first.Window].Text
		words := span{before(page, first.Start, aroundFact), after(page, first.End, aroundFact)}
		if title := behindTitle(&s.Windows[first.Window]); first.Start >= title {
			words.from = max(words.from, title)
		}
		var names []string
		var found []span
		facts = slices.DeleteFunc(facts, func(f claim.Fact) bool { // those that the same words carry
			if f.Window != first.Window || f.Start < words.from || f.End > words.to {
				return false
			}
			delete(from, f.Text)
			if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, f.Text) }) {
				names, found = append(names, f.Text), append(found, span{f.Start, f.End})
			}
			return true
		})
		marks[first.Window] = append(marks[first.Window], found...)
		slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
		w.fact(shownText(strings.Join(names, " · ")), func() { w.pieces("q", viewExcerpt(cut(page, words, found))) })
	}
	if s.Calculation != nil {
		for _, o := range s.Calculation.Operands {
			if where, left := from[o.Text]; left && w.byCID[where] == nil {
				w.fact(shownText(o.Text), func() { w.text(w.say(operandFrom[where])) })
			}
		}
	}
	for i := range s.Windows {
		if start, end := s.WordsIn(s.Windows[i]); end > start {
			marks[i] = append(marks[i], span{start, end})
			w.fact(w.say("Second reader"), func() {
				w.elem("q", "", shownText(s.Windows[i].Text[start:end]))
				w.elem("small", "", w.say("the second reader's words"))
			})
			break
		}
	}
	for _, f := range s.wrong() {
		for i := range s.Windows {
			if at := strings.Index(s.Windows[i].Text, f.page); f.page != "" && at >= 0 && !slices.ContainsFunc(marks[i], func(m span) bool { return m.from < at+len(f.page) && at < m.to }) {
				marks[i] = append(marks[i], span{at, at + len(f.page)})
				break
			}
		}
	}
	for i := range marks {
		slices.SortFunc(marks[i], func(a, b span) int { return a.from - b.from })
	}
	return marks
}

// operandFrom says where a number of a calculation comes from that is on no page.
var operandFrom = map[string]string{"": "from nowhere", evidence.FromResult: "a calculated result", evidence.FromConstant: "a constant"}

// behindTitle is where the text of a window goes on behind the title of its page, which stands above
// it.
func behindTitle(on *claim.Window) int {
	rest, found := strings.CutPrefix(on.Text, on.Title)
	if !found || on.Title == "" {
		return 0
	}
	return len(on.Text) - len(strings.TrimLeft(rest, " \n"))
}

// window writes a passage of a page, with what was found there, under the name of the page.
func (w *htmlWriter) window(s *ShownSentence, on *claim.Window, marks []span) {
	title, of := shownText(on.Title), w.byCID[on.CID]
	if heading := shownText(on.Heading); heading != title {
		title = strings.Trim(title+" / "+heading, " /")
	}
	archived := ""
	if of != nil && w.frame.Archived != nil {
		archived = w.frame.Archived(on.CID, s.ID)
	}
	from := behindTitle(on)
	if len(marks) > 0 && marks[0].from < from {
		from = 0
	}
	w.passage(of, title, archived, excerpt{cut(on.Text, span{from, len(on.Text)}, marks).pieces, on.Start > 0, of != nil && on.End < len(of.Text)})
}

// passage writes a part of a page under its name, which leads to the page.
func (w *htmlWriter) passage(of *reference, title, archived string, e excerpt) {
	w.write(`<span class="pg"><span class="from">`)
	if of != nil {
		if title == "" {
			title = of.name()
		}
		if of.number > 0 {
			w.write(`<a class="n" href="#source-`, of.mark(), `">`, of.mark(), "</a> ")
		}
	}
	w.elem("b", "", title)
	if of != nil {
		w.write(`<small>`)
		if to, err := url.Parse(of.URL); err == nil && to.Host != "" {
			w.text(shownText(to.Hostname()) + " · ")
		}
		w.text(w.say(of.Status))
		if fetched := w.day(of.FetchedAt); fetched != "" {
			w.text(" · " + w.say("fetched %s", fetched))
		}
		if archived != "" {
			w.write(` · <a target="page" href="`)
			w.text(archived)
			w.write(`">`, w.say("as text"), "</a>")
		}
		if link := of.link(nil); link != "" {
			w.write(` · <a rel="nofollow noopener noreferrer" target="_blank" href="`)
			w.text(link)
			w.write(`">`, w.say("live page"), " ↗</a>")
		}
		w.write("</small>")
	}
	w.write("</span>")
	w.pieces("span", viewExcerpt(e))
	w.write("</span>")
}

// pieces writes an excerpt with its marks.
func (w *htmlWriter) pieces(tag string, e ExcerptView) {
	w.write("<", tag, ` class="excerpt" dir="auto">`)
	if e.Start {
		w.write("… ")
	}
	for _, p := range e.Pieces {
		switch {
		case p.Text == "":
		case p.Marked:
			w.write("<mark>")
			w.text(p.Text)
			w.write("</mark>")
		default:
			w.text(p.Text)
		}
	}
	if e.End {
		w.write(" …")
	}
	w.write("</", tag, ">")
}

// drifted writes what pages said and say now of a sentence that no longer stands.
func (w *htmlWriter) drifted(s *ShownSentence) {
	if s.Drift == nil {
		return
	}
	for _, p := range s.Drift.Pages {
		w.write(`<span class="pg"><span class="from">`)
		if isWeb(p.Link) {
			w.write(`<a rel="nofollow noopener noreferrer" target="_blank" href="`)
			w.text(p.Link)
			w.write(`">`)
			w.text(shownText(p.Title))
			w.write("</a>")
		} else {
			w.elem("b", "", shownText(p.Title))
		}
		w.elem("small", "", shownText(p.Why))
		w.write("</span>")
		for _, side := range []struct {
			label, tag string
			pieces     []PieceView
		}{{w.say("The page said"), "del", p.Then}, {w.say("It says"), "ins", p.Now}} {
			if len(side.pieces) == 0 {
				continue
			}
			w.elem("span", "label", side.label)
			w.write(`<span class="excerpt" dir="auto">`)
			for _, piece := range side.pieces {
				if text := shownPiece(piece.Text); piece.Marked {
					w.elem(side.tag, "", text)
				} else {
					w.text(text)
				}
			}
			w.write("</span>")
		}
		w.write("</span>")
	}
}
