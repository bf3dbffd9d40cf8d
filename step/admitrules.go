package step

import (
	"fmt"
	"math"

	"github.com/tidegate/tidegate/perspective"
)

// charactersPerWord is how many characters an output may have for each word that
// its contract allows, outside of its sources.
const charactersPerWord = 12

// AdmitRules states what [Admit] asks of an output, for its author.
func AdmitRules(c perspective.Contract) []string {
	rules := []string{
		"Everything in the document is visible to a reader: no HTML, no zero-width or direction characters.",
		fmt.Sprintf("Outside the list of sources the document has at most %.0f characters.", charactersPerWord*math.Floor(c.MaxWords)),
	}
	if c.MaxSources >= 1 {
		rules = append(rules, fmt.Sprintf("The list of sources has at most %.0f different URLs, and no URL holds a user name, a password or an access token.", math.Floor(c.MaxSources)))
	}
	return rules
}
