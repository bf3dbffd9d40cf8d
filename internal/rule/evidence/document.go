package evidence

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"golang.org/x/text/unicode/norm"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
)

// ClaimsVersion is the schema version of the document of the claims.
const ClaimsVersion = "claims.v1"

// Rules names the rules of this program: raised by each release that changes sentences,
// readable text or windows, because only what a release made is kept elsewhere. Only tests
// set it, to be a later program.
var Rules = rulesPrefix + "1"

const rulesPrefix = "evidence."

// Window is a passage of a page that a sentence is held against.
type Window struct {
	CID    string `json:"cid"`
	Start  int    `json:"start"` // bytes of the page's readable text
	End    int    `json:"end"`
	Text   string `json:"text"`
	Digest string `json:"digest"`
	// What helps to understand it, and grounds nothing.
	Title   string `json:"title,omitzero"`   // of the page
	Heading string `json:"heading,omitzero"` // the nearest above it
}

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
	Look    int    `json:"look"`    // 1 for the first windows, 2 for the next
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

// Better is the better of two verdicts on a sentence, with the words of either.
func (v Verdict) Better(other Verdict) Verdict {
	if slices.Index(Verdicts, other.Verdict) < slices.Index(Verdicts, v.Verdict) {
		v, other = other, v
	}
	v.Words = cmp.Or(v.Words, other.Words)
	return v
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
	Windows     []Window        `json:"windows"`
	Calculation *Calculation    `json:"calculation,omitzero"`
	Verdict     *Verdict        `json:"verdict,omitzero"`
	Accepted    *Acceptance     `json:"accepted,omitzero"`
	// Strikes is in how many earlier rounds it, or what it replaced, was refused.
	Strikes int `json:"strikes,omitzero"`

	// What the reader is shown beside it, and how it is asked. They follow from the
	// report.
	Context   Context `json:"-"`
	Judgement bool    `json:"-"`
}

// Controls count the planted errors that readers were tested with.
type Controls struct {
	Planted int `json:"planted"`
	Hard    int `json:"hard"` // with every word on the page
	Caught  int `json:"caught"`
}

// Claims is the document of the claims of a report, claims.v1.
type Claims struct {
	SchemaVersion   string   `json:"schema_version"`
	Rules           string   `json:"rules"`
	SynthesisDigest string   `json:"synthesis_digest"`
	Pages           []Page   `json:"pages"`
	Sentences       []Claim  `json:"sentences"`
	Controls        Controls `json:"controls"`
	Parts           []Part   `json:"parts,omitzero"` // in which readers are asked, this round
}

// Part is what one reader is asked at once.
type Part struct {
	Number    int      `json:"part"`
	Look      int      `json:"look"`      // 1 for the first windows, 2 for the next
	Sentences []string `json:"sentences"` // ids
}

// Unread are the parts with sentences that wait for their verdicts.
func (c *Claims) Unread() []Part {
	byID := make(map[string]*Claim, len(c.Sentences))
	for i := range c.Sentences {
		byID[c.Sentences[i].ID] = &c.Sentences[i]
	}
	var open []Part
	for _, p := range c.Parts {
		if slices.ContainsFunc(p.Sentences, func(id string) bool {
			s := byID[id]
			return s != nil && s.Accepted == nil && (s.Verdict == nil || s.Verdict.Look < p.Look)
		}) {
			open = append(open, p)
		}
	}
	return open
}

// Assemble makes the document of a report: its sentences with how each stands, in order
// ([Report.Hold]). Verdicts and acceptances of equal digests are taken over from
// the document before, nil for none, and so is what its readers were tested with. Where
// that is about the same text, its parts and strikes are, too.
func Assemble(r Report, synthesisDigest string, pages []Page, held []claim.Judgement, before *Claims) Claims {
	c := Claims{SchemaVersion: ClaimsVersion, Rules: Rules, SynthesisDigest: synthesisDigest, Pages: pages, Sentences: make([]Claim, len(r.Sentences))}
	known := map[string]*Claim{}
	if before != nil && before.Rules == Rules {
		for i := range before.Sentences {
			known[before.Sentences[i].Digest] = &before.Sentences[i]
		}
		c.Controls = before.Controls
	}
	digests := map[string]string{}
	for _, p := range pages {
		digests[p.CID] = p.Digest
	}
	same := before != nil && before.SynthesisDigest == synthesisDigest && len(before.Sentences) == len(c.Sentences)
	if same {
		c.Parts = before.Parts
	}
	for i, s := range r.Sentences {
		c.Sentences[i] = Claim{ID: s.ID, Line: s.Line, Section: s.Section, Text: s.Text, Digest: s.digest(digests), Form: s.Form, CIDs: notNil(s.CIDs),
			Standing: held[i].Standing, Findings: notNil(held[i].Findings), Windows: WindowsOf(held[i].Windows), Calculation: s.Calculation,
			Context: s.Context, Judgement: s.Judgement}
		if old := known[c.Sentences[i].Digest]; old != nil {
			c.Sentences[i].Verdict, c.Sentences[i].Accepted = old.Verdict, old.Accepted
		}
		if same {
			c.Sentences[i].Strikes = before.Sentences[i].Strikes
		}
	}
	return c
}

// WindowsOf are windows as the document has them.
func WindowsOf(windows []claim.Window) []Window {
	out := make([]Window, len(windows))
	for i, w := range windows {
		out[i] = Window{w.CID, w.Start, w.End, w.Text, codec.DigestBytes([]byte(w.Text)), w.Title, w.Heading}
	}
	return out
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// digest is that of a sentence with everything that a verdict on it depends on.
func (s *Sentence) digest(pages map[string]string) string {
	of := make([]string, len(s.CIDs))
	for i, cid := range s.CIDs {
		of[i] = pages[cid]
	}
	calculation := ""
	if s.Calculation != nil {
		calculation = s.Calculation.Text
	}
	return codec.Digest([]any{Rules, plain(s.Text), s.Form, s.Judgement, notNil(s.CIDs), of, calculation,
		plain(s.Context.Heading), plain(s.Context.LeadIn), plain(s.Context.Before), plain(s.Context.Shown)})
}

// plain is a text as digests have it: NFC, white space as one blank.
func plain(text string) string {
	return markdown.OneLine(norm.NFC.String(strings.ToValidUTF8(text, "\ufffd")))
}

// Earlier reports whether the rules of an earlier program made the document: what it says
// is taken, because nobody can make it again. A number that no program has had is none.
func (c *Claims) Earlier() bool {
	number := func(rules string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(rules, rulesPrefix))
		if err != nil || rules != rulesPrefix+strconv.Itoa(n) {
			return 0
		}
		return n
	}
	n := number(c.Rules)
	return 0 < n && n < number(Rules)
}

// KeptFor is a document of earlier rules as it is kept, with what readers are shown beside
// its sentences from the same report as it is read today.
func (c *Claims) KeptFor(r Report) Claims {
	kept := *c
	kept.Sentences = slices.Clone(c.Sentences)
	for i := range kept.Sentences {
		if s := &kept.Sentences[i]; i < len(r.Sentences) && r.Sentences[i].Text == s.Text {
			s.Context, s.Judgement = r.Sentences[i].Context, r.Sentences[i].Judgement
		}
	}
	return kept
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
