package claim_test

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/page"
)

// filler is prose that has nothing of the sentences of these tests.
func filler(sentences int) string {
	var b strings.Builder
	for i := range sentences {
		fmt.Fprintf(&b, "Meadow number %d is green and wet after rain falls on its grass and herbs. ", 1000+i)
	}
	return b.String()
}

func TestWindows(t *testing.T) {
	body := "<title>Velden</title><h1>The port</h1><p>" + filler(30) + "</p><h2>Tugs</h2><p>Our tugs are old. The fleet has 73 tugs of steel. They burn oil.</p><p>" + filler(30) +
		"</p><h2>Crews</h2><p>Crews of the fleet live on tugs of steel.</p><p>" + filler(60) + "</p>"
	j := judgeOn(t, "The fleet has 73 tugs of steel.", body)
	if len(j.Windows) != 2 || len(j.More) == 0 { // the others have two of its words
		t.Fatalf("%d windows, %d further ones", len(j.Windows), len(j.More))
	}
	first, second := j.Windows[0], j.Windows[1]
	if !strings.Contains(first.Text, "Our tugs are old. The fleet has 73 tugs of steel. They burn oil.") || first.Title != "Velden" || first.Heading != "Tugs" || first.CID != "a" {
		t.Errorf("the window with the number is %+v", first)
	}
	if !strings.Contains(second.Text, "Crews of the fleet live on tugs of steel.") || second.Heading != "Crews" {
		t.Errorf("the window with the words is %+v", second)
	}
}

// TestWindowsShowEachThingOnce: what a window holds already counts less, so that the next
// one is that with something else; what holds nothing gives way to what stands around
// what does; and words are never cut.
func TestWindowsShowEachThingOnce(t *testing.T) {
	tugs, crews := "The fleet of Velden has 73 tugs of steel.", "Its crews live on them all year."
	body := filler(40) + tugs + " " + filler(40) + tugs + " " + filler(40) + tugs + " " + filler(40) + crews + " " + filler(40)
	windows := judge(t, []claim.Question{{Text: "The fleet of Velden has 73 tugs of steel, and crews live on them all year.", CIDs: []string{"a"}}}, func(string) string { return body })[0].Windows
	if len(windows) != 3 || !strings.Contains(windows[0].Text, tugs) || !strings.Contains(windows[1].Text, crews) {
		t.Fatalf("the windows are %+v", windows)
	}
	for _, w := range windows[:2] {
		before, after, _ := strings.Cut(w.Text, map[bool]string{true: tugs, false: crews}[strings.Contains(w.Text, tugs)])
		if few, many := len(before), len(after); many > 3*few || few > 3*many {
			t.Errorf("it does not lie in the middle of %q", w.Text)
		}
	}
	for _, text := range []string{strings.Repeat("eleven tugs in the harbour ", 200), strings.Repeat("Schleppschifffahrtsgesellschaft ", 300), strings.Repeat("港口去年处理了集装箱，", 200)} {
		for _, w := range judge(t, []claim.Question{{Text: "Eleven tugs lie in the harbour 港口.", CIDs: []string{"a"}}}, func(string) string { return text })[0].Windows {
			if n := len(strings.Fields(w.Text)); n > 120 || utf8.RuneCountInString(w.Text) > 360 && n < 2 || w.Start > 0 && !strings.HasPrefix(text, w.Text[:min(len(w.Text), 33)]) {
				t.Errorf("a window of %d words and %d characters begins with %q", n, utf8.RuneCountInString(w.Text), w.Text[:min(len(w.Text), 40)])
			}
		}
	}
}

// TestNoPageMakesLargeWindows: what has no words, or long ones, is cut all the same.
func TestNoPageMakesLargeWindows(t *testing.T) {
	for name, giant := range map[string]string{"a line": strings.Repeat("=-", 1<<16), "a word": strings.Repeat("tugs", 1<<15), "marks": strings.Repeat("* ", 1<<16), "short ones": strings.Repeat("<p>"+strings.Repeat("=", 500)+"</p>", 200)} {
		j := judgeOn(t, "The fleet has 73 tugs of steel.", "<title>Velden</title><h1>The port</h1><p>The fleet has 73 tugs of steel.</p><p>"+filler(20)+"</p><p>"+giant+"</p>")
		for _, w := range append(j.Windows, j.More...) {
			if len(w.Text) > 4<<10 {
				t.Errorf("%s: a window has %d bytes", name, len(w.Text))
			}
		}
	}
}

