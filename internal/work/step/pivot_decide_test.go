package step_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
)

// ignoreUnshown leaves out what only the report shows.
var ignoreUnshown = cmp.Options{cmpopts.IgnoreFields(pivot.Decision{}, "Agents"), cmpopts.IgnoreFields(pivot.Gap{}, "File", "Line")}

func write(t *testing.T, path, text string) string {
	t.Helper()
	must.Write(t, path, text)
	return path
}

func list(t *testing.T, text string) []*codec.Value {
	t.Helper()
	return runs.Parse(t, text).Elems()
}

func goodReport(id string) *codec.Value {
	return codec.Of(pivot.Report{OK: true, PerspectiveID: id, MarkdownPath: "/run/wave-1/" + id + ".md", Words: 842, Sources: 9})
}

// wave1 writes an output for each id and returns the input that goes with them.
func wave1(t *testing.T, outputs map[string]string) step.PivotInput {
	t.Helper()
	dir := t.TempDir()
	var in step.PivotInput
	for id, text := range outputs {
		in.Outputs = append(in.Outputs, pivot.Output{PerspectiveID: id, Path: write(t, filepath.Join(dir, id+".md"), text)})
		in.Reports = append(in.Reports, goodReport(id))
	}
	return in
}

func decided(t *testing.T, in step.PivotInput) pivot.Decision {
	t.Helper()
	d := must.Get(step.DecidePivot(t.Context(), runClock, in))(t)
	return d
}

// refused demands an error with that code and these details.
func refused(t *testing.T, in step.PivotInput, code tidegate.Code, details tidegate.Details) {
	t.Helper()
	d, err := step.DecidePivot(t.Context(), runClock, in)
	e := tidegate.AsError(err)
	if e == nil || e.Code != code {
		t.Fatalf("got %v, %v; want %s", d, err, code)
	}
	want, _ := codec.MarshalLine(details)
	got, _ := codec.MarshalLine(e.Details)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("details of %v (-want +got):\n%s", e, diff)
	}
}

