package step_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

func review(t testing.TB, perspectives, outputs string) wave.ReviewResult {
	t.Helper()
	result := must.Get(step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 25}))(t)
	return result
}

// The examples of the specification: the same JSON, keys in the same order.
func TestReviewGivesTheExamplesOfTheSpecification(t *testing.T) {
	const sources = "\n## Sources\n- https://a.example\n- https://b.example\n"
	contracts := []contract{
		{id: "p1", maxWords: 1000, maxSources: 5, sections: []string{"Findings", "Sources"}},
		{id: "p2", maxWords: 1000, maxSources: 5, sections: []string{"Findings", "Sources"}},
	}
	for _, test := range []struct {
		example string
		outputs map[string]string
	}{
		{"review_success.json", map[string]string{"p1": "# Findings\n" + words(834) + sources, "p2": "# Findings\n" + words(902) + sources}},
		{"review_failure.json", map[string]string{"p1": "# Findings\n" + words(775), "p2": "# Findings\n" + words(902) + sources}},
	} {
		t.Run(test.example, func(t *testing.T) {
			example := must.Get(os.ReadFile(filepath.Join("testdata", "wave", test.example)))(t)
			want := must.Get(codec.Parse(example))(t)
			perspectives, outputs := writeWave(t, contracts, test.outputs)
			got := marshal(t, review(t, perspectives, outputs))
			got = strings.ReplaceAll(got, filepath.Dir(outputs), "/abs/run")
			if diff := cmp.Diff(marshal(t, want), got); diff != "" {
				t.Errorf("result (-specification +got):\n%s", diff)
			}
		})
	}
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	data := must.Get(codec.Marshal(v))(t)
	return string(data)
}

// mixed is a wave in which every rule is broken somewhere.
func mixed(t testing.TB) (perspectives, outputs string) {
	two := []string{"Findings", "Sources"}
	return writeWave(t, []contract{
		{id: "z-good", sections: two},
		{id: "a-words", maxWords: 5, sections: two},
		{id: "B-lines", sections: two},
		{id: "é-sources", maxSources: 1, sections: two},
		{id: "c-sections", sections: []string{"Findings", "Gaps", "Sources"}},
	}, map[string]string{
		"z-good":     "# Findings\n# Sources\n- https://a\n",
		"a-words":    "# Findings\n# Sources\n- https://a\n",
		"B-lines":    "# Findings\n# Sources\n- https://a\n- b\nc\n",
		"é-sources":  "# Findings\n# Sources\n- https://a\n- https://b\n- https://c\n",
		"c-sections": "# Findings\n",
	})
}

func TestReviewOrdersByBytesAndTellsEveryFailure(t *testing.T) {
	perspectives, outputs := mixed(t)
	result := review(t, perspectives, outputs)
	var got []string
	for _, d := range result.RetryDirectives {
		got = append(got, d.PerspectiveID+" "+d.Action+" "+string(d.BlockingErrorCode)+": "+d.ChangeNote)
	}
	want := []string{
		"B-lines retry MALFORMED_SOURCES: Rewrite each of the lines 4, 5 in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it.",
		"a-words retry TOO_MANY_WORDS: Shorten the output by at least 1 word: it has 6 and may have at most 5, markup and URLs included.",
		"c-sections retry MISSING_REQUIRED_SECTION: Add these missing required sections, each under a heading with exactly that text: 'Gaps', 'Sources'.",
		"é-sources retry TOO_MANY_SOURCES: Remove at least 2 sources from the Sources section: it lists 3 and may list at most 1.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("directives (-want +got):\n%s", diff)
	}
	if !slices.IsSortedFunc(result.Results, func(a, b wave.OutputResult) int { return strings.Compare(a.PerspectiveID, b.PerspectiveID) }) {
		t.Error("results are not in byte order")
	}
	if result.Pass || result.Passed() || result.Validated != 5 || result.Failed != 4 {
		t.Errorf("pass %v, validated %d, failed %d", result.Pass, result.Validated, result.Failed)
	}
	if want := "4/5 perspectives failed contract validation; retry directives emitted."; result.Bounded.Notes != want {
		t.Errorf("notes %q, want %q", result.Bounded.Notes, want)
	}
	lines := result.Results[0]
	if lines.Metrics.Sources != 1 {
		t.Errorf("%d well-formed sources beside malformed ones, want 1", lines.Metrics.Sources)
	}
}

