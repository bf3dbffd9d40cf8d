package planted

import (
	"fmt"
	"html"
	"net/http"
	"strings"
)

// figures plants pages that are full of numbers, and lists what may and may not
// be claimed about them.
func (b *builder) figures() {
	for i, f := range figurePages {
		s := b.newSite("")
		t := tongueOf(f.language)
		body := t.body(1, f.title, f.sentences)
		if f.table != "" {
			body += "<table>" + f.table + "</table>"
		}
		p := b.plant(Honest, "numbers, "+f.title, s.at("https", path(400+i, f.title), page(http.StatusOK, t.document(1, html.EscapeString(f.title), "", body))), f.title)
		p.Sentences = f.sentences
		for line := range strings.Lines(f.claims) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			label, rest, _ := strings.Cut(line, " ")
			about, text, found := strings.Cut(rest, ": ")
			if !found || label != "+" && label != "-" {
				panic(fmt.Sprintf("planted: the claim %q has no label", line))
			}
			b.claims = append(b.claims, Claim{URL: p.URL, About: about, Text: text, On: label == "+"})
		}
	}
}

// figurePages are pages with claims that were labelled by hand: + where the page
// says what is claimed, - where it does not.
var figurePages = []struct {
	language, title string
	sentences       []string
	table           string // its rows
	claims          string
}{
	{"en", "The port in numbers", []string{
		"In 2019 the port handled 1,234,567 containers, 4.5% more than in 2018.",
		"Turnover rose to $2.3 billion, of which 12.5 per cent came from cruise ships.",
		"The port employs 3,400 people in 28 companies.",
		"The new quay cost €45m and was opened on 17 March 2019.",
		"Between 250 and 300 lorries leave the gate every hour.",
		"The deepest berth has 16.5 metres of water, and the largest crane lifts 120 tonnes.",
		"Twenty-five pilots work in shifts of twelve hours.",
		"The fee for a call went up from £75 to £80.",
		"In the 1990s half a million passengers came every year; in 2019 there were 87k.",
		"The port's 150th birthday is in 2031.",
	}, "", `
		+ thousands separator: The port handled 1234567 containers.
		+ thousands separator: The port handled 1 234 567 containers.
		+ thousands separator: The port handled 1'234'567 containers.
		- thousands separator: The port handled 1,234,576 containers.
		- thousands separator: The port handled 123,456 containers.
		+ thousands separator: It employs 3400 people.
		- thousands separator: It employs 34,000 people.
		- thousands separator: It employs 340 people.
		+ per cent: Traffic grew by 4.5 percent.
		+ per cent: Traffic grew by 4.5 per cent.
		+ per cent: Traffic grew by 4,5 %.
		- per cent: Traffic grew by 5.4 %.
		- per cent: Traffic grew by 45 %.
		- per cent: Traffic grew by 4.5 percentage points.
		+ per cent: Cruise ships brought 12.5% of the turnover.
		- per cent: Cruise ships brought 125 % of the turnover.
		+ currency: Turnover was 2.3 billion dollars.
		+ currency: Turnover was US$2.3bn.
		- currency: Turnover was €2.3 billion.
		- magnitude: Turnover was $2.3 million.
		+ magnitude: Turnover was $2,300 million.
		- magnitude: Turnover was $23 billion.
		+ currency: The quay cost 45 million euros.
		+ currency: The quay cost EUR 45 million.
		- currency: The quay cost 45 million dollars.
		- magnitude: The quay cost €45 billion.
		+ date: The quay was opened in March 2019.
		+ date: The quay was opened on 2019-03-17.
		+ date: The quay was opened on 17.03.2019.
		- date: The quay was opened in March 2017.
		+ range: 250–300 lorries leave every hour.
		+ range: 250 to 300 lorries leave every hour.
		+ range: Up to 300 lorries leave every hour.
		- range: 200–300 lorries leave every hour.
		- range: 250–350 lorries leave every hour.
		+ unit: The deepest berth has 16.5 m of water.
		+ unit: The deepest berth has 16,5 metres of water.
		- unit: The deepest berth has 16.5 feet of water.
		- unit: The deepest berth has 165 metres of water.
		+ unit: The crane lifts 120 t.
		- unit: The crane lifts 120 kg.
		- unit: The crane lifts 120 pounds.
		+ number words: It has 25 pilots.
		- number words: It has 35 pilots.
		+ number words: Pilots work 12 hours at a time.
		- number words: Pilots work 12 days at a time.
		+ number words: The port has twenty-eight companies.
		- number words: The port has eighteen companies.
		+ currency: A call costs £80 today.
		+ currency: A call costs 80 pounds today.
		- currency: A call costs $80 today.
		- currency: A call costs £85 today.
		+ year: The 1990s were its best years.
		- year: The 1980s were its best years.
		+ magnitude: There were 500,000 passengers a year once.
		+ magnitude: There were 0.5 million passengers a year once.
		+ magnitude: There were 87,000 passengers in 2019.
		- magnitude: There were 870,000 passengers in 2019.
		- magnitude: There were 87 million passengers in 2019.
		+ ordinal: It celebrates its 150th birthday in 2031.
		- ordinal: It celebrates its 160th birthday in 2031.
		- year: It celebrates in 2030.
	`},
	{"de", "Der Hafen in Zahlen", []string{
		"Der Hafen hat 2.480 Liegeplätze und nimmt 3,75 Millionen Euro im Jahr ein.",
		"Der Tidenhub beträgt im Mittel 3,4 Meter, bei Springtide 4,1 Meter.",
		"Seit dem 3. Oktober 1990 sind 65 Prozent der Boote Segelboote.",
		"Der neue Damm kostete 1,2 Mrd. Euro und ist 25,6 Kilometer lang.",
		"Im Jahr kommen 15.000 bis 18.000 Gäste, das sind 0,5 Prozent mehr als 2015.",
	}, "", `
		+ decimal comma: The mean range is 3.4 metres.
		+ decimal comma: The mean range is 3,4 m.
		- decimal comma: The mean range is 34 metres.
		- decimal comma: The mean range is 4.3 metres.
		+ thousands separator: The harbour has 2,480 berths.
		+ thousands separator: The harbour has 2480 berths.
		+ thousands separator: Der Hafen hat 2.480 Liegeplätze.
		- thousands separator: The harbour has 2.48 million berths.
		- thousands separator: The harbour has 2,840 berths.
		+ magnitude: It earns 3.75 million euros a year.
		+ magnitude: It earns €3,750,000 a year.
		- magnitude: It earns 3.75 billion euros a year.
		- currency: It earns 3.75 million dollars a year.
		+ per cent: 65 % of the boats are sailing boats.
		+ per cent: 65 per cent of the boats are sailing boats.
		- per cent: 56 % of the boats are sailing boats.
		- per cent: 65 boats are sailing boats.
		+ year: This has been so since 1990.
		+ date: This has been so since 3 October 1990.
		- year: This has been so since 1989.
		+ magnitude: The dam cost 1.2 billion euros.
		+ magnitude: The dam cost €1.2bn.
		- magnitude: The dam cost 1.2 million euros.
		+ unit: The dam is 25.6 km long.
		- unit: The dam is 25.6 miles long.
		- unit: The dam is 25.6 metres long.
		+ range: Between 15,000 and 18,000 guests come every year.
		+ range: 15–18 thousand guests come every year.
		- range: Between 15,000 and 19,000 guests come every year.
		+ per cent: That is 0.5% more than in 2015.
		- per cent: That is 5% more than in 2015.
	`},
	{"fr", "Le port en chiffres", []string{
		"Le port a accueilli 1\u202f250\u202f000 passagers en 2021, soit 7,8\u00a0% de plus qu'en 2020.",
		"Le budget est de 86 millions d'euros, dont un quart pour le dragage.",
		"La nouvelle jetée mesure 1,4 km et résiste à des vagues de 12 mètres.",
		"Le phare, bâti en 1854, porte à 27 milles marins.",
	}, "", `
		+ thousands separator: The port had 1,250,000 passengers in 2021.
		+ magnitude: The port had 1.25 million passengers in 2021.
		- magnitude: The port had 1.25 billion passengers in 2021.
		- thousands separator: The port had 1,520,000 passengers in 2021.
		- year: The port had 1,250,000 passengers in 2022.
		+ decimal comma: That is 7.8% more than in 2020.
		- decimal comma: That is 78% more than in 2020.
		+ currency: The budget is €86 million.
		+ currency: The budget is 86 million euros.
		- currency: The budget is £86 million.
		+ unit: The new pier is 1.4 kilometres long.
		- unit: The new pier is 1.4 miles long.
		+ unit: It withstands waves of 12 m.
		- unit: It withstands waves of 21 m.
		+ year: The lighthouse was built in 1854.
		- year: The lighthouse was built in 1845.
		+ number words: The budget is eighty-six million euros.
	`},
	{"en", "Landings by species", []string{"The table has the landings of the last three years."}, `<tr><th>Year</th><th>Herring, tonnes</th><th>Share, %</th><th>Value, €</th></tr>` +
		`<tr><td>2020</td><td>12,400</td><td>31.5</td><td>8,680,000</td></tr><tr><td>2021</td><td>9,850</td><td>27.2</td><td>7,190,500</td></tr><tr><td>2022</td><td>11,075</td><td>29.9</td><td>8,306,250</td></tr>`, `
		+ table: In 2020, 12,400 tonnes of herring were landed.
		+ table: In 2020, 12400 t of herring were landed.
		- table: In 2020, 14,200 tonnes of herring were landed.
		+ table: The share of herring was 27.2% in 2021.
		- table: The share of herring was 22.7% in 2021.
		+ table: Herring brought €8,306,250 in 2022.
		- table: Herring brought €8,603,250 in 2022.
		- table: In 2019 nothing was landed.
		+ table: In 2022, 11.075 thousand tonnes were landed.
		- table: In 2022, 11.075 million tonnes were landed.
	`},
	{"en", "What the samples showed", []string{
		"The samples were kept at 37 °C for the first 24 hours and held 5 × 10⁶ cells per litre.",
		"A dose of 0.05 mg was enough in 95% of the cases.",
		"The ratio was 1.8 (95% confidence interval 1.2–3.4).",
		"In the twenty-first century the lake has warmed by 1.25 degrees Celsius.",
		"Of one hundred and twelve fish, three dozen were older than ten years.",
		"The trawl ran at 3.5 knots from 10:30 until 14:15.",
	}, "", `
		+ unit: The samples were kept at 37 degrees Celsius.
		- unit: The samples were kept at 37 °F.
		- unit: The samples were kept at 73 °C.
		+ unit: They were kept so for 24 hours.
		- unit: They were kept so for 24 days.
		+ magnitude: A litre held 5 million cells.
		+ magnitude: A litre held 5,000,000 cells.
		- magnitude: A litre held 50 million cells.
		+ unit: A dose of 0.05 milligrams was enough.
		- unit: A dose of 0.05 g was enough.
		- unit: A dose of 0.5 mg was enough.
		+ per cent: It was enough in 95 per cent of the cases.
		- per cent: It was enough in 59 per cent of the cases.
		+ range: The interval is 1.2 to 3.4.
		- range: The interval is 1.2 to 4.3.
		+ ordinal: The lake has warmed in the 21st century.
		- ordinal: The lake has warmed in the 20th century.
		+ unit: The lake has warmed by 1.25 °C.
		- unit: The lake has warmed by 12.5 °C.
		+ number words: There were 112 fish.
		- number words: There were 121 fish.
		+ number words: 36 of them were older than ten years.
		- number words: 63 of them were older than ten years.
		+ unit: The trawl ran at 3.5 kn.
		- unit: The trawl ran at 3.5 mph.
		+ time: The trawl began at 10:30.
		- time: The trawl began at 10:45.
	`},
	{"en", "The dyke and its builders", []string{
		"Nineteenth-century engineers built the dyke with two thousand five hundred workers.",
		"One in ten fell ill, and three quarters of the money was spent in the first year.",
		"The wall was raised by five to seven feet in 1887 and again in 1911/12.",
		"It cost £1.1m, or about £140m today, twice the estimate.",
		"By the end of the 1920s the dyke protected 40,000 acres and 6,000 cattle.",
		"Maintenance takes roughly US$3–4 million a year.",
	}, "", `
		+ number words: 2,500 workers built the dyke.
		- number words: 2,050 workers built the dyke.
		+ number words: 2.5 thousand workers built the dyke.
		+ ordinal: It was built in the 19th century.
		- ordinal: It was built in the 18th century.
		+ year: It was raised in 1887.
		- year: It was raised in 1888.
		+ year: It was raised again in 1912.
		- year: It was raised again in 1913.
		+ currency: It cost 1.1 million pounds.
		- currency: It cost 1.1 million euros.
		- magnitude: It cost £11 million.
		+ currency: That is about £140 million today.
		- currency: That is about $140 million today.
		+ unit: It protected 40,000 acres.
		- unit: It protected 40,000 hectares.
		+ thousands separator: It protected 6000 cattle.
		- thousands separator: It protected 60,000 cattle.
		+ range: Maintenance costs between $3 million and $4 million a year.
		- range: Maintenance costs between $3 million and $5 million a year.
		- range: Maintenance costs between €3 million and €4 million a year.
		+ per cent: 75% of the money was spent in the first year.
		- per cent: 57% of the money was spent in the first year.
		+ per cent: 10% of the workers fell ill.
		- per cent: 20% of the workers fell ill.
	`},
	{"ja", "港の数字", []string{
		"2022年の取扱量は約12億円で、前年より4.5％増えた。",
		"港の深さは16.5メートル、従業員は3,400人である。",
		"新しい岸壁は45万平方メートルの広さがある。",
	}, "", `
		+ magnitude: In 2022 it handled goods for 1.2 billion yen.
		- magnitude: In 2022 it handled goods for 12 billion yen.
		+ per cent: That was 4.5% more than the year before.
		- per cent: That was 5.4% more than the year before.
		+ unit: The harbour is 16.5 metres deep.
		- unit: The harbour is 16.5 feet deep.
		+ thousands separator: It employs 3400 people.
		- thousands separator: It employs 4300 people.
		+ magnitude: The quay covers 450,000 square metres.
		- magnitude: The quay covers 45,000 square metres.
	`},
}
