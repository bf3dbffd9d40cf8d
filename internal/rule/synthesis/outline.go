package synthesis

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// OutlineVersion is the schema version of an outline.
const OutlineVersion = "outline.v1"

// Outline says which agent writes what of a long report: what each section must answer,
// and which perspectives it uses. Sections that repeat others are written last, with what
// joins them.
type Outline struct {
	SchemaVersion string        `json:"schema_version"`
	Sections      []PartOutline `json:"sections"`
	Dropped       []Dropped     `json:"dropped"`
	// Join is how many words the part has that joins the others.
	Join int `json:"join_words"`
}

// PartOutline is a section that one agent writes.
type PartOutline struct {
	Number       int      `json:"number"` // of the section in the template
	Section      string   `json:"section"`
	Answers      string   `json:"answers"`
	Perspectives []string `json:"perspectives"`
	Words        int      `json:"words"`
}

// Dropped is a perspective that the report does not use.
type Dropped struct {
	Perspective string `json:"perspective"`
	Reason      string `json:"reason"`
}

// outlineShape is the schema of the answer to an outline.
var outlineShape = codec.Table(
	codec.Field{Name: "sections", Shape: codec.List(codec.Table(
		codec.Field{Name: "section", Shape: codec.NotBlank()},
		codec.Field{Name: "answers", Shape: codec.NotBlank()},
		codec.Field{Name: "perspectives", Shape: codec.List(codec.NotBlank(), 1)},
		codec.Field{Name: "words", Shape: codec.IntegerFrom(1)}), 1)},
	codec.Field{Name: "dropped", Shape: codec.List(codec.Table(
		codec.Field{Name: "perspective", Shape: codec.NotBlank()},
		codec.Field{Name: "reason", Shape: codec.NotBlank()}), 0)},
)

// The bounds of an outline.
const (
	maxAnswers = 600 // characters
	joinShare  = 10  // percent of the words that the joining part has, where it writes a section
	leastPart  = 60  // words
)

// ParseOutline reads the answer to an outline for a report of so many words by a template,
// over the perspectives whose outputs were accepted. The words of its sections are made
// to fit. The faults are INVALID_JSON, SCHEMA_VALIDATION_FAILED, MISSING_REQUIRED_SECTION for a
// section of the template without an entry, and TOO_LITTLE for a perspective that is
// neither used nor dropped with a reason.
func ParseOutline(data []byte, template evidence.Template, perspectives []string, words int) (Outline, []Fault) {
	doc, faults := evidence.ParseAnswer(data, outlineShape)
	if len(faults) > 0 {
		return Outline{}, faults
	}
	o := Outline{SchemaVersion: OutlineVersion, Sections: []PartOutline{}, Dropped: []Dropped{}}
	fault := func(code tidegate.Code, note, format string, args ...any) {
		faults = append(faults, evidence.NewFault(code, 0, note, format, args...))
	}
	named := map[string]bool{}
	use := func(id string) {
		if named[id] = true; !slices.Contains(perspectives, id) {
			fault(tidegate.SchemaValidationFailed, "Use the ids that stand before the summaries.", "%q is no perspective of the run", tidegate.Cut(id))
		}
	}
	for _, v := range doc.Get("sections").Elems() {
		n, _ := v.Get("words").Int()
		part := PartOutline{Section: strings.TrimSpace(v.Get("section").Str()), Answers: markdown.OneLine(v.Get("answers").Str()), Perspectives: v.Get("perspectives").Strs(), Words: int(min(n, 1<<20))}
		at := slices.IndexFunc(template.Sections, func(s evidence.Section) bool { return s.Title == part.Section })
		switch {
		case at < 0:
			fault(tidegate.SchemaValidationFailed, "Use the headings of the list, exactly.", "%q is no section of the report", tidegate.Cut(part.Section))
		case template.Sections[at].Summary:
			fault(tidegate.SchemaValidationFailed, "Leave it out.", "the section %q is written last, from the others", part.Section)
		case slices.ContainsFunc(o.Sections, func(p PartOutline) bool { return p.Section == part.Section }):
			fault(tidegate.SchemaValidationFailed, "Make one entry of the two.", "the section %q has two entries", part.Section)
		case utf8.RuneCountInString(part.Answers) > maxAnswers:
			fault(tidegate.SchemaValidationFailed, "Say it in fewer words.", "what %q must answer has more than %d characters", part.Section, maxAnswers)
		}
		part.Number = at + 1
		for _, id := range part.Perspectives {
			use(id)
		}
		o.Sections = append(o.Sections, part)
	}
	for _, v := range doc.Get("dropped").Elems() {
		d := Dropped{v.Get("perspective").Str(), markdown.OneLine(v.Get("reason").Str())}
		if slices.ContainsFunc(o.Sections, func(p PartOutline) bool { return slices.Contains(p.Perspectives, d.Perspective) }) {
			fault(tidegate.SchemaValidationFailed, "Use it, or drop it.", "%q is used and dropped", tidegate.Cut(d.Perspective))
		}
		use(d.Perspective)
		o.Dropped = append(o.Dropped, d)
	}
	for _, s := range template.Sections {
		if !s.Summary && !slices.ContainsFunc(o.Sections, func(p PartOutline) bool { return p.Section == s.Title }) {
			fault(tidegate.MissingRequiredSection, fmt.Sprintf("Add an entry with \"section\":%q.", s.Title), "the outline has no entry for the section %q", s.Title)
		}
	}
	for _, id := range perspectives {
		if !named[id] {
			fault(tidegate.TooLittle, "Name it under a section that uses it, or under dropped with the reason.", "the outline neither uses nor drops the perspective %q", id)
		}
	}
	if len(faults) > 0 {
		return Outline{}, faults
	}
	slices.SortFunc(o.Sections, func(a, b PartOutline) int { return a.Number - b.Number })
	o.fit(template, words)
	return o, nil
}