// failure is the same object that validating that one output returns as error.
func TestReviewMirrorsValidate(t *testing.T) {
	perspectives, outputs := mixed(t)
	for _, r := range review(t, perspectives, outputs).Results {
		validation, err := step.Validate(t.Context(), runClock, step.ValidateInput{PerspectivesPath: perspectives, PerspectiveID: r.PerspectiveID, MarkdownPath: r.MarkdownPath})
		if r.Pass {
			want := wave.Metrics{Words: validation.Words, Sources: validation.Sources, MissingSections: validation.MissingSections}
			if diff := cmp.Diff(want, r.Metrics); diff != "" || err != nil || r.Failure != nil {
				t.Errorf("%s: error %v, failure %v, metrics (-validate +review):\n%s", r.PerspectiveID, err, r.Failure, diff)
			}
			continue
		}
		e := tidegate.AsError(err)
		if e == nil || r.Failure == nil {
			t.Fatalf("%s: validate says %v, review %v", r.PerspectiveID, err, r.Failure)
		}
		if diff := cmp.Diff(wave.Failure{Code: e.Code, Message: e.Message, Details: e.Details}, *r.Failure); diff != "" {
			t.Errorf("%s: failure (-validate +review):\n%s", r.PerspectiveID, diff)
		}
	}
}

// many is a wave of n outputs that all lack a section.
func many(t testing.TB, n int) (perspectives, outputs string) {
	var contracts []contract
	texts := map[string]string{}
	for i := range n {
		id := fmt.Sprintf("p%03d", i)
		contracts = append(contracts, contract{id: id, sections: []string{"A"}})
		texts[id] = id + " text"
	}
	return writeWave(t, contracts, texts)
}

func TestReviewIsBounded(t *testing.T) {
	perspectives, outputs := many(t, 30)
	for _, limit := range []int{1, 25, 29, 30, 500} {
		result := must.Get(step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: limit}))(t)
		kept := min(limit, 30)
		if len(result.Results) != 30 || result.Failed != 30 || len(result.RetryDirectives) != kept ||
			len(result.Bounded.FailuresSample) != kept || result.Bounded.FailuresOmitted != 30-kept {
			t.Errorf("max_failures %d: %d results, %d directives, %d in the sample, %d omitted", limit,
				len(result.Results), len(result.RetryDirectives), len(result.Bounded.FailuresSample), result.Bounded.FailuresOmitted)
		}
		if want := "30/30 perspectives failed contract validation; retry directives emitted."; result.Bounded.Notes != want {
			t.Errorf("notes %q, want %q", result.Bounded.Notes, want)
		}
	}
}

func TestReviewCutsFreeText(t *testing.T) {
	var titles []string
	for i := range 40 {
		titles = append(titles, fmt.Sprintf("Título número %d", i))
	}
	perspectives, outputs := writeWave(t, []contract{
		{id: "lines", maxWords: 1e6, sections: []string{"Sources"}},
		{id: "sections", sections: titles},
	}, map[string]string{"sections": "", "lines": "# Sources\n" + strings.Repeat(strings.Repeat("é", 300)+"\n", 400)})
	result := review(t, perspectives, outputs)
	for i, r := range result.Results {
		line, _ := r.Failure.Details.Get("line")
		section, _ := r.Failure.Details.Get("section")
		for _, text := range []string{r.Failure.Message, result.RetryDirectives[i].ChangeNote, result.Bounded.Notes, fmt.Sprint(line), fmt.Sprint(section)} {
			if n := len([]rune(text)); n > 200 {
				t.Errorf("%s: %d characters: %s", r.PerspectiveID, n, text)
			}
		}
	}
	if diff := cmp.Diff(titles, result.Results[1].Metrics.MissingSections); diff != "" {
		t.Errorf("missing_sections is cut:\n%s", diff)
	}
	note := result.RetryDirectives[1].ChangeNote
	if len([]rune(note)) != 200 || !strings.HasPrefix(note, "Add these missing required sections, each under a heading with exactly that text: 'Título número 0', ") {
		t.Errorf("change_note %q", note)
	}
	if want := "Rewrite each of the lines 2, 3, 4, 5, 6 and 395 more in the Sources section"; !strings.HasPrefix(result.RetryDirectives[0].ChangeNote, want) || !strings.HasSuffix(result.RetryDirectives[0].ChangeNote, "or remove it.") {
		t.Errorf("change_note %q", result.RetryDirectives[0].ChangeNote)
	}
}

func TestReviewOfASelection(t *testing.T) {
	perspectives, outputs := mixed(t)
	request := step.WaveReviewInput{PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 25}
	request.PerspectiveIDs = []string{"z-good", "a-words", "z-good"}
	result, err := step.ReviewWave(t.Context(), runs.Pinned, request)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range result.Results {
		ids = append(ids, r.PerspectiveID)
	}
	if diff := cmp.Diff([]string{"a-words", "z-good"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"z-good", "a-words", "z-good"}, request.PerspectiveIDs); diff != "" {
		t.Errorf("the request was changed:\n%s", diff)
	}
	request.PerspectiveIDs = []string{"z-good", "nobody", "../x"}
	_, err = step.ReviewWave(t.Context(), runs.Pinned, request)
	wantError(t, err, tidegate.PerspectiveNotFound, outputs, `{"perspective_id":"../x"}`)
}

