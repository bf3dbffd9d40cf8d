package synthesis_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
)

const outline = `{"sections":[{"section":"Key Findings","answers":"What was found?","perspectives":["a","b"],"words":300},
 {"section":"Caveats","answers":"What is doubtful?","perspectives":["b"],"words":100},
 {"section":"Evidence","answers":"What carries it?","perspectives":["a"],"words":200}],"dropped":[{"perspective":"c","reason":"It is about trains."}]}`

func TestParseOutline(t *testing.T) {
	got, faults := synthesis.ParseOutline([]byte(outline), evidence.Briefing, []string{"a", "b", "c"}, 6000)
	if len(faults) > 0 || got.Join != 600 || len(got.Sections) != 3 || got.Sections[0].Number != 2 || got.Sections[0].Words != 2700 || got.Sections[2].Section != "Caveats" {
		t.Fatalf("%+v, %+v", got, faults)
	}
	for name, c := range map[string]struct {
		change string // from|to
		code   tidegate.Code
	}{
		"no JSON":                  {"{|", tidegate.InvalidJSON},
		"no words":                 {`"words":300|"words":0`, tidegate.SchemaValidationFailed},
		"a section of its own":     {"Key Findings|Key findings", tidegate.SchemaValidationFailed},
		"the summary":              {"Evidence|Summary", tidegate.SchemaValidationFailed},
		"a section twice":          {"Evidence|Caveats", tidegate.SchemaValidationFailed},
		"an unknown perspective":   {`"a","b"|"a","b","d"`, tidegate.SchemaValidationFailed},
		"a perspective forgotten":  {`{"perspective":"c","reason":"It is about trains."}|`, tidegate.TooLittle},
		"dropped without a reason": {"It is about trains.| ", tidegate.SchemaValidationFailed},
		"used and dropped":         {`"a","b"|"a","b","c"`, tidegate.SchemaValidationFailed},
		"a section forgotten":      {`{"section":"Caveats","answers":"What is doubtful?","perspectives":["b"],"words":100},|`, tidegate.MissingRequiredSection},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, _ := strings.Cut(c.change, "|")
			_, faults := synthesis.ParseOutline([]byte(strings.Replace(outline, from, to, 1)), evidence.Briefing, []string{"a", "b", "c"}, 6000)
			if len(faults) == 0 || faults[0].Code != c.code || faults[0].ChangeNote == "" {
				t.Errorf("%+v", faults)
			}
		})
	}
}

func TestAssemble(t *testing.T) {
	template := evidence.Template{Sections: []evidence.Section{{Title: "Summary"}, {Title: "One"}, {Title: "Two"}}}
	got := synthesis.Assemble(template, []byte("## Summary\n\nIn short. [@a]\n\n## One\n\n## Two\n\nThen what?\n"),
		map[string][]byte{"One": []byte("## One\n\nFirst. [@a]\n\n### Inside\n\nMore. [@a]\n"), "Two": []byte("## Two\n\nSecond. [@b]\n")})
	const want = "## Summary\n\nIn short. [@a]\n\n## One\n\nFirst. [@a]\n\n### Inside\n\nMore. [@a]\n\n## Two\n\nThen what?\n\nSecond. [@b]\n"
	if string(got) != want {
		t.Errorf("%s", got)
	}
}
