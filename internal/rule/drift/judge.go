package drift

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/page"
)

// State says how a sentence, or a page, stands now.
type State string

// The states.
const (
	Stands      State = "stands"
	Changed     State = "changed"     // the page says something else
	Gone        State = "gone"        // the page, or the passage, is no longer there
	Walled      State = "walled"      // a wall stands before the page
	Unreachable State = "unreachable" // it could not be looked at this time
	Unchecked   State = "unchecked"   // there was no text to compare with
)

// States are the states, those that need a person first.
var States = []State{Changed, Gone, Walled, Unreachable, Unchecked, Stands}

// Source is a source as it was when its report was checked, and as it is now.
type Source struct {
	CID       string
	Then, Now *claim.Page    // nil without text
	Record    *source.Record // what the page is worth now; nil where it did not have to be judged again

	prepared bool
	language string
	then     []passage
	now      []passage
	before   map[string]bool // passages that stood there
	kept     map[string]bool // passages that stand there now
	notice   string
}

// Passage is what a page said and what it says in its place.
type Passage struct {
	Then       string  `json:"then"`
	Now        string  `json:"now" jsonschema:"empty where nothing like it is left"`
	Difference []Piece `json:"difference"`
}

// On is how a sentence stands on one of its pages.
type On struct {
	CID      string    `json:"cid"`
	State    State     `json:"state"`
	Why      string    `json:"why"`
	Passages []Passage `json:"passages" jsonschema:"those that no longer stand as they did"`
	Beside   []string  `json:"beside" jsonschema:"where the sentence stands, what is new in its passages and right before and behind them: no rule finds that it takes them back, which a reader may see"`
}

// Outcome is how a sentence stands.
type Outcome struct {
	State State `json:"state" jsonschema:"stands, changed, gone, walled, unreachable or unchecked"`
	Pages []On  `json:"pages"`
}

// Judge says how a sentence stands. A page that says something else counts always. Where
// pages are gone or cannot be read, the sentence stands if the others hold all that they
// held together. The error is that of ctx.
func Judge(ctx context.Context, s claim.Question, sources map[string]*Source) (Outcome, error) {
	out := Outcome{State: Unchecked, Pages: []On{}}
	var held []string
	for _, cid := range s.CIDs {
		from := sources[cid]
		if from == nil {
			continue
		}
		on, err := from.judge(ctx, s)
		if err != nil {
			return Outcome{}, err
		}
		on.CID = cid
		if on.State == Stands {
			held = append(held, cid)
		}
		out.Pages = append(out.Pages, on)
	}
	for _, state := range States {
		if slices.ContainsFunc(out.Pages, func(on On) bool { return on.State == state }) {
			out.State = state
			break
		}
	}
	if out.State == Changed || out.State == Stands || len(held) == 0 {
		return out, nil
	}
	// Without its other pages the sentence may lose something that only they had.
	rest := s
	rest.CIDs = held
	was, err := holds(ctx, s, func(cid string) *claim.Page { return sources[cid].Then })
	if err != nil {
		return Outcome{}, err
	}
	is, err := holds(ctx, rest, func(cid string) *claim.Page { return sources[cid].Now })
	if err != nil {
		return Outcome{}, err
	}
	if len(lost(was, is, factRules)) == 0 {
		out.State = Stands
	}
	return out, nil
}

// holds holds a sentence against pages.
func holds(ctx context.Context, s claim.Question, of func(cid string) *claim.Page) (claim.Judgement, error) {
	held, err := claim.Judge(ctx, []claim.Question{s}, func(cid string) (*claim.Page, error) { return of(cid), nil }, claim.Titles{})
	if err != nil {
		return claim.Judgement{}, err
	}
	return held[0], nil
}

// factRules are the rules about what a sentence states, whatever its words are.
var factRules = []string{"numbers", "quotations", "dates", "names"}

// lost are the findings of some rules that a sentence did not have before.
func lost(then, now claim.Judgement, rules []string) []claim.Finding {
	var out []claim.Finding
	for _, f := range now.Findings {
		if f.Level != claim.Remark && slices.Contains(rules, f.Rule) && !slices.ContainsFunc(then.Findings, func(g claim.Finding) bool { return g.Rule == f.Rule && g.Text == f.Text }) {
			out = append(out, f)
		}
	}
	return out
}

