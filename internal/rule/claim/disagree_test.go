package claim_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
)

func TestDisagreements(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
		number        string // of the first, "" where they do not disagree
	}{
		"a planted contradiction":  {"The electric tugs of the port cost 12.4 million euros.", "The port's electric tugs cost 15.1 million euros in all.", "12.4 million euros"},
		"percent":                  {"Electric tugs cut the fuel costs of the port by 40 %.", "Electric tugs cut fuel costs of the port by 12 %.", "40 %"},
		"a noun":                   {"The harbour of Karholm has 14 tugs at work.", "The harbour of Karholm has 11 tugs at work.", "14"},
		"the same number":          {"The electric tugs of the port cost 12.4 million euros.", "The electric tugs of the port cost 12,400,000 euros.", ""},
		"one is rounded":           {"The electric tugs of the port cost 12.4 million euros.", "The electric tugs of the port cost about 12 million euros.", ""},
		"another year":             {"In 2021 the port handled 4,200 calls of tugs.", "In 2023 the port handled 5,100 calls of tugs.", ""},
		"another place":            {"The harbour of Karholm has 14 tugs at work.", "The harbour of Velstad has 11 tugs at work.", ""},
		"another thing":            {"A battery of a tug lasts 12 years in the harbour.", "The crane at the quay lasts 30 years in service.", ""},
		"another unit":             {"The electric tugs of the port cost 12.4 million euros.", "The electric tugs of the port weigh 310 tonnes.", ""},
		"several of the same kind": {"The electric tugs of the port cost 12 million euros, diesel tugs 7 million euros.", "The electric tugs of the port cost 9 million euros.", ""},
		"no number":                {"The electric tugs of the port are quiet.", "The electric tugs of the port cost 9 million euros.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			both := []claim.Question{{Text: c.first, Language: "en"}, {Text: c.second, Language: "en"}}
			found := claim.Disagreements(both, func(i, k int) bool { return true })
			if c.number == "" {
				if len(found) > 0 {
					t.Errorf("%+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Number != c.number {
				t.Fatalf("%+v, want %q", found, c.number)
			}
			if !both[0].Gives(found[0].Number) || both[0].Gives(found[0].Another) || !both[1].Gives(found[0].Another) {
				t.Errorf("which sentence gives which number is not known: %+v", found[0])
			}
			if found := claim.Disagreements(both, func(i, k int) bool { return false }); len(found) > 0 {
				t.Errorf("sentences that are not compared disagree: %+v", found)
			}
		})
	}
}
