package asking_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/asking"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// A short question is answered in its own language, whatever that of the report.
func TestLanguageOfTheAnswer(t *testing.T) {
	for question, want := range map[string]string{
		"Bör hamnen köpa elektriska bogserbåtar?": "sv",
		"¿Cuántas aves contaron las estaciones?":  "es",
		"Pitäisikö sataman ostaa sähköhinaajia?":  "fi",
		"Wie hoch ist die Flut?":                  "de",
		"Elbe 2024":                               "nl",
	} {
		if got := asking.NewCase(question, "nl", nil).Language; got != want {
			t.Errorf("%s: answered in %q, want %q", question, got, want)
		}
	}
}

// Every language in which a report can be has a question that is known, and an answer of its
// own where the pages have none.
func TestQuestionsInTheLanguagesOfReports(t *testing.T) {
	questions := map[string]string{
		"en": "How many birds did the stations count?", "de": "Wie viele Vögel zählten die Stationen?",
		"fr": "Combien d'oiseaux ont été comptés ?", "es": "¿Cuántas aves contaron las estaciones?",
		"it": "Quanti uccelli hanno contato le stazioni?", "pt": "Quantas aves contaram as estações?",
		"nl": "Hoeveel vogels telden de stations?", "fi": "Montako lintua asemat laskivat?",
		"sv": "Hur många fåglar räknade stationerna?", "pl": "Ile ptaków policzyły stacje?",
		"zh": "站点数了多少鸟？", "ja": "観測所は鳥を何羽数えましたか？", "ar": "كم عدد الطيور التي أحصتها المحطات؟",
	}
	otherwise := asking.NewCase("Elbe 2024", "", nil).Refusal()
	for _, language := range evidence.Languages() {
		c := asking.NewCase(questions[language], "", nil)
		if c.Language != language {
			t.Errorf("%q is answered in %q, want %q", questions[language], c.Language, language)
		}
		if c.Refusal() == otherwise && language != "en" {
			t.Errorf("%q is refused in English", questions[language])
		}
	}
}
