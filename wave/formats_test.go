package wave_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/wave"
)

// schemas is where other people's schemas lie beside a checkout; they are not
// part of the project.
const schemas = "../../shared/schemas"

// hostile are texts that would break out of one format or the other. As titles
// and source lines they reach every place of a report that a file can reach.
var hostile = []string{
	"# heading", "| cell | cell |", "``` fence", "`code` | x", "<script>alert(1)</script>", "<!-- comment", "]]> </failure></testcase>",
	"::error file=x,line=1::boo", "##[error]boo", "%0A%25", "\x1b[31mred\x1b[0m", "\u202eevil", "a\u2028b\u0085c", "\x00\x01\x7f", "\ufffe\uffff",
	`"},{"ruleId":"x"}`, "[text](https://example.com)", "![x](https://example.com/x.png)", "@octocat", "#123", "&lt;b&gt; &#35;", "$x$", `ends with \`,
	"*a* **b** _c_", "- item", "1. item", "> quote", "===", "---", "Sources", strings.Repeat("x", 1100), "漢字 👩‍👩‍👧",
}

// hostileWave has one failing output of every rule for every hostile text.
func hostileWave(t *testing.T) (wave.ReviewResult, string) {
	var contracts []contract
	outputs := map[string]string{}
	add := func(c contract, output string) {
		c.id = fmt.Sprintf("p%03d", len(contracts))
		if len(contracts)%7 == 0 {
			c.id += " ::warning::<b>|`" + "`]]>"
		}
		c.id = strings.ReplaceAll(c.id, "/", "")
		contracts = append(contracts, c)
		outputs[c.id] = output
	}
	for _, s := range hostile {
		add(contract{sections: []string{s}}, "x")
		add(contract{sections: []string{s, "Other " + s}}, "x")
		add(contract{sections: []string{"Sources"}}, "# Sources\nx "+s+"\n")
		add(contract{sections: []string{"Sources"}, maxWords: 0.5, maxSources: 0.5}, "# Sources\n- "+s+"\n- http://a\n")
		add(contract{}, s)
	}
	return review(t, given(t, contracts, outputs)), "/run"
}

func render(t *testing.T, r report.Report, name, root string) []byte {
	t.Helper()
	format, ok := report.Lookup(name)
	if !ok {
		t.Fatalf("there is no format %s", name)
	}
	var out bytes.Buffer
	must.Do(t, format.Write(&out, r, report.Options{Version: "test", Root: root}))
	return out.Bytes()
}

func TestHostileReviewAsSARIF(t *testing.T) {
	result, root := hostileWave(t)
	data := render(t, result.Report(), "sarif", root)
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Rules []struct {
						ID   string
						Help struct{ Text string }
					}
				}
			}
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	must.Do(t, json.Unmarshal(data, &log))
	faults, withLine := 0, 0
	for _, r := range result.Report().Cases {
		faults += len(r.Findings)
	}
	for _, r := range log.Runs[0].Results {
		if len(r.Locations) != 1 || !strings.HasPrefix(r.Locations[0].PhysicalLocation.ArtifactLocation.URI, "wave-1/") {
			t.Errorf("locations %+v", r.Locations)
			continue
		}
		if line := r.Locations[0].PhysicalLocation.Region.StartLine; line > 0 {
			withLine++
		} else if r.RuleID == "MALFORMED_SOURCES" {
			t.Errorf("a malformed line has no line")
		}
	}
	if len(log.Runs[0].Results) != faults || withLine == 0 {
		t.Errorf("%d results for %d faults", len(log.Runs[0].Results), faults)
	}
	var rules []string
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		rules = append(rules, r.ID)
		if r.Help.Text == "" {
			t.Errorf("%s has no help", r.ID)
		}
	}
	slices.Sort(rules)
	if want := []string{"MALFORMED_SOURCES", "MISSING_REQUIRED_SECTION", "OUTPUT_NOT_FOUND", "TOO_MANY_SOURCES", "TOO_MANY_WORDS"}; !slices.Equal(rules, want) {
		t.Errorf("rules %v", rules)
	}
	path := filepath.Join(schemas, "sarif-schema-2.1.0.json")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the SARIF schema is absent: checked for form only")
	}
	schema := must.Get(jsonschema.NewCompiler().Compile(path))(t)
	value := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
}

func TestReportNamesEveryFaultAndItsPlace(t *testing.T) {
	outputs := given(t, []contract{{id: "p", maxWords: 3, maxSources: 1, sections: []string{"A", "Sources"}}},
		map[string]string{"p": "# Sources\n- https://a\n- https://b\nc\nd\n"})
	got := string(render(t, review(t, outputs).Report(), "text", "/run"))
	for _, want := range []string{
		"p              8/3      2/1  Missing section: A",
		"the output has 8 words, the contract allows 3",
		"line 4, in the Sources section, is not a list item; 1 more line likewise malformed",
		"wave-1/p.md:4", "wave-1/p.md:3",
		"- p: Add missing required section 'A' under a heading with exactly that text.",
		"1 of 1 output failed.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
}