// The rules of [source.Rules] by what they make of a page that could be read before.
var (
	wallRules = []string{"payment", "paywall", "bot-wall", "refused", "login", "consent"}
	goneRules = []string{"no-such-name", "redirect-loop", "gone", "parked", "soft-404", "unregistered"}
	// textRules leave it to the text: another address or title says little of a passage.
	textRules = []string{"valid", "other-title", "other-site", "home-page", "abstract-only", "leads-elsewhere", "other-work", "policy", "payment", "paywall"}
)

// PageState is how the page stands, before its text is looked at; [Stands] where the text
// decides.
func (f *Source) PageState() State {
	r := f.Record
	switch {
	case r == nil:
		return Stands
	case r.Rule == "retracted":
		return Changed
	case r.HTTPStatus == 429: // it asks for patience, and refuses nobody
		return Unreachable
	case slices.Contains(textRules, r.Rule) && f.Now != nil && f.Now.Text != "":
		return Stands
	case slices.Contains(wallRules, r.Rule):
		return Walled
	case slices.Contains(goneRules, r.Rule):
		return Gone
	}
	return Unreachable
}

// prepare reads both texts into passages, once.
func (f *Source) prepare() {
	if f.prepared {
		return
	}
	f.prepared, f.kept = true, map[string]bool{}
	if f.language = f.Then.Language; len(f.language) > 2 {
		f.language = f.language[:2]
	}
	if f.language == "" {
		f.language = page.Language(f.Then.Text)
	}
	f.then, f.now = passages(f.Then.Text, f.language), passages(f.Now.Text, f.language)
	f.before = map[string]bool{}
	for i := range f.then {
		f.before[f.then[i].key()] = true
	}
	for i := range f.now {
		f.kept[f.now[i].key()] = true
	}
	f.notice = notice(f.before, f.now)
	if then, now := newPassage(f.Then.Title), newPassage(f.Now.Title); f.notice == "" {
		f.notice = notice(map[string]bool{then.key(): true}, []passage{now})
	}
}

// judge says how a sentence stands on one page.
func (f *Source) judge(ctx context.Context, s claim.Question) (On, error) {
	on := On{State: f.PageState(), Passages: []Passage{}, Beside: []string{}}
	if f.Record != nil {
		on.Why = f.Record.Notes
	}
	switch {
	case f.Then == nil || f.Then.Text == "":
		on.State, on.Why = Unchecked, "the archive has no text of it"
		return on, nil
	case on.State != Stands:
		return on, nil
	case f.Now == nil || f.Now.Text == "":
		on.State, on.Why = Unreachable, "the page has no text"
		return on, nil
	case f.Now.Text == f.Then.Text:
		on.Why = ""
		return on, nil
	}
	f.prepare()
	if f.notice != "" {
		return On{State: Changed, Why: "the page says that it no longer counts", Passages: []Passage{{Then: "", Now: f.notice, Difference: Mark("", f.notice)}}, Beside: []string{}}, nil
	}
	c := comparison{Source: f, s: s, said: newPassage(s.Text)}
	c.s.CIDs = []string{f.Then.CID}
	found, err := c.judge(ctx)
	if err != nil {
		return On{}, err
	}
	if found.State == Gone && slices.Contains(wallRules, f.Record.Rule) {
		found.State, found.Why = Walled, f.Record.Notes
	}
	return found, nil
}

// comparison holds one sentence against the two texts of a page.
type comparison struct {
	*Source
	s     claim.Question
	said  passage
	topic map[string]bool // see subject
}

// mostBearing is how many passages of a page a sentence rests on.
const mostBearing = 3

// bearing are the passages of the old page that the sentence rests on: those that have
// most of its words and numbers, within the windows that the rule found.
func (c *comparison) bearing(windows []claim.Window) []*passage {
	done := map[string]bool{}
	var out []*passage
	for len(out) < mostBearing {
		var best *passage
		most := 0
		for i := range c.then {
			p := &c.then[i]
			if !slices.ContainsFunc(windows, func(w claim.Window) bool { return p.start < w.End && p.end > w.Start }) {
				continue
			}
			if weight := p.shared(&c.said, done); weight > most {
				best, most = p, weight
			}
		}
		if best == nil || len(out) > 0 && most < 2 {
			break
		}
		for word := range c.said.count {
			if best.has(word) {
				done[word] = true
			}
		}
		out = append(out, best)
	}
	return out
}

