package wave_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/wave"
)

// flawless is a perspective that the linter has nothing to say about, with the
// contract's fields given.
func flawless(id, maxWords, maxSources string, titles ...string) string {
	if titles == nil {
		titles = []string{"Findings", "Gaps", "Sources"}
	}
	list, _ := json.Marshal(titles)
	return fmt.Sprintf(`{"id":%q,"title":"T","track":"standard","agent_type":"a","prompt_contract":`+
		`{"max_words":%s,"max_sources":%s,"tool_budget":{},"must_include_sections":%s}}`, id, maxWords, maxSources, list)
}

func lintDocument(perspectives ...string) string {
	return `{"schema_version":"perspectives.v1","run_id":"r","created_at":"2026-02-14T12:00:00Z","perspectives":[` + strings.Join(perspectives, ",") + `]}`
}

func lint(t *testing.T, document string, most int) wave.LintResult {
	t.Helper()
	result := must.Get(wave.Lint("perspectives.json", []byte(document), most))(t)
	return result
}

func TestLint(t *testing.T) {
	contract := ".prompt_contract"
	for _, tt := range []struct {
		name, document string
		want           []string // level, rule and path
	}{
		{"nothing to say", lintDocument(flawless("a", "100", "5"), flawless("b", "100", "5")), nil},
		{"empty list", lintDocument(), []string{"error NO_PERSPECTIVES $.perspectives"}},
		{"field of the document", `{"schema_version":"perspectives.v1","perspectives":[` + flawless("a", "100", "5") + `]}`, []string{"error SCHEMA_VALIDATION_FAILED $.run_id", "error SCHEMA_VALIDATION_FAILED $.created_at"}},
		{"no object", `7`, []string{"error SCHEMA_VALIDATION_FAILED $"}},
		{"a contract that judging can use is checked, whatever else is missing",
			lintDocument(`{"id":"a","prompt_contract":{"max_words":2,"max_sources":5,"must_include_sections":["Sources","Gaps","a\nb"]}}`), []string{
				"error SCHEMA_VALIDATION_FAILED $.perspectives[0].title",
				"error SCHEMA_VALIDATION_FAILED $.perspectives[0].agent_type",
				"error SCHEMA_VALIDATION_FAILED $.perspectives[0].track",
				"error SCHEMA_VALIDATION_FAILED $.perspectives[0].prompt_contract.tool_budget",
				"error TITLE_UNMATCHABLE $.perspectives[0].prompt_contract.must_include_sections[2]",
				"error CAP_BELOW_HEADINGS $.perspectives[0].prompt_contract.max_words",
			}},
		{"every perspective is checked", lintDocument(`7`, flawless("b", "-1", "5"), flawless("c", "100", "5"), flawless("../x", "100", "5")), []string{
			"error SCHEMA_VALIDATION_FAILED $.perspectives[0]",
			"error SCHEMA_VALIDATION_FAILED $.perspectives[1].prompt_contract.max_words",
			"error SCHEMA_VALIDATION_FAILED $.perspectives[3].id",
		}},
		{"every field is checked", lintDocument(`{"id":"a","title":" ","prompt_contract":{"max_words":-1,"max_sources":1}}`), []string{
			"error SCHEMA_VALIDATION_FAILED $.perspectives[0].title",
			"error SCHEMA_VALIDATION_FAILED $.perspectives[0].agent_type",
			"error SCHEMA_VALIDATION_FAILED $.perspectives[0].track",
			"error SCHEMA_VALIDATION_FAILED $.perspectives[0].prompt_contract.max_words",
			"error SCHEMA_VALIDATION_FAILED $.perspectives[0].prompt_contract.must_include_sections",
			"error SCHEMA_VALIDATION_FAILED $.perspectives[0].prompt_contract.tool_budget",
		}},
		{"repeated id", lintDocument(flawless("a", "100", "5"), flawless("a", "100", "5")), []string{"error SCHEMA_VALIDATION_FAILED $.perspectives[1].id"}},
		{"repeated id after one in another case", lintDocument(flawless("a", "100", "5"), flawless("A", "100", "5"), flawless("A", "100", "5")),
			[]string{"warning ID_DIFFERS_ONLY_IN_CASE $.perspectives[1].id", "error SCHEMA_VALIDATION_FAILED $.perspectives[2].id"}},
		{"id that is a device elsewhere", lintDocument(flawless("Con", "100", "5"), flawless("nul.x", "100", "5"), flawless("console", "100", "5")), []string{
			"warning ID_NOT_PORTABLE $.perspectives[0].id", "warning ID_NOT_PORTABLE $.perspectives[1].id",
		}},
		{"id that is not a file name elsewhere", lintDocument(flawless("why?", "100", "5")), []string{"warning ID_NOT_PORTABLE $.perspectives[0].id"}},
		{"id in another case", lintDocument(flawless("a", "100", "5"), flawless("A", "100", "5")), []string{"warning ID_DIFFERS_ONLY_IN_CASE $.perspectives[1].id"}},
		{"ids that look alike", lintDocument(flawless("e\u0301tude", "100", "5"), flawless("\u00e9tude", "100", "5"), flawless("\u00e9tu\u200bde", "100", "5"), flawless("\u00c9TUDE", "100", "5")), []string{
			"warning ID_LOOKS_THE_SAME $.perspectives[1].id", "warning ID_LOOKS_THE_SAME $.perspectives[2].id", "warning ID_LOOKS_THE_SAME $.perspectives[3].id",
		}},
		{"keys that nothing reads", strings.Replace(lintDocument(strings.Replace(flawless("a", "100", "5"), `"title"`, `"max_words":5,"titel":"x","title"`, 1)), `"run_id"`, `"run-id":"x","run_id"`, 1), []string{
			"warning UNKNOWN_KEY $.run-id", "warning UNKNOWN_KEY $.perspectives[0].max_words", "warning UNKNOWN_KEY $.perspectives[0].titel",
		}},
		{"no time", strings.Replace(lintDocument(flawless("a", "100", "5")), "2026-02-14T12:00:00Z", "yesterday", 1), []string{"warning NOT_A_TIME $.created_at"}},

		{"title with a line end", lintDocument(flawless("a", "100", "5", "Gaps", "Sources", "two\nlines")), []string{"error TITLE_UNMATCHABLE $.perspectives[0]" + contract + ".must_include_sections[2]"}},
		{"title longer than a line", lintDocument(flawless("a", "100", "5", "Gaps", "Sources", strings.Repeat("x", 1<<20))), []string{"error TITLE_UNMATCHABLE $.perspectives[0]" + contract + ".must_include_sections[2]"}},
		{"title with blanks around it", lintDocument(flawless("a", "100", "5", " Gaps", "Sources")), []string{"warning TITLE_TRIMMED $.perspectives[0]" + contract + ".must_include_sections[0]"}},
		{"title twice", lintDocument(flawless("a", "100", "5", "Gaps", "Sources", "Gaps")), []string{"warning TITLE_REPEATED $.perspectives[0]" + contract + ".must_include_sections[2]"}},
		{"title in two cases", lintDocument(flawless("a", "100", "5", "Gaps", "Sources", "Method", "METHOD")), []string{"warning TITLE_DIFFERS_ONLY_IN_CASE $.perspectives[0]" + contract + ".must_include_sections[3]"}},
		{"title with what cannot be seen", lintDocument(flawless("a", "100", "5", "Gaps", "Sources", "Key\u200bpoints", "Key\u00a0points")), []string{
			"warning TITLE_INVISIBLE $.perspectives[0]" + contract + ".must_include_sections[2]",
			"warning TITLE_INVISIBLE $.perspectives[0]" + contract + ".must_include_sections[3]",
		}},
		{"title that ends in marks", lintDocument(flawless("a", "100", "5", "Gaps", "Sources", "About C #", "C#")), []string{"warning TITLE_ENDS_IN_MARKS $.perspectives[0]" + contract + ".must_include_sections[2]"}},

		{"cap below the headings", lintDocument(flawless("a", "5", "5")), []string{"error CAP_BELOW_HEADINGS $.perspectives[0]" + contract + ".max_words"}},
		{"cap of the headings", lintDocument(flawless("a", "6", "5")), []string{"warning CAP_LEAVES_NO_TEXT $.perspectives[0]" + contract + ".max_words"}},
		{"cap with room", lintDocument(flawless("a", "7", "5")), nil},
		{"caps with fractions", lintDocument(flawless("a", "7.5", "1.5")), []string{
			"warning CAP_NOT_WHOLE $.perspectives[0]" + contract + ".max_words",
			"warning CAP_NOT_WHOLE $.perspectives[0]" + contract + ".max_sources",
		}},
		{"no source allowed", lintDocument(flawless("a", "100", "0.5")), []string{
			"warning CAP_NOT_WHOLE $.perspectives[0]" + contract + ".max_sources",
			"warning CAP_LEAVES_NO_SOURCE $.perspectives[0]" + contract + ".max_sources",
		}},
		{"no sections at all", lintDocument(flawless("a", "0", "5", []string{}...)), []string{
			"warning CAP_LEAVES_NO_TEXT $.perspectives[0]" + contract + ".max_words",
			"warning NO_SOURCES_SECTION $.perspectives[0]" + contract + ".must_include_sections",
			"warning NO_GAPS_SECTION $.perspectives[0]" + contract + ".must_include_sections",
		}},
		{"neither sources nor gaps", lintDocument(flawless("a", "100", "5", "Findings")), []string{
			"warning NO_SOURCES_SECTION $.perspectives[0]" + contract + ".must_include_sections",
			"warning NO_GAPS_SECTION $.perspectives[0]" + contract + ".must_include_sections",
		}},
		{"sources and gaps in another case", lintDocument(flawless("a", "100", "5", "sources", "GAPS")), []string{
			"warning SOURCES_OTHER_CASE $.perspectives[0]" + contract + ".must_include_sections",
			"warning GAPS_OTHER_CASE $.perspectives[0]" + contract + ".must_include_sections",
		}},
		{"sources twice", lintDocument(flawless("a", "100", "5", "Gaps", "sources", "Sources")), []string{
			"warning TITLE_DIFFERS_ONLY_IN_CASE $.perspectives[0]" + contract + ".must_include_sections[2]",
			"warning SOURCES_AMBIGUOUS $.perspectives[0]" + contract + ".must_include_sections",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result := lint(t, tt.document, 100)
			var got []string
			errors := 0
			for _, f := range result.Findings {
				got = append(got, f.Level+" "+f.Rule+" "+f.Path)
				if f.Level == "error" {
					errors++
				}
				if n := len([]rune(f.Message)); n == 0 || n > 200 {
					t.Errorf("the message of %s has %d characters", f.Rule, n)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if result.Errors != errors || result.Warnings != len(got)-errors || result.Pass != (errors == 0) || result.Passed() != result.Pass {
				t.Errorf("errors %d, warnings %d, pass %v", result.Errors, result.Warnings, result.Pass)
			}
		})
	}
}

func TestLintIsBounded(t *testing.T) {
	var list []string
	for i := range 300 {
		list = append(list, flawless(fmt.Sprint("p", i), "1", "5", "A", "B"))
	}
	result := lint(t, `{"schema_version":"perspectives.v1","run_id":"r","perspectives":[`+strings.Join(list, ",")+`]}`, 10)
	if len(result.Findings) != 10 || result.FindingsOmitted != 891 || result.Errors != 301 || result.Warnings != 600 || result.Perspectives != 300 {
		t.Errorf("%d findings, %d omitted, %d errors, %d warnings", len(result.Findings), result.FindingsOmitted, result.Errors, result.Warnings)
	}
	if first := result.Findings[0]; first.Path != "$.created_at" || first.PerspectiveID != nil {
		t.Errorf("the first finding is %+v, not that of the document", first)
	}
	if second := result.Findings[1]; second.PerspectiveID == nil || *second.PerspectiveID != "p0" {
		t.Errorf("the second finding is %+v", second)
	}
}

func TestLintReportShowsEveryFinding(t *testing.T) {
	r := lint(t, lintDocument(flawless("a", "1", "5", "X"), flawless("b", "100", "5")), 100).Report()
	if r.Status != report.Fail || len(r.Cases) != 1 || len(r.Cases[0].Findings) != 3 {
		t.Errorf("status %v, cases %+v", r.Status, r.Cases)
	}
	if r := lint(t, lintDocument(flawless("a", "100", "5", "X")), 100).Report(); r.Status != report.Warn || r.Cases[0].Status != report.Warn {
		t.Errorf("warnings alone: status %v", r.Status)
	}
	if r := lint(t, lintDocument(flawless("a", "100", "5")), 100).Report(); r.Status != report.Pass || len(r.Cases) != 1 {
		t.Errorf("nothing to say: status %v", r.Status)
	}
}

func TestLintRefusesWhatIsNotJSON(t *testing.T) {
	for _, document := range []string{"", "{", `{"perspectives":[}`, lintDocument() + "x", `{"a":1,"a":2}`} {
		if _, err := wave.Lint("perspectives.json", []byte(document), 1); tidegate.CodeOf(err) != tidegate.InvalidJSON {
			t.Errorf("%q: %v", document, err)
		}
	}
}

// TestLintSaysWhatWasMeantAndWhere: a name that nothing reads is compared with those
// that are read, and every finding has its line.
func TestLintSaysWhatWasMeantAndWhere(t *testing.T) {
	doc := "{\"schema_version\": \"perspectives.v1\", \"run_id\": \"r\", \"created_at\": \"2026-02-14\", \"perspectives\": [\n" +
		"  {\"id\": \"a\", \"title\": \"A\", \"agent_type\": \"x\",\n" +
		"   \"track\": \"other\",\n" +
		"   \"max_words\": 5,\n" +
		"   \"prompt_contract\": {\"max_words\": 100, \"max_sources\": 5, \"must_include_sections\": [\"Gaps\", \"Sources\"],\n" +
		"     \"tool_bugdet\": {}}}\n]}\n"
	result := must.Get(wave.Lint("p.json", []byte(doc), 100))(t)
	var got []string
	for _, f := range result.Findings {
		got = append(got, fmt.Sprintf("%d %s %s", f.Line, f.Rule, f.Message))
	}
	want := []string{
		"3 SCHEMA_VALIDATION_FAILED $.perspectives[0].track must be one of standard, independent, contrarian, got \"other\"",
		"5 SCHEMA_VALIDATION_FAILED $.perspectives[0].prompt_contract.tool_budget is missing; it must be an object",
		"4 UNKNOWN_KEY \"max_words\" is not a key of perspectives.v1: nothing reads it here; it belongs into prompt_contract",
		"6 UNKNOWN_KEY \"tool_bugdet\" is not a key of perspectives.v1: nothing reads it; did you mean tool_budget?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
