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
		"哪种热泵适合老房子？":                                             "zh",
		"古い家に合うヒートポンプはどれですか？":                                    "ja",
		"أي مضخة حرارية تناسب منزلاً قديماً؟":                    "ar",
		"heat pumps": "",
		"Rust vs Go": "",
	} {
		if got := page.QuestionLanguage(question); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
