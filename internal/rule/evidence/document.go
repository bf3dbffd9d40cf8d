package evidence

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// ClaimsVersion is the schema version of the document of the claims.
const ClaimsVersion = "claims.v1"

// Rules names the rules of this program: raised by each release that changes sentences,
// readable text or windows, because only what a release made is kept elsewhere.
const Rules = "evidence.1"

// Page is a page that a report cites.
type Page struct {
	CID    string `json:"cid"`
	Digest string `json:"digest"` // of its readable text, "" for a page without
}

// Verdict is what a second reader says of a sentence.
type Verdict struct {
	Verdict string `json:"verdict"`
	Words   string `json:"words"`   // that support it, from one of its windows
	Because string `json:"because"` // why it is not supported
	Look    int    `json:"look"`    // 1 for the first windows, 2 for those and more
	Job     string `json:"job"`
	Attempt int    `json:"attempt"`
	Round   int    `json:"round"`
}

// The verdicts, from best to worst.
const (
	Supported   = "supported"
	Partly      = "partly"
	Unclear     = "unclear"
	Unsupported = "unsupported"
)

// Verdicts are the verdicts, from best to worst.
var Verdicts = []string{Supported, Partly, Unclear, Unsupported}

// Worse reports whether a verdict is worse than another.
func (v Verdict) Worse(other Verdict) bool {
	return slices.Index(Verdicts, v.Verdict) > slices.Index(Verdicts, other.Verdict)
}

// Acceptance is a person's decision on one sentence.
type Acceptance struct {
	By        string `json:"by"`
	Reason    string `json:"reason"`
	At        string `json:"at"`
	Signature string `json:"signature"`
}

// Claim is a sentence of claims.v1, with everything that was found out about it.
type Claim struct {
	ID          string          `json:"id"`
	Line        int             `json:"line"`
	Section     string          `json:"section"`
	Text        string          `json:"text"`
	Digest      string          `json:"digest"`
	Form        Form            `json:"form"`
	CIDs        []string        `json:"cids"`
	Standing    claim.Standing  `json:"standing"` // "" for a frame
	Findings    []claim.Finding `json:"findings"`
	Windows     []claim.Window  `json:"windows"`
	Calculation *Calculation    `json:"calculation,omitzero"`
	Verdict     *Verdict        `json:"verdict,omitzero"`
	Accepted    *Acceptance     `json:"accepted,omitzero"`
	// Firm says that it is never tolerated: it stands in the first section or in the answer.
	Firm bool `json:"firm,omitzero"`
	// Strikes is in how many earlier rounds it, or what it replaced, was refused.
	Strikes int `json:"strikes,omitzero"`

	// What the reader is shown beside it, and how it is asked. They follow from the
	// report.
	Context   Context `json:"-"`
	Judgement bool    `json:"-"`
}

// Pairs count the pairs of a sentence and its twin that readers were tested with: of the two
// at most one is true.
type Pairs struct {
	Asked  int `json:"asked" jsonschema:"pairs whose sentence was called supported"`
	Hard   int `json:"hard" jsonschema:"of these, those whose twin has every word on the page"`
	Missed int `json:"missed" jsonschema:"of these, those whose twin was called supported as well"`
}

// Add counts others, too.
func (p *Pairs) Add(more Pairs) {
	p.Asked, p.Hard, p.Missed = p.Asked+more.Asked, p.Hard+more.Hard, p.Missed+more.Missed
}

// Claims is the document of the claims of a report, claims.v1.
type Claims struct {
	SchemaVersion   string  `json:"schema_version"`
	Rules           string  `json:"rules"`
	SynthesisDigest string  `json:"synthesis_digest"`
	Pages           []Page  `json:"pages"`
	Sentences       []Claim `json:"sentences"`
	Pairs           Pairs   `json:"pairs"`
	Parts           []Part  `json:"parts,omitzero"` // in which readers are asked, this round
}

// Part is what one reader is asked at once.
type Part struct {
	Number    int      `json:"part"`
	Look      int      `json:"look"`      // 1 for the first windows, 2 for those and more
	Sentences []string `json:"sentences"` // ids
	Read      bool     `json:"read,omitzero"`
}

// Unread are the parts that wait for an answer: those of a look of which a sentence waits for
// its verdict.
func (c *Claims) Unread() []Part {
	byID := make(map[string]*Claim, len(c.Sentences))
	for i := range c.Sentences {
		byID[c.Sentences[i].ID] = &c.Sentences[i]
	}
	waits := map[int]bool{}
	for _, p := range c.Parts {
		waits[p.Look] = waits[p.Look] || !p.Read && slices.ContainsFunc(p.Sentences, func(id string) bool {
			s := byID[id]
			return s != nil && s.Accepted == nil && (s.Verdict == nil || s.Verdict.Verdict != Supported && s.Verdict.Look < p.Look)
		})
	}
	return slices.DeleteFunc(slices.Clone(c.Parts), func(p Part) bool { return p.Read || !waits[p.Look] })
}

