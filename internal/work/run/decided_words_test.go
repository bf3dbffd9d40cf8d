package run

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// TestDecisionsSpeakEveryLanguage: a report tells what people decided in its own language.
func TestDecisionsSpeakEveryLanguage(t *testing.T) {
	for what, phrase := range telling {
		for _, language := range evidence.Languages()[1:] {
			if evidence.Say(language, phrase) == phrase {
				t.Errorf("%s is told in English in a report in %s", what, language)
			}
		}
	}
}
