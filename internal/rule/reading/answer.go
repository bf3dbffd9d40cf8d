package reading

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// AnswerShape is the schema of a reader's answer.
var AnswerShape = answerShape(codec.Field{Name: "claim", Shape: codec.IntegerFrom(1), About: "its number"})

// PersonsShape is the schema of a person's answer, who names sentences by their ids.
var PersonsShape = answerShape(codec.Field{Name: "claim", Shape: codec.NotBlank(), About: "the id of the sentence"})

func answerShape(claim codec.Field) codec.Shape {
	return codec.Table(codec.Field{Name: "verdicts", Shape: codec.List(codec.Table(
		claim,
		codec.Field{Name: "verdict", Shape: codec.OneOf(evidence.Verdicts...)},
		codec.Field{Name: "passage", Shape: codec.IntegerFrom(1).OrNull(), Optional: true, About: "counted from 1 within the claim"},
		codec.Field{Name: "words", Shape: codec.Text().OrNull(), Optional: true, About: "that stand in that passage, exactly"},
		codec.Field{Name: "because", Shape: codec.Text().OrNull(), Optional: true, About: "why it is not supported; at most 200 characters, no links"},
	), 0)})
}

// Given is the verdict on a sentence.
type Given struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Words   string `json:"words"`
	Because string `json:"because"`
	Passage int    `json:"passage,omitzero"` // which has the words, from 1
}

// Judged is an answer that follows the rules.
type Judged struct {
	Given []Given        `json:"verdicts"` // in the order of the claims
	Pairs evidence.Pairs `json:"pairs"`    // whose twins are in the part
	// Refuses says that more than half of the claims that stand by rule are called
	// something else than supported: another reader is asked once.
	Refuses bool `json:"refuses"`

	all []Given // those on twins, too, by the number of the claim
}

// Judge judges an answer: INVALID_JSON, SCHEMA_VALIDATION_FAILED; VERDICT_MISSING for
// each claim that has not exactly one verdict; WORDS_NOT_FOUND for each verdict whose
// words do not stand in the passage that it names. The answer is to be used only where there
// is no fault. Pairs are judged once both halves are there: [Dealt.Weigh].
func (a Asked) Judge(data []byte) (Judged, []evidence.Fault) {
	shape := AnswerShape
	if a.ByID {
		shape = PersonsShape
	}
	doc, faults := evidence.ParseAnswer(data, shape)
	if len(faults) > 0 {
		return Judged{}, faults
	}
	verdicts, faults := a.assign(doc)
	var j Judged
	code, language := a.code(), a.language()
	for i := range a.Items {
		if verdicts[i] == nil {
			if said := a.Items[i].said; said != nil { // it stays
				j.Given = append(j.Given, Given{a.Items[i].ID, said.Verdict, said.Words, said.Because, 0})
			}
			continue
		}
		given, problem := a.Items[i].given(verdicts[i], code, language)
		if problem.Code != "" {
			problem.Message = tidegate.Cut(fmt.Sprintf("claim %s: %s", a.name(i), problem.Message))
			faults = append(faults, problem)
		}
		j.Given = append(j.Given, given)
	}
	if len(faults) > 0 {
		return Judged{}, faults
	}
	return a.weigh(j), nil
}

func (a Asked) name(i int) string {
	if a.ByID {
		return a.Items[i].ID
	}
	return fmt.Sprint(i + 1)
}

