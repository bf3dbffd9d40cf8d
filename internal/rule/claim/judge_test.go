package claim_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/page"
)

const harbourPage = `<html lang=en><head><title>Port of Velden | Facts</title></head><body>
<h1>Port of Velden</h1>
<p>The Port of Velden handled 2.13 million containers in 2021, up from 1.94 million in 2019. Its director, Anna Berg, said on 12 March 2022: “We will never buy diesel tugs again.”</p>
<p>A third of the fleet runs on batteries. Emissions were 41.3 percent below those of 1990. The port employs 4,700 people and owns three ferries; the crossing takes 7 minutes.</p>
<p>Traffic doubled between 1995 and 2005. The <i>Harbour Atlas</i> appeared in the 1980s. Gates open at 10:30. The study found a mass of 12.6(1) kilograms (P=.03).</p>
<p>The quay was finished on 5 May 2004 for <del>€88 million</del> <ins>€95 million</ins>. <span style="position:absolute;left:-9999px">The mayor gave 777 medals.</span><span aria-hidden="true">Cost: 654 euros.</span></p>
<h2>Cargo by year</h2>
<table><tr><th>Cargo<th>2019<th>2020<tr><td>Coal<td>310,000 tonnes<td>285,000 tonnes<tr><td>Grain<td>120,500 tonnes<td>131,250 tonnes</table>
<footer>Page 64 of 99. Printed by Holm Press.</footer></body></html>`

