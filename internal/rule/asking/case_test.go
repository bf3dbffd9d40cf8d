package asking_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/asking"
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
