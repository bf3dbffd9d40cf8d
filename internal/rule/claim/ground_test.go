package claim_test

import (
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"golang.org/x/text/unicode/norm"
)

// sample is a title and a paragraph in a language.
type sample struct{ language, title, text string }

// samples are those that sources are judged by, in order of language.
func samples(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("../source/testdata/text/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d texts, %v", len(files), err)
	}
	var list []sample
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		title, text, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
		list = append(list, sample{strings.TrimSuffix(filepath.Base(file), ".txt"), title, text})
	}
	return list
}

// ground holds the sentences of a document against a page that they cite as s. Refused
// says that a sentence is refused for its form.
func ground(t testing.TB, document, page string) (held []claim.Judgement, refused bool) {
	t.Helper()
	facts := evidence.Facts{Template: evidence.Template{Sections: []evidence.Section{{}}}, Sources: []evidence.Source{{CID: "s"}}}
	report := evidence.Read(markdown.Read([]byte(document)), facts)
	refused = len(report.Faults) > 0
	return must.Get(report.Hold(t.Context(), "", func(cid string) (*claim.Page, error) { return &claim.Page{CID: cid, Text: page}, nil }, claim.Titles{}))(t), refused
}

// matchesIn are the findings, quotations and numbers of all sentences of a document, which is
// missing where one of them is, or is refused.
func matchesIn(t testing.TB, document, page string) (all claim.Judgement) {
	t.Helper()
	list, refused := ground(t, document, page)
	for _, held := range list {
		all.Quotations, all.Numbers, all.Findings = append(all.Quotations, held.Quotations...), append(all.Numbers, held.Numbers...), append(all.Findings, held.Findings...)
		refused = refused || held.Standing == claim.Missing
	}
	if refused || len(list) == 0 {
		all.Standing = claim.Missing
	}
	return all
}

// groundOne checks one claim against one text.
func groundOne(t testing.TB, stated, text string) claim.Judgement {
	t.Helper()
	return matchesIn(t, "- "+stated+" [@s]\n", text)
}

// lacking counts the matches that no page has.
func lacking(matches []claim.Match) (n int) {
	for _, m := range matches {
		if !m.Found {
			n++
		}
	}
	return n
}

// holds reports whether a match has a place on a page.
func holds(m claim.Match, page string) bool {
	return m.Found && 0 <= m.Start && m.Start < m.End && m.End <= len(page)
}