// TestLiesAndTheirHonestTwins plants shapes of lies that the rules name. Each is found or
// at least weak, and what is true in its place stands.
func TestLiesAndTheirHonestTwins(t *testing.T) {
	german := "Der Hafen Velden schlug 2021 rund 2,13 Millionen Container um. Das sind 1.234,5 Tonnen je Tag, wie die Behörde am 12. März 2022 mitteilte. Ein neues Terminal kostete 28.400 Euro."
	french := "Le port de Velden emploie 28 400 personnes. La part du rail a atteint 12,5 % en 2021, selon le rapport du 3 février 2022, et les émissions ont doublé dans la région."
	finnish := "Veldenin satama työllistää 28 400 ihmistä. Osuus oli 12,5 prosenttia vuonna 2021, ja uusi laituri avattiin 12. maaliskuuta 2022. Se on maan suurin, ja liikenne on kasvanut."
	chinese := "维尔登港在2021年处理了213万个集装箱。新码头于2022年3月12日启用，造价为9500万欧元。港口雇用了4700人。"
	arabic := "تعامل ميناء فيلدن مع ٢٬١٣٠٬٠٠٠ حاوية في عام ٢٠٢١. وافتتح الرصيف الجديد في ١٢ مارس ٢٠٢٢ بتكلفة ٩٥ مليون يورو. ويعمل في الميناء ٤٧٠٠ شخص."
	mixed := "The port's annual report has a German summary, which is printed below for the reader's convenience and was not translated by the authors of the report.\n" +
		"Der Umschlag stieg auf 1.234,5 Tonnen je Tag, und die Kosten betrugen 28.400 Euro. Die Zahlen sind die des Hafens und nicht die der Stadt.\nThe share was 12.5 percent. The fleet has 1,250 boats."
	long := strings.Repeat("The town has a market, a school and a church that people visit on Sundays. ", 80)
	for _, c := range []struct {
		name, page, truth, lie string
		rule                   string // the one that finds the lie
		fault                  bool
	}{
		{"another number", harbourPage, "The port handled 2.13 million containers in 2021.", "The port handled 2.31 million containers in 2021.", "numbers", true},
		{"a rounded magnitude", harbourPage, "The port handled 2,130,000 containers in 2021.", "The port handled 2.13 billion containers in 2021.", "numbers", true},
		{"another unit", harbourPage, "Coal came to 310,000 tonnes in 2019.", "Coal came to 310,000 euros in 2019.", "numbers", true},
		{"a percentage turned", harbourPage, "Emissions were 41.3 % below those of 1990.", "Emissions were 58.7 % below those of 1990.", "numbers", true},
		{"a struck-out amount", harbourPage, "The quay cost €95 million.", "The quay cost €88 million.", "numbers", true},
		{"a number off the screen", harbourPage, "The port owns three ferries.", "The mayor of the port gave 777 medals.", "numbers", true},
		{"a number for screen readers", harbourPage, "The port employs 4,700 people.", "The port cost 654 euros.", "numbers", true},
		{"another fraction in words", harbourPage, "A third of the fleet runs on batteries.", "A fifth of the fleet runs on batteries.", "numbers", true},
		{"a fraction as a percentage", harbourPage, "33 percent of the fleet runs on batteries.", "20 percent of the fleet runs on batteries.", "numbers", true},
		{"one in so many", harbourPage, "One in three boats of the fleet runs on batteries.", "One in eight boats of the fleet runs on batteries.", "numbers", true},
		{"another multiple", harbourPage, "Traffic doubled between 1995 and 2005.", "Traffic tripled between 1995 and 2005.", "numbers", true},
		{"a multiple in other words", harbourPage, "There was a twofold increase of traffic between 1995 and 2005.", "There was a tenfold increase of traffic between 1995 and 2005.", "numbers", true},
		{"a small number", harbourPage, "The port owns three ferries.", "The port owns six ferries.", "numbers", false},
		{"a small number with a unit", harbourPage, "The crossing takes 7 minutes.", "The crossing takes 9 minutes.", "numbers", false},
		{"a decade", harbourPage, "The atlas appeared in the 1980's.", "The atlas appeared in the 1970's.", "numbers", true},
		{"a short decade", harbourPage, "The atlas appeared in the 80s.", "The atlas appeared in the 70s.", "numbers", true},
		{"a time of day", harbourPage, "The gates open at 10.30 am.", "The gates open at 11.30 am.", "numbers", true},
		{"an uncertain digit", harbourPage, "The study found a mass of 12.6 kilograms.", "The study found a mass of 12.8(1) kilograms.", "numbers", true},
		{"a probability", harbourPage, "The study found it with p = 0.03.", "The study found it with p = 0.003.", "numbers", true},
		{"another year", harbourPage, "The port handled 1.94 million containers in 2019.", "The port handled 1.94 million containers in 2017.", "numbers", true},
		{"a word for a number", harbourPage, "Four thousand seven hundred people work at the port.", "Nine thousand seven hundred people work at the port.", "numbers", true},
		{"an invented quotation", harbourPage, `Its director said: "We will never buy diesel tugs again."`, `Its director said: "We will gladly buy diesel tugs again."`, "quotations", true},
		{"a quotation cut in the middle", harbourPage, `Anna Berg said "we will never buy diesel tugs".`, `Anna Berg said "we will buy diesel tugs".`, "quotations", true},
		{"short quotations joined", harbourPage, `Anna Berg speaks of "diesel tugs" and "never buy".`, `Anna Berg speaks of "dirty tugs" and "poison for all".`, "quotations", true},
		{"pieces in the wrong order", harbourPage, `She said "We will never … diesel tugs again".`, `She said "diesel tugs again … We will never".`, "quotations", true},
		{"an invented title", harbourPage, `The "Harbour Atlas" appeared in the 1980s.`, `The "Great Golden Harbour Almanac" appeared in the 1980s.`, "quotations", false},
		{"another day", harbourPage, "Anna Berg spoke on 12 March 2022 about diesel tugs.", "Anna Berg spoke on 21 March 2022 about diesel tugs.", "dates", true},
		{"another month", harbourPage, "The quay was finished on May 5, 2004.", "The quay was finished on June 5, 2004.", "dates", true},
		{"a date in digits", harbourPage, "The quay was finished on 2004-05-05.", "The quay was finished on 2004-05-15.", "dates", true},
		{"a month and a year", harbourPage, "The quay was finished in May 2004.", "The quay was finished in July 2004.", "dates", true},
		{"a date that no window has", long + "\nThe quay was opened in May.", "The quay was opened in May 2004.", "The quay was opened in July 2004.", "dates", false},
		{"two names", harbourPage, "Its director is Anna Berg of the Port of Velden.", "Its director is Carla Stone of the Port of Midmouth.", "names", false},
		{"names in a script without case", chinese + "港口使用Siemens和ABB的起重机。", "港口使用Siemens和ABB的起重机。", "港口使用Konecranes和Liebherr的起重机。", "names", false},
		{"German names", german + " Der Direktor heißt Karl Meier und lebt in der Stadt.", "Der Direktor des Hafens heißt Karl Meier.", "Der Direktor des Hafens heißt Otto Kraus, nicht Emil Lang.", "names", false},
		{"acronyms", harbourPage, "The Port of Velden has a director.", "The Port of Velden pays UNESCO and the OPEC.", "names", false},
		{"another topic", harbourPage, "Emissions were below those of 1990.", "Volcanoes erupt when magma rises through cracks in rock.", "overlap", false},
		{"an invented cause", harbourPage, "Traffic doubled between 1995 and 2005.", "Corruption scandals toppled several ministers shortly afterwards.", "overlap", false},
		{"half of what has a third", harbourPage, "A third of the fleet runs on batteries.", "Half of the fleet runs on batteries.", "numbers", false},
		{"a fraction in German", german + " Ein Viertel der Kräne steht still.", "25 Prozent der Kräne stehen still.", "Ein Drittel der Kräne steht still.", "numbers", false},
		{"one in so many in German", german + " Jeder vierte Kran steht still.", "Jeder vierte Kran steht still.", "Jeder zehnte Kran steht still.", "numbers", false},
		{"a fraction in French", french + " Un quart des grues est à l’arrêt.", "25 % des grues sont à l’arrêt.", "Deux tiers des grues sont à l’arrêt.", "numbers", false},
		{"one in so many in French", french + " Une grue sur quatre est à l’arrêt.", "Un quart des grues est à l’arrêt.", "Une grue sur dix est à l’arrêt.", "numbers", false},
		{"a fraction in Finnish", finnish + " Neljäsosa nostureista seisoo.", "Neljännes nostureista seisoo.", "Kolme neljäsosaa nostureista seisoo.", "numbers", false},
		{"a fraction in Chinese", chinese + "四分之一的起重机停用。", "25%的起重机停用。", "三分之一的起重机停用。", "numbers", false},
		{"tenths in Chinese", chinese + "七成的起重机停用。", "70%的起重机停用。", "九成的起重机停用。", "numbers", false},
		{"a multiple in Chinese", chinese + "港口的收入翻了一番。", "港口的收入增加了一倍。", "港口的收入翻了两番。", "numbers", false},
		{"a fraction in Arabic", arabic + " ربع الرافعات متوقفة عن العمل.", "ربع الرافعات متوقفة عن العمل.", "ثلث الرافعات متوقفة عن العمل.", "numbers", false},
		{"a multiple in Arabic", arabic + " انخفضت إيرادات الميناء.", "انخفضت إيرادات الميناء.", "تضاعفت إيرادات الميناء.", "numbers", false},
		{"a fraction in Spanish", "El puerto de Velden tiene 28.400 empleados. Un tercio de las grúas está parado, según el informe.", "Un tercio de las grúas está parado.", "Tres cuartos de las grúas están parados.", "numbers", false},
		{"a decimal comma", german, "Es waren 1.234,5 Tonnen je Tag.", "Es waren 1.243,5 Tonnen je Tag.", "numbers", true},
		{"a German date", german, "Die Behörde teilte es am 12.03.2022 mit.", "Die Behörde teilte es am 13.03.2022 mit.", "dates", true},
		{"a German magnitude", german, "Der Hafen schlug 2,13 Mio. Container um.", "Der Hafen schlug 2,13 Mrd. Container um.", "numbers", true},
		{"thousands with blanks", french, "Le port emploie 28 400 personnes.", "Le port emploie 24 800 personnes.", "numbers", true},
		{"a French percentage", french, "La part du rail était de 12,5 % en 2021.", "La part du rail était de 15,2 % en 2021.", "numbers", true},
		{"a French date", french, "Le rapport est du 3 février 2022 dans la région.", "Le rapport est du 3 janvier 2022 dans la région.", "dates", true},
		{"a French multiple", french, "Les émissions ont doublé dans la région.", "Les émissions ont triplé dans la région.", "numbers", true},
		{"Finnish thousands", finnish, "Satama työllistää 28 400 ihmistä.", "Satama työllistää 82 400 ihmistä.", "numbers", true},
		{"a Finnish date", finnish, "Uusi laituri avattiin 12. maaliskuuta 2022 ja se on suuri.", "Uusi laituri avattiin 12. huhtikuuta 2022 ja se on suuri.", "dates", true},
		{"Chinese magnitudes", chinese, "维尔登港在2021年处理了213万个集装箱。", "维尔登港在2021年处理了231万个集装箱。", "numbers", true},
		{"Chinese magnitudes written out", chinese, "新码头的造价为95,000,000欧元。", "新码头的造价为59,000,000欧元。", "numbers", true},
		{"a Chinese date", chinese, "新码头于2022年3月12日启用。", "新码头于2022年4月12日启用。", "dates", true},
		{"Arabic-Indic digits", arabic, "يعمل في الميناء ٤٧٠٠ شخص.", "يعمل في الميناء ٧٤٠٠ شخص.", "numbers", true},
		{"Arabic digits in the sentence", arabic, "يعمل في الميناء 4700 شخص.", "يعمل في الميناء 7400 شخص.", "numbers", true},
		{"an Arabic date", arabic, "افتتح الرصيف الجديد في 12 مارس 2022 بتكلفة 95 مليون يورو.", "افتتح الرصيف الجديد في 12 أبريل 2022 بتكلفة 95 مليون يورو.", "dates", true},
		{"a page of two languages", mixed, "Turnover rose to 1.234,5 Tonnen je Tag in the German summary of the report.", "Turnover rose to 1.243,5 Tonnen je Tag in the German summary of the report.", "numbers", true},
		{"thousands on a page of two languages", mixed, "The fleet of the report has 1,250 boats.", "The fleet of the report has 1,520 boats.", "numbers", true},
	} {
		if j := judgeOn(t, c.truth, c.page); j.Standing != claim.Found {
			t.Errorf("%s: the truth %q is %s: %v", c.name, c.truth, j.Standing, j.Findings)
		}
		j := judgeOn(t, c.lie, c.page)
		want := claim.Weak
		if c.fault {
			want = claim.Missing
		}
		near := len(j.Findings) > 0 && j.Findings[0].Code == tidegate.NotWhatThePageSays // says more
		if near {
			want = claim.Missing
		}
		if j.Standing != want || !slices.ContainsFunc(j.Findings, func(f claim.Finding) bool {
			return f.Rule == c.rule && f.Level != claim.Remark && (f.Code != "") == c.fault
		}) {
			t.Errorf("%s: the lie %q is %s: %v", c.name, c.lie, j.Standing, j.Findings)
		}
	}
}