// fit gives the sections together as many words as the report has without what joins
// them.
func (o *Outline) fit(template evidence.Template, words int) {
	if len(template.Titles(func(s evidence.Section) bool { return s.Summary })) > 0 {
		o.Join = words * joinShare / 100
	}
	asked, left := 0, words-o.Join
	for _, p := range o.Sections {
		asked += p.Words
	}
	for i := range o.Sections {
		o.Sections[i].Words = max(leastPart, o.Sections[i].Words*left/asked)
	}
}

// Part is the outline of the section with that number, nil where no agent writes it alone.
func (o *Outline) Part(number int) *PartOutline {
	for i := range o.Sections {
		if o.Sections[i].Number == number {
			return &o.Sections[i]
		}
	}
	return nil
}

// Assemble joins the sections of a report: below each heading of the template stands what
// the joining part has there, then what the section's own part has.
func Assemble(template evidence.Template, join []byte, parts map[string][]byte) []byte {
	titles := template.Titles(nil)
	lead := below(join, titles)
	var b strings.Builder
	for i, title := range titles {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("## " + title + "\n")
		for _, text := range []string{lead[title], below(parts[title], []string{title})[title]} {
			if text != "" {
				b.WriteString("\n" + text + "\n")
			}
		}
	}
	return []byte(b.String())
}

// below is the text below each heading of the second level with one of some titles.
func below(text []byte, titles []string) map[string]string {
	found := map[string]string{}
	doc := markdown.ParseGitHub(text)
	title, from := "", 0
	end := func(to int) {
		if title != "" {
			found[title] = strings.TrimSpace(found[title] + "\n\n" + strings.TrimSpace(string(text[from:to])))
		}
	}
	for _, b := range doc.Blocks {
		if b.Kind != markdown.HeadingBlock || b.Level != 2 || !b.Top {
			continue
		}
		var words strings.Builder
		for _, piece := range doc.Inlines(b) {
			words.Write(piece.Text)
		}
		start, to := doc.Range(b)
		if t := markdown.OneLine(words.String()); slices.Contains(titles, t) {
			end(bytes.LastIndexByte(text[:start], '\n') + 1)
			title, from = t, to
		}
	}
	end(len(text))
	return found
}
