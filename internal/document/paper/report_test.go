package paper_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// firstWords is what a reader of a page sees first.
func firstWords(page []byte) string {
	_, body, _ := strings.Cut(string(page), "Skip to the report</a>")
	return strings.Join(strings.Fields(tags.ReplaceAllString(body, " ")), " ")
}

// TestFirstLine: what a reader must know stands before everything else.
func TestFirstLine(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*paper.Report)
		want   []string // in the first line of Markdown, and in this order on the page
	}{
		"partial":               {func(r *paper.Report) { r.Partial = "The run waits for a person." }, []string{"Partial report", "waits for a person"}},
		"unsourced":             {func(r *paper.Report) { r.Unsourced = true }, []string{"No source was checked"}},
		"partial and unsourced": {func(r *paper.Report) { r.Partial, r.Unsourced = "The budget ran out.", true }, []string{"Partial report", "No source was checked"}},
		"a note":                {func(r *paper.Report) { r.Notes = []string{"The answers are recorded."} }, []string{"Please note", "The answers are recorded."}},
	} {
		t.Run(name, func(t *testing.T) {
			r := harbour(t)
			test.change(&r)
			first, _, _ := strings.Cut(string(r.Markdown()), "\n")
			page := firstWords(r.HTML())
			if !strings.HasPrefix(page, test.want[0]) {
				t.Errorf("the page begins with %.60q", page)
			}
			for _, want := range test.want {
				if !strings.Contains(first, want) {
					t.Errorf("the first line does not say %q: %s", want, first)
				}
				_, after, found := strings.Cut(page, want)
				if !found {
					t.Errorf("the page does not say %q", want)
				}
				page = after
			}
		})
	}
}

// onePage is a report of one sentence that rests on some places of a long page.
func onePage(text string, places ...claim.Window) paper.Report {
	draft := "It has 20 tugs [@a]."
	r := paper.Report{Question: "q", Program: "tidegate", Sources: []paper.Source{{CID: "a", Title: "A", URL: "https://a.example/", Status: "valid", Text: text}},
		Parts: []paper.Part{{Text: []byte(draft + "\n")}}}
	for i, place := range places {
		place.CID = "a"
		r.Parts[0].Sentences = append(r.Parts[0].Sentences, paper.ShownSentence{End: len(draft),
			Claim: evidence.Claim{ID: fmt.Sprint("c", i), Form: evidence.Cited, CIDs: []string{"a"}, Standing: claim.Found, Windows: []claim.Window{place}}})
	}
	return r
}

var excerptText = regexp.MustCompile(`<blockquote class="excerpt" dir="auto">(.*?)</blockquote>`)

// TestExcerpt: two hundred characters stand on either side of what was found.
func TestExcerpt(t *testing.T) {
	word := strings.Repeat("é", 9) + " "
	long := strings.Repeat(word, 50) + "20" + strings.Repeat(" "+strings.TrimSpace(word), 50)
	at := strings.Index(long, "20")
	const marks = "Sizes\n=====\n\n.. note:: See `the guide <https://g.example>`__, **bold**, ``20`` [tugs](https://t.example)::\n\n| a | b |\n| --- | --- |\n"
	for name, test := range map[string]struct {
		text       string
		start, end int
		want       string
	}{
		"in the middle":         {long, at, at + 2, "… " + strings.Repeat(word, 20) + "<mark>20</mark>" + strings.Repeat(" "+strings.TrimSpace(word), 20) + " …"},
		"a short page":          {"It has 20 tugs.", 7, 9, "It has <mark>20</mark> tugs."},
		"at the beginning":      {"20 tugs.", 0, 2, "<mark>20</mark> tugs."},
		"at the end":            {"It has 20", 7, 9, "It has <mark>20</mark>"},
		"white space":           {"It  has\n\n20\ttugs.", 9, 11, "It has <mark>20</mark> tugs."},
		"the whole page":        {"20", 0, 2, "<mark>20</mark>"},
		"one word":              {strings.Repeat("x", 300) + "20" + strings.Repeat("y", 300), 300, 302, "… " + strings.Repeat("x", 200) + "<mark>20</mark>" + strings.Repeat("y", 200) + " …"},
		"outside the page":      {"It has 20 tugs.", 7, 99, ""},
		"nothing":               {"It has 20 tugs.", 7, 7, ""},
		"marks of a text":       {marks, strings.Index(marks, "20"), strings.Index(marks, "20") + 2, "Sizes See the guide, bold, <mark>20</mark> tugs: a · b"},
		"tags on the page":      {"<b>20</b>", 3, 5, "&lt;b&gt;<mark>20</mark>&lt;/b&gt;"},
		"a character is parted": {"é20", 1, 4, "\ufffd<mark>\ufffd20</mark>"},
	} {
		t.Run(name, func(t *testing.T) {
			page := onePage(test.text, claim.Window{Start: test.start, End: test.end}).HTML()
			var got string
			if found := excerptText.FindSubmatch(page); found != nil {
				got = string(found[1])
			}
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			checkPage(t, string(page))
		})
	}
}