// TestEachCitationIsLookedAt: a page among right ones that has nothing of a sentence
// makes it weak, and a number of one page may stand beside one of another.
func TestEachCitationIsLookedAt(t *testing.T) {
	const other, unrelated = "The port of Midmouth handled 1.2 million containers.", "Bees make honey from the nectar of flowers in spring. Their queen lays eggs all day."
	if j := judgeOn(t, "Velden handled 2.13 million containers, Midmouth 1.2 million.", harbourPage, other); j.Standing != claim.Found {
		t.Errorf("two right pages: %s %v", j.Standing, j.Findings)
	}
	j := judgeOn(t, "Velden handled 2.13 million containers, Midmouth 1.2 million.", harbourPage, other, unrelated)
	if want := (claim.Finding{Rule: "citation", Level: claim.Warn, Text: "c"}); j.Standing != claim.Weak || !slices.Contains(j.Findings, want) {
		t.Errorf("a wrong page among right ones: %s %v", j.Standing, j.Findings)
	}
}

// TestPagesWithoutTextCarryNothing: a sentence none of whose pages has text is a fault,
// and one page with text is enough to judge by.
func TestPagesWithoutTextCarryNothing(t *testing.T) {
	for _, pages := range [][]string{{}, {""}, {" ", "<p hidden>There are 20 tugs.</p>"}} {
		if j := judgeOn(t, "There are 20 tugs.", pages...); j.Standing != claim.NoText || len(j.Findings) != 1 || j.Findings[0].Code != tidegate.ClaimNotChecked {
			t.Errorf("%q: %s %v", pages, j.Standing, j.Findings)
		}
	}
	if j := judgeOn(t, "There are 20 tugs.", "", "There are 20 tugs."); j.Standing != claim.Found {
		t.Errorf("one page with text: %s %v", j.Standing, j.Findings)
	}
}