func TestQuotations(t *testing.T) {
	const page = "The harbour master’s log says: “the water rose — slowly at first — by 2.5 metres”. Nobody in-\nformed the eﬃcient oﬃce of well‑known risks (see p. 3). " +
		"In 2019–20 it fell to −5 degrees.\nΟΔΥΣΣΕΥΣ came home. Straße und STRASSE. Cafe\u0301 society, café life. He said 'no way, never again' twice. informa\u00adtion"
	for _, c := range []struct {
		claim string
		want  []bool // of each quotation
	}{
		{`It says “the water rose — slowly at first”`, []bool{true}},
		{`It says "the water rose - slowly at first"`, []bool{true}},
		{`It says «THE WATER ROSE – slowly at first»`, []bool{true}},
		{"It says « the water rose — slowly at first », then (« Nobody informed the efficient office »), l’« office of well-known risks (see p. 3) » ; and « it fell to −5 degrees ».", []bool{true, true, true, true}},
		{`It says »the water rose — slowly at first«, then »Nobody informed the efficient office!« and (»it fell to −5 degrees«).`, []bool{true, true, true}},
		{`It says " the water rose — slowly at first ", " Nobody informed the efficient office " and ".5 metres is not there at all".`, []bool{true, true, false}},
		{`It says „the water rose, slowly at first“`, []bool{false}},
		{`It says ‘the water rose — slowly at first’`, []bool{true}},
		{`It says 'the water rose — slowly at first'`, []bool{true}},
		{`It says “the water rose … by 2.5 metres”`, []bool{true}},
		{`It says “the water rose [...] by 2.5 metres.”`, []bool{true}},
		{`It says “the water rose [...] by 2.6 metres”`, []bool{false}},
		{`It says “by 2.5 metres […] the water rose”`, []bool{false}},
		{`It says “[T]he water rose — slowly at first,” and more`, []bool{true}},
		{`It says “the harbour master's log says”`, []bool{true}},
		{`“Nobody informed the efficient office of well-known risks”`, []bool{true}},
		{`“informed the **efficient** office _of_ well known risks”`, []bool{true}},
		{`“informed the efficient office of wellknown risks”`, []bool{false}},
		{`“Nobody in-formed the efficient office”`, []bool{true}}, // the page may mean either
		{`“nobody in formed the efficient office”`, []bool{true}},
		{`“nobody inform ed the efficient office”`, []bool{false}},
		{`“the water rose — slowlyat first”`, []bool{false}},
		{`“the wat er rose — slowly”`, []bool{false}},
		{`“the  water rose—slowly at first”`, []bool{true}},
		{`“it fell to -5 degrees”`, []bool{true}},
		{`“it fell to 5 degrees”`, []bool{false}},
		{`“In 2019-20 it fell to”`, []bool{true}},
		{`“in 2019 20 it fell to”`, []bool{false}},
		{`“Οδυσσεύς came home straße und strasse”`, []bool{false}},
		{`“ΟΔΥΣΣΕΎΣ came home now”`, []bool{false}},
		{`“Οδυσσευς came home. Strasse und Straße.”`, []bool{true, true, true}},
		{`“café society, café life”`, []bool{true}},
		{`“cafe society, cafe life”`, []bool{false}},
		{`“he said ‘no way, never again’ twice”`, []bool{true}},
		{`“the art of water rose”`, []bool{false}},
		{`“harbour master's log say”`, []bool{false}}, // no half words
		{`“arbour master's log says”`, []bool{false}},
		{`“two words” and “the water rose — slowly” and “not on this page”`, []bool{true, false}},
		{`a screen of 15" and a "short quote", the boys' and girls' toys, rock 'n' roll`, nil},
		{`“the *water* rose [link](https://a.test) slowly”`, []bool{false}},
		{`“never closed and so on and on`, []bool{false}},
		{`“he said “the water rose — slowly at first” to us”`, []bool{false}},
		{`“information” and “life. He said no way”`, []bool{true, true, true}},
		{`the "well-known risks (see p. 3)"`, []bool{true}},
		{`“an invention of nobody"`, []bool{false}},
		{`"an invention of nobody”`, []bool{false}},
		{`‘an invention of nobody' and ❝an invention of nobody❞ and 《an invention of nobody》`, []bool{false, false, false}},
		{`“the water rose — slowly at first"`, []bool{true}},
	} {
		got := groundOne(t, c.claim, page)
		if len(got.Quotations) != len(c.want) {
			t.Errorf("%q: %+v, want %d quotations", c.claim, got.Quotations, len(c.want))
			continue
		}
		for i, q := range got.Quotations {
			if q.Found != c.want[i] || q.Found && (!holds(q, page) || q.CID != "s") || !q.Found && (q.CID != "" || q.End != 0) {
				t.Errorf("%q: %+v, want found %v", c.claim, q, c.want[i])
			}
		}
	}
}

var exampleRow = regexp.MustCompile("^\\| (`{1,2})(.*?) ?`{1,2} \\| (.*) \\|$")

// TestDocumentedQuotations checks the quotations of docs/rules.md against what is found.
func TestDocumentedQuotations(t *testing.T) {
	doc := must.Get(os.ReadFile("../../../docs/rules.md"))(t)
	_, section, _ := strings.Cut(string(doc), "\n## Quotations\n")
	examples := 0
	for line := range strings.Lines(section) {
		row := exampleRow.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if row == nil {
			if strings.HasPrefix(line, "| `") {
				t.Errorf("not an example: %s", line)
			}
			continue
		}
		examples++
		var got []string
		for _, q := range matchesIn(t, row[2]+" [@s]\n", "x").Quotations {
			got = append(got, q.Text)
		}
		want := strings.Split(row[3], " · ")
		if row[3] == "–" {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-documented +found):\n%s", row[2], diff)
		}
	}
	if examples < 20 {
		t.Errorf("only %d examples were read", examples)
	}
}

