package foreign

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Result is what an audit says of a report.
type Result struct {
	OK        codec.True `json:"ok"`
	Pass      bool       `json:"pass" jsonschema:"the outcome is pass"`
	Outcome   Outcome    `json:"outcome" jsonschema:"pass; fail; no_error_by_rule where rules found nothing of the kinds that fail and nobody read the sentences"`
	AuditID   string     `json:"audit_id"`
	AuditPath string     `json:"audit_path" jsonschema:"the folder that keeps the report, the archive and the log"`
	Audited   About      `json:"report"`
	Summary   Summary    `json:"summary" jsonschema:"counts; found, weak, missing and unchecked are of the sentences that are cited or carried"`
	Citations []Citation `json:"citations" jsonschema:"one for each mark in the text, none from the list"`
	Sentences []Judged   `json:"sentences"`
	Sources   []Source   `json:"sources"`
	Findings  []Finding  `json:"findings" jsonschema:"of the report as a whole"`

	// Compared is what changed since an earlier audit, where one was named.
	Compared *Comparison `json:"compared,omitzero"`

	LeftOut int `json:"left_out,omitzero" jsonschema:"sentences, sources and findings that are not here: an agent is handed the worst in 8 KB, and all of them are in result.json of audit_path"`

	Explain bool   `json:"-"` // what was recognised is shown, too
	File    string `json:"-"` // where the report lies, for findings that name a place
	// Exports are what the result can be had as beside the formats of its tool.
	Exports map[string]func() ([]byte, error) `json:"-"`

	document  *Document
	questions *reading.Questions
	shown     func([]claim.Window) []Window
}

// Outcome is how an audit ended. Rules alone pass nothing: they find some of what is wrong.
type Outcome string

// The outcomes.
const (
	Passed        Outcome = "pass"
	Failed        Outcome = "fail"
	NoErrorByRule Outcome = "no_error_by_rule"
)

// About says what was audited.
type About struct {
	Name     string   `json:"name"`
	Format   string   `json:"format" jsonschema:"markdown, html, docx, office (another file of an office program), pdf or text"`
	Styles   []string `json:"styles" jsonschema:"the ways to cite that were recognised"`
	Language string   `json:"language" jsonschema:"in two letters, empty where it cannot be told"`
	Digest   string   `json:"digest"`
	Bytes    int      `json:"bytes"`
}

// Summary are the counts of an audit.
type Summary struct {
	Sentences         int      `json:"sentences"`
	Cited             int      `json:"cited"`
	Carried           int      `json:"carried"`
	Structural        int      `json:"structural"`
	Uncited           int      `json:"uncited"`
	Found             int      `json:"found"`
	Weak              int      `json:"weak"`
	Missing           int      `json:"missing"`
	Unchecked         int      `json:"unchecked"`
	UncitedNumbers    int      `json:"uncited_numbers" jsonschema:"sentences that state a number and cite nothing"`
	UncitedQuotations int      `json:"uncited_quotations" jsonschema:"sentences that quote and cite nothing"`
	Citations         int      `json:"citations"`
	Entries           int      `json:"entries"`
	Sources           Statuses `json:"sources"`

	Read *Readings `json:"read,omitzero" jsonschema:"what a second reader said, where one was asked"`
}

// Statuses count sources by their status.
type Statuses struct {
	Total     int `json:"total"`
	Valid     int `json:"valid"`
	Paywalled int `json:"paywalled"`
	Blocked   int `json:"blocked"`
	Mismatch  int `json:"mismatch"`
	Invalid   int `json:"invalid"`
	Unchecked int `json:"unchecked"`
}

// Unchecked is the status of a source of which nothing was fetched.
const Unchecked = "unchecked"

// Judged is a sentence with how it stands.
type Judged struct {
	Line     int             `json:"line"`
	Text     string          `json:"text"`
	Form     evidence.Form   `json:"form" jsonschema:"cited, carried, structural or uncited"`
	URLs     []string        `json:"urls"`
	Standing claim.Standing  `json:"standing" jsonschema:"found, weak, missing or unchecked; empty for a sentence that no citation covers"`
	Findings []claim.Finding `json:"findings"`
	Windows  []Window        `json:"windows" jsonschema:"the passages of its pages that a reader needs"`
	Verdict  string          `json:"verdict" jsonschema:"of a second reader: supported, partly, unclear or unsupported; empty where none read it"`
	Quoted   string          `json:"words,omitzero" jsonschema:"of a passage, by which the second reader finds it supported"`
	Because  string          `json:"because,omitzero" jsonschema:"why the second reader does not"`
}

