package page_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/text/page"
)

func TestQuestionLanguage(t *testing.T) {
	for question, want := range map[string]string{
		"Which heat pump fits an old house?":                     "en",
		"Should the port buy electric ferries?":                  "en",
		"Does it rain more?":                                     "en",
		"Welche Wärmepumpe passt in ein altes Haus?":             "de",
		"Soll der Hafen elektrische Fähren kaufen?":              "de",
		"Quelle pompe à chaleur convient à une vieille maison ?": "fr",
		"¿Qué bomba de calor conviene a una casa antigua?":       "es",
		"Quale pompa di calore è adatta a una vecchia casa?":     "it",
		"Que bomba de calor serve para uma casa antiga?":         "pt",
		"Welke warmtepomp past bij een oud huis?":                "nl",
		"Mikä lämpöpumppu sopii vanhaan taloon?":                 "fi",
		"Vilken värmepump passar ett gammalt hus?":               "sv",
		"Jaka pompa ciepła pasuje do starego domu?":              "pl",
		"Must ports buy electric tugs?":                          "en",
		"¿Cuántas aves contaron las estaciones?":                 "es",
		"¿Hay pruebas?": "es",
		"Pitäisikö sataman ostaa sähköhinaajia?":       "fi",
		"Montako lintua asemat laskivat?":              "fi",
		"Bör hamnen köpa elektriska bogserbåtar?":      "sv",
		"Borde hamnen köpa bogserbåtar?":               "sv",
		"Bør havnen købe elektriske slæbebåde?":        "da",
		"Er elbiler billigere end benzinbiler?":        "da",
		"Må man flyve med drone i byen?":               "da",
		"Can ports buy electric tugs?":                 "en",
		"Do heat pumps pay off?":                       "en",
		"Darf Hamburg Schlepper kaufen?":               "de",
		"Le port devrait-il acheter des remorqueurs ?": "fr",
		"Quante stazioni hanno contato uccelli?":       "it",
		"Quantas aves contaram as estações?":           "pt",
		"Moeten havens elektrische sleepboten kopen?":  "nl",
		"Câte păsări au numărat stațiile?":             "ro",
		"İstasyonlar kaç kuş saydı?":                   "tr",
		"Hány madarat számoltak?":                      "hu",
		"哪种热泵适合老房子？":                                   "zh",
		"古い家に合うヒートポンプはどれですか？":                          "ja",
		"أي مضخة حرارية تناسب منزلاً قديماً؟":          "ar",
		"heat pumps": "",
		"Rust vs Go": "",
	} {
		if got := page.QuestionLanguage(question); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}

// A person asks in a few words, in any language in which a report can be.
func TestShortQuestions(t *testing.T) {
	for want, questions := range map[string][]string{
		"de": {
			"Lohnt sich eine Wärmepumpe im Altbau?",
			"Dürfen Drohnen über Wohngebieten fliegen?",
			"Braucht Bremen eine Straßenbahn nach Norden?",
			"Wer haftet bei Glatteis?",
			"Elektrobusse oder Wasserstoff: was ist billiger?",
		},
		"fr": {
			"Les éoliennes tuent-elles des oiseaux ?",
			"Peut-on recycler les pales d'éoliennes ?",
			"Où construire une digue ?",
			"Faut-il interdire les trottinettes ?",
			"La ville doit-elle acheter des bus électriques ?",
		},
		"es": {
			"¿Conviene vender el coche diésel?",
			"¿Sirven los carriles bici?",
			"Debe Madrid prohibir los patinetes?",
			"Cuánto cuesta desalar agua?",
			"¿Son seguras las baterías de sodio?",
		},
		"it": {
			"Conviene installare pannelli solari?",
			"I monopattini sono pericolosi?",
			"Venezia deve vietare le grandi navi?",
			"Quanto dura una batteria al litio?",
			"Serve davvero il ponte sullo Stretto?",
		},
		"pt": {
			"Vale a pena comprar um carro elétrico?",
			"Lisboa deve proibir cruzeiros?",
			"Quanto custa dessalinizar água?",
			"As barragens matam peixes?",
			"Existem aves noturnas no porto?",
		},
		"nl": {
			"Kan Rotterdam zonder kolen?",
			"Zijn warmtepompen stil genoeg?",
			"Mogen fatbikes op het fietspad?",
			"Loont een zonneboiler nog?",
			"Wat kost een nieuwe sluis?",
		},
		"fi": {
			"Kannattaako maalämpö vanhassa talossa?",
			"Voiko Oulu luopua turpeesta?",
			"Onko ydinvoima halpaa?",
			"Paljonko sähköbussi maksaa?",
			"Mitkä linnut talvehtivat satamassa?",
		},
		"sv": {
			"Kan hamnen köpa elektriska bogserbåtar?",
			"Lönar sig bergvärme i gamla hus?",
			"Får man flyga drönare i Göteborg?",
			"Är kärnkraft billigare än vindkraft?",
			"Hur många älgar dör i trafiken?",
		},
		"pl": {
			"Czy Gdańsk powinien kupić elektryczne holowniki?",
			"Ile kosztuje pompa ciepła?",
			"Czy warto kupić auto elektryczne?",
			"Kiedy zamknąć kopalnie?",
			"Które ptaki zimują w porcie?",
		},
		"zh": {
			"港口应该购买电动拖船吗？",
			"热泵划算吗？",
			"一座水坝要多少钱？",
			"哪些鸟在港口过冬？",
			"电动公交车安全吗？",
		},
		"ja": {
			"港は電動タグボートを買うべきか？",
			"ヒートポンプは得ですか？",
			"ダムの建設費はいくら？",
			"どの鳥が港で越冬する？",
			"電気バスは安全？",
		},
		"ar": {
			"هل يجب على الميناء شراء قاطرات كهربائية؟",
			"كم تكلفة المضخة الحرارية؟",
			"ما هي الطيور الشتوية؟",
			"أين يُبنى السد؟",
			"هل الحافلات الكهربائية آمنة؟",
		},
	} {
		for _, question := range questions {
			if got := page.QuestionLanguage(question); got != want {
				t.Errorf("%s: %q, want %q", question, got, want)
			}
		}
	}
}
