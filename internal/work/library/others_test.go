package library_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/store"
)

// passageChange is a change of a single passage: what a page said, what it says, what a
// report says by it, and how that then stands.
type passageChange struct {
	then, now, said string
	want            drift.State
}

// others are changes of single passages, in several languages and subjects. Rules were mended
// by some of them.
var others = []passageChange{
	{"Inflation in the euro area fell to 2.4 percent in March, the statistics office said.", "Inflation in the euro area fell to 2.6 percent in March, the statistics office said.", "Euro area inflation fell to 2.4 percent in March.", chg},
	{"Inflation in the euro area fell to 2.4 percent in March, the statistics office said.", "In March prices in the euro area were 2.4 percent higher than a year before: inflation fell again, according to the statistics office.", "Euro area inflation fell to 2.4 percent in March.", ok},
	{"The vaccine is recommended for children under five years.", "The vaccine is no longer recommended for children under five years.", "The vaccine is recommended for children under five years.", chg},
	{"The vaccine is recommended for children under five years.", "The vaccine is recommended for all children under five years.", "The vaccine is recommended for children under five years.", ok},
	{"Marta Olsen has been the director of the museum since 2019.", "Erik Lund has been the director of the museum since 2024.", "Marta Olsen is the director of the museum.", chg},
	{"Die Stadt zahlt 120 Millionen Euro für die neue Brücke über den Fluss.", "Die Stadt zahlt 145 Millionen Euro für die neue Brücke über den Fluss.", "Die neue Brücke kostet die Stadt 120 Millionen Euro.", chg},
	{"Die Stadt zahlt 120 Millionen Euro für die neue Brücke über den Fluss.", "Für die neue Brücke über den Fluss gibt die Stadt 120 Millionen Euro aus.", "Die neue Brücke kostet die Stadt 120 Millionen Euro.", ok},
	{"Das Gericht hat die Klage der Anwohner zugelassen.", "Das Gericht hat die Klage der Anwohner nicht zugelassen.", "Das Gericht hat die Klage der Anwohner zugelassen.", chg},
	{"Le musée est ouvert tous les jours de 9 heures à 18 heures.", "Le musée est ouvert tous les jours de 10 heures à 18 heures.", "Le musée est ouvert de 9 heures à 18 heures.", chg},
	{"The river flooded the lower town in 1962 and again in 2002.", "The river flooded the lower town in 1962, in 2002 and in 2013.", "The river flooded the lower town in 1962 and 2002.", ok},
	{"The company employs 5,400 people in twelve countries.", "The company employs more than 5,400 people in twelve countries, most of them in Asia.", "The company employs 5,400 people in twelve countries.", ok},
	{"Exports of wine rose last year because the harvest was good.", "Exports of wine fell last year because the harvest was bad.", "Exports of wine rose last year.", chg},
	{"The bridge is 340 metres long and carries two tracks.", "", "The bridge is 340 metres long.", gone},
	{"The law enters into force on 1 January 2027.", "The law enters into force on 1 July 2027.", "The law enters into force on 1 January 2027.", chg},
	{"The law enters into force on 1 January 2027.", "From 1 January 2027 on the new law applies.", "The law enters into force on 1 January 2027.", ok},
	{"The study followed 1,250 patients for three years.", "The study followed 1250 patients over a period of three years.", "The study followed 1,250 patients for three years.", ok},
	{"Norway produced 154 terawatt hours of electricity in 2022, almost all of it from water.", "Norway produced 157 terawatt hours of electricity in 2022, almost all of it from water.", "Norway produced 154 terawatt hours of electricity in 2022.", chg},
	{"The treaty was signed by 31 states in Vienna.", "In Vienna 31 states put their names under the treaty.", "The treaty was signed by 31 states in Vienna.", ok},
	{"Passengers may carry one bag of up to 10 kilograms free of charge.", "Passengers may carry one bag of up to 10 kilograms for a small charge.", "Passengers may carry one bag of up to 10 kilograms free of charge.", chg},
	{"The museum closed its east wing for repairs.", "The museum reopened its east wing after repairs.", "The museum closed its east wing for repairs.", chg},
	{"The drug lowers the risk of a stroke by a third, the trial found.", "The trial found that the drug lowers the risk of a stroke by a third in older patients.", "The drug lowers the risk of a stroke by a third.", ok},
	{"Applications must be received by 30 June 2026.", "Applications must be received by 15 September 2026.", "Applications must be received by 30 June 2026.", chg},
	{"Anna Berg won the election with 52 percent of the vote.", "Anna Berg won the election with 52 percent of the vote, the final count shows.", "Anna Berg won the election with 52 percent of the vote.", ok},
	{"El puente mide 410 metros y se abrió al tráfico en 1998.", "El puente, abierto al tráfico en 1998, tiene una longitud de 410 metros.", "El puente mide 410 metros y se abrió en 1998.", ok},
	{"El puente mide 410 metros y se abrió al tráfico en 1998.", "El puente mide 410 metros y se cerró al tráfico en 2024.", "El puente mide 410 metros y se abrió en 1998.", chg},
	{"The species lives in rivers of the northern coast.", "The museum shop sells postcards and books about the coast.", "The species lives in rivers of the northern coast.", gone},
	{"The factory makes 300 engines a day.", "The factory makes 300 engines a week.", "The factory makes 300 engines a day.", chg},
	{"The tax applies to companies with more than 50 employees.", "The tax applies to companies with more than 50 employees and a turnover above 10 million euro.", "The tax applies to companies with more than 50 employees.", ok},
}