// TestWindowsOfSeveralPages: each page has its window first, and there are as many
// windows as pages where those are more than three.
func TestWindowsOfSeveralPages(t *testing.T) {
	pages := []string{filler(30) + "The fleet has tugs of steel." + filler(30), "The fleet has 73 tugs of steel. " + filler(40) + " The fleet has 73 tugs.", "Steel is hard. " + filler(10), "Tugs are boats. " + filler(10)}
	j := judgeOn(t, "The fleet has 73 tugs of steel.", pages[:2]...)
	if got := cids(j.Windows); got != "a b b" {
		t.Errorf("windows of two pages: %s", got)
	}
	j = judgeOn(t, "The fleet has 73 tugs of steel.", pages...)
	if got := cids(j.Windows); got != "a b c d" || len(j.More) != 5 {
		t.Errorf("windows of four pages: %s, %d further ones", got, len(j.More))
	}
}

func cids(windows []claim.Window) string {
	var list []string
	for _, w := range windows {
		list = append(list, w.CID)
	}
	return strings.Join(list, " ")
}

// TestWindowsWhereWordsSayLittle: of a page in another language, or one that has little
// of the words, eight windows are shown: those with a number, name or date, those that
// an output quotes, and then those that come first.
func TestWindowsWhereWordsSayLittle(t *testing.T) {
	german := strings.Repeat("Die Wiese ist grün und nass, und das Gras auf ihr ist nicht hoch. ", 60)
	p := &claim.Page{CID: "a", Text: german + "Die Flotte hat 73 Schlepper aus Stahl. " + german + "Der Rat hat das Geld für die Mole nicht mehr. " + german, Quoted: []string{"Der Rat hat das Geld für die Mole nicht mehr"}}
	found := must.Get(claim.Judge(t.Context(), []claim.Question{{Text: "The fleet has 73 tugs, and it is one of the oldest in the region.", CIDs: []string{"a"}}},
		func(string) (*claim.Page, error) { return p, nil }, claim.Titles{}))(t)
	w := found[0].Windows
	if len(w) != 8 || !strings.Contains(w[0].Text, "73 Schlepper") || !strings.Contains(w[1].Text, "Der Rat") || w[2].Start != 0 || len(found[0].More) != 5 {
		t.Errorf("%d windows, %d further ones: %+v", len(w), len(found[0].More), w)
	}
}

// TestOperandsAreInTheWindows: the numbers of a calculation choose windows as those of
// the sentence do.
func TestOperandsAreInTheWindows(t *testing.T) {
	text := filler(40) + "In 2019 there were 1,940,000 boxes. " + filler(40) + "In 2021 there were 2,134,000 boxes. " + filler(40)
	s := claim.Question{Text: "Trade grew by a tenth within two years.", CIDs: []string{"a"}, Operands: []string{"2,134,000", "1,940,000"}}
	found := judge(t, []claim.Question{s}, func(string) string { return text })
	all := ""
	for _, w := range found[0].Windows {
		all += w.Text
	}
	if !strings.Contains(all, "1,940,000") || !strings.Contains(all, "2,134,000") {
		t.Errorf("the windows are %+v", found[0].Windows)
	}
}