func TestDecideByWhatTheOutputsState(t *testing.T) {
	got := decided(t, wave1(t, map[string]string{
		"b": "## Findings\nx\n\n## Gaps\n- (P2) low #z #a\n- (P0)  most   urgent\n",
		"a": "# Gaps\n- (P2) first\n- (P1) high\n",
		"B": "# Gaps\nnone\n",
	}))
	want := pivot.Decision{
		Wave2Required: true, RuleHit: "Wave2Required.P0", Explanation: "Wave 2 required because p0_count=1 (rule Wave2Required.P0).",
		Metrics: pivot.Metrics{P0: 1, P1: 1, P2: 2, Total: 4},
		Gaps: []pivot.Gap{
			{ID: "gap_b_2", Priority: "P0", Text: "most urgent", Tags: []string{}, Source: "parsed_wave1", From: "b"},
			{ID: "gap_a_2", Priority: "P1", Text: "high", Tags: []string{}, Source: "parsed_wave1", From: "a"},
			{ID: "gap_a_1", Priority: "P2", Text: "first", Tags: []string{}, Source: "parsed_wave1", From: "a"},
			{ID: "gap_b_1", Priority: "P2", Text: "low #z #a", Tags: []string{"a", "z"}, Source: "parsed_wave1", From: "b"},
		},
		Wave2GapIDs: []string{"gap_b_2", "gap_a_2"},
	}
	if diff := cmp.Diff(want, got, ignoreUnshown, cmpopts.IgnoreFields(pivot.Decision{}, "InputsDigest")); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

func TestGapOrderIsByteOrder(t *testing.T) {
	in := wave1(t, map[string]string{"p": "# Gaps\n" + strings.Repeat("- (P3) x\n", 11), "_": "# Gaps\n- (P3) x\n", "P": "# Gaps\n- (P3) x\n"})
	var ids []string
	for _, g := range decided(t, in).Gaps {
		ids = append(ids, g.ID)
	}
	want := []string{"gap_P_1", "gap___1", "gap_p_1", "gap_p_10", "gap_p_11", "gap_p_2", "gap_p_3", "gap_p_4", "gap_p_5", "gap_p_6", "gap_p_7", "gap_p_8", "gap_p_9"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestExplicitGapsReplaceThoseOfTheOutputs(t *testing.T) {
	in := wave1(t, map[string]string{"p1": "# Gaps\n- (P0) stated\n- broken\n", "p2": "no section at all\n"})
	in.ExplicitGaps = list(t, `[
		{"gap_id": " g2\t", "priority": "P1", "text": "  two \n lines ", "tags": [" b ", "a", "b", "not a #tag"], "from_perspective_id": "elsewhere", "note": "ignored"},
		{"gap_id": "g1", "priority": "P1", "text": "one #untagged", "tags": null, "from_perspective_id": null},
		{"gap_id": "inner  blanks", "priority": "P3", "text": "x"}]`)
	got := decided(t, in)
	want := []pivot.Gap{
		{ID: "g1", Priority: "P1", Text: "one #untagged", Tags: []string{}, Source: "explicit"},
		{ID: "g2", Priority: "P1", Text: "two lines", Tags: []string{"a", "b", "not a #tag"}, Source: "explicit", From: "elsewhere"},
		{ID: "inner  blanks", Priority: "P3", Text: "x", Tags: []string{}, Source: "explicit"},
	}
	if diff := cmp.Diff(want, got.Gaps, ignoreUnshown); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
	if got.RuleHit != "Wave2Required.P1" {
		t.Errorf("rule %s", got.RuleHit)
	}
}

func TestAnEmptyListOfExplicitGapsIsNone(t *testing.T) {
	in := wave1(t, map[string]string{"p1": "# Gaps\n- (P0) stated\n"})
	in.ExplicitGaps = list(t, `[]`)
	if got := decided(t, in); got.Metrics.P0 != 1 || got.Gaps[0].Source != pivot.Parsed {
		t.Errorf("got %+v", got)
	}
}

func TestExplicitGapsAreCheckedOneByOne(t *testing.T) {
	good := `{"gap_id": "g", "priority": "P1", "text": "x"}`
	for _, test := range []struct {
		name, gaps string
		code       tidegate.Code
		details    tidegate.Details
	}{
		{"no object", `[` + good + `, "g2"]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[1]", "g2")},
		{"null", `[null]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0]", nil)},
		{"no id", `[{"priority": "P0", "text": "x"}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].gap_id", nil)},
		{"blank id", `[{"gap_id": " ", "priority": "P0", "text": "x"}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].gap_id", " ")},
		{"no priority", `[{"gap_id": "g", "text": "x"}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].priority", nil)},
		{"no text", `[{"gap_id": "g", "priority": "P0"}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].text", nil)},
		{"text of another type", `[{"gap_id": "g", "priority": "P0", "text": 7}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].text", 7)},
		{"blank text", `[{"gap_id": "g", "priority": "P0", "text": "\n"}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].text", "\n")},
		{"tags that are not a list", `[{"gap_id": "g", "priority": "P0", "text": "x", "tags": "a"}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].tags", "a")},
		{"a tag that is not text", `[{"gap_id": "g", "priority": "P0", "text": "x", "tags": ["a", 1]}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].tags[1]", 1)},
		{"a blank tag", `[{"gap_id": "g", "priority": "P0", "text": "x", "tags": [""]}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].tags[0]", "")},
		{"a perspective that is not text", `[{"gap_id": "g", "priority": "P0", "text": "x", "from_perspective_id": {"a": 1}}]`,
			tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].from_perspective_id", "object of 1")},
		{"an id twice", `[` + good + `, ` + good + `]`, tidegate.DuplicateGapID, tidegate.Pairs("gap_id", "g")},
		{"an id twice once it is trimmed", `[` + good + `, {"gap_id": "\tg ", "priority": "P1", "text": "y"}]`, tidegate.DuplicateGapID, tidegate.Pairs("gap_id", "g")},
		{"another priority", `[{"gap_id": "g", "priority": "P4", "text": "x"}]`, tidegate.InvalidGapPriority, tidegate.Pairs("gap_id", "g", "priority", "P4")},
		{"a priority that is not exact", `[{"gap_id": "g", "priority": " P0", "text": "x"}]`, tidegate.InvalidGapPriority, tidegate.Pairs("gap_id", "g", "priority", " P0")},
		{"a priority in lower case", `[{"gap_id": "g", "priority": "p0", "text": "x"}]`, tidegate.InvalidGapPriority, tidegate.Pairs("gap_id", "g", "priority", "p0")},
		{"a priority of another type", `[{"gap_id": "g", "priority": 0, "text": "x"}]`, tidegate.InvalidGapPriority, tidegate.Pairs("gap_id", "g", "priority", 0)},
		{"of one gap, the argument before the priority", `[{"gap_id": "g", "priority": "P9"}]`, tidegate.InvalidArgs, tidegate.Pairs("explicit_gaps[0].text", nil)},
		{"of one gap, the id before the priority", `[` + good + `, {"gap_id": "g", "priority": "P9", "text": "x"}]`, tidegate.DuplicateGapID, tidegate.Pairs("gap_id", "g")},
		{"of two gaps, the first", `[{"gap_id": "g", "priority": "P9", "text": "x"}, {}]`, tidegate.InvalidGapPriority, tidegate.Pairs("gap_id", "g", "priority", "P9")},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := wave1(t, map[string]string{"p1": "# Gaps\n"})
			in.ExplicitGaps = list(t, test.gaps)
			refused(t, in, test.code, test.details)
		})
	}
}

func TestArguments(t *testing.T) {
	report := func(change func(*codec.Value)) []*codec.Value {
		v := goodReport("p1")
		change(v)
		return []*codec.Value{v}
	}
	set := func(key, value string) func(*step.PivotInput) {
		return func(in *step.PivotInput) {
			in.Reports = report(func(v *codec.Value) { v.Set(key, runs.Parse(t, value)) })
		}
	}
	without := func(key string) func(*step.PivotInput) {
		return func(in *step.PivotInput) { in.Reports = report(func(v *codec.Value) { v.Delete(key) }) }
	}
	const reportName = "wave1_validation_reports[0]"
	for _, test := range []struct {
		name    string
		change  func(*step.PivotInput)
		details tidegate.Details
	}{
		{"no outputs", func(in *step.PivotInput) { in.Outputs = nil }, tidegate.Pairs("wave1_outputs", []string{})},
		{"no reports", func(in *step.PivotInput) { in.Reports = nil }, tidegate.Pairs("wave1_validation_reports", []string{})},
		{"a blank id", func(in *step.PivotInput) { in.Outputs[0].PerspectiveID = " " }, tidegate.Pairs("wave1_outputs[0].perspective_id", " ")},
		{"a blank path", func(in *step.PivotInput) { in.Outputs[0].Path = "" }, tidegate.Pairs("wave1_outputs[0].output_md_path", "")},
		{"a path with NUL", func(in *step.PivotInput) { in.Outputs[0].Path = "/a\x00b" }, tidegate.Pairs("wave1_outputs[0].output_md_path", "/a\x00b")},
		{"a relative path without a run", func(in *step.PivotInput) { in.Outputs[0].Path = "wave-1/p1.md" }, tidegate.Pairs("wave1_outputs[0].output_md_path", "wave-1/p1.md")},
		{"a relative manifest", func(in *step.PivotInput) { in.ManifestPath = "manifest.json" }, tidegate.Pairs("manifest_path", "manifest.json")},
		{"a report that is not an object", func(in *step.PivotInput) { in.Reports = list(t, `[[true]]`) }, tidegate.Pairs(reportName, "array of 1")},
		{"a report without ok", without("ok"), tidegate.Pairs(reportName+".ok", nil)},
		{"a report with another ok", set("ok", `"true"`), tidegate.Pairs(reportName+".ok", "true")},
		{"a report without an id", without("perspective_id"), tidegate.Pairs(reportName+".perspective_id", nil)},
		{"a report without a path", without("markdown_path"), tidegate.Pairs(reportName+".markdown_path", nil)},
		{"a report with a blank path", set("markdown_path", `" "`), tidegate.Pairs(reportName+".markdown_path", " ")},
		{"a report without words", without("words"), tidegate.Pairs(reportName+".words", nil)},
		{"a report with words as text", set("words", `"842"`), tidegate.Pairs(reportName+".words", "842")},
		{"a report with fewer than no words", set("words", `-1`), tidegate.Pairs(reportName+".words", -1)},
		{"a report without sources", without("sources"), tidegate.Pairs(reportName+".sources", nil)},
		{"a report with too large a number", set("sources", `1e999`), tidegate.Pairs(reportName+".sources", runs.Parse(t, `1e999`))},
		{"a report without missing_sections", without("missing_sections"), tidegate.Pairs(reportName+".missing_sections", nil)},
		{"a report with other missing_sections", set("missing_sections", `{}`), tidegate.Pairs(reportName+".missing_sections", codec.NewObject())},
		{"a fault in an argument goes before one in a file", func(in *step.PivotInput) {
			in.Outputs[0].Path = "/nowhere/p1.md"
			in.ManifestPath = "relative"
		}, tidegate.Pairs("manifest_path", "relative")},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := wave1(t, map[string]string{"p1": "# Gaps\n"})
			test.change(&in)
			refused(t, in, tidegate.InvalidArgs, test.details)
		})
	}
}

func TestPreconditions(t *testing.T) {
	outputs := func(ids ...string) []pivot.Output {
		var list []pivot.Output
		for _, id := range ids {
			list = append(list, pivot.Output{PerspectiveID: id, Path: "/nowhere/" + id + ".md"})
		}
		return list
	}
	failed := func(id string) string { return `{"ok": false, "perspective_id": "` + id + `"}` }
	lacking := func(id string) string {
		return `{"ok": true, "perspective_id": "` + id + `", "markdown_path": "/x", "words": 1, "sources": 0, "missing_sections": ["Sources"]}`
	}
	good := func(id string) string {
		return `{"ok": true, "perspective_id": "` + id + `", "markdown_path": "/x", "words": 1, "sources": 0, "missing_sections": []}`
	}
	for _, test := range []struct {
		name    string
		outputs []pivot.Output
		reports []string
		code    tidegate.Code
		details tidegate.Details
	}{
		{"a report that is not ok", outputs("p1"), []string{failed("p1")}, tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", "p1")},
		{"whatever else it lacks", outputs("p1"), []string{`{"ok": false}`}, tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", nil, "index", 0)},
		{"by its place, where it names nobody", outputs("p1", "p2"), []string{good("p1"), `{"ok": false}`}, tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", nil, "index", 1)},
		{"whatever else it has", outputs("p1"), []string{`{"ok": false, "perspective_id": 7, "words": "many", "missing_sections": 0}`}, tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", nil, "index", 0)},
		{"with the reason that the validator gave", outputs("p1"),
			[]string{`{"ok": false, "perspective_id": "p1", "error": {"code": "TOO_MANY_WORDS", "message": "the output has 9 words", "details": {}}}`},
			tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", "p1", "failure", tidegate.Pairs("code", "TOO_MANY_WORDS", "message", "the output has 9 words"))},
		{"the first by id, not by place", outputs("a", "b"), []string{failed("b"), failed("a")}, tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", "a")},
		{"missing sections", outputs("p1"), []string{lacking("p1")}, tidegate.Wave1ContractNotMet, tidegate.Pairs("perspective_id", "p1", "missing_sections", []string{"Sources"})},
		{"missing sections, the first by id", outputs("a", "b"), []string{lacking("b"), lacking("a")}, tidegate.Wave1ContractNotMet, tidegate.Pairs("perspective_id", "a", "missing_sections", []string{"Sources"})},
		{"every ok before every missing section", outputs("a", "b"), []string{lacking("a"), failed("b")}, tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", "b")},
		{"every missing section before the pairing", outputs("a", "c"), []string{good("b"), lacking("c")}, tidegate.Wave1ContractNotMet, tidegate.Pairs("perspective_id", "c", "missing_sections", []string{"Sources"})},
		{"an output without a report", outputs("a", "b"), []string{good("b")}, tidegate.MismatchedPerspectiveID, tidegate.Pairs("perspective_id", "a", "wave1_outputs", 1, "wave1_validation_reports", 0)},
		{"an output after the last report", outputs("b", "a"), []string{good("a")}, tidegate.MismatchedPerspectiveID, tidegate.Pairs("perspective_id", "b", "wave1_outputs", 1, "wave1_validation_reports", 0)},
		{"a report without an output", outputs("a"), []string{good("b"), good("a")}, tidegate.MismatchedPerspectiveID, tidegate.Pairs("perspective_id", "b", "wave1_outputs", 0, "wave1_validation_reports", 1)},
		{"as many of each, and not the same", outputs("a"), []string{good("b")}, tidegate.MismatchedPerspectiveID, tidegate.Pairs("perspective_id", "a", "wave1_outputs", 1, "wave1_validation_reports", 0)},
		{"an output twice", outputs("a", "a"), []string{good("a")}, tidegate.MismatchedPerspectiveID, tidegate.Pairs("perspective_id", "a", "wave1_outputs", 2, "wave1_validation_reports", 1)},
		{"a report twice", outputs("a"), []string{good("a"), good("a")}, tidegate.MismatchedPerspectiveID, tidegate.Pairs("perspective_id", "a", "wave1_outputs", 1, "wave1_validation_reports", 2)},
		{"both twice", outputs("a", "a"), []string{good("a"), good("a")}, tidegate.MismatchedPerspectiveID, tidegate.Pairs("perspective_id", "a", "wave1_outputs", 2, "wave1_validation_reports", 2)},
		{"ids are compared exactly", outputs("a"), []string{good("A")}, tidegate.MismatchedPerspectiveID, tidegate.Pairs("perspective_id", "A", "wave1_outputs", 0, "wave1_validation_reports", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			refused(t, step.PivotInput{
				Outputs: test.outputs, Reports: list(t, "["+strings.Join(test.reports, ",")+"]"), ManifestPath: "/nowhere/manifest.json",
				ExplicitGaps: list(t, `[{"gap_id": "g", "priority": "P9", "text": "x"}]`),
			}, test.code, test.details)
		})
	}
}

func TestOutputsMustBeThere(t *testing.T) {
	in := wave1(t, map[string]string{"b": "# Gaps\n", "c": "no section"})
	missing := filepath.Join(filepath.Dir(in.Outputs[0].Path), "a.md")
	in.Outputs = append(in.Outputs, pivot.Output{PerspectiveID: "a", Path: missing})
	in.Reports = append(in.Reports, goodReport("a"))
	details := tidegate.Pairs("perspective_id", "a", "output_md_path", missing)
	refused(t, in, tidegate.FileNotFound, details)
	t.Run("also when explicit gaps are used", func(t *testing.T) {
		in := in
		in.ExplicitGaps = list(t, `[{"gap_id": "g", "priority": "P0", "text": "x"}]`)
		refused(t, in, tidegate.FileNotFound, details)
	})
	t.Run("and be files", func(t *testing.T) {
		must.Do(t, os.Mkdir(missing, 0o755))
		refused(t, in, tidegate.ReadFailed, details)
	})
}

func TestTheFirstPerspectiveThatCannotBeReadIsReported(t *testing.T) {
	outputs := map[string]string{}
	for i := range 60 {
		outputs["p"+string(rune('A'+i))] = "# Gaps\n- broken\n"
	}
	outputs["a"] = "# Gaps\n- (P0) fine\n"
	outputs["b"] = "no section\n"
	for range 20 {
		refused(t, wave1(t, outputs), tidegate.GapsSectionNotFound, tidegate.Pairs("perspective_id", "b"))
	}
	outputs["aa"] = "# Gaps\n\n* (P1) broken\n"
	refused(t, wave1(t, outputs), tidegate.GapsParseFailed, tidegate.Pairs("perspective_id", "aa", "line", "* (P1) broken", "line_number", 3))
}

func TestInputsDigestGoldenVector(t *testing.T) {
	in := wave1(t, map[string]string{"p1": "# Gaps\n- (P0)   Need \t X\u00a0#verification  \n"})
	const want = "sha256:750d4eef1941cd9a8ada56fa82c42b1c8da98602bc9fd42b6349543d163d73fc"
	if got := decided(t, in).InputsDigest; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	in.Reports[0].Set("generated_at", codec.Of("2026-01-01T00:00:00Z"))
	in.Reports[0].Set("tool_usage", codec.NewObject())
	in.Reports[0].Set("words", runs.Parse(t, "842.0"))
	if got := decided(t, in).InputsDigest; got != want {
		t.Errorf("with further keys in the report: got %s, want %s", got, want)
	}
}

func TestInputsDigestIsThatOfTheCanonicalForm(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	hostile := []string{"a", "\u00e9", "<&>", `"`, `\`, "\x00", "\x1f", "\x7f", "\U0001F30A", "/", "\ufffd", "\b", "Z"}
	text := func() string {
		out := "x"
		for range random.IntN(6) {
			out += hostile[random.IntN(len(hostile))]
		}
		return out
	}
	for range 300 {
		gap := tidegate.Pairs("gap_id", text(), "priority", pivot.Priorities[random.IntN(4)], "text", text(), "tags", []string{text()})
		if random.IntN(2) == 0 {
			gap = append(gap, tidegate.Pairs("from_perspective_id", text())...)
		}
		numbers := []string{"0", "-0.0", "842", "0.5", "1e21", "1e-7", "123456789012345678901", "9007199254740993"}
		report := goodReport("p1")
		report.Set("markdown_path", codec.Of(text()+"\u2028\n"))
		report.Set("words", runs.Parse(t, numbers[random.IntN(len(numbers))]))
		report.Set("sources", runs.Parse(t, numbers[random.IntN(len(numbers))]))
		in := wave1(t, map[string]string{"p1": ""})
		in.Reports, in.ExplicitGaps = []*codec.Value{report}, []*codec.Value{codec.Of(gap)}
		want := codec.Digest(tidegate.Pairs("wave1_validation_reports", in.Reports, "gaps", []any{append(gap, tidegate.Pairs("source", "explicit")...)}))
		if got := decided(t, in).InputsDigest; got != want {
			t.Fatalf("got %s, want %s for %v and %v", got, want, gap, report)
		}
	}
}

func TestInputsDigestDependsOnWhatDecides(t *testing.T) {
	base := func() step.PivotInput {
		in := wave1(t, map[string]string{"p1": "# Gaps\n- (P2) x #a\n"})
		in.Reports = []*codec.Value{goodReport("p1")}
		return in
	}
	seen := map[string]string{decided(t, base()).InputsDigest: "nothing"}
	for name, change := range map[string]func(*step.PivotInput){
		"words":             func(in *step.PivotInput) { in.Reports[0].Set("words", runs.Parse(t, "841")) },
		"a fraction of one": func(in *step.PivotInput) { in.Reports[0].Set("words", runs.Parse(t, "842.5")) },
		"sources":           func(in *step.PivotInput) { in.Reports[0].Set("sources", runs.Parse(t, "8")) },
		"the path of one":   func(in *step.PivotInput) { in.Reports[0].Set("markdown_path", codec.Of("/run/wave-1/p1.md ")) },
		"the text of a gap": func(in *step.PivotInput) { write(t, in.Outputs[0].Path, "# Gaps\n- (P2) y #a\n") },
		"a priority":        func(in *step.PivotInput) { write(t, in.Outputs[0].Path, "# Gaps\n- (P3) x #a\n") },
		"an additional gap": func(in *step.PivotInput) { write(t, in.Outputs[0].Path, "# Gaps\n- (P2) x #a\n- (P3) z\n") },
		"the source of gaps": func(in *step.PivotInput) {
			in.ExplicitGaps = list(t, `[{"gap_id": "gap_p1_1", "priority": "P2", "text": "x #a", "tags": ["a"], "from_perspective_id": "p1"}]`)
		},
	} {
		in := base()
		change(&in)
		digest := decided(t, in).InputsDigest
		if other, taken := seen[digest]; taken {
			t.Errorf("changing %s gives the digest of changing %s", name, other)
		}
		seen[digest] = name
	}
}

func TestOrderAndWhiteSpaceOfGapsDoNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	blank := func() string { return []string{" ", "\t", "  ", " \t "}[random.IntN(4)] }
	space := func() string { return []string{" ", "\t", "\u00a0", " \u2003\t"}[random.IntN(4)] }
	const n = 8
	var want pivot.Decision
	for round := range 50 {
		outputs := map[string]string{}
		for i := range n {
			outputs["p"+string(rune('a'+i))] = "# Gaps\n" + space() + "-" + blank() + "(P" + string(rune('0'+i%4)) + ")" + blank() + "one" + space() + "two" + space() + "#tag\n"
		}
		in := wave1(t, outputs)
		shuffle := func() {
			random.Shuffle(n, func(i, j int) { in.Reports[i], in.Reports[j] = in.Reports[j], in.Reports[i] })
		}
		shuffle()
		random.Shuffle(n, func(i, j int) { in.Outputs[i], in.Outputs[j] = in.Outputs[j], in.Outputs[i] })
		got := decided(t, in)
		if round == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got, ignoreUnshown); diff != "" {
			t.Fatalf("round %d (-first +now):\n%s", round, diff)
		}
	}
	t.Run("of explicit gaps", func(t *testing.T) {
		first := list(t, `[{"gap_id": "a", "priority": "P1", "text": "x y", "tags": ["s", "t"]}, {"gap_id": "b", "priority": "P0", "text": "z"}]`)
		second := list(t, `[{"gap_id": "b\n", "priority": "P0", "text": "z\r"}, {"gap_id": " a", "priority": "P1", "text": "\fx\t\u3000y\u0085\r\n", "tags": ["t ", "s", "t"]}]`)
		in := wave1(t, map[string]string{"p1": ""})
		in.ExplicitGaps = first
		want := decided(t, in)
		in.ExplicitGaps = second
		if diff := cmp.Diff(want, decided(t, in), ignoreUnshown); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
	})
}

func TestDecideTellsItsProgress(t *testing.T) {
	in := wave1(t, map[string]string{"p1": "# Gaps\n"})
	var heard []int
	in.Progress = func(done, total int) { heard = append(heard, done, total) }
	decided(t, in)
	if diff := cmp.Diff([]int{1, 1}, heard); diff != "" {
		t.Error(diff)
	}
}