// heldOut are changes that were written down after the rules, and by which none was mended.
var heldOut = []passageChange{
	{"The reservoir holds 38 million cubic metres of water when it is full.", "The reservoir holds 36 million cubic metres of water when it is full.", "The full reservoir holds 38 million cubic metres of water.", chg},
	{"The reservoir holds 38 million cubic metres of water when it is full.", "When full, the reservoir stores 38 million cubic metres.", "The full reservoir holds 38 million cubic metres of water.", ok},
	{"The airline flies to Reykjavik four times a week in summer.", "The airline flies to Reykjavik four times a week in winter.", "The airline flies to Reykjavik four times a week in summer.", chg},
	{"The airline flies to Reykjavik four times a week in summer.", "The airline stopped its flights to Reykjavik in October.", "The airline flies to Reykjavik four times a week in summer.", chg},
	{"Dr. Amara Okafor leads the institute's programme on malaria.", "Dr. Peter Lindqvist leads the institute's programme on malaria.", "Amara Okafor leads the programme on malaria.", chg},
	{"Dr. Amara Okafor leads the institute's programme on malaria.", "The institute's malaria programme is led by Dr. Amara Okafor, who joined in 2018.", "Amara Okafor leads the programme on malaria.", ok},
	{"Tickets cost 12 euro for adults and 6 euro for children.", "Tickets cost 14 euro for adults and 6 euro for children.", "Children pay 6 euro for a ticket.", ok},
	{"Tickets cost 12 euro for adults and 6 euro for children.", "Tickets cost 14 euro for adults and 6 euro for children.", "Adults pay 12 euro for a ticket.", chg},
	{"The committee recommends the use of helmets on construction sites.", "The committee advises against the use of helmets on construction sites.", "The committee recommends the use of helmets on construction sites.", chg},
	{"The glacier lost a quarter of its ice between 1990 and 2020.", "The glacier lost a third of its ice between 1990 and 2020.", "The glacier lost a quarter of its ice between 1990 and 2020.", chg},
	{"The glacier lost a quarter of its ice between 1990 and 2020.", "Between 1990 and 2020, a quarter of the glacier's ice disappeared.", "The glacier lost a quarter of its ice between 1990 and 2020.", ok},
	{"The new line shortens the journey from Lyon to Turin to two hours.", "The new line shortens the journey from Lyon to Milan to two hours.", "The new line shortens the journey from Lyon to Turin to two hours.", chg},
	{"The new line shortens the journey from Lyon to Turin to two hours.", "The new line shortens the journey from Lyon to Turin to two hours. Tickets go on sale in May.", "The new line shortens the journey from Lyon to Turin to two hours.", ok},
	{"The museum holds 2,300 paintings, most of them from the nineteenth century.", "The museum holds 2,300 paintings, few of them from the nineteenth century.", "Most of the museum's 2,300 paintings are from the nineteenth century.", chg},
	{"The dam was completed in 1936 and renamed in 1947.", "The dam was renamed in 1947.", "The dam was completed in 1936.", chg},
	{"The dam was completed in 1936 and renamed in 1947.", "Completed in 1936, the dam got its present name eleven years later.", "The dam was completed in 1936.", ok},
	{"The bank raised its key rate to 4.5 percent.", "The bank lowered its key rate to 4.5 percent.", "The bank raised its key rate to 4.5 percent.", chg},
	{"The bank raised its key rate to 4.5 percent.", "The bank raised its key rate to 4.5 percent, the highest level in fifteen years.", "The bank raised its key rate to 4.5 percent.", ok},
	{"Der Betrieb der Fähre wird mit 3,2 Millionen Euro im Jahr gefördert.", "Der Betrieb der Fähre wird mit 2,8 Millionen Euro im Jahr gefördert.", "Die Fähre wird mit 3,2 Millionen Euro im Jahr gefördert.", chg},
	{"Der Betrieb der Fähre wird mit 3,2 Millionen Euro im Jahr gefördert.", "Jährlich fließen 3,2 Millionen Euro Förderung in den Betrieb der Fähre.", "Die Fähre wird mit 3,2 Millionen Euro im Jahr gefördert.", ok},
	{"Die Untersuchung fand keinen Zusammenhang zwischen Lärm und Schlafdauer.", "Die Untersuchung fand einen Zusammenhang zwischen Lärm und Schlafdauer.", "Die Untersuchung fand keinen Zusammenhang zwischen Lärm und Schlafdauer.", chg},
	{"La ligne transporte 85 000 voyageurs par jour.", "La ligne transporte 85 000 voyageurs par semaine.", "La ligne transporte 85 000 voyageurs par jour.", chg},
	{"La ligne transporte 85 000 voyageurs par jour.", "Chaque jour, 85 000 voyageurs empruntent la ligne.", "La ligne transporte 85 000 voyageurs par jour.", ok},
	{"La ciudad prohibió los coches en el centro en 2023.", "La ciudad permitió de nuevo los coches en el centro en 2025.", "La ciudad prohibió los coches en el centro en 2023.", chg},
	{"La ciudad prohibió los coches en el centro en 2023.", "Desde 2023 los coches están prohibidos en el centro de la ciudad.", "La ciudad prohibió los coches en el centro en 2023.", ok},
	{"Il ponte è chiuso ai camion fino al 30 settembre 2026.", "Il ponte è chiuso ai camion fino al 31 dicembre 2026.", "Il ponte è chiuso ai camion fino al 30 settembre 2026.", chg},
	{"Het park is 640 hectare groot en trekt 90.000 bezoekers per jaar.", "Het park is 640 hectare groot en trekt 120.000 bezoekers per jaar.", "Het park trekt 90.000 bezoekers per jaar.", chg},
	{"Het park is 640 hectare groot en trekt 90.000 bezoekers per jaar.", "Het park is 640 hectare groot en trekt 120.000 bezoekers per jaar.", "Het park is 640 hectare groot.", ok},
	{"The software is free for schools.", "The software is free for schools with fewer than 200 pupils.", "The software is free for schools.", chg},
	{"The trial was stopped early because of side effects.", "", "The trial was stopped early because of side effects.", gone},
	{"The village has a school, a bakery and two churches.", "The village has a bakery and two churches.", "The village has a school.", chg},
	{"The tower stood 92 metres high until the storm of 1894.", "Read our guide to the best beaches of the region and where to eat there.", "The tower was 92 metres high.", gone},
}