// TestQuotationsOverSentences: what stands between two marks is quoted, also in sentences
// without a mark, and a block quote is a quotation as a whole. What cites nothing is refused.
func TestQuotationsOverSentences(t *testing.T) {
	const page = "The keepers say that tides are slow here. They also say a lot about boats.\n\nThe end is near, they say."
	for doc, lies := range map[string]bool{
		"\"Tides are slow here. They also say a lot about boats. The end is near\" [@s].": false,
		"\"Tides are slow here. And we lied. The end is near\" [@s].":                     true,
		"\"Tides are slow here. And we\n\n- lied to you all [@s]":                         true,
		"> Tides are slow here. They also say a lot [@s]":                                 false,
		"> We lied\n>\n> to every\n>\n> tides are slow here [@s]":                         true,
		"> tides are slow here [@s]\n>\n> The end is near, they say [@s]":                 false,
		"> tides are slow here. The end [@s]":                                             true,
		">     we lied to all\n>\n> tides are slow here [@s]":                             true,
		"> - we lied\n> - tides are slow here [@s]":                                       true,
		"> tides are slow here [@s]\n>\n> we lied":                                        true,
		"> tides are slow here [@s]\n\n> we lied to you all":                              true,
		"They said `\"`we lied to you`\"` [@s].":                                          true, // marks in code are marks
		"They \"say … tides … are … slow\" [@s].":                                         true, // too little is joined by too much
		"They \"say that tides … about boats … end is near\" [@s].":                       false,
		"They \"also say a lot … the keepers say that\" [@s].":                            true, // in another order
	} {
		if got := matchesIn(t, doc, page); (got.Standing == claim.Missing) != lies {
			t.Errorf("%q: %+v, want a lie: %v", doc, got, lies)
		}
	}
}

// TestPartsStandNearOneAnother: parts from anywhere on a page are not a quotation. The
// nearest places of the parts count, wherever else they stand.
func TestPartsStandNearOneAnother(t *testing.T) {
	far := strings.Repeat("and more of it. ", 200)
	for page, want := range map[string]bool{
		"The port is safe. " + far + "It killed the crew.":                                                      false,
		"The port is safe. " + far + "The port is safe. It killed the crew.":                                    true,
		"It killed the crew. The port is safe. " + far + "It killed the crew.":                                  false,
		"The port is safe. " + far + "The port is safe. Well. " + far + "The port is safe. It killed the crew.": true,
	} {
		got := groundOne(t, "“The port is … killed the crew”", page).Quotations
		if found := len(got) == 1 && got[0].Found; found != want {
			t.Errorf("found %v, want %v: %.60q", found, want, page)
		}
	}
}

// TestQuotationsOfOtherWords: blanks neither vanish nor appear inside words, and
// digits are not glued together.
func TestQuotationsOfOtherWords(t *testing.T) {
	for _, c := range []struct {
		quoted, page string
		want         bool
	}{
		{"the rapist was found guilty of nothing", "The therapist was found guilty of nothing.", false},
		{"the therapist was found guilty", "The the\u00adrapist was found guilty of nothing.", true},
		{"the therapist was found guilty", "The the\u00ad\nrapist was found guilty of nothing.", true},
		{"the therapist was found guilty", "The the-\nrapist was found guilty of nothing.", true},
		{"the therapist was found guilty", "The the\nrapist was found guilty of nothing.", false},
		{"he will resign next week", "He will re-sign next week.", false},
		{"he will re-sign next week", "He will re‑sign next week.", true},
		{"he will re-sign next week", "He will re-\nsign next week.", true},
		{"a well-known and far-reaching rule", "A well-\nknown and far-\nreaching rule.", true},
		{"informed a well-known man", "in-\nformed a well-\nknown man", true},
		{"106 small fish were here", "10⁶ small fish were here", false},
		{"10⁶ small fish were here", "10⁶ small fish were here", true},
		{"10^6 small fish were here", "10⁶ small fish were here", true},
		{"11⁄2 cups of milk", "1½ cups of milk", false},
		{"1½ cups of milk", "1½ cups of milk", true},
		{"it is 5 m² in size", "It is 5 m2 in size.", true},
		{"he said : « yes »", "He said: “yes”", false}, // three words
		{"and he said : yes", "And he said: yes.", true},
		{"潮汐由月球的引力引起", "潮汐 由月球的\n引力引起。", true},
		{"the GDP 是 four times", "the GDP是four times", true},
	} {
		got := groundOne(t, "『"+c.quoted+"』", c.page).Quotations
		if found := len(got) == 1 && got[0].Found; found != c.want || found && !holds(got[0], c.page) {
			t.Errorf("%q on %q: %+v, want found %v", c.quoted, c.page, got, c.want)
		}
	}
}