// TestPagesInAnotherLanguage: numbers are looked for whatever the languages are; words
// and names are not compared, and the sentence is weak for that reason alone.
func TestPagesInAnotherLanguage(t *testing.T) {
	german := "Der Hafen von Velden schlug im Jahr 2021 rund 2,13 Millionen Container um, und die Stadt ist stolz auf das, was mit den Schleppern erreicht wurde."
	russian := "Порт Велден обработал 2,13 миллиона контейнеров в 2021 году, и город гордится тем, что было сделано."
	for _, body := range []string{german, russian} {
		j := judgeOn(t, "The Port of Velden handled 2.13 million containers in 2021, and it was the best of its years.", body)
		if j.Standing != claim.Weak || len(j.Findings) != 1 || j.Findings[0].Rule != "language" {
			t.Errorf("the truth: %s %v", j.Standing, j.Findings)
		}
		j = judgeOn(t, "The Port of Velden handled 2.31 million containers in 2021, and it was the best of its years.", body)
		if j.Standing != claim.Missing {
			t.Errorf("a lie: %s %v", j.Standing, j.Findings)
		}
	}
}

// TestLanguagesOfOneScriptAreNotForeign: a report in Ukrainian is not held to be in
// another language than its pages because their script is known by Russian.
func TestLanguagesOfOneScriptAreNotForeign(t *testing.T) {
	text := "Порт Велден обробив два мільйони контейнерів, і місто пишається тим, що було зроблено."
	for _, language := range []string{"uk", "ru", ""} {
		found, err := claim.Judge(t.Context(), []claim.Question{{Text: "Порт Велден обробив два мільйони контейнерів.", Language: language, CIDs: []string{"a"}}},
			func(cid string) (*claim.Page, error) { return &claim.Page{CID: cid, Text: text}, nil }, claim.Titles{})
		if err != nil || found[0].Standing != claim.Found {
			t.Errorf("%q: %v %v", language, found, err)
		}
	}
}

