package review

import (
	"cmp"
	"strings"

	"github.com/tidegate/tidegate"
)

// What states a verdict to a person who looks at the page, although no reader
// should take it as the verdict: a checked box of any kind, a label with the word,
// the word alone with marks around it, and words of refusal in the place of a
// verdict. Words written apart count in capitals, or where nothing goes on after
// them; otherwise a checked "Major issues resolved" would be a verdict.
const (
	looseWords = `(?:(?i:NOT_APPROVED|APPROVED|NEEDS_FIX|NEEDS_CHANGES|MAJOR_ISSUES|CHANGES_REQUESTED)|NEEDS[ -](?:FIX|CHANGES|WORK)|MAJOR[ -]ISSUES|` +
		`(?i:NOT)[ -]APPROVED|UNAPPROVED|DISAPPROVED|REJECTED|REFUSED|DENIED|DECLINED|CHANGES[ -]REQUESTED)`
	marks   = `[^\pL\pN\[\]]*`
	wordEnd = `(?:[^\pL\pN_]|$)`
	saidEnd = `(?:` + marks + `$|[^\pL\pN_ ]| [-–—(:|])` // nothing but an explanation may follow
	said    = `(?:(` + looseWords + `)` + wordEnd + `|((?i:` + looseWords + `))` + saidEnd + `)`
)

var (
	looseBox   = pattern(`^\[ ?[xX✓✔☑] ?\]` + marks + said)
	looseLabel = pattern(`^` + marks + `(?i:verdict)` + marks + said)
	// The verdict in a sentence: what it was changed to, or is.
	looseSentence = pattern(`^` + marks + `(?i:(?:the|this|my|our|final|new) )?(?i:verdict)(?: \pL+){0,4} (?i:to|is|as|becomes|remains)` + marks + said)
	// An approval that is refused, in a section about the verdict.
	notApproved = pattern(`^` + marks + `((?i:NOT[ _-]APPROVED)` + wordEnd + `|(?i:UNAPPROVED|DISAPPROVED|REJECTED|REFUSED|DENIED|DECLINED)` + saidEnd + `)`)
	// The word alone on a line, or said of something; an explanation may follow.
	looseWord = pattern(`^` + marks + `(?:\pL[\pL\pN'’ ]{0,60}(?:[:=–—→-]|\b(?i:is|are))` + marks + `)?(` + looseWords + `)` + saidEnd)
	aloneWord = pattern(`^` + marks + `((?i:` + looseWords + `))` + marks + `$`)
	// A heading that announces a verdict and then says something else.
	otherLabel = pattern(`^(?i:verdict) ?(?:[:=|–—→-]+ ?(.*\S)| ([A-Z][A-Z _-]+))$`)
	// A word of refusal anywhere, for a line that says something else, too.
	refusalWord = pattern(`(?:^|[^\pL\pN_])(` + strings.Replace(looseWords, "|APPROVED|", "|", 1) + `)` + wordEnd)
	listMarks   = pattern(`^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*`)
)

// looseVerdict is the word that a rendered line states loosely, "" for none. One that
// begins with an unchecked box offers a verdict but states none, and so does one
// that names all of them. One that approves and refuses states the refusal. An
// approval in the raw text of an HTML block is not a statement by itself.
func looseVerdict(text string, inVerdict, inHTML bool) string {
	if strings.HasPrefix(text, "[ ]") || offersAll(text) {
		return ""
	}
	word := looselySaid(text, inVerdict, inHTML)
	if strings.EqualFold(word, string(Approved)) {
		return cmp.Or(refusal(text), word)
	}
	return word
}

// refusal is a word of refusal in a line, "" for none.
func refusal(text string) string {
	if m := refusalWord().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func looselySaid(text string, inVerdict, inHTML bool) string {
	if m := looseBox().FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	if m := looseLabel().FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	if m := looseSentence().FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	if inVerdict && notApproved().MatchString(text) {
		return "NOT_APPROVED"
	}
	if m := looseWord().FindStringSubmatch(text); m != nil && !(inHTML && strings.EqualFold(m[1], string(Approved))) {
		return m[1]
	}
	if m := aloneWord().FindStringSubmatch(text); inVerdict && m != nil {
		return m[1]
	}
	return ""
}

func offersAll(text string) bool {
	text = strings.ToUpper(text)
	return strings.Contains(text, string(Approved)) && strings.Contains(text, string(MajorIssues)) &&
		(strings.Contains(text, string(NeedsFix)) || strings.Contains(text, NeedsFix.token()))
}

// otherVerdict is what a heading gives as the verdict when that is not one of
// the three words, "" otherwise.
func otherVerdict(title string) string {
	if m := otherLabel().FindStringSubmatch(title); m != nil && !looseLabel().MatchString(title) {
		return tidegate.Cut(m[1] + m[2])
	}
	return ""
}