func (c *comparison) judge(ctx context.Context) (On, error) {
	then, err := c.on(ctx, c.Then)
	if err != nil {
		return On{}, err
	}
	on := On{State: Stands, Passages: []Passage{}, Beside: []string{}}
	for _, p := range c.bearing(then.Windows) {
		state, why, now, err := c.became(ctx, then, p)
		if err != nil {
			return On{}, err
		}
		if state == Stands {
			on.Beside = append(on.Beside, c.beside(p)...)
			continue
		}
		on.Passages = append(on.Passages, Passage{Then: p.text, Now: now, Difference: Mark(p.text, now)})
		if on.State == Stands || state == Changed && on.State == Gone {
			on.State, on.Why = state, why
		}
	}
	if on.State != Stands {
		on.Beside = []string{}
	}
	return on, nil
}

// became says what became of a passage that the sentence rests on.
func (c *comparison) became(ctx context.Context, then claim.Judgement, p *passage) (state State, why, now string, err error) {
	if !c.kept[p.key()] {
		return c.passage(ctx, then, p)
	}
	at := slices.IndexFunc(c.now, func(q passage) bool { return q.key() == p.key() })
	if why, now = c.takenBack(at); why != "" {
		return Changed, why, now, nil
	}
	if why, other := c.contradicted(p); why != "" {
		return Changed, why, other.text, nil
	}
	return Stands, "", "", nil
}

// on holds the sentence against one text.
func (c *comparison) on(ctx context.Context, text *claim.Page) (claim.Judgement, error) {
	return holds(ctx, c.s, func(string) *claim.Page { return text })
}

// beside is what is new in a passage that stands, and right before and behind it.
func (c *comparison) beside(old *passage) (texts []string) {
	at := slices.IndexFunc(c.now, func(q passage) bool { return q.key() == old.key() })
	if at < 0 {
		at, _ = c.nearest(old)
	}
	for j := max(0, at-1); at >= 0 && j < min(len(c.now), at+2); j++ {
		if q := &c.now[j]; !c.before[q.key()] && (j == at || !c.isVersion(q)) {
			texts = append(texts, page.CutBytes(q.text, maxBeside))
		}
	}
	return texts
}

// maxBeside is how many bytes are shown of a sentence beside another.
const maxBeside = 400

// nearest is the passage of the page that has most in common with one that it had, -1 for none.
func (c *comparison) nearest(old *passage) (at int, most float64) {
	at = -1
	for i := range c.now {
		if alike := old.alike(&c.now[i]); alike > most {
			at, most = i, alike
		}
	}
	return at, most
}

const (
	related   = 0.5  // passages with so many words in common are versions of one
	edited    = 0.75 // and from here on one was edited, not written anew
	remaining = 0.5  // of what the old passage shared with the sentence
)

// passage says what became of a passage that no longer stands there as it did.
func (c *comparison) passage(ctx context.Context, then claim.Judgement, old *passage) (State, string, string, error) {
	at, most := c.nearest(old)
	if most < related {
		return c.rewritten(ctx, then, old)
	}
	now := &c.now[at]
	was, err := c.on(ctx, c.alone(c.Then, old.text))
	if err != nil {
		return "", "", "", err
	}
	around := c.now[max(0, at-1):min(len(c.now), at+2)]
	is, err := c.on(ctx, c.alone(c.Now, c.Now.Text[around[0].start:around[len(around)-1].end]))
	if err != nil {
		return "", "", "", err
	}
	if missing := lost(was, is, []string{"numbers", "quotations", "dates"}); len(missing) > 0 {
		return Changed, missing[0].Text + " is no longer there", now.text, nil
	}
	if why := c.turned(old, now); why != "" {
		return Changed, why, now.text, nil
	}
	if why := c.weakened(old, now, most >= edited); why != "" {
		return Changed, why, now.text, nil
	}
	if why, text := c.takenBack(at); why != "" {
		return Changed, why, text, nil
	}
	if figure := c.newFigure(now); figure != "" {
		return Changed, figure + " is new there", now.text, nil
	}
	for _, word := range old.without(now) {
		if c.names()[word] {
			return Changed, "“" + word + "” is no longer there", now.text, nil
		}
	}
	if most >= edited {
		counted := c.counted(old)
		for _, word := range old.without(now) {
			if content(word) && counted.count[word] == 0 && c.said.has(word) {
				return Changed, "“" + word + "” is no longer there", now.text, nil
			}
		}
	}
	return Stands, "", "", nil
}

