package sourcing

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
)

// The tools by which a researcher reads a person's own documents.
const (
	ReadTool    = "read"
	LookForTool = "look_for"
)

// How many bytes an answer of the tools has.
const (
	maxRead   = 24 << 10
	maxLooked = 4 << 10
)

// Consult answers a call of a tool from the documents of a run: the same call has the same
// answer, whoever makes it. What is wrong with a call is part of its answer. It returns
// READ_FAILED.
func Consult(ctx context.Context, r *run.Run, tool string, arguments map[string]string) (string, error) {
	list, err := AttachedDocuments(r)
	if err != nil {
		return "", err
	}
	if tool == LookForTool {
		return lookFor(ctx, r, list, arguments["words"])
	}
	named := strings.TrimSpace(arguments["document"])
	at := slices.IndexFunc(list, func(d Document) bool { return d.URL == named || d.Name == named })
	if at < 0 {
		return listed(fmt.Sprintf("no document is called %q", markdown.OneLine(named)), list), nil
	}
	answer := ""
	err = ReadAttached(ctx, r, list[at:at+1], func(d Document, c page.Content) bool {
		answer = readFrom(c, arguments["section"], arguments["from"])
		return true
	})
	return answer, err
}

// listed says what is wrong, and which documents there are.
func listed(problem string, list []Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; these are the documents:\n", problem)
	for _, d := range list {
		if b.Len() > maxLooked {
			b.WriteString("and more\n")
			break
		}
		fmt.Fprintf(&b, "- %s %s\n", markdown.OneLine(d.Name), d.URL)
	}
	return b.String()
}

// readFrom is the text of a document, or of the section below a heading, from a byte on.
func readFrom(c page.Content, section, from string) string {
	text := c.Text
	if section = strings.TrimSpace(section); section != "" {
		at := slices.IndexFunc(c.Headings, func(h string) bool { return strings.EqualFold(h, strings.Trim(section, "# ¶")) })
		if at < 0 {
			return fmt.Sprintf("no heading is %q; the headings are: %s", section, page.CutBytes(strings.Join(c.Headings, " | "), maxLooked))
		}
		text = sectionOf(c, at)
	}
	text = shownText(text)
	skip := 0
	if from = strings.TrimSpace(from); from != "" {
		n, err := strconv.Atoi(from)
		if err != nil || n < 0 || n >= len(text) {
			return fmt.Sprintf("from is a whole number below %d, the bytes of the text; got %q", len(text), from)
		}
		skip = n
	}
	rest := text[skip:]
	shown := page.CutBytes(rest, maxRead)
	if len(shown) < len(rest) {
		if end := strings.LastIndexByte(shown, '\n'); end > maxRead/2 {
			shown = shown[:end+1]
		}
		return fmt.Sprintf("%s\n[the text has %d bytes; go on with from %d]", strings.ToValidUTF8(shown, ""), len(text), skip+len(shown))
	}
	return strings.ToValidUTF8(shown, "")
}

// sectionOf is the text below a heading, up to the next one that is not below it.
func sectionOf(c page.Content, at int) string {
	for i := at + 1; i < len(c.Places); i++ {
		if c.Levels[i] <= c.Levels[at] {
			return c.Text[c.Places[at]:c.Places[i]]
		}
	}
	return c.Text[c.Places[at]:]
}

// lookFor shows the passages of all documents that have words, the best first.
func lookFor(ctx context.Context, r *run.Run, list []Document, words string) (string, error) {
	chooser, names := claim.NewChooser([]string{words}, maxLooked), map[string]string{}
	err := ReadAttached(ctx, r, list, func(d Document, c page.Content) bool {
		names[d.CID] = markdown.OneLine(d.Name) + " " + d.URL
		chooser.Look(claim.PageOf(d.CID, d.Name, c))
		return true
	})
	var b strings.Builder
	for _, w := range chooser.Chosen(0) {
		fmt.Fprintf(&b, "%s", names[w.CID])
		if w.Heading != "" {
			fmt.Fprintf(&b, ", below the heading %s", markdown.OneLine(w.Heading))
		}
		fmt.Fprintf(&b, ":\n%s\n\n", shownText(w.Text))
	}
	if b.Len() == 0 {
		return "no document has a passage with these words", err
	}
	return b.String(), err
}

// consulted are the answers that agents got from the tools, by the kept events of the
// attempts at jobs whose id begins in a way.
func consulted(ctx context.Context, r *run.Run, jobs string) ([]string, error) {
	e := archived{run: r}
	var answers []string
	err := e.eachKept(jobs, func(events string) error {
		return eachConsulted(events, func(tool string, arguments map[string]string, _ string) error {
			answer, err := Consult(ctx, r, tool, arguments)
			answers = append(answers, answer)
			return err
		})
	})
	return answers, err
}

// ConsultAgain answers again what agents asked of the documents, as events of an attempt
// say, and reports the first answer that would be another one.
func ConsultAgain(ctx context.Context, r *run.Run, events string) (differs string, err error) {
	err = eachConsulted(events, func(tool string, arguments map[string]string, digest string) error {
		answer, err := Consult(ctx, r, tool, arguments)
		if got := codec.DigestBytes([]byte(answer)); err == nil && got != digest && differs == "" {
			differs = fmt.Sprintf("%s was answered with %s, and %s comes out", tool, digest, got)
		}
		return err
	})
	return differs, err
}

// eachConsulted visits the calls of the tools that answer from documents.
func eachConsulted(events string, visit func(tool string, arguments map[string]string, digest string) error) error {
	for line := range strings.Lines(events) {
		event, err := codec.Parse([]byte(line))
		if err != nil || event.Get("kind").Str() != "tool" {
			continue
		}
		raw, err := codec.Parse([]byte(event.Get("raw").Str()))
		name := raw.Get("name").Str()
		if err != nil || raw.Get("answer_digest") == nil || name != ReadTool && name != LookForTool {
			continue
		}
		arguments := map[string]string{}
		for _, m := range raw.Get("arguments").Members() {
			arguments[m.Key] = m.Value.Str()
		}
		if err := visit(name, arguments, raw.Get("answer_digest").Str()); err != nil {
			return err
		}
	}
	return nil
}
