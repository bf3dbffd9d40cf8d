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