// Window is a passage of an archived page.
type Window struct {
	URL     string `json:"url"`
	Start   int    `json:"start" jsonschema:"bytes of the page's readable text"`
	End     int    `json:"end"`
	Text    string `json:"text"`
	Title   string `json:"title"`
	Heading string `json:"heading"`
}

// Source is a source of the report with what it is worth.
type Source struct {
	URL      string          `json:"url"`
	IDs      []string        `json:"ids"`
	Title    string          `json:"title" jsonschema:"as the report calls it"`
	Line     int             `json:"line"`
	Status   string          `json:"status" jsonschema:"valid, paywalled, blocked, mismatch, invalid, or unchecked where nothing was fetched"`
	Reason   string          `json:"reason"`
	Cited    int             `json:"cited" jsonschema:"how many sentences cite it themselves"`
	Findings []claim.Finding `json:"findings"`
}

// Finding is something about the report as a whole.
type Finding struct {
	Code  string      `json:"code"`
	Level claim.Level `json:"level"`
	Line  int         `json:"line"`
	Text  string      `json:"text"`
}

// Passed reports whether nothing makes the report fail.
func (r Result) Passed() bool { return r.Outcome != Failed }

// Export is the result in one of the formats of Exports.
func (r Result) Export(format string) (document []byte, ok bool, err error) {
	export, ok := r.Exports[format]
	if ok {
		document, err = export()
	}
	return document, ok, err
}

// Headings are those of the report.
func (r *Result) Headings() []Heading { return r.document.Headings }

// Item says of a sentence that is an item how many lists it lies in, and its number in one that
// has numbers.
func (r *Result) Item(sentence int) (level, number int) {
	s := &r.document.Sentences[sentence]
	return s.level, s.number
}

// Marks are those of the citations of a sentence that are no part of its text.
func (r *Result) Marks(sentence int) []string { return r.document.Sentences[sentence].marks }

// Cells are those of a sentence that is a row. Names are those of the columns, if it is the first
// row of a table that names them.
func (r *Result) Cells(sentence int) (cells, names []string) {
	for _, h := range r.document.headers {
		if h.Before == sentence {
			names = strings.Split(h.Text, cellMark)
		}
	}
	text := r.Sentences[sentence].Text + " "
	for range 2 { // empty cells have lost a blank
		text = strings.ReplaceAll(text, " | |", " |  |")
	}
	return strings.Split(text, cellMark), names
}

// Paragraph is the number of the paragraph of a sentence, and whether that is a paragraph,
// an item or a row.
func (r *Result) Paragraph(sentence int) (number int, kind string) {
	s := &r.document.Sentences[sentence]
	return s.Paragraph, s.Kind
}

// Document is the result as an audit keeps it: without its own place, so that a folder can
// be moved, and without what it was compared with.
func (r Result) Document() ([]byte, error) {
	r.AuditPath, r.Compared = "", nil
	return codec.MarshalFile(r)
}

// count counts the sentences and the sources.
func (r *Result) count() {
	s := &r.Summary
	s.Sentences, s.Citations, s.Entries = len(r.Sentences), len(r.Citations), len(r.document.Entries)
	for i := range r.Sentences {
		sentence := &r.Sentences[i]
		*map[evidence.Form]*int{evidence.Cited: &s.Cited, evidence.Carried: &s.Carried, Structural: &s.Structural, Uncited: &s.Uncited}[sentence.Form]++
		if n := map[claim.Standing]*int{claim.Found: &s.Found, claim.Weak: &s.Weak, claim.Missing: &s.Missing, claim.NoText: &s.Unchecked}[sentence.Standing]; n != nil {
			*n++
		}
		if sentence.Form == Uncited {
			has := func(rule string) int {
				return codec.Flag(slices.ContainsFunc(sentence.Findings, func(f claim.Finding) bool { return f.Rule == rule }))
			}
			s.UncitedNumbers += has("numbers")
			s.UncitedQuotations += has("quotations")
		}
	}
	s.Sources.Total = len(r.Sources)
	for i := range r.Sources {
		*map[string]*int{string(source.Valid): &s.Sources.Valid, string(source.Paywalled): &s.Sources.Paywalled, string(source.Blocked): &s.Sources.Blocked,
			string(source.Mismatch): &s.Sources.Mismatch, string(source.Invalid): &s.Sources.Invalid, Unchecked: &s.Sources.Unchecked}[r.Sources[i].Status]++
	}
}