// assign finds the verdict of each claim.
func (a Asked) assign(doc *codec.Value) ([]*codec.Value, []evidence.Fault) {
	var faults []evidence.Fault
	missing := func(format string, args ...any) {
		faults = append(faults, evidence.NewFault(tidegate.VerdictMissing, 0, "Give every claim of the prompt exactly one verdict.", format, args...))
	}
	verdicts := make([]*codec.Value, len(a.Items))
	for _, v := range doc.Get("verdicts").Elems() {
		i := -1
		if a.ByID {
			i = slices.IndexFunc(a.Items, func(item Item) bool { return item.ID == v.Get("claim").Str() })
		} else if n, ok := v.Get("claim").Int(); ok && n <= int64(len(a.Items)) {
			i = int(n) - 1
		}
		switch {
		case i < 0:
			missing("a verdict names the claim %s, which was not asked", codec.Describe(v.Get("claim")))
		case verdicts[i] != nil:
			missing("claim %s has two verdicts", a.name(i))
		default:
			verdicts[i] = v
		}
	}
	for i, v := range verdicts {
		if item := &a.Items[i]; v == nil && !(a.ByID && (item.said != nil || item.stays)) {
			missing("claim %s has no verdict", a.name(i))
		}
	}
	return verdicts, faults
}

// language is that of the claims together: one alone can be too short to tell.
func (a Asked) language() string {
	var all strings.Builder
	for i := range a.Items {
		all.WriteString(a.Items[i].Text + "\n")
	}
	return page.Language(all.String())
}

// given reads one verdict; beside is the code that is shown with all claims, whose language is
// given. The problem has no code where there is none.
func (i *Item) given(v *codec.Value, beside []claim.Window, language string) (g Given, problem evidence.Fault) {
	g = Given{i.ID, v.Get("verdict").Str(), v.Get("words").Str(), v.Get("because").Str(), 0}
	because := "Give a reason of at most 200 characters, without links."
	switch {
	case utf8.RuneCountInString(g.Because) > tidegate.MaxText:
		return g, evidence.NewFault(tidegate.SchemaValidationFailed, 0, because, "its reason has more than 200 characters")
	case i.Form != Finding && hasLink(g.Because):
		return g, evidence.NewFault(tidegate.SchemaValidationFailed, 0, because, "its reason has a link")
	}
	if i.Form == Finding {
		return g, i.showsCode(&g, beside)
	}
	if i.Form == Frame || i.Form == Absence || g.Verdict != evidence.Supported && g.Verdict != evidence.Partly {
		g.Words = ""
		return g, evidence.Fault{}
	}
	passage, _ := v.Get("passage").Int()
	g.Passage = int(passage)
	there := false
	if passage >= 1 && passage <= int64(len(i.Windows)) {
		g.Words, there = i.copied(i.Windows[passage-1].Text, g.Words)
	}
	switch {
	case passage < 1 || passage > int64(len(i.Windows)):
		problem = evidence.NewFault(tidegate.WordsNotFound, 0, "Name the passage that has the words, counted from 1 within its claim.", "it has the passages 1 to %d, and the verdict names none of them", len(i.Windows))
	case !there:
		problem = evidence.NewFault(tidegate.WordsNotFound, 0, "Copy at least three words in a row from the passage, exactly, or give another verdict.", "the words %q do not stand in passage %d, or are too few", g.Words, passage)
	case i.Form == Statement && !i.shares(i.Windows[passage-1].Text, g.Words, language):
		problem = evidence.NewFault(tidegate.WordsNotFound, 0, "Copy the words that say what the claim says, or give another verdict.", "the words %q have no content word and no number of the claim", g.Words)
	}
	return g, problem
}

// shares reports whether words of a window have a content word or a number of the claim.
// Where the window is in another language than the claim, or else the claims, they need not.
func (i *Item) shares(window, words, claims string) bool {
	language := page.Language(window)
	if own := cmp.Or(page.Language(i.Text), claims); own != "" && language != "" && own != language {
		return true
	}
	of := claim.Question{Text: i.Text, Language: language}.Words()
	for _, word := range (claim.Question{Text: words, Language: language}).Words() {
		if slices.Contains(of, word) {
			return true
		}
	}
	for number := range strings.FieldsFuncSeq(words, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' }) {
		if number = strings.Trim(number, ".,"); number != "" && i.isNumber(number) {
			return true
		}
	}
	return i.isNumber(words)
}