// Assemble makes the document of a report: its sentences with how each stands, in order
// ([Report.Hold]). Verdicts and acceptances of equal digests are taken over from
// the document before, nil for none, with the windows that they were given for, and so is
// what its readers were tested with. Where
// that is about the same text, its parts and strikes are, too.
func Assemble(r Report, synthesisDigest string, pages []Page, held []claim.Judgement, before *Claims) Claims {
	c := Claims{SchemaVersion: ClaimsVersion, Rules: Rules, SynthesisDigest: synthesisDigest, Pages: pages, Sentences: make([]Claim, len(r.Sentences))}
	known := map[string]*Claim{}
	if before != nil && before.Rules == Rules {
		for i := range before.Sentences {
			known[before.Sentences[i].Digest] = &before.Sentences[i]
		}
		c.Pairs = before.Pairs
	}
	digests := map[string]string{}
	for _, p := range pages {
		digests[p.CID] = p.Digest
	}
	same := before != nil && before.SynthesisDigest == synthesisDigest && len(before.Sentences) == len(c.Sentences)
	if same {
		c.Parts = slices.Clone(before.Parts)
	}
	for i, s := range r.Sentences {
		c.Sentences[i] = Claim{ID: s.ID, Line: s.Line, Section: s.Section, Text: s.Text, Digest: s.digest(digests, absentIn(&s, held[i])), Form: s.Form, CIDs: notNil(s.CIDs),
			Standing: held[i].Standing, Findings: notNil(held[i].Findings), Windows: notNil(slices.Clone(held[i].Windows)), Calculation: s.Calculation,
			Firm: s.Firm, Context: s.Context, Judgement: s.Judgement}
		if old := known[c.Sentences[i].Digest]; old != nil {
			c.Sentences[i].Verdict, c.Sentences[i].Accepted = old.Verdict, old.Accepted
		}
		if same {
			c.Sentences[i].Strikes = before.Sentences[i].Strikes
		}
	}
	c.keepFrames(r, known)
	c.ownWindows(known, before)
	return c
}

// keepFrames takes over what was said of headings over sentences that all stood there before:
// a sentence that is dropped makes no other claim of its heading.
func (c *Claims) keepFrames(r Report, known map[string]*Claim) {
	frames := map[string]*Claim{}
	for _, old := range known {
		if old.Form == Frame && old.Verdict != nil && old.Verdict.Verdict == Supported {
			frames[old.Section+"\n"+plain(old.Text)] = old
		}
	}
	for i, s := range r.Sentences {
		old := frames[s.Section+"\n"+plain(s.Text)]
		if s.kind != heading || c.Sentences[i].Verdict != nil || old == nil {
			continue
		}
		stood := func(below Claim) bool {
			was := known[below.Digest]
			return was != nil && was.Section == s.Section && (was.Context.Heading == below.Context.Heading || below.Form == Frame)
		}
		if below := c.Sentences[s.covers.from:s.covers.to]; !slices.ContainsFunc(below, func(b Claim) bool { return !stood(b) }) {
			c.Sentences[i].Verdict = old.Verdict
		}
	}
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// absentIn are the windows of a sentence that cites no page because it says what is on
// none.
func absentIn(s *Sentence, held claim.Judgement) []claim.Window {
	if s.Form != Absent {
		return nil
	}
	return held.Windows
}

// digest is that of a sentence with everything that a verdict on it depends on.
func (s *Sentence) digest(pages map[string]string, windows []claim.Window) string {
	of := make([]string, len(s.CIDs))
	for i, cid := range s.CIDs {
		of[i] = pages[cid]
	}
	for _, w := range windows { // of all pages, where it cites none
		of = append(of, w.Digest)
	}
	calculation := ""
	if s.Calculation != nil {
		calculation = s.Calculation.Text
	}
	before := ""
	if s.back {
		before = plain(s.Context.Before)
	}
	return codec.Digest([]any{Rules, plain(s.Text), s.Form, s.Judgement, notNil(s.CIDs), of, calculation,
		plain(s.Context.Heading), plain(s.Context.LeadIn), before, plain(s.Context.Shown)})
}

// plain is a text as digests have it: NFC, white space as one blank.
func plain(text string) string {
	return markdown.OneLine(norm.NFC.String(strings.ToValidUTF8(text, "\ufffd")))
}

// Find is the sentence with an id, nil where there is none.
func (c *Claims) Find(id string) *Claim {
	for i := range c.Sentences {
		if c.Sentences[i].ID == id {
			return &c.Sentences[i]
		}
	}
	return nil
}

// ParseClaims reads the document that a run keeps: SCHEMA_VALIDATION_FAILED for another
// one.
func ParseClaims(data []byte) (*Claims, error) {
	var c Claims
	if err := json.Unmarshal(data, &c); err != nil || c.SchemaVersion != ClaimsVersion {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, nil, "the document of the claims is not %s", ClaimsVersion)
	}
	return &c, nil
}