// unread is how many of the sentences that cite something nobody read.
func (r *Result) unread() int {
	if read := r.Summary.Read; read != nil {
		return read.Unread
	}
	return r.Summary.Cited + r.Summary.Carried
}

// judge decides the outcome. Nothing stands for want of what could be checked, and a report
// whose reader did not come to its end fails. A second reader decides about weak sentences, and
// what it calls unsupported counts as missing.
func (r *Result) judge(options Options) {
	s := &r.Summary
	wrong := map[string]int{FailMissing: s.Missing, FailWeak: s.Weak, FailDead: s.Sources.Invalid, FailUncited: s.Uncited, FailUnchecked: s.Unchecked, FailUnread: r.unread()}
	for i := range r.Sentences {
		weak := r.Sentences[i].Standing == claim.Weak
		switch r.Sentences[i].Verdict {
		case evidence.Supported:
			wrong[FailWeak] -= codec.Flag(weak)
		case evidence.Unsupported:
			wrong[FailMissing] += codec.Flag(r.Sentences[i].Standing != claim.Missing)
		case evidence.Partly, evidence.Unclear:
			wrong[FailWeak] += codec.Flag(r.Sentences[i].Standing == claim.Found)
		}
	}
	switch {
	case s.Cited == 0, r.document.NotMatched != "", !options.NoFetch && 2*s.Unchecked > s.Cited+s.Carried, s.Read != nil && s.Read.Unread > 0,
		slices.ContainsFunc(options.FailOn, func(kind string) bool { return wrong[kind] > 0 }):
		r.Outcome = Failed
	case s.Read == nil:
		r.Outcome = NoErrorByRule
	default:
		r.Outcome = Passed
	}
	r.Pass = r.Outcome == Passed
}

// mostForAgent is how many bytes of a result an agent is handed, and mostQuoted how many of a
// text in it.
const (
	mostForAgent = 8 << 10
	mostQuoted   = 600
)

// ForAgent is the result as an agent is handed it, which has to read all of it: the counts,
// and of sentences, sources and findings the worst as far as there is room. What is left out
// stands in the file of the audit.
func (r Result) ForAgent() Result {
	if sizeOf(r) <= mostForAgent {
		return r
	}
	out := r
	out.Audited.Name, out.Compared = page.CutBytes(r.Audited.Name, mostQuoted), nil
	out.Citations, out.Sentences, out.Sources, out.Findings = []Citation{}, []Judged{}, []Source{}, []Finding{}
	room := mostForAgent - sizeOf(out) - 100
	fits := func(v any, most int) bool {
		n := sizeOf(v) + 1
		if n > room-most {
			return false
		}
		room -= n
		return true
	}
	rest := room / 4 // of which sources and findings have what is theirs
	for _, i := range r.worst() {
		if s := r.Sentences[i].brief(); fits(s, rest) {
			out.Sentences = append(out.Sentences, s)
		}
	}
	for _, f := range r.Findings {
		if f.Text = page.CutBytes(f.Text, mostQuoted); f.Level != claim.Remark && fits(f, 0) {
			out.Findings = append(out.Findings, f)
		}
	}
	for _, s := range r.Sources {
		if s.Title = page.CutBytes(s.Title, mostQuoted); s.Status != string(source.Valid) && fits(s, 0) {
			out.Sources = append(out.Sources, s)
		}
	}
	out.LeftOut = len(r.Sentences) + len(r.Sources) + len(r.Findings) - len(out.Sentences) - len(out.Sources) - len(out.Findings)
	return out
}

// brief is a sentence with the words of its first passage that matter.
func (s Judged) brief() Judged {
	if len(s.Windows) > 0 {
		w := s.Windows[0]
		w.Text = around(w.Text, s.key())
		s.Windows = []Window{w}
	}
	s.Text = page.CutBytes(s.Text, mostQuoted)
	s.URLs = slices.Clone(s.URLs[:min(len(s.URLs), manySources)])
	return s
}

func sizeOf(v any) int {
	data, err := codec.Marshal(v)
	if err != nil {
		return mostForAgent + 1
	}
	return len(data)
}
