package paper_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// drafts are all drafts of the corpus, the example and the attacks.
func drafts(t testing.TB) []string {
	out := attackDrafts()
	files, err := filepath.Glob("../../rule/synthesis/testdata/corpus/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range files {
		archive := must.Get(txtar.ParseFile(file))(t)
		for _, f := range archive.Files {
			out = append(out, string(f.Data))
		}
	}
	text := must.Get(os.ReadFile("testdata/harbour/synthesis.md"))(t)
	return append(out, string(text))
}

// checkDraft checks all that is made of a draft by what must hold for every draft.
func checkDraft(t *testing.T, draft []byte) {
	facts := synthesis.Facts{Citations: []synthesis.Citation{{CID: "a"}, {CID: "p"}},
		Answers: &synthesis.Answered{Draft: draft, Directives: []synthesis.Directive{{Line: 1, Action: "x"}, {Line: 3, Action: "y"}, {Action: "z"}}}}
	result := synthesis.Judge(markdown.Read(draft), facts)
	if again := synthesis.Judge(markdown.Read(draft), facts); !cmp.Equal(result.Faults, again.Faults) {
		t.Fatal("judged twice, with two results")
	}
	lines := 1 + bytes.Count(draft, []byte("\n")) + bytes.Count(draft, []byte("\r"))
	unchanged := 0
	for _, f := range result.Faults {
		if f.Line < 0 || f.Line > lines {
			t.Fatalf("line %d of %d: %+v", f.Line, lines, f)
		}
		if f.Code == "UNCHANGED" {
			unchanged++
		}
	}
	markup := slices.ContainsFunc(result.Faults, func(f synthesis.Fault) bool { return f.Code == "LINK_NOT_ALLOWED" || f.Code == "HTML_NOT_ALLOWED" })
	if shown := paper.Markup(draft); !markup && shown != nil {
		t.Fatalf("%q is refused neither for HTML nor for a link, and has %q", draft, shown)
	}
	if unchanged != 3 {
		t.Fatalf("an unchanged draft answers %d of 3 directives", 3-unchanged)
	}
	r := paper.Report{Question: "q", Program: "tidegate", Sources: []paper.Source{{CID: "a", Title: "A", URL: "https://a.example", Status: "valid", Text: "20 tugs"}},
		Parts: []paper.Part{{Text: draft, Sentences: []paper.ShownSentence{{End: len(draft), Stand: evidence.Stand{Doubted: true},
			Claim: evidence.Claim{ID: "c1", CIDs: []string{"a"}, Standing: claim.Missing, Findings: []claim.Finding{{Rule: "numbers", Level: claim.Fault, Text: "20"}},
				Windows: []claim.Window{{CID: "a", Start: 0, End: 2, Text: "20"}}}}}}}}
	page := r.HTML()
	checkPage(t, string(page))
	markdown := r.Markdown()
	if live := paper.LiveMarkup(markdown); live != nil {
		t.Fatalf("the Markdown of %q has %q:\n%s", draft, live, markdown)
	}
	if !bytes.Equal(page, r.HTML()) || !bytes.Equal(markdown, r.Markdown()) {
		t.Fatal("written twice, with two results")
	}
}

// checkMarkdown: what a draft shows, its report in Markdown shows.
func checkMarkdown(t *testing.T, draft []byte) {
	want, got := paper.MarkdownShows(t, draft)
	if !slices.Equal(want, got) {
		t.Fatalf("%q shows otherwise in Markdown (-draft +report):\n%s", draft, cmp.Diff(want, got))
	}
}

func TestEveryDraftIsShown(t *testing.T) {
	for _, draft := range drafts(t) {
		if len(draft) > 100_000 {
			draft = draft[:100_000]
		}
		if len(draft) >= seedSize { // FuzzDraft begins with the others
			checkDraft(t, []byte(draft))
		}
		// Where links lead, and what images show, stands after their text.
		if !strings.Contains(draft, "](") && !strings.Contains(draft, "]:") && !strings.Contains(draft, "<javascript") && !strings.Contains(draft, "@b.example") {
			checkMarkdown(t, []byte(draft))
		}
	}
}

// seedSize is the size below which a draft is a seed of FuzzDraft.
const seedSize = 2000

func FuzzDraft(f *testing.F) {
	for _, draft := range drafts(f) {
		if len(draft) < seedSize {
			f.Add([]byte(draft))
		}
	}
	f.Fuzz(func(t *testing.T, draft []byte) {
		checkDraft(t, draft)
		if !bytes.ContainsAny(draft, "[<") {
			checkMarkdown(t, draft)
		}
	})
}

// fragments are what random drafts are made of.
var fragments = []string{
	"a", "b", " ", " ", "\n", "\n", "\n\n", "20", "2.", "1)", "- ", "* ", "+ ", "> ", "# ", "## ", "*", "**", "_", "__", "`", "``", "```\n", "~~~\n",
	"    ", "\t", "|", "|a|b|\n|-|-|\n", "---\n", "===\n", "***\n", "\\", "\\*", "&amp;", "&#35;", "&", "~", "$", "=", "-", "+", ":", ".", ")", "ten", "%",
	"\u200b", "\u202e", "é", "字", "\x00", "\xff", "\r\n", "\r", "  \n", "\\\n",
}

// bracketed are those with brackets, whose text a report in Markdown adds to.
var bracketed = []string{"[@a]", "[@p]", "[@x]", "[", "]", "](", "(", "<", ">", "<b>", "</b>", "<!--", "-->", "<div>\n", "https://x.org", "<https://x.org/a>", "[t](https://x.org)", "[t](#x)", "![", "[a]: b\n"}

// TestRandomDraftsAreShown tries what nobody thinks of.
func TestRandomDraftsAreShown(t *testing.T) {
	rounds := 80
	if full.Asked() {
		rounds = 4000
	}
	random := rand.New(rand.NewPCG(7, 8))
	for i := range rounds {
		var draft strings.Builder
		parts := fragments
		if i%2 == 0 {
			parts = append(slices.Clone(fragments), bracketed...)
		}
		for range 1 + random.IntN(30) {
			draft.WriteString(parts[random.IntN(len(parts))])
		}
		checkDraft(t, []byte(draft.String()))
		if i%2 == 1 {
			checkMarkdown(t, []byte(draft.String()))
		}
		if t.Failed() {
			t.Fatalf("%q", draft.String())
		}
	}
}
