package evidence

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Shape is what a person asks of a report. The zero value asks for nothing.
type Shape struct {
	Length   string `json:"length,omitzero" jsonschema:"how long the report is: brief (400 words), standard (1,500), long (5,000) or a number of words from 100 to 20000, give or take a fifth; as long as it takes when absent"`
	Audience string `json:"audience,omitzero" jsonschema:"whom the report is for, such as the board of a port"`
	Template string `json:"template,omitzero" jsonschema:"the sections of the report: briefing, decision, literature, market, timeline, or a Markdown outline whose headings are then required, the findings marked by (findings), sections of judgement by (judgement) or (caveats); briefing when absent"`
	Language string `json:"language,omitzero" jsonschema:"the language of the report in two letters, one of en, de, fr, es, it, pt, nl, fi, sv, pl, zh, ja and ar; that of the question when absent"`
}

// lengths are the lengths that have names, in words.
var lengths = []struct {
	name  string
	words int
}{{"brief", 400}, {"standard", 1500}, {"long", 5000}}

// The bounds of a shape. A report beyond the standard length is written by parts.
const (
	leastWords    = 100
	mostWords     = 20000
	standardWords = 1500
	briefWords    = 400
	maxAudience   = 200 // characters
)

// LengthNames are the names of lengths.
func LengthNames() []string {
	names := make([]string, len(lengths))
	for i, l := range lengths {
		names[i] = l.name
	}
	return names
}

// Checked is the shape for a question: its length as a number of words, and its language
// found from the question where nobody names one. It returns INVALID_ARGS.
func (s Shape) Checked(question string) (Shape, error) {
	wrong := func(name, value, want string) (Shape, error) {
		return Shape{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, tidegate.Cut(value)), "%s must be %s, got %q", name, want, tidegate.Cut(value))
	}
	if s.Length != "" {
		words, err := strconv.Atoi(s.Length)
		for _, l := range lengths {
			if l.name == s.Length {
				words, err = l.words, nil
			}
		}
		if err != nil || words < leastWords || words > mostWords {
			return wrong("length", s.Length, strings.Join(LengthNames(), ", ")+" or a number of words from 100 to 20000")
		}
		s.Length = strconv.Itoa(words)
	}
	if n := utf8.RuneCountInString(s.Audience); n > maxAudience || s.Audience != "" && strings.TrimSpace(s.Audience) == "" || !utf8.ValidString(s.Audience) {
		return wrong("audience", s.Audience, "a text of at most 200 characters that says whom the report is for")
	}
	s.Audience = markdown.OneLine(s.Audience)
	if s.Language != "" && !slices.Contains(Languages(), s.Language) {
		return wrong("language", s.Language, "one of "+strings.Join(Languages(), ", "))
	}
	if found := page.QuestionLanguage(question); s.Language == "" && found != "en" && slices.Contains(Languages(), found) {
		s.Language = found
	}
	if s.Template != "" && !IsOutline(s.Template) && !slices.Contains(TemplateNames(), s.Template) {
		return wrong("template", s.Template, "one of "+strings.Join(TemplateNames(), ", ")+", or an outline in Markdown")
	}
	_, err := s.Sections()
	return s, err
}

// IsOutline reports whether a template is an outline, and not a name.
func IsOutline(template string) bool { return strings.ContainsAny(template, "#\n") }

// Sections is the template with its headings in the language of the report. It returns
// INVALID_ARGS for an outline that makes none.
func (s Shape) Sections() (Template, error) {
	if IsOutline(s.Template) {
		return ReadOutline(s.Template, s.Language)
	}
	t, _ := TemplateIn(s.Template, s.Language)
	return t, nil
}

// Words is how many words the report has, 0 where nobody asks for a length.
func (s Shape) Words() int {
	words, _ := strconv.Atoi(s.Length)
	return words
}

// Brief reports whether the report needs less substance.
func (s Shape) Brief() bool { return s.Words() > 0 && s.Words() <= briefWords }

// InParts reports whether the report is written by several agents side by side.
func (s Shape) InParts() bool { return s.Words() > standardWords }

// Range is how many words a report may have: give or take a fifth. One that corrects a draft
// may be short, because what does not stand must go, and a tenth longer, because what is right
// often takes more words than what was wrong.
func (s Shape) Range(corrects bool) (least, most int) {
	if corrects {
		return 0, s.Words() * 132 / 100
	}
	return s.Words() * 4 / 5, s.Words() * 6 / 5
}

// Lines say what was asked for, one sentence each.
func (s Shape) Lines() []string {
	var lines []string
	if words := s.Words(); words > 0 {
		lines = append(lines, "It has "+Thousands("en", int64(words))+" words"+Counting(s.Language)+", give or take a fifth.")
	}
	if s.Audience != "" {
		lines = append(lines, "It is for "+strings.TrimRight(s.Audience, ".")+".")
	}
	switch {
	case IsOutline(s.Template):
		if t, err := s.Sections(); err == nil {
			lines = append(lines, "It has the sections of your outline: "+strings.Join(t.Titles(nil), ", ")+".")
		}
	case s.Template != "":
		lines = append(lines, "Its template is "+s.Template+".")
	}
	if s.Language != "" {
		lines = append(lines, "It is written in "+LanguageName(s.Language)+" ("+s.Language+").")
	}
	return lines
}

// LanguageName is the English name of a language of the table, "" for another.
func LanguageName(code string) string {
	return map[string]string{"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch",
		"fi": "Finnish", "sv": "Swedish", "pl": "Polish", "zh": "Chinese", "ja": "Japanese", "ar": "Arabic"}[code]
}