// heldOutMistakes are those of heldOut that are judged otherwise than they should be: three
// false alarms and a condition that is not found.
var heldOutMistakes = map[string]drift.State{
	"Tickets cost 14 euro for adults and 6 euro for children.":           chg,
	"Between 1990 and 2020, a quarter of the glacier's ice disappeared.": chg,
	"Chaque jour, 85 000 voyageurs empruntent la ligne.":                 chg,
	"The software is free for schools with fewer than 200 pupils.":       ok,
}

// TestOtherChanges holds sentences against changes of single passages, and prints how many
// alarms are right and how many changes are found.
func TestOtherChanges(t *testing.T) { holdAgainst(t, others, nil) }

// TestHeldOutChanges does the same with changes that no rule was mended by. What it finds is
// written down, so that a change of the rules shows.
func TestHeldOutChanges(t *testing.T) { holdAgainst(t, heldOut, heldOutMistakes) }

// holdAgainst judges changes. Mistakes are those that are known, by what the page says.
func holdAgainst(t *testing.T, changed []passageChange, mistakes map[string]drift.State) {
	t.Helper()
	runs := filepath.Join(t.TempDir(), "runs")
	first, later := web{}, web{}
	report, list := "", ""
	for i, o := range changed {
		url := fmt.Sprintf("https://others.example/pages/%d", i)
		frame := []string{"This page belongs to the archive of the newspaper, which keeps its reports for many years.", "", "Readers can write to the editors about everything that they find wrong here."}
		frame[1] = o.then
		first[url] = shows(document(fmt.Sprintf("Report %d", i), frame...))(url)
		frame[1] = o.now
		later[url] = shows(document(fmt.Sprintf("Report %d", i), frame...))(url)
		report += fmt.Sprintf("%s [%d].\n\n", o.said[:len(o.said)-1], i+1)
		list += fmt.Sprintf("[%d] Report %d: %s\n", i+1, i, url)
	}
	made := must.Get(audit.Make(t.Context(), desk(), first.again(nil), audit.Input{Report: report + "## Sources\n\n" + list, Home: store.Audits.Home(runs), Dir: runs}))(t)
	u := must.Get(library.Update(t.Context(), desk(), runs, later.again, open(t, runs, made.AuditID)))(t)
	right, alarms, changes := 0, 0, 0
	for i, s := range u.Sentences {
		want := changed[i].want
		if want != ok {
			changes++
		}
		if s.State != ok {
			alarms++
			if want != ok {
				right++
			}
		}
		if known, is := mistakes[changed[i].now]; is {
			want = known
		}
		if s.State != want {
			t.Errorf("%q is %s, want %s: %+v", s.Text, s.State, want, s.Pages)
		}
	}
	t.Logf("%d sentences: precision %.2f, recall %.2f", len(u.Sentences), float64(right)/float64(alarms), float64(right)/float64(changes))
}