// TestExcerptsThatOverlapAreOne, with every mark.
func TestExcerptsThatOverlapAreOne(t *testing.T) {
	text := "20 tugs, 4 docks and 300 metres. " + strings.Repeat("Nothing. ", 100) + "7 cranes."
	find := func(token string) claim.Window {
		at := strings.Index(text, token)
		return claim.Window{Start: at, End: at + len(token), Text: token}
	}
	r := onePage(text, find("300"), find("20"), find("4"), find("20 tugs"), find("7"))
	found := excerptText.FindAllSubmatch(r.HTML(), -1)
	if len(found) != 2 {
		t.Fatalf("%d excerpts", len(found))
	}
	if got, want := string(found[0][1]), "<mark>20 tugs</mark>, <mark>4</mark> docks and <mark>300</mark> metres."; !strings.HasPrefix(got, want) {
		t.Errorf("%s", got)
	}
	if got, want := string(found[1][1]), "<mark>7</mark> cranes."; !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
}

// TestReferences: sources are numbered as they are cited, a page under two cids is
// one, and what is not cited is listed without a number.
func TestReferences(t *testing.T) {
	r := paper.Report{Question: "q", Program: "tidegate",
		Parts: []paper.Part{{Text: []byte("Second [@b]. First `[@d]` [@a]. Again [@twin] [@b]. Unknown [@x].\n")}},
		Sources: []paper.Source{{CID: "a", Title: "Alpha", Date: "2021", URL: "https://a.example", Status: "valid"}, {CID: "b", Title: "Beta", Author: "Ada Boom; Cy Dott", Publisher: "Beta Press", Date: "2024-05-06", URL: "ftp://b.example", Status: "valid"},
			{CID: "d", Title: "Delta", File: "d.txt", URL: "https://files.invalid/d.txt", Status: "valid"}, {CID: "twin", SameAs: "a", Title: "Alpha's twin", URL: "https://t.example", Status: "valid"}}}
	text := string(r.Markdown())
	for _, want := range []string{
		"Second [\\[1\\]](#source-1). First `[@d]` [\\[2\\]](#source-2). Again [\\[2\\]](#source-2) [\\[1\\]](#source-1). Unknown \\[@x\\].\n",
		"1. <a id=\"source-1\"></a>Ada Boom; Cy Dott (2024). Beta. Beta Press. *valid.*\n2. <a id=\"source-2\"></a>[Alpha](<https://a.example>) (2021). *valid.*\n",
		"- Delta. *valid. File d.txt.*\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	page := string(r.HTML())
	if !strings.Contains(page, "<bdi>Ada Boom; Cy Dott</bdi> (2024) <bdi>Beta Press</bdi>") {
		t.Error("the page does not say who wrote a source, when, and who published it")
	}
	if strings.Contains(page, "Alpha&#39;s twin") || strings.Contains(page, "files.invalid") || !strings.Contains(page, "<b>2 of 3</b> <span>2 valid</span>") {
		t.Errorf("the page counts a source twice, or shows where a file is not")
	}
}

// TestNotGroundedIsMarked in the text where it stands there.
func TestNotGroundedIsMarked(t *testing.T) {
	draft := "It has **20** tugs, not 120 [@a]."
	r := onePage("nothing", claim.Window{})
	r.Parts[0].Text = []byte(draft + "\n\n20 again.\n")
	s := &r.Parts[0].Sentences[0]
	s.End, s.Standing, s.Stand = len(draft), claim.Missing, evidence.Stand{Words: "not confirmed", Doubted: true}
	s.Findings = []claim.Finding{{Rule: "numbers", Level: claim.Fault, Text: "20"}}
	page, text := string(r.HTML()), string(r.Markdown())
	if strings.Count(page, `class="missing"`) != 1 || !strings.Contains(page, `<span class="missing">20</span>`) {
		t.Errorf("the number is not marked once:\n%s", page)
	}
	if want := "**20 (not on the page)** tugs, not 120 [\\[1\\]](#source-1)."; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// TestUndatedSourcesAreMarked: where the person asked for dates, a page without one is
// shown as such.
func TestUndatedSourcesAreMarked(t *testing.T) {
	r := harbour(t)
	shown := 0
	for i := range r.Sources {
		r.Sources[i].Date, r.Sources[i].Undated = "", true
		if r.Sources[i].SameAs == "" {
			shown++
		}
	}
	if marked := strings.Count(string(r.Markdown()), "no date"); marked != shown {
		t.Errorf("%d of %d are marked", marked, shown)
	}
	if !strings.Contains(string(r.HTML()), "no date") {
		t.Error("the page does not say so")
	}
}

// TestAnswerFirst: where the answer's section comes later, what is read begins with its
// sentences and their numbers; the file keeps the order of its template. What is said to be on
// no page is shown as it stands.
func TestAnswerFirst(t *testing.T) {
	text := "## Options\n\nBoats cost 7 euro [@a].\n\n## Recommendation\n\nBuy two [@a]. [not found on the archived pages: the price of a third]\n"
	at := strings.Index(text, "Buy two")
	sentence := paper.ShownSentence{Claim: evidence.Claim{ID: "s2", Text: "Buy two.", Section: "Recommendation", Form: evidence.Cited, CIDs: []string{"a"}, Standing: claim.Found},
		Start: at, End: at + len("Buy two [@a].")}
	r := paper.Report{Question: "Should it?", RunID: "r", Program: "tidegate", CreatedAt: "2026-02-03T04:05:06Z", Minutes: 12, Trust: "1 sentence.", AnswerTitle: "Recommendation",
		Cost: paper.Cost{USD: 1.5, Priced: true}, Parts: []paper.Part{{Text: []byte(text), Sentences: []paper.ShownSentence{sentence}}},
		Sources: []paper.Source{{CID: "a", Title: "Alpha", URL: "https://a.example", Status: "valid", FetchedAt: "2026-02-03T04:05:06Z"}}}
	plain := string(r.Text(80, false))
	if !strings.HasPrefix(plain, "Should it?\n==========\n\nResearch report · nothing doubtful · Checked 3 February 2026 · pages archived: 1\n· 12 min · $1.50\n\nRecommendation\n--------------\n\nBuy two. [1]\n\n1 sentence.\n\nOptions\n") {
		t.Errorf("the text begins:\n%s", plain)
	}
	if !strings.Contains(plain, "Buy two [1]. [the price of a third]\n") {
		t.Errorf("what is on no page is not said:\n%s", plain)
	}
	for name, data := range map[string]string{"Word": parts(t, r.Docx())["word/document.xml"], "HTML": string(r.HTML()), "print": string(r.PrintHTML())} {
		answer, body := strings.Index(data, "Buy two."), strings.Index(data, "Boats cost")
		if answer < 0 || answer > body {
			t.Errorf("%s: the answer stands at %d, the options at %d", name, answer, body)
		}
	}
	if file := string(r.Markdown()); strings.Count(file, "Buy two") != 1 {
		t.Errorf("the file has another order:\n%s", file)
	}
}

// TestStatusOfAReport: one badge says how a report stands, by the gravest state of its
// sentences, and the chips beside it add up to the total that it names.
func TestStatusOfAReport(t *testing.T) {
	stands := paper.ShownSentence{Claim: evidence.Claim{ID: "s1", Text: "It rains.", Form: evidence.Cited, Standing: claim.Found}}
	frame := paper.ShownSentence{Claim: evidence.Claim{ID: "s2", Text: "First of all.", Form: evidence.Frame}}
	inferred := paper.ShownSentence{Claim: evidence.Claim{ID: "s3", Text: "Stay in.", Form: evidence.Inferred}}
	accepted, doubtful, changed, refused := stands, stands, stands, stands
	accepted.Accepted = &evidence.Acceptance{By: "Ada"}
	doubtful.Doubted = true
	changed.Drift = &paper.Drift{Words: "changed"}
	refused.Doubted, refused.Standing = true, claim.Missing
	for _, c := range []struct {
		also []paper.ShownSentence
		want string
	}{
		{nil, `data-state="stands"><span aria-hidden="true">✓</span> Finished, nothing doubtful`},
		{[]paper.ShownSentence{accepted}, `data-state="accepted"><span aria-hidden="true">◆</span> 1 of 3 accepted by a person`},
		{[]paper.ShownSentence{accepted, doubtful}, `data-state="doubtful"><span aria-hidden="true">?</span> 1 of 4 not confirmed`},
		{[]paper.ShownSentence{doubtful, doubtful, changed}, `data-state="changed"><span aria-hidden="true">≠</span> 1 of 5 changed since`},
		{[]paper.ShownSentence{doubtful, changed, refused}, `data-state="refused"><span aria-hidden="true">✕</span> 1 of 5 not on the page`},
	} {
		part := paper.Laid(append([]paper.ShownSentence{stands, frame, inferred}, c.also...))
		page := string((paper.Report{Question: "Should it?", Parts: []paper.Part{part}}).HTML())
		if !strings.Contains(page, `<strong class="badge" `+c.want+"</strong>") {
			t.Errorf("no %q in\n%s", c.want, page[strings.Index(page, `<p class="meta">`):][:300])
		}
		sum := 0
		for _, m := range regexp.MustCompile(`id="show-[a-z]+"> . ([0-9]+) `).FindAllStringSubmatch(page, -1) {
			n, _ := strconv.Atoi(m[1])
			sum += n
		}
		if want := 2 + len(c.also); sum != want || !strings.Contains(page, "all sentences: "+strconv.Itoa(want)) {
			t.Errorf("%d sentences are in the chips, of %d", sum, want)
		}
	}
}
