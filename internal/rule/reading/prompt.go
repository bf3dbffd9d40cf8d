package reading

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// What is asked about the sentences of a report, and about the findings of a code review.
var (
	//go:embed prompt.md
	instructions string
	//go:embed code.md
	codeInstructions string
)

func instructionsFor(items []Item) string {
	if len(items) > 0 && items[0].Form == Finding {
		return codeInstructions
	}
	return instructions
}

// Asked is a part as it is asked: claims and twins, in the order in which they are numbered
// from 1.
type Asked struct {
	Items []Item
	// ByID says that claims are named by the ids of their sentences, as a person reads
	// them: no twins are among them, and what has a verdict may be left out.
	ByID bool
	// Question is that of the run, "" for none.
	Question string
}

// Prompt is the text that asks. A claim is a line `claim N` and a line with its form;
// its context and the sentence each in a fence of its own; and for each window a line
// `passage M` and its text in a fence. Code is shown once, before the findings about it.
func (a Asked) Prompt() string {
	var b strings.Builder
	b.WriteString(a.instructions())
	for k, w := range a.code() {
		b.WriteString(codePrompt(k+1, w))
	}
	if a.Question != "" {
		b.WriteString("\nThe report answers this question. It is context, may be cut, and proves nothing:\n\n" + markdown.Quote(markdown.OneLine(page.CutBytes(a.Question, mostQuestion))))
	}
	for i := range a.Items {
		if a.ByID {
			b.WriteString(a.Items[i].named(a.Items[i].ID))
		} else {
			b.WriteString(a.Items[i].prompt(i + 1))
		}
	}
	return b.String()
}

// mostQuestion is how many bytes of the question of a run a reader is shown.
const mostQuestion = 600

// SentencesOf are the sentences of the claims and twins that a prompt asks about, as
// it shows them, in their order.
func SentencesOf(prompt string) []string {
	var sentences []string
	fence, begun := "", false
	for line := range strings.Lines(prompt) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case fence != "" && line == fence:
			fence, begun = "", false
		case fence != "":
			if begun {
				sentences = append(sentences, line)
			}
		case strings.HasPrefix(line, "```"):
			fence = line
		default:
			begun = line == "sentence"
		}
	}
	return sentences
}

// Shown is a sentence as a prompt shows it.
func Shown(sentence string) string {
	return strings.Join(strings.Split(markdown.Quote(sentence), "\n")[1:2], "")
}

// byID is what a person is told beside the instructions.
const byID = `
Name each claim by its id, as it stands behind the word claim. A claim that has a verdict already may be left out. No twins are among them.
`

func (a Asked) instructions() string {
	text := instructionsFor(a.Items)
	if !a.ByID {
		return text
	}
	return strings.Replace(text, `"claim":1`, `"claim":"c1"`, 1) + byID
}

func (i *Item) prompt(number int) string { return i.named(fmt.Sprint(number)) }

func (i *Item) named(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nclaim %s\nform %s\ncontext\n%ssentence\n%s", name, i.Form, markdown.Quote(i.context()), markdown.Quote(i.Text))
	if i.Form == Finding {
		return b.String()
	}
	for k, w := range i.Windows {
		fmt.Fprintf(&b, "passage %d\n%s", k+1, markdown.QuoteCells(w.Text))
	}
	return b.String()
}

// code is what findings are held against, each piece once.
func (a Asked) code() (shown []claim.Window) {
	known := map[string]bool{}
	for _, item := range a.Items {
		if item.Form != Finding {
			continue
		}
		for _, w := range item.Windows {
			if !known[w.Digest] {
				known[w.Digest], shown = true, append(shown, w)
			}
		}
	}
	return shown
}

// codePrompt is a piece of code as a reader sees it.
func codePrompt(number int, w claim.Window) string {
	return fmt.Sprintf("\ncode %d\n%s", number, markdown.QuoteCode(w.Title+"\n"+w.Text))
}

// context is what helps to understand a claim and its passages.
func (i *Item) context() string {
	var lines []string
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, what+": "+text)
		}
	}
	if i.Form == Finding {
		return i.Context.Heading
	}
	add("heading", i.Context.Heading)
	add("lead-in", i.Context.LeadIn)
	add("sentence before", i.Context.Before)
	for k, w := range i.Windows {
		add(fmt.Sprintf("page of passage %d", k+1), strings.Trim(tidegate.Cut(w.Title)+" / "+tidegate.Cut(w.Heading), " /"))
	}
	return strings.Join(lines, "\n")
}