// TestAServerSpeaksOfTheArchivedBytesAlone: who was not asked whether the archived page has
// changed cannot say that it has not, and an update says which bytes it compared.
func TestAServerSpeaksOfTheArchivedBytesAlone(t *testing.T) {
	const url = "https://a.example/ferry"
	body := document("The ferry Ampere", "The ferry carries 120 cars.")
	for _, test := range []struct {
		tagged, moved bool
		want          drift.State
		compared      string
	}{
		{false, false, drift.Unreachable, ""},
		{true, false, drift.Stands, "the archived bytes, of which the server says that they have not changed"},
		{false, true, drift.Stands, "what https://b.example/ferry sent"},
	} {
		runs := filepath.Join(t.TempDir(), "runs")
		first := web{url: func(c *archive.Capture, _ []archive.Field) {
			var more []archive.Field
			if test.tagged {
				more = []archive.Field{{Name: "ETag", Value: `"1"`}}
			}
			c.Hops = append(c.Hops, hop(url, 200, "text/html", body, more...))
		}}
		made, err := audit.Make(t.Context(), desk(), first.again(nil), audit.Input{Report: "The ferry carries 120 cars [1].\n\n# References\n\n[1] The ferry Ampere: " + url + "\n", Home: store.Audits.Home(runs), Dir: runs})
		if err != nil {
			t.Fatal(err)
		}
		item := must.Get(library.Open(t.Context(), desk(), runs, runs, made.AuditID))(t)
		defer item.Close()
		later := web{url: func(c *archive.Capture, _ []archive.Field) {
			if !test.moved {
				c.Hops = append(c.Hops, hop(url, 304, "text/html", ""))
				return
			}
			const to = "https://b.example/ferry"
			c.Hops = append(c.Hops, hop(url, 301, "text/html", "", archive.Field{Name: "Location", Value: to}), hop(to, 200, "text/html", body))
		}}
		updated := must.Get(library.Update(t.Context(), desk(), runs, later.again, item))(t)
		if s := updated.Sources[0]; updated.Sentences[0].State != test.want || s.Compared != test.compared {
			t.Errorf("%+v: %s, compared %q: %+v", test, updated.Sentences[0].State, s.Compared, s)
		}
	}
}