// TestNothingExcusesAClaim hides an invented quotation and number in every way
// that one reader of a draft sees and another does not.
func TestNothingExcusesAClaim(t *testing.T) {
	const stated = "There are 4,711 tugs, “an invention of nobody at all” [@s].\n"
	const page = "The harbour has 12 tugs."
	for _, before := range []string{
		"", "<style></style>\n\n", "<script></script>\n\n", "<b><i></b></i>\n\n", "x <p/>\n\n", "x <b>\n\n", "<div>\n\n", "<!-- x\n\n", "x <link>\n\n", "<p>", "<b>", "<div>", "<!--", "<style>",
	} {
		if got := matchesIn(t, before+stated, page); got.Standing != claim.Missing {
			t.Errorf("%q before the claim lets it pass: %+v", before, got)
		}
	}
}

// TestNoTableHidesAClaim writes what a reader of the table sees between back-ticks that
// pair up only for a reader who does not know tables.
func TestNoTableHidesAClaim(t *testing.T) {
	const stated = "4,711 tugs, “an invention of nobody at all”"
	for _, text := range []string{
		"| Port [@s] | a | b |\n|---|---|---|\n| ` | %s | ` |\n",
		"| Port [@s] | a |\n|---|---|\n| ` | %s |\n| x | ` |\n",
		"There are tugs [@s]. `\n| a | b |\n|---|---|\n| %s | ` |\n",
		"tugs [@s] `\n:-\n%s\n`\n",
		"- | Port [@s] | a | b |\n  |---|---|---|\n  | `x` ` | %s | ` |\n",
	} {
		if got := matchesIn(t, fmt.Sprintf(text, stated), "The harbour has 12 tugs."); got.Standing != claim.Missing {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestHiddenCharactersPartNoNumber writes 73 with something between its digits.
func TestHiddenCharactersPartNoNumber(t *testing.T) {
	for _, between := range []string{"", "\u200d", "\u200c", "\u2060", "\u034f", "\u00ad", "\u200b", "\ufe0f", "\u0332", "&zwj;", "&#8288;"} {
		for page, want := range map[string]bool{"Profit was 3 million euros": false, "Profit was 73 million euros": true} {
			got := groundOne(t, "Profit was 7"+between+"3 million euros", page).Numbers
			if len(got) != 1 || got[0].Found != want {
				t.Errorf("7%+q3 on %q: %+v, want found %v", between, page, got, want)
			}
		}
		if between = html.UnescapeString(between); between == "\u0332" {
			continue // it is drawn onto the digit
		}
		page := "Profit was 7" + between + "3 million euros, é"
		for stated, want := range map[string]bool{"Profit was 3 million euros": false, "Profit was 73 million euros": true} {
			got := groundOne(t, stated, page).Numbers
			if len(got) != 1 || got[0].Found != want || want && (!holds(got[0], page) || page[got[0].Start:got[0].End] != "7"+between+"3 million euros") {
				t.Errorf("%q on %+q: %+v, want found %v", stated, page, got, want)
			}
		}
	}
}

// TestConcealedCharactersPartWords: what stands in a text as a sign of no font is not read over.
func TestConcealedCharactersPartWords(t *testing.T) {
	for _, between := range []string{"\ue000", "\uf8ff", "\U000f0001", "\U0010fffd", "\U0001d159"} {
		for document, page := range map[string]string{"Profit was 73 million euros": "Profit was 7" + between + "3 million euros", "Profit was 7" + between + "3 million euros": "Profit was 73 million euros"} {
			for _, n := range groundOne(t, document, page).Numbers {
				if n.Found {
					t.Errorf("%+q on %+q: %+v", document, page, n)
				}
			}
		}
		if got := matchesIn(t, "They call it “the quay of the seven tugs”.", "It is the quay of the se"+between+"ven tugs."); got.Standing != claim.Missing {
			t.Errorf("%+q: %+v", between, got)
		}
	}
}

// TestMarksThatNothingCloses takes many times as long if the search for each mark runs
// to the end of the text: seconds, and in full over a minute.
func TestMarksThatNothingCloses(t *testing.T) {
	for _, marks := range []string{"“", "« ", "\" 'x\"", "„ a", "'a ", "“a “b” "} {
		if held, _ := ground(t, strings.Repeat(marks, 100_000/full.Stride(10, 1))+" [@s]\n", "page"); len(held) == 0 {
			t.Errorf("%q: no sentences", marks)
		}
	}
}

// TestQuotationRangesAreTight quotes two parts that stand in several places.
func TestQuotationRangesAreTight(t *testing.T) {
	text := "The water rose. " + strings.Repeat("And so on. ", 50) + "The water rose at night, and fell by noon."
	q := groundOne(t, "“the water rose … fell by noon”", text).Quotations[0]
	if got := text[q.Start:q.End]; got != "The water rose at night, and fell by noon" {
		t.Errorf("got %q", got)
	}
}

// vary writes a text in another typography.
func vary(rng *rand.Rand, s string) string {
	pick := func(options string) string {
		list := []rune(options)
		return string(list[rng.IntN(len(list))])
	}
	switch rng.IntN(4) {
	case 0:
		s = strings.ToUpper(s)
	case 1:
		s = strings.ToLower(s)
	}
	switch rng.IntN(3) {
	case 0:
		s = norm.NFD.String(s)
	case 1:
		s = norm.NFC.String(s)
	}
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		next := rune(0)
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case r == ' ':
			b.WriteString([]string{" ", "  ", "\u00a0", "\u2009", " \t"}[rng.IntN(5)])
		case r == '-' && unicode.IsLetter(next):
			b.WriteString(pick("-‐‑–"))
		case r == '–' || r == '—':
			b.WriteString(pick("–—‒"))
		case r == '’':
			b.WriteString(pick("’'ʼ"))
		case r == 'f' && next == 'i' && rng.IntN(2) == 0:
			b.WriteString("ﬁ")
			runes[i+1] = 0
		case r == 0:
		default:
			b.WriteRune(r)
			if unicode.IsLetter(r) && unicode.IsLetter(next) && !unicode.IsMark(next) && rng.IntN(20) == 0 {
				b.WriteRune('\u00ad')
			}
		}
	}
	return b.String()
}

// spanOf is a random part of a text, in whole words.
func spanOf(rng *rand.Rand, text string) string {
	runes := []rune(text)
	whole := func(i int) bool {
		if i == 0 || i == len(runes) {
			return true
		}
		a, b := runes[i-1], runes[i]
		dense := func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) && !unicode.IsMark(r)
		}
		return unicode.IsSpace(a) != unicode.IsSpace(b) || dense(a) && dense(b)
	}
	for {
		i, j := rng.IntN(len(runes)), rng.IntN(len(runes)+1)
		if i+20 < j && whole(i) && whole(j) {
			return string(runes[i:j])
		}
	}
}

