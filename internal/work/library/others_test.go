package library_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
)

// others are changes of single passages, in several languages and subjects: what a page
// said, what it says, what a report says by it, and how that then stands.
var others = []struct {
	then, now, said string
	want            drift.State
}{
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

// TestOtherChanges holds sentences against changes of single passages, and prints how many alarms are right and how many changes are found.
func TestOtherChanges(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	first, later := web{}, web{}
	report, list := "", ""
	for i, o := range others {
		url := fmt.Sprintf("https://others.example/pages/%d", i)
		frame := []string{"This page belongs to the archive of the newspaper, which keeps its reports for many years.", "", "Readers can write to the editors about everything that they find wrong here."}
		frame[1] = o.then
		first[url] = shows(document(fmt.Sprintf("Report %d", i), frame...))(url)
		frame[1] = o.now
		later[url] = shows(document(fmt.Sprintf("Report %d", i), frame...))(url)
		report += fmt.Sprintf("%s [%d].\n\n", o.said[:len(o.said)-1], i+1)
		list += fmt.Sprintf("[%d] Report %d: %s\n", i+1, i, url)
	}
	made, err := audit.Make(t.Context(), desk(), first.again(nil), audit.Input{Report: report + "## Sources\n\n" + list, Home: audit.Home(runs), Dir: runs})
	if err != nil {
		t.Fatal(err)
	}
	u, err := library.Update(t.Context(), desk(), runs, later.again, open(t, runs, made.AuditID))
	if err != nil {
		t.Fatal(err)
	}
	right, alarms, changes := 0, 0, 0
	for i, s := range u.Sentences {
		if others[i].want != ok {
			changes++
		}
		if s.State != ok {
			alarms++
			if others[i].want != ok {
				right++
			}
		}
		if s.State != others[i].want {
			t.Errorf("%q is %s, want %s: %+v", s.Text, s.State, others[i].want, s.Pages)
		}
	}
	t.Logf("%d sentences: precision %.2f, recall %.2f", len(u.Sentences), float64(right)/float64(alarms), float64(right)/float64(changes))
}