// nearWords is how many words in a row of a page are nearly a quotation, and nearShare
// how much of the sentence they are, in hundredths.
const (
	nearWords = 8
	nearShare = 80
)

// NearlyQuoted reports whether a sentence is nearly the words of a passage, and does not
// say so by quotation marks.
func (s *Claim) NearlyQuoted() bool {
	if s.Form == Frame || len(quotation.In([]string{s.Text})[0]) > 0 {
		return false
	}
	own := wordsOf(s.Text)
	if len(own) < nearWords {
		return false
	}
	for _, w := range s.Windows {
		if n := longestRun(own, wordsOf(w.Text)); n >= nearWords && n*100 >= nearShare*len(own) {
			return true
		}
	}
	return false
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// longestRun is how many words in a row two texts share.
func longestRun(a, b []string) (longest int) {
	before := make([]int, len(b)+1)
	for _, word := range a {
		for k := len(b); k > 0; k-- {
			if before[k] = before[k-1] + 1; b[k-1] != word {
				before[k] = 0
			}
			longest = max(longest, before[k])
		}
	}
	return longest
}

// ownWindows gives the sentences of a document the windows that they are read with. One
// whose digest is known keeps those that it has: what a verdict was given for is what
// everybody sees. What supported a sentence before, when it stood otherwise, comes first
// where it is asked again, as far as its pages are the same; and for an inference what
// the sentences have that cite the same sources, one window for each source.
func (c *Claims) ownWindows(known map[string]*Claim, before *Claims) {
	type cited struct{ text, by string }
	once := map[cited]*Claim{} // supported, by its text and its pages
	key := func(c *Claims, s *Claim) cited {
		by := ""
		for _, cid := range s.CIDs {
			by += cid + " " + c.pageDigest(cid) + "\n"
		}
		return cited{plain(s.Text), by}
	}
	if before != nil && before.Rules == Rules {
		for i := range before.Sentences {
			if s := &before.Sentences[i]; s.Verdict != nil && s.Verdict.Verdict == Supported {
				once[key(before, s)] = s
			}
		}
	}
	for i := range c.Sentences {
		s := &c.Sentences[i]
		if old := known[s.Digest]; old != nil {
			s.Windows = notNil(old.Windows)
		} else if old := once[key(c, s)]; old != nil {
			s.Windows = first(old.Windows, s.Windows)
		}
	}
	for i := range c.Sentences {
		if s := &c.Sentences[i]; s.Form == Inferred && known[s.Digest] == nil {
			s.Windows = first(c.reasons(s), s.Windows)
		}
	}
}

// first are windows with others behind them, as many as there were: those of further pages first.
func first(windows, others []claim.Window) []claim.Window {
	for _, w := range others {
		if len(windows) < len(others) && !slices.ContainsFunc(windows, func(o claim.Window) bool { return o.CID == w.CID }) {
			windows = append(slices.Clip(windows), w)
		}
	}
	return slices.Concat(windows, claim.Beside(windows, others, len(others)-len(windows)))
}

// reasons are the windows of sentences that cite the same sources as an inference: for each
// source the one that is nearest to it, of those by which a reader confirmed them, where
// there are such.
func (c *Claims) reasons(inference *Claim) (windows []claim.Window) {
	for _, cid := range inference.CIDs {
		var of, unread []claim.Window
		for i := range c.Sentences {
			s := &c.Sentences[i]
			k := slices.IndexFunc(s.Windows, func(w claim.Window) bool { return w.CID == cid })
			switch {
			case k < 0 || s.Form != Cited && s.Form != Carried:
			case s.Verdict == nil:
				unread = append(unread, s.Windows[k])
			case s.Verdict.Verdict == Supported:
				of = append(of, s.Windows[k])
			}
		}
		if len(of) == 0 {
			of = unread
		}
		if k := (claim.Question{Text: inference.Text}).Nearest(of); k >= 0 {
			windows = append(windows, claim.Beside(windows, of[k:k+1], 1)...)
		}
	}
	return windows
}

func (c *Claims) pageDigest(cid string) string {
	for _, p := range c.Pages {
		if p.CID == cid {
			return p.Digest
		}
	}
	return ""
}