// TestASentenceIsJudgedByItselfAndItsPages: other sentences and their pages change
// nothing, nor does the number of cores.
func TestASentenceIsJudgedByItselfAndItsPages(t *testing.T) {
	p := newProse(3)
	texts := map[string]string{}
	for i := range 12 {
		texts[fmt.Sprint(i)] = p.page(4 << 10)
	}
	var sentences []claim.Question
	for i := range 40 {
		sentences = append(sentences, claim.Question{Text: p.sentence(), CIDs: []string{fmt.Sprint(i % 12), fmt.Sprint(i * 5 % 12)}})
	}
	text := func(cid string) string { return texts[cid] }
	together := judge(t, sentences, text)
	for i := range sentences {
		if alone := judge(t, sentences[i:i+1], text); !reflect.DeepEqual(alone[0], together[i]) {
			t.Fatalf("sentence %d is another one by itself: %v %s, with others %v %s", i, alone[0].Findings, cids(alone[0].Windows), together[i].Findings, cids(together[i].Windows))
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !reflect.DeepEqual(judge(t, sentences, text), together) {
		t.Error("on one core it is something else")
	}
}

// TestJudgingGrowsWithTheText: what a page or a sentence costs grows with its length, and
// no faster.
func TestJudgingGrowsWithTheText(t *testing.T) {
	for name, make := range map[string]func(n int) (sentence, page string){
		"short lines": func(n int) (string, string) { return "The fleet has 73 tugs.", strings.Repeat("a\n", n) },
		"one line":    func(n int) (string, string) { return "The fleet has 73 tugs.", strings.Repeat("tugs 73 ", n) },
		"no blanks":   func(n int) (string, string) { return "The fleet has 73 tugs.", strings.Repeat("港", n) },
		"full stops":  func(n int) (string, string) { return "The fleet has 73 tugs.", strings.Repeat("Tugs. ", n) },
		"dates":       func(n int) (string, string) { return "On 3 May 2021 it sank.", strings.Repeat("4 May 2021, ", n) },
		"months":      func(n int) (string, string) { return "On 3 May 2021 it sank.", strings.Repeat("May ", n) },
		"digits":      func(n int) (string, string) { return "On 3 May 2021 it sank.", strings.Repeat("1.1.", n) },
		"quotations": func(n int) (string, string) {
			return `"a b c d" ` + strings.Repeat(`"e" and `, n/50), strings.Repeat("a b c ", n)
		},
		"long sentence": func(n int) (string, string) {
			return strings.Repeat("73 Tugs of ABC on 3 May ", n/50), "The fleet has tugs."
		},
	} {
		allocated := func(n int) uint64 {
			s, text := make(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			judge(t, []claim.Question{{Text: s, CIDs: []string{"a"}}}, func(string) string { return text })
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := allocated(2000), allocated(16000); many > 20*few {
			t.Errorf("%s: %d bytes for one size, %d for eight times as much", name, few, many)
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("The fleet has 73 tugs, said “we have no tugs at all” on 3 May 2021.", "The fleet of Velden.\nYear\tTugs\n2019\t73\n", "Velden")
	f.Add("Doubled, a third of, one in four, 10.30 am, the 80s, P=.03, 12.6(1), ½", "twice 1.234,5 28 400 213万 ٤٧٠٠", "")
	f.Add("2022年3月12日启用", "维尔登港在2021年处理了213万个集装箱。新码头于2022年3月12日启用", "港")
	f.Add("\"a b\" and \"c d\" 4 7 1 1 10⁶ 1970's", "<p>\x00\xff\u00ad", "x")
	f.Fuzz(func(t *testing.T, text, body, heading string) {
		p := &claim.Page{CID: "a", Text: strings.ToValidUTF8(body, "?"), Title: heading, Headings: []string{heading}, Places: []int{0}, Quoted: []string{text}}
		found := must.Get(claim.Judge(context.Background(), []claim.Question{{Text: text, CIDs: []string{"a", "b", "a"}, Operands: []string{heading}, Italics: []string{heading}}}, func(cid string) (*claim.Page, error) {
			if cid == "b" {
				return nil, nil
			}
			return p, nil
		}, claim.NewTitles([]string{heading})))(t)
		j := found[0]
		if len(j.Windows) > 8 || len(j.More) > 5 || j.Standing == claim.Found && len(j.Windows) > 3 {
			t.Fatalf("%d windows, %d further ones", len(j.Windows), len(j.More))
		}
		for i, w := range append(j.Windows, j.More...) {
			if w.Start >= w.End || w.Text != p.Text[w.Start:w.End] || !utf8.ValidString(w.Text) || page.CountWords(w.Text) > 160 {
				t.Fatalf("window %d is %+v", i, w)
			}
		}
		for _, finding := range j.Findings {
			if (finding.Level == claim.Fault) != (finding.Code != "") || finding.Rule == "" {
				t.Fatalf("%+v", finding)
			}
		}
	})
}

// TestTheCostIsLinear prepares a report and one of twice as many sentences and pages: each
// page is read once, and memory is taken twice as often.
func TestTheCostIsLinear(t *testing.T) {
	p := newProse(3)
	texts := map[string]string{}
	var sentences []claim.Question
	for i := range 32 {
		texts[fmt.Sprint(i)] = p.page(6 << 10)
	}
	prepare := func(pages int) (allocations float64) {
		sentences = sentences[:0]
		for i := range 8 * pages {
			sentences = append(sentences, claim.Question{Text: p.sentence(), CIDs: []string{fmt.Sprint(i % pages), fmt.Sprint((i * 7) % pages)}})
		}
		var mu sync.Mutex
		read := map[string]int{}
		judge(t, sentences, func(cid string) string {
			mu.Lock()
			defer mu.Unlock()
			read[cid]++
			return texts[cid]
		})
		for cid, n := range read {
			if n != 1 || len(read) != pages {
				t.Errorf("page %s of %d is read %d times", cid, len(read), n)
			}
		}
		return testing.AllocsPerRun(1, func() { judge(t, sentences, func(cid string) string { return texts[cid] }) })
	}
	small, large := prepare(16), prepare(32)
	if large > 2.3*small {
		t.Errorf("%.0f allocations for 16 pages, %.0f for 32", small, large)
	}
}

// TestWindowsOfLargeTables: they have the rows with the names of the sentence, and not those that
// only stand beside them or have its numbers for something else.
func TestWindowsOfLargeTables(t *testing.T) {
	var table strings.Builder
	table.WriteString("Harbour traffic of all years.\nPort\tYear\tMillion containers\n")
	for i, port := range []string{"Aalborg", "Bergen", "Cadiz", "Danzig", "Esbjerg", "Faro", "Genoa", "Hull", "Izmir", "Kiel", "Lagos", "Malaga"} {
		for year := 1990; year < 2010; year++ {
			fmt.Fprintf(&table, "Port: %s\tYear: %d\tMillion containers: %d.%d\n", port, year, i, (year+i)%10)
		}
	}
	for text, rows := range map[string]string{
		"In 2005 the port of Genoa handled 6.1 million containers.":           "Genoa 2005",
		"In 1995 the ports of Kiel and Bergen handled containers by millions": "Kiel 1995|Bergen 1995",
	} {
		windows := judge(t, []claim.Question{{Text: text, Language: "en", CIDs: []string{"a"}}}, func(string) string { return table.String() })[0].Windows
		all := ""
		for _, w := range windows {
			all += w.Text + "\n"
		}
		ports := ""
		for row := range strings.SplitSeq(rows, "|") {
			port, year, _ := strings.Cut(row, " ")
			if ports += port; !strings.Contains(all, "Port: "+port+"\tYear: "+year) {
				t.Errorf("%s: %q is not shown in\n%s", text, row, all)
			}
		}
		for line := range strings.Lines(windows[0].Text) {
			port, _, _ := strings.Cut(strings.TrimPrefix(line, "Port: "), "\t")
			if !strings.Contains(ports, port) {
				t.Errorf("%s: the first passage has the row %q", text, line)
			}
		}
	}
}

// TestWindowsHaveWholeRows: a row whose cells are sentences is in a window as a whole, with
// what its table begins with; in tables whose rows say themselves what they are that is left
// out.
func TestWindowsHaveWholeRows(t *testing.T) {
	row := "V7.3\tThe tug is moored at night. " + strings.Repeat("Its crew looks at each rope. ", 15) + "The ropes are of steel.\tyes"
	filling := strings.Repeat("V1.1\tA lamp burns in the harbour. Nobody looks at it.\tno\n", 60)
	for _, table := range []struct{ text, heading string }{
		{"Rule\tWhat it says\t2.0\n" + filling + row + "\n" + filling, "Rule | What it says | 2.0"},
		{"Rule\tWhat it says\n" + strings.ReplaceAll(filling+"V7.3\t"+row[5:]+"\n"+filling, "V", "Rule: V"), ""},
		{filling + "\n\nA harbour.\n" + row + "\nThe sea.", ""},
	} {
		for _, w := range judge(t, []claim.Question{{Text: "A tug that is moored at night has ropes of steel.", CIDs: []string{"a"}}}, func(string) string { return table.text })[0].Windows[:1] {
			if !strings.Contains(w.Text, row[5:]) || w.Heading != table.heading {
				t.Errorf("the window %q has %q above it", w.Text, w.Heading)
			}
		}
	}
}