// TestTitlesOfWorksAreNames: what a page of the run bears as its title, or the sentence
// sets in italics, is weak where no page has it; what somebody is said to have said is
// not excused.
func TestTitlesOfWorksAreNames(t *testing.T) {
	bears := claim.PageOf("b", "", page.Read([]byte("<title>How ports lost their tugs | Velden Times</title><p>See <a href=x>the sinking of old tugs</a> and <i>when all boats were steam boats</i>."), ""))
	titles := claim.NewTitles(append(bears.Works, bears.Title))
	for _, c := range []struct {
		text    string
		italics []string
		want    claim.Standing
	}{
		{"The study “How ports lost their tugs” names the port of Velden.", nil, claim.Weak},
		{"The study “the sinking of old tugs” names the port of Velden.", nil, claim.Weak},
		{"The study “when all boats were steam boats” names the port of Velden.", nil, claim.Weak},
		{"The study “how the ports lost their crews” names the port of Velden.", nil, claim.Missing},
		{"The study “how the ports lost their crews” names the port of Velden.", []string{"how the ports lost their crews"}, claim.Weak},
		{"The film “How the Ports Lost Their Crews” names the port of Velden.", nil, claim.Weak},
		{"The word was “We have not been there” at the port of Velden.", nil, claim.Missing},
		{"The director said “How Ports Lost Their Tugs” of the port of Velden.", nil, claim.Missing},
		{"The port of Velden: “How ports lost their tugs”.", nil, claim.Missing},
		{"The book “How Ports Lost Their Tugs and Crews and Boats and Then All Their Pride” names the port of Velden.", nil, claim.Missing},
	} {
		s := claim.Question{Text: c.text, CIDs: []string{"a"}, Italics: c.italics}
		found, err := claim.Judge(t.Context(), []claim.Question{s}, func(cid string) (*claim.Page, error) {
			return &claim.Page{CID: cid, Text: "The port of Velden has a director. A study and a film and a book name the port."}, nil
		}, titles)
		if err != nil || found[0].Standing != c.want {
			t.Errorf("%q: %v %v", c.text, found, err)
		}
	}
}