var escapeMarkdown = strings.NewReplacer("*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "\\<", "&", "\\&", "`", "\\`", "\\", "\\\\")

// TestAQuotationOnThePageIsNeverMissed quotes random parts of pages in many
// languages, in other typography and with parts left out.
func TestAQuotationOnThePageIsNeverMissed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	tried := 0
	for _, sample := range samples(t) {
		language := sample.language
		title, text := sample.title, sample.text
		page := page.Read([]byte("<title>x</title><h1>"+title+"</h1><p>"+strings.ReplaceAll(text, ". ", ".</p><p>")+"</p><table><tr><td>12<td>13</table>"), "text/html; charset=utf-8").Text
		for i := 0; i < 200; i += full.Stride(200, 5) {
			span := spanOf(rng, page)
			shown := span
			if words := strings.Fields(span); len(words) > 8 && rng.IntN(3) == 0 {
				cut := 2 + rng.IntN(len(words)-6)
				shown = strings.Join(words[:cut], " ") + []string{" … ", " [...] ", "… ", " […] "}[rng.IntN(4)] + strings.Join(words[cut+2:], " ")
			}
			marks := [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"\"", "\""}, {"『", "』"}}[rng.IntN(5)]
			quoted := vary(rng, strings.Map(func(r rune) rune {
				if strings.ContainsRune("“”„«»\"『』「」", r) {
					return -1 // the marks inside differ from those around, or there are none
				}
				return r
			}, shown))
			got := groundOne(t, "They write "+marks[0]+escapeMarkdown.Replace(quoted)+marks[1], page)
			if len(got.Quotations) == 0 {
				continue // fewer than four words
			}
			tried++
			if slices.ContainsFunc(got.Quotations, func(q claim.Match) bool { return !holds(q, page) }) {
				t.Errorf("%s: %q\nquoted as %s%s%s\ngives %+v", language, span, marks[0], quoted, marks[1], got.Quotations)
			}
		}
	}
	if tried < 4000/full.Stride(200, 5) {
		t.Errorf("only %d quotations were tried", tried)
	}
}