func TestReviewRefusals(t *testing.T) {
	perspectives, outputs := many(t, 3)
	dir := filepath.Dir(outputs)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, text)
		return path
	}
	absent := filepath.Join(dir, "absent")
	tests := []struct {
		name                  string
		perspectives, outputs string
		code                  tidegate.Code
		details               string
	}{
		{"no perspectives, no outputs", absent, absent, tidegate.FileNotFound, `{"perspectives_path":"$DIR/absent"}`},
		{"no JSON, no outputs", write("bad.json", "{"), absent, tidegate.InvalidJSON, `{"perspectives_path":"$DIR/bad.json"}`},
		{"another schema", write("other.json", `{"schema_version":"x"}`), absent, tidegate.SchemaValidationFailed, `{"path":"$.schema_version"}`},
		{"no perspective at all", write("empty.json", `{"schema_version":"perspectives.v1","perspectives":[]}`), absent, tidegate.SchemaValidationFailed, `{"path":"$.perspectives"}`},
		{"no folder of outputs", perspectives, absent, tidegate.FileNotFound, `{"outputs_dir":"$DIR/absent"}`},
		{"a file in place of the folder", perspectives, perspectives, tidegate.FileNotFound, `{"outputs_dir":"$DIR/perspectives.json"}`},
		{"a path through a file", perspectives, perspectives + "/x", tidegate.FileNotFound, `{"outputs_dir":"$DIR/perspectives.json/x"}`},
		{"outputs elsewhere", perspectives, dir, tidegate.OutputNotFound, `{"perspective_id":"p000","markdown_path":"$DIR/p000.md","missing_perspective_ids":["p000","p001","p002"]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			report := filepath.Join(dir, "report.json")
			_, err := step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{
				PerspectivesPath: test.perspectives, OutputsDir: test.outputs, PerspectiveIDs: nil, MaxFailures: 25, ReportPath: report,
			})
			wantError(t, err, test.code, dir, test.details)
			if _, err := os.Stat(report); !os.IsNotExist(err) {
				t.Errorf("a refused review wrote a report: %v", err)
			}
		})
	}
}

func TestReviewWithoutSomeOutputs(t *testing.T) {
	perspectives, outputs := many(t, 30)
	check := func(limit int, code tidegate.Code, details string) {
		t.Helper()
		_, err := step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: limit})
		wantError(t, err, code, outputs, details)
	}
	// An output that cannot be read, before and after a missing one.
	for _, id := range []string{"p021", "p003"} {
		path := filepath.Join(outputs, id+".md")
		must.Do(t, os.Remove(path))
		must.Do(t, os.Mkdir(path, 0o700))
	}
	check(25, tidegate.ReadFailed, `{"perspective_id":"p003","markdown_path":"$DIR/p003.md"}`)
	must.Do(t, os.Remove(filepath.Join(outputs, "p020.md")))
	check(25, tidegate.OutputNotFound, `{"perspective_id":"p020","markdown_path":"$DIR/p020.md"}`)
	for _, id := range []string{"p005", "p029"} {
		must.Do(t, os.Remove(filepath.Join(outputs, id+".md")))
	}
	check(25, tidegate.OutputNotFound, `{"perspective_id":"p005","markdown_path":"$DIR/p005.md","missing_perspective_ids":["p005","p020","p029"]}`)
	check(2, tidegate.OutputNotFound, `{"perspective_id":"p005","markdown_path":"$DIR/p005.md","missing_perspective_ids":["p005","p020"]}`)
}

// TestFirstUnreadableOutputInOrderOfTheIDs has most of the outputs unreadable,
// and asks often: whichever worker is first, the answer is the same.
func TestFirstUnreadableOutputInOrderOfTheIDs(t *testing.T) {
	perspectives, outputs := many(t, 12)
	for _, id := range []string{"p011", "p010", "p009", "p008", "p007", "p005", "p003", "p002"} {
		path := filepath.Join(outputs, id+".md")
		must.Do(t, os.Remove(path))
		must.Do(t, os.Mkdir(path, 0o700))
	}
	for _, test := range []struct {
		ids   []string
		first string
	}{
		{nil, "p002"},
		{[]string{"p010", "p000", "p005", "p007"}, "p005"},
		{[]string{"p011", "p009", "p010"}, "p009"},
	} {
		for range 50 {
			_, err := step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{
				PerspectivesPath: perspectives, OutputsDir: outputs, PerspectiveIDs: test.ids, MaxFailures: 25,
			})
			wantError(t, err, tidegate.ReadFailed, outputs, `{"perspective_id":"`+test.first+`","markdown_path":"$DIR/`+test.first+`.md"}`)
		}
	}
}

func TestReviewFollowsLinks(t *testing.T) {
	perspectives, outputs := many(t, 1)
	elsewhere := filepath.Join(filepath.Dir(outputs), "elsewhere.md")
	path := filepath.Join(outputs, "p000.md")
	must.Do(t, os.Rename(path, elsewhere))
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Skipf("no link can be made here: %v", err)
	}
	if got := review(t, perspectives, outputs).Results[0].Metrics.Words; got != 2 {
		t.Errorf("%d words through a link, want 2", got)
	}
}

func TestReviewEchoesArgumentsAndCleansMarkdownPaths(t *testing.T) {
	perspectives, outputs := many(t, 1)
	given := outputs + "/../wave-1//"
	result := review(t, perspectives, given)
	if result.OutputsDir != given || result.PerspectivesPath != perspectives {
		t.Errorf("echoes %q and %q", result.OutputsDir, result.PerspectivesPath)
	}
	if want := filepath.Join(outputs, "p000.md"); result.Results[0].MarkdownPath != want {
		t.Errorf("markdown_path %q, want %q", result.Results[0].MarkdownPath, want)
	}
}

func TestReviewTellsItsProgress(t *testing.T) {
	perspectives, outputs := many(t, 50)
	var mu sync.Mutex
	seen := map[int]bool{}
	_, err := step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{
		PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 1,
		Progress: func(done, total int) {
			mu.Lock()
			defer mu.Unlock()
			seen[done] = true
			if total != 50 {
				t.Errorf("total %d", total)
			}
		},
	})
	if err != nil || len(seen) != 50 || !seen[1] || !seen[50] {
		t.Errorf("error %v; %d different steps", err, len(seen))
	}
}

func TestReviewIsCancelled(t *testing.T) {
	perspectives, outputs := many(t, 50)
	ctx, cancel := context.WithCancel(t.Context())
	report := filepath.Join(outputs, "report.json")
	_, err := step.ReviewWave(ctx, runs.Pinned, step.WaveReviewInput{
		PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 1, ReportPath: report,
		Progress: func(done, _ int) {
			if done == 3 {
				cancel()
			}
		},
	})
	if code := tidegate.CodeOf(err); code != tidegate.Cancelled {
		t.Errorf("code %s (%v)", code, err)
	}
	if _, err := os.Stat(report); !os.IsNotExist(err) {
		t.Errorf("a cancelled review wrote a report: %v", err)
	}
}

// A panic must reach the goroutine of the caller, which can recover it.
func TestReviewHandsOnAPanic(t *testing.T) {
	perspectives, outputs := many(t, 10)
	defer func() {
		if value := recover(); value != "boom" {
			t.Errorf("recovered %v", value)
		}
	}()
	_, err := step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{
		PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 1, Progress: func(int, int) { panic("boom") },
	})
	t.Errorf("no panic; error %v", err)
}

// likeReviews is a wave of which every file could pass for a wave review: what is
// anything else is refused for that alone.
func likeReviews(t *testing.T) (perspectives, dir string) {
	const review = `"results":[],"retry_directives":[]`
	perspectives, dir = writeWave(t, []contract{{id: "a"}, {id: "b"}}, map[string]string{"a": "{" + review + "}", "b": "{" + review + "}"})
	writeFile(t, perspectives, strings.Replace(must.Read(t, perspectives), "{", "{"+review+",", 1))
	return perspectives, dir
}

func TestAReportNeverReplacesWhatIsJudged(t *testing.T) {
	perspectives, dir := likeReviews(t)
	for path, want := range map[string]tidegate.Code{perspectives: tidegate.InvalidArgs, filepath.Join(dir, "a.md"): tidegate.WriteFailed, dir + "/../wave-1/./b.md": tidegate.WriteFailed} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{PerspectivesPath: perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: path})
		if tidegate.CodeOf(err) != want {
			t.Errorf("report_path %s: got %v", path, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s was changed", path)
		}
	}
}

func TestAReportNeverReplacesWhatIsJudgedByAnotherName(t *testing.T) {
	perspectives, dir := likeReviews(t)
	root := filepath.Dir(dir)
	link := func(target, name string) string {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		return path
	}
	elsewhere := filepath.Join(root, "elsewhere.json")
	must.Do(t, os.Rename(filepath.Join(dir, "b.md"), elsewhere))
	if err := os.Symlink("../elsewhere.json", filepath.Join(dir, "b.md")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for name, path := range map[string]string{
		"through a link to the folder": filepath.Join(link(".", "same"), "elsewhere.json"),
		"a link to the contracts":      link(filepath.Base(perspectives), "contracts.json"),
		"where an output's link leads": elsewhere,
	} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{PerspectivesPath: perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: path})
		if tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%s: got %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: %s was changed", name, path)
		}
	}
}