var statedRow = regexp.MustCompile("^\\| (yes|weak|no) \\| `(.*)` \\| `(.*)` \\|$")

// TestDocumentedSentences checks the examples of docs/rules.md, section *What a
// sentence states*.
func TestDocumentedSentences(t *testing.T) {
	doc := must.Get(os.ReadFile("../../../docs/rules.md"))(t)
	_, section, _ := strings.Cut(string(doc), "\n## What a sentence states\n")
	examples := 0
	for line := range strings.Lines(section) {
		row := statedRow.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		examples++
		got := "yes"
		for _, f := range judgeOn(t, "The port tells of "+row[2]+".", "The port tells of "+row[3]+".").Findings {
			switch {
			case f.Rule != "numbers" && f.Rule != "dates":
			case f.Level == claim.Fault:
				got = "no"
			case got == "yes":
				got = "weak"
			}
		}
		if got != row[1] {
			t.Errorf("%s: it is %s", strings.TrimSpace(line), got)
		}
	}
	if examples < 30 {
		t.Errorf("only %d examples were read", examples)
	}
}

// judgeOn judges a sentence on pages, each HTML or plain text.
func judgeOn(t testing.TB, text string, pages ...string) claim.Judgement {
	t.Helper()
	s := claim.Question{Text: text}
	of := map[string]*claim.Page{}
	for i, body := range pages {
		cid := string(rune('a' + i))
		s.CIDs = append(s.CIDs, cid)
		of[cid] = claim.PageOf(cid, "https://velden.test/"+cid, page.Read([]byte(body), ""))
	}
	found := must.Get(claim.Judge(t.Context(), []claim.Question{s}, func(cid string) (*claim.Page, error) { return of[cid], nil }, claim.Titles{}))(t)
	return found[0]
}

// TestHiddenCharactersPartNoPhrase has a page with something that nobody sees between two
// digits: the second is no number of its own.
func TestHiddenCharactersPartNoPhrase(t *testing.T) {
	for _, between := range []string{"\u200d", "\u2060", "\u034f", "\u00ad", "\ufe0f"} {
		text := "Profit was 7" + between + "3 million euros."
		asked := []claim.Question{{Text: "Profit was 3 million euros.", CIDs: []string{"s"}}}
		held := must.Get(claim.Judge(t.Context(), asked, func(string) (*claim.Page, error) { return &claim.Page{CID: "s", Text: text}, nil }, claim.Titles{}))(t)
		if held[0].Standing != claim.Missing {
			t.Errorf("%+q: %+v", text, held[0])
		}
	}
}
