package step_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerate(t *testing.T) {
	tests := []struct{ name, output, want string }{
		{"paragraphs and items of every section", "Before.\n\n# One\n\nPara\ngraph.\n\n## Two\n- Item\n  - Inner\n1. Number\n",
			"- Before.\n- Para graph.\n- Item\n- Inner\n- Number\n"},
		{"cited findings first", "Plain one.\n\nCited [@cid_b].\n\nPlain two.\n\nBy URL https://x.org/a\n",
			"- Cited [@cid_b].\n- By URL [@cid_a]\n- Plain one.\n- Plain two.\n"},
		{"sources and gaps are not findings", "Text.\n\n## Gaps\n- (P1) A gap\n\nMore of it.\n\n## Sources\n- https://x.org/no\n\n## Next\nMore.\n",
			"- Text.\n- More.\n"},
		{"titles in any letter case", "Text.\n\n# GAPS\n- (P1) A gap\n# sources\n- x\n", "- Text.\n"},
		{"letters that Unicode folds make no such title", "# ſources\n- x\n# gapſ\n- y\n", "- x\n- y\n"},
		{"sources that the pool maps", "Text.\n\n## Sources\n- A paper: https://x.org/a\n* [B](https://x.org/b)\n1. https://x.org/no\n- no URL\nhttps://x.org/a\n",
			"- Text.\n\n## Sources\n\n- [@cid_a]\n- [@cid_b]\n"},
		{"one citation for a source that is listed twice", "Text.\n## Sources\n- https://x.org/a\n- https://X.org/a/?utm_source=x\n",
			"- Text.\n\n## Sources\n\n- [@cid_a]\n"},
		{"nothing but sources", "## Sources\n- https://x.org/a\n", "## Sources\n\n- [@cid_a]\n"},
		{"URLs outside the pool go", "See https://x.org/no for more.\n\nSee [the page](https://x.org/no \"T\") and <https://x.org/no>.\n\nSee (www.x.org), ok.\n",
			"- See for more.\n- See the page and.\n- See, ok.\n"},
		{"citations outside the pool go", "Grew [@cid_no]. Fell [@x][@cid_a], rose [@].\n", "- Grew. Fell [@cid_a], rose.\n"},
		{"a URL becomes its citation in its place", "As https://x.org/a says, **https://x.org/b** (https://x.org/a).\n", "- As [@cid_a] says, **[@cid_b]** [@cid_a].\n"},
		{"links keep their text", "[A](https://x.org/a), ![b [c]](<https://x.org/b> 'T') and [https://x.org/a](https://x.org/a).\n",
			"- A [@cid_a], b [c] [@cid_b] and [@cid_a].\n"},
		{"only marks are left", "**https://x.org/no**\n\n- [@cid_no]\n- ok\n", "- ok\n"},
		{"task lists and brackets that were there before stay", "- [ ] do () it [@cid_no]\n", "- [ ] do () it\n"},
		{"code and headings are not findings", "Text.\n\n```\ncode [@cid_a]\n```\n\nSetext [@cid_a]\n===\n", "- Text.\n"},
		{"a URL with its own parentheses", "X https://x.org/a_(b) and https://x.org/a.\n", "- X and [@cid_a].\n"},
		{"a gap whose sides would make a URL stays", "www [@no].x.org and http [@no]://x\n", "- www .x.org and http ://x\n"},
		{"an open bracket is not closed by a citation", "[@x https://x.org/a\n\nText.\n", "- Text.\n"},
		{"a citation broken over lines does not count", "[@cid_no\nx] text\n", "- text\n"},
		{"byte-order mark, CRLF and bytes that are not UTF-8", "\ufeffText.\r\n\r\n- \xff item\r\n", "- Text.\n- \xff item\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newPackRun(t)
			r.write("wave-1/p1.md", test.output)
			r.write("wave-1/p2.md", "Text.")
			r.mustBuild(generated)
			if diff := cmp.Diff(test.want, r.read("summaries/p1.md")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			first := r.tree()
			r.mustBuild(generated)
			second := r.tree()
			delete(first, "logs/audit.jsonl")
			delete(second, "logs/audit.jsonl")
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("a second build differs:\n%s", diff)
			}
		})
	}
}

