package evidence

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Form is the way in which a sentence may claim something.
type Form string

// The forms.
const (
	Inferred Form = "inferred" // [inferred from @id …]: the author's inference from these sources
	Cited    Form = "cited"    // a [@id] of its own
	Frame    Form = "frame"    // it introduces what follows, and claims nothing beyond that
	Absent   Form = "absent"   // [not found on the archived pages: WORDS], which is the whole sentence
	Finding  Form = "finding"  // what a code review says about the code
	Carried  Form = "carried"  // the next [@id] of its paragraph covers it
)

// Sentence is a sentence of a report, a row of a table, or a heading that the template
// does not have.
type Sentence struct {
	ID      string // c1, c2 … in the order of the report
	Line    int
	Section string   // of the template
	Text    string   // as a reader sees it, without marks; a row has its header cells
	Form    Form     // "" for one that has none, which is a fault
	CIDs    []string // the sources that it stands by, each once
	Context Context

	Absent      string       // of an absent one: the words that no page has
	Calculation *Calculation // nil without one
	Start, End  int          // where it stands in the draft, with its marks
	// Judgement says that it is inferred in a section in which the author judges.
	Judgement bool
	// Firm says that it must be confirmed: it stands in the first section or in the answer.
	Firm bool
	// Paragraph is the same for the sentences of a paragraph, a heading or a row, and
	// for no others.
	Paragraph int

	kind    kind
	words   int // of a row without its header cells
	italics []string
	summary bool // it stands in a section that repeats others
	block   span // the whole lines of its paragraph, heading or row
	item    bool // its paragraph begins a list item
	quoted  bool // it stands in a block quote
	back    bool // it begins with a word that points back at the sentence before it
	refused bool // for a fault that others would only follow from
	covers  span // of a frame: the sentences that it introduces
}

// Context is what a reader needs to understand a sentence, and is not judged with it.
type Context struct {
	Heading string // the nearest above it
	LeadIn  string // the sentence before its list or table
	Before  string // the sentence before it in its paragraph
	// Shown is what a frame introduces.
	Shown string
}

type kind uint8

const (
	prose kind = iota
	heading
	header // of a table
	row
)

// span is a range of bytes or sentences.
type span struct{ from, to int }

// Fault is one rule that a text breaks: what is wrong, where, and what to change.
type Fault struct {
	Code       tidegate.Code `json:"code"`
	Message    string        `json:"message"`
	Line       int           `json:"line" jsonschema:"1-based; 0 for the text as a whole"`
	ChangeNote string        `json:"change_note"`
}

// NewFault makes a fault. Message and note are cut to what a result may hold.
func NewFault(code tidegate.Code, line int, note, format string, args ...any) Fault {
	return Fault{code, tidegate.Cut(fmt.Sprintf(format, args...)), line, tidegate.Cut(note)}
}

// The longest texts, in words.
const (
	maxWords     = 60
	maxRow       = 100
	maxFrame     = 15
	maxQuestion  = 20
	maxHeading   = 8
	maxShown     = 1500 // characters
	wordsInDense = 60   // words count as many as 200 characters in a script without blanks
	charsInDense = 200
	charsInWord  = 20 // what is longer counts as several words
)

// words counts the words of a text. In a script without blanks ten characters are
// three words.
func words(text string) int {
	dense, others, characters := 0, 0, 0
	for _, r := range text {
		switch {
		case page.IsDense(r):
			dense++
		case unicode.IsLetter(r):
			others++
		}
		if !unicode.IsSpace(r) {
			characters++
		}
	}
	if dense > others {
		return (characters*wordsInDense + charsInDense - 1) / charsInDense
	}
	return max(len(strings.Fields(text)), characters/charsInWord)
}

// Counting says how words are counted in a language that puts no blanks between them, "" for
// another.
func Counting(language string) string {
	if language == "zh" || language == "ja" {
		return " (ten characters count as three)"
	}
	return ""
}

// cutTo keeps the first characters of a text.
func cutTo(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}

func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}