// hasLink reports whether a text has an address, or what Markdown takes for a link. The name of
// a scheme, such as ssh://, leads nowhere.
func hasLink(text string) bool {
	if slices.ContainsFunc(claim.Inspect([]byte(text)).URLs, func(u claim.RawURL) bool { return !strings.HasSuffix(u.Text, "://") }) {
		return true
	}
	doc := markdown.Parse([]byte(text))
	return slices.ContainsFunc(doc.Blocks, func(b markdown.Block) bool {
		return slices.ContainsFunc(doc.Inlines(b), func(piece markdown.Inline) bool { return piece.Kind == markdown.LinkInline })
	})
}

// copied reports whether words stand in a window as quotations do on a page, and are enough:
// three, six characters in a script without blanks, a whole shorter window, or a number of the
// claim. Words that the window has in another spelling come out as it has them.
func (i *Item) copied(window, given string) (own string, enough bool) {
	own, window = given, plain(window)
	words := plain(strings.Trim(given, "\"“”„«» \n\t"))
	if wordsIn(words) == 0 {
		return own, false
	}
	if !standsIn(window, words) {
		if rendered := plain(page.Read([]byte(words), page.MarkdownType).Text); rendered != "" && standsIn(window, rendered) { // as Markdown writes what the window shows
			words = rendered
		} else {
			finder := quotation.NewFinder()
			found := finder.Add(quotation.AsWritten(words))
			if finder.Run(window); !found.Found {
				return own, false
			}
			words = window[found.Start:found.End]
			own = words
		}
	}
	return own, wordsIn(words) >= 3 || dense(words) >= 6 || len(words) == len(window) || i.isNumber(words)
}

// wordsIn counts the words of a text, marks that stand alone left out.
func wordsIn(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// standsIn reports whether a text has words as whole words.
func standsIn(text, words string) bool { return indexOf(text, words) >= 0 }

// indexOf is where a text has words as whole words, -1 where it has them nowhere.
func indexOf(text, words string) int {
	for from := 0; ; {
		k := strings.Index(text[from:], words)
		if k < 0 {
			return -1
		}
		from += k
		if ends(text[:from], text[from:]) && ends(text[:from+len(words)], text[from+len(words):]) {
			return from
		}
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
}

// ends reports whether no word spans the place between two texts.
func ends(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return !isWord(last) || !isWord(first) || page.IsDense(last) || page.IsDense(first)
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

func dense(text string) (n int) {
	for _, r := range text {
		if page.IsDense(r) {
			n++
		}
	}
	return n
}

// isNumber reports whether words are a number that the claim has, in whatever spelling.
func (i *Item) isNumber(words string) bool {
	_, of := figure.Claimed(words, nil)
	if len(of) != 1 { // one digit
		return !strings.ContainsFunc(words, func(r rune) bool { return !unicode.IsDigit(r) }) && standsIn(plain(i.Text), words)
	}
	index := figure.NewIndex()
	index.Want(of[0].Readings)
	index.Read(i.Text)
	_, _, found := index.Find(of[0].Readings)
	return found
}

// plain is a text as words are looked for in it.
func plain(text string) string { return markdown.OneLine(norm.NFC.String(text)) }

// weigh parts the verdicts on twins from those on claims, and finds out whether most of what
// stands by rule is refused.
func (a Asked) weigh(j Judged) Judged {
	var claims []Given
	standing, refused := 0, 0
	j.all = j.Given
	for k, g := range j.Given {
		item := a.item(g, k)
		if item.Twin {
			continue
		}
		if item.rule == claim.Found && item.Form != Frame {
			standing++
			if g.Verdict != evidence.Supported {
				refused++
			}
		}
		claims = append(claims, g)
	}
	j.Given, j.Refuses = claims, 2*refused > standing && !a.ByID // a person is not asked twice
	return j
}

// item is the claim that the k-th of the given verdicts is about.
func (a Asked) item(g Given, k int) *Item {
	if a.ByID {
		k = slices.IndexFunc(a.Items, func(item Item) bool { return item.ID == g.ID })
	}
	return &a.Items[k]
}