func TestGenerateReadsTheSourceArtifact(t *testing.T) {
	r := newPackRun(t)
	r.write("perspectives.json", `{"schema_version":"perspectives.v1","perspectives":[{"id":"p1","source_artifact":"wave-2/other.md"}]}`)
	r.write("wave-2/other.md", "From wave 2.")
	r.mustBuild(generated)
	if got := r.read("summaries/p1.md"); got != "- From wave 2.\n" {
		t.Errorf("got %q", got)
	}
	if got := r.pack().Get("summaries").Elems()[0].Get("source_artifact").Str(); got != "wave-2/other.md" {
		t.Errorf("source_artifact is %q", got)
	}
}

func TestGenerateReadsTheOutputsWhereTheManifestSays(t *testing.T) {
	r := newPackRun(t)
	r.manifest(`{"schema_version":"manifest.v1","run_id":"r1","limits":{"max_summary_kb":5,"max_total_summary_kb":60},
		"artifacts":{"root":"` + r.root + `","paths":{"wave1_dir":"first"}}}`)
	r.write("first/p1.md", "From the first wave.")
	r.write("first/p2.md", "Text.")
	r.mustBuild(generated)
	if got := r.read("summaries/p1.md"); got != "- From the first wave.\n" {
		t.Errorf("got %q", got)
	}
	if got := r.pack().Get("summaries").Elems()[0].Get("source_artifact").Str(); got != "first/p1.md" {
		t.Errorf("source_artifact is %q", got)
	}
}

func TestGenerateAddsLinesWhileTheCapAllows(t *testing.T) {
	r := newPackRun(t)
	r.limits(0.05, 9) // 51 bytes
	r.write("wave-1/p1.md", strings.Join([]string{
		"Plain of 20 letters.", // 23 bytes as a line
		strings.Repeat("Far too long. ", 9),
		"Cited [@cid_a].", // 18 bytes
		"Tiny.",           // 8 bytes
		"Also.",           // 8 bytes
		"",
	}, "\n\n")+"\n## Sources\n- https://x.org/b\n")
	r.write("wave-1/p2.md", "Text.")
	r.mustBuild(generated)
	// 18 + 23 + 8 bytes; the next line of 8 and the sources do not fit.
	if got, want := r.read("summaries/p1.md"), "- Cited [@cid_a].\n- Plain of 20 letters.\n- Tiny.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGenerateSharesTheCapOfAll(t *testing.T) {
	r := newPackRun(t)
	r.limits(5, 0.25) // 256 bytes
	r.write("wave-1/p1.md", strings.Repeat("- A finding of some length.\n", 50))
	r.write("wave-1/p2.md", "Short.")
	r.mustBuild(generated)
	if got := r.read("summaries/p2.md"); got != "- Short.\n" {
		t.Errorf("p2 is %q, want all of it", got)
	}
	if got := len(r.read("summaries/p1.md")); got != 224 { // 8 lines of 28 bytes; 9 would leave too little for p2
		t.Errorf("p1 has %d bytes", got)
	}
}

func TestGenerateLeavesNoByteOfTheCapOfAllToNobody(t *testing.T) {
	r := newPackRun(t)
	r.limits(5, 41.0/1024)
	r.write("wave-1/p1.md", strings.Repeat("a", 17))           // 20 bytes as an item: an equal share
	r.write("wave-1/p2.md", strings.Repeat("b", 18)+"\n\nc\n") // 21 bytes and 4
	r.mustBuild(generated)
	if got, want := r.read("summaries/p2.md"), "- "+strings.Repeat("b", 18)+"\n"; got != want {
		t.Errorf("p2 is %q, want %q", got, want)
	}
}