// names are the words of the sentence that are names by their capitals, in languages that
// write other nouns without.
func (c *comparison) names() map[string]bool {
	names := map[string]bool{}
	if c.language == "de" || page.Language(c.s.Text) == "de" {
		return names
	}
	before := false // the word before is written with a capital
	var last string
	page.EachFolded(c.s.Text, func(word []byte, from int) {
		first, _ := utf8.DecodeRuneInString(c.s.Text[from:])
		capital := unicode.IsUpper(first)
		if w := string(word); capital && content(w) {
			if names[w] = from > 0; before && last != "" {
				names[last] = true // a name begins the sentence
			}
			last = w
		} else {
			last = ""
		}
		before = capital
	})
	return names
}

// counted are the words of a passage that belong to its numbers and dates, which may be
// written in other ways.
func (c *comparison) counted(of *passage) passage {
	plain, figures := figure.Stated(of.text, []string{c.language})
	var text strings.Builder
	for _, f := range figures {
		text.WriteString(plain[f.Start:f.End] + " ")
	}
	for _, d := range figure.Dates(of.text, []string{c.language}) { // of which the rule of dates speaks
		text.WriteString(of.text[d.Start:d.End] + " ")
	}
	return newPassage(text.String())
}

// alone is a page that has nothing but a passage.
func (c *comparison) alone(of *claim.Page, text string) *claim.Page {
	return &claim.Page{CID: of.CID, Address: of.Address, Title: of.Title, Text: text, Language: of.Language}
}

// rewritten looks for what a passage said on a page that has nothing like it.
func (c *comparison) rewritten(ctx context.Context, then claim.Judgement, old *passage) (State, string, string, error) {
	is, err := c.on(ctx, c.Now)
	if err != nil {
		return "", "", "", err
	}
	var now *passage
	most := 0
	for i := range c.now {
		if weight := c.now[i].shared(&c.said, nil); weight > most {
			now, most = &c.now[i], weight
		}
	}
	if now == nil || float64(most) < remaining*float64(old.shared(&c.said, nil)) {
		return Gone, "nothing like the passage is left", "", nil
	}
	if missing := lost(then, is, factRules); len(missing) > 0 {
		return Changed, missing[0].Text + " is no longer there", now.text, nil
	}
	if why := c.turned(old, now); why != "" {
		return Changed, why, now.text, nil
	}
	if why := c.weakened(old, now, false); why != "" {
		return Changed, why, now.text, nil
	}
	return Stands, "", "", nil
}

// turned says by which word a passage says the opposite of what it said, "" for none.
func (c *comparison) turned(old, now *passage) string {
	if (old.negations(c.language)+old.negations(page.Language(old.text)) > 0) != (now.negations(c.language)+now.negations(page.Language(now.text)) > 0) {
		return "it says that something is, or is not so"
	}
	added := now.without(old)
	for _, word := range old.without(now) {
		if opposite := reading.Opposites(c.language)[word]; opposite != "" && slices.Contains(added, opposite) {
			return "“" + word + "” has become “" + opposite + "”"
		}
	}
	return ""
}

// newFigure is a number of a passage that the old page did not have, and that counts the
// same as one of the sentence; "" for none.
func (c *comparison) newFigure(now *passage) string {
	languages := []string{c.language}
	_, said := figure.Stated(c.s.Text, languages)
	plain, stated := figure.Stated(now.text, languages)
	for _, f := range stated {
		if f.Small || f.Unit() == "" || !slices.ContainsFunc(said, func(g figure.Figure) bool { return !g.Small && g.Unit() == f.Unit() }) {
			continue // years and bare numbers say nothing of what they count
		}
		index := figure.NewIndex()
		index.Want(f.Readings)
		index.ReadIn(c.Then.Text, languages)
		if _, _, found := index.Find(f.Readings); !found {
			return strings.TrimSpace(plain[f.Start:f.End])
		}
	}
	return ""
}