// TestAPageThatThisMachineMayNotFetchIsUnreachable: a machine may open fewer addresses than the
// one of the first time, which says nothing of the page.
func TestAPageThatThisMachineMayNotFetchIsUnreachable(t *testing.T) {
	const url = "https://a.example/ferry"
	runs := filepath.Join(t.TempDir(), "runs")
	first := web{url: func(c *archive.Capture, _ []archive.Field) {
		c.Hops = append(c.Hops, hop(url, 200, "text/html", document("The ferry Ampere", "The ferry carries 120 cars.")))
	}}
	made := must.Get(audit.Make(t.Context(), desk(), first.again(nil), audit.Input{Report: "The ferry carries 120 cars [1].\n\n# References\n\n[1] The ferry Ampere: " + url + "\n", Home: store.Audits.Home(runs), Dir: runs}))(t)
	item := must.Get(library.Open(t.Context(), desk(), runs, runs, made.AuditID))(t)
	defer item.Close()
	later := web{url: func(c *archive.Capture, _ []archive.Field) {
		c.Kind, c.Detail = archive.Refused, "the address is private"
	}}
	updated := must.Get(library.Update(t.Context(), desk(), runs, later.again, item))(t)
	if state := updated.Sentences[0].State; state != drift.Unreachable || updated.Sources[0].State != drift.Unreachable || updated.Pass {
		t.Errorf("the sentence is %s, the source %+v", state, updated.Sources[0])
	}
}

// TestAnAnswerSaysWhoFailed: where the agent failed nothing is said of the archived pages, and
// where they have no answer no agent is blamed.
func TestAnAnswerSaysWhoFailed(t *testing.T) {
	const blames, refusal = "The agent failed: whether the archived pages answer this question is not known.", "The archived pages do not answer this question."
	for answer, blamed := range map[string]bool{"": true, refusal: false} {
		shown := fmt.Sprint(library.Answered{Question: "Who pays?", Answer: answer, Why: "it says why", Next: "tidegate research 'Who pays?'"}.Report().Blocks)
		if strings.Contains(shown, blames) != blamed || strings.Contains(shown, refusal) == blamed || strings.Contains(shown, "New research") == blamed {
			t.Errorf("%q: %s", answer, shown)
		}
	}
}