// markedUp puts words into HTML as pages do: marks of emphasis and links around
// words and in their middle, entities, comments, breaks, soft hyphens, and things
// around them that nobody reads.
func markedUp(rng *rand.Rand, words []string) string {
	var b strings.Builder
	open := ""
	for i, word := range words {
		if i > 0 {
			b.WriteString([]string{" ", "\n\t", "&nbsp;", "<br>", "<!-- x --> ", " <wbr>", " <script>x > y</script>"}[rng.IntN(7)])
		}
		if open == "" && rng.IntN(4) == 0 {
			open = []string{"b", "em", "a", "span", "font", "mark", "u", "x-note"}[rng.IntN(8)]
			b.WriteString("<" + open + " class='c' title=\"a > b\">")
		}
		for k, r := range []rune(word) {
			switch n := rng.IntN(40); {
			case n == 0 || r == '<' || r == '&':
				fmt.Fprintf(&b, "&#%d;", r)
			case n == 1:
				fmt.Fprintf(&b, "&#x%X;", r)
			case n == 2 && k > 0 && unicode.IsLetter(r):
				b.WriteString("<i>" + string(r) + "</i>")
			case n == 3 && k > 0 && unicode.IsLetter(r):
				b.WriteString("&shy;" + string(r))
			default:
				b.WriteRune(r)
			}
		}
		if open != "" && rng.IntN(2) == 0 {
			b.WriteString("</" + open + ">")
			open = ""
		}
	}
	if open != "" {
		b.WriteString("</" + open + ">")
	}
	return b.String()
}

// TestAQuotationIsFoundInAnyMarkup quotes random words that follow one another on
// pages with random markup.
func TestAQuotationIsFoundInAnyMarkup(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for _, sample := range samples(t) {
		language := sample.language
		text := sample.text
		words := strings.Fields(text)
		if len(words) < 12 {
			continue // a script without blanks
		}
		for i := 0; i < 40; i += full.Stride(40, 4) {
			block := [][2]string{{"<p>", "</p>"}, {"<div>", "</div>"}, {"<ul><li>", "</ul>"}, {"<table><tr><td>", "</table>"}, {"<blockquote>", "</blockquote>"}, {"<p>", ""}}[rng.IntN(6)]
			html := "<html><head><title>x</title><style>p{}</style></head><body><nav>Home</nav>" + block[0] + markedUp(rng, words) + block[1] + "<footer>End</footer>"
			page := page.Read([]byte(html), "text/html; charset=utf-8").Text
			from := rng.IntN(len(words) - 8)
			quoted := strings.Map(func(r rune) rune {
				if strings.ContainsRune("“”„«»\"", r) {
					return -1
				}
				return r
			}, strings.Join(words[from:from+5+rng.IntN(len(words)-from-5)], " "))
			got := groundOne(t, "They write «"+escapeMarkdown.Replace(quoted)+"»", page)
			if len(got.Quotations) == 0 || slices.ContainsFunc(got.Quotations, func(q claim.Match) bool { return !holds(q, page) }) {
				t.Fatalf("%s: %q\nis not found in %q\nof %s", language, quoted, page, html)
			}
		}
	}
}

// TestNoQuotationIsFoundThatIsNotThere changes one word of a quotation.
func TestNoQuotationIsFoundThatIsNotThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, sample := range samples(t) {
		language := sample.language
		page := sample.text
		for range 50 / full.Stride(10, 1) {
			words := strings.Fields(spanOf(rng, page))
			if len(words) < 5 {
				continue
			}
			words[1+rng.IntN(len(words)-2)] = "perhaps"
			got := groundOne(t, "『"+escapeMarkdown.Replace(strings.Join(words, " "))+"』", page)
			if len(got.Quotations) == 1 && got.Quotations[0].Found {
				t.Errorf("%s: %q is found", language, words)
			}
		}
	}
}

func FuzzGround(f *testing.F) {
	f.Add("“the water rose … by 2.5 metres” in 1962–63, $5–10 million [@s]", "The water rose slowly by 2.5 metres; 1962 to 63 and 5 to 10 million dollars.")
	f.Add("twenty-five percent and 12,5 % [@s] 'a b c d' \u00ad\ufb01", "25 % ٣٤٥ １２ 12億 10⁶ 2021-03-04 04.03.2021 10:30")
	f.Fuzz(func(t *testing.T, doc, page string) {
		if !utf8.ValidString(page) {
			page = strings.ToValidUTF8(page, "\ufffd")
		}
		held, _ := ground(t, doc, page)
		for _, c := range held {
			for _, m := range append(c.Quotations, c.Numbers...) {
				if !m.Found {
					continue
				}
				if !holds(m, page) {
					t.Fatalf("%q: %+v does not hold on %q", doc, m, page)
				}
				passage := page[m.Start:m.End]
				if !utf8.ValidString(passage) || strings.TrimSpace(passage) != passage {
					t.Errorf("%q: %+v is %q on %q", doc, m, passage, page)
				}
				_ = link.TextLink("https://a.test/", page, m.Start, m.End)
			}
		}
		if again, _ := ground(t, doc, page); !reflect.DeepEqual(held, again) {
			t.Errorf("twice gives %+v and %+v", held, again)
		}
	})
}

func BenchmarkGround(b *testing.B) {
	var doc, page strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&page, "In the year %d about %d,%03d people at the coast saw the water rise by %d.%d metres, they say in report number %d.\n", 1500+i%500, i, i, i%9, i%10, i)
	}
	for i := range 200 {
		fmt.Fprintf(&doc, "- In %d, “people at the coast saw the water rise by %d.%d metres” and %d,%03d people [@s].\n", 1500+i%500, i%9, i%10, i, i)
	}
	for name, c := range map[string][2]string{
		"report":    {doc.String(), page.String()},
		"quotes":    {strings.Repeat("- “a a a b a a a b a a a c” [@s]\n", 5000), strings.Repeat("a a a b ", 1<<17)},
		"percents":  {strings.Repeat("- 12 % [@s]\n", 5000), strings.Repeat("12 people ", 1<<17)},
		"joined":    {strings.Repeat("- “a … b … a … b … c d e f” [@s]\n", 2000), strings.Repeat("a b ", 1<<18)},
		"citations": {strings.Repeat("[@s] ", 1<<16) + "12 %", "12 %"},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(c[0]) + len(c[1])))
			for b.Loop() {
				ground(b, c[0], c[1])
			}
		})
	}
}

// TestManyJoinedQuotationsOnOnePage: quotations whose parts occur on a page again
// and again are looked for together.
func TestManyJoinedQuotationsOnOnePage(t *testing.T) {
	var doc strings.Builder
	for i := range 400 {
		fmt.Fprintf(&doc, "They “the the … the the … the the … zebra z%d no” and “a%d b … the the … zebra” [@s].\n\n", i, i)
	}
	page := strings.Repeat("the the ", 50_000) + "zebra z7 no"
	if got := matchesIn(t, doc.String(), page).Quotations; len(got) != 800 || lacking(got) != 799 {
		t.Errorf("%d of %d are missing", lacking(got), len(got))
	}
}
