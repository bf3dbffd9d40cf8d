package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

type weighIn struct {
	Boat  string   `json:"boat" path:"absolute" jsonschema:"the boat"`
	Limit int      `json:"limit,omitzero" jsonschema:"the heaviest" min:"1" max:"99" default:"10"`
	Unit  string   `json:"unit,omitzero" jsonschema:"the unit" enum:"kg,t" default:"kg"`
	Crew  []string `json:"crew_names,omitzero" jsonschema:"who is aboard"`
	Ratio *float64 `json:"ratio,omitzero" jsonschema:"how full"`
	Wet   bool     `json:"wet,omitzero" jsonschema:"after rain"`
	Fail  string   `json:"fail,omitzero" jsonschema:"a code to fail with"`
}

type weighOut struct {
	OK   codec.True `json:"ok"`
	Boat string     `json:"boat"`
	Crew []string   `json:"crew"`
	Load int        `json:"load"`
	Unit string     `json:"unit"`
	pass bool
}

func (o weighOut) Passed() bool { return o.pass }

func (o weighOut) Report() report.Report {
	r := report.Report{Name: "weigh", Title: "Weight", Summary: "weighed", Status: report.PassIf(o.pass)}
	r.Add(report.Fields{{Name: "boat", Value: o.Boat}})
	return r
}

func weigh() *tool.Tool {
	return tool.New(tool.Spec{
		Name: "boat_weigh", Set: "toy", Summary: "Weigh a boat. Use dry hands.", Effect: tool.Reads,
		Command: &tool.Command{
			Path:     "boat weigh",
			Short:    "Weigh a boat",
			Operands: []tool.Operand{{Name: "BOAT", Field: "boat", About: "the boat to weigh"}},
			Rename:   map[string]string{"crew_names": "crew"},
			Flags:    []tool.Flag{{Name: "double", About: "count twice", Kind: tool.Switch}},
			Formats:  []string{"junit"},
			Example:  "tidegate boat weigh ./jolly",
			Fill: func(_ context.Context, typed tool.Typed, args *codec.Value) error {
				if typed.Flags["double"] != "" {
					args.Set("limit", codec.Of(20))
				}
				return nil
			},
		},
	}, func(_ context.Context, _ tool.Caller, in weighIn) (weighOut, error) {
		if in.Fail != "" {
			return weighOut{}, tidegate.Errorf(tidegate.Code(in.Fail), tidegate.Pairs("boat", string(in.Boat)), "the boat %s sank\x1b[31m", in.Boat)
		}
		return weighOut{Boat: string(in.Boat), Crew: in.Crew, Load: in.Limit, Unit: in.Unit, pass: !in.Wet}, nil
	})
}

type outcome struct {
	status      int
	stdout, err string
}

func run(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	program := cli.Program{
		Tools: []*tool.Tool{weigh()}, Version: "v1.2.3", Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: "/harbour",
	}
	status := program.Run(t.Context(), args)
	return outcome{status, out.String(), errs.String()}
}

func TestNamedCommandTurnsWordsIntoTheToolsArguments(t *testing.T) {
	got := run(t, "", "boat", "weigh", "jolly", "--limit", "5", "--unit=t", "--crew", "ann,bob", "--format", "json")
	want := outcome{0, `{
  "ok": true,
  "boat": "/harbour/jolly",
  "crew": [
    "ann",
    "bob"
  ],
  "load": 5,
  "unit": "t"
}
`, ""}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Error(diff)
	}
}

func TestFillCompletesTheArguments(t *testing.T) {
	if got := run(t, "", "boat", "weigh", "/jolly", "--double", "--format=json"); !strings.Contains(got.stdout, `"load": 20`) {
		t.Error(got.stdout)
	}
}

func TestExitStatusFollowsTheClass(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		status int
	}{
		{[]string{"boat", "weigh", "jolly"}, 0},
		{[]string{"boat", "weigh", "jolly", "--wet"}, 1},
		{[]string{"boat", "weigh", "jolly", "--fail", "TOO_MANY_WORDS"}, 1},
		{[]string{"boat", "weigh", "jolly", "--fail", "INVALID_JSON"}, 2},
		{[]string{"boat", "weigh", "jolly", "--fail", "NOT_FOUND"}, 3},
		{[]string{"boat", "weigh", "jolly", "--fail", "LOCK_HELD"}, 4},
		{[]string{"boat", "weigh", "jolly", "--fail", "PATH_TRAVERSAL"}, 5},
		{[]string{"boat", "weigh", "jolly", "--fail", "WRITE_FAILED"}, 70},
		{[]string{"boat", "weigh", "jolly", "--fail", "NO_SUCH_CODE"}, 70},
		{[]string{"boat", "weigh", "jolly", "--fail", "CANCELLED"}, 130},
		{[]string{"boat", "weigh", "jolly", "--fail", "NOT_FOUND", "--format", "json"}, 3},
		{[]string{"boat", "weigh"}, 2},
		{[]string{"boat", "weigh", "a", "b"}, 2},
		{[]string{"boat", "weigh", "a", "--limit", "many"}, 2},
		{[]string{"boat", "weigh", "a", "--limit", "100"}, 2},
		{[]string{"boat", "weigh", "a", "--unit", "stone"}, 2},
		{[]string{"boat", "weigh", "a", "--format", "sarif"}, 2},
		{[]string{"boat", "weigh", "a", "--colour"}, 2},
		{[]string{"boot"}, 2},
		{[]string{"call", "boat_weigh", "--args", `{"boat":"/x","wet":true}`}, 0},
		{[]string{"call", "boat_weigh", "--args", `{"boat":"x"}`}, 2},
		{[]string{"call", "boat_way"}, 2},
		{[]string{"version"}, 0},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			got := run(t, "", tt.args...)
			if got.status != tt.status {
				t.Errorf("exit status %d, want %d\n%s%s", got.status, tt.status, got.stdout, got.err)
			}
			if got.status > 1 && got.err == "" && got.stdout == "" {
				t.Error("nothing says why")
			}
		})
	}
}

func TestErrorsForPeopleNameTheThingAndHowToMendIt(t *testing.T) {
	got := run(t, "", "boat", "weigh", "jolly", "--fail", "NOT_FOUND")
	if got.stdout != "" || !strings.HasPrefix(got.err, "tidegate: NOT_FOUND: the boat /harbour/jolly sank") || !strings.Contains(got.err, "to fix it: ") {
		t.Errorf("got %q %q", got.stdout, got.err)
	}
	if strings.Contains(got.err, "\x1b") {
		t.Error("a terminal escape reached stderr")
	}
	if got := run(t, "", "boat", "weigh"); !strings.Contains(got.err, "BOAT is missing: the boat to weigh") {
		t.Error(got.err)
	}
}

func TestCallAlwaysPrintsAnEnvelope(t *testing.T) {
	for _, args := range [][]string{{"boat_wiegh"}, {"boat_weigh", "--args", "@" + filepath.Join(t.TempDir(), "gone")}, {"boat_weigh", "--args", "{"}} {
		got := run(t, "", append([]string{"call"}, args...)...)
		v, err := codec.Parse([]byte(got.stdout))
		if err != nil || got.status != 2 || got.err != "" || v.Get("error").Get("code").Str() != "INVALID_ARGS" {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := run(t, "", "call", "boat_wiegh"); !strings.Contains(got.stdout, "did you mean boat_weigh?") {
		t.Error(got.stdout)
	}
}

func TestFaultsNameWhatWasTyped(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"boat", "weigh", ""}, "BOAT must not be blank"},
		{[]string{"boat", "weigh", "jolly", "--crew", "ann,"}, "--crew: crew_names[1] must not be blank"},
		{[]string{"boat", "weigh", "jolly", "--limit", "many"}, `--limit must be an integer from 1 to 99, got the string "many"`},
		{[]string{"call"}, "NAME is missing: the tool to call"},
		{[]string{"call", "boat_weigh", "twice"}, `"twice" is one argument too many (usage: tidegate call NAME [flags])`},
		{[]string{"version", "now"}, `"now" is one argument too many`},
		{[]string{"help", "boat", "wiegh"}, "did you mean weigh?"},
		{[]string{"completion", "bsh"}, "did you mean bash?"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			if got := run(t, "", tt.args...); got.status != 2 || got.stdout != "" || !strings.Contains(got.err, tt.want) {
				t.Errorf("%+v lacks %q", got, tt.want)
			}
		})
	}
}

func TestVersionIsAlsoAFlag(t *testing.T) {
	if got, want := run(t, "", "--version"), run(t, "", "version"); got != want || got.stdout != "tidegate v1.2.3\n" {
		t.Errorf("got %+v and %+v", got, want)
	}
}

func TestErrorsUnderJSONAreTheEnvelopeOnStdout(t *testing.T) {
	got := run(t, "", "boat", "weigh", "jolly", "--limit", "0", "--format", "json")
	if got.err != "" || !strings.Contains(got.stdout, `"code": "INVALID_ARGS"`) || !strings.Contains(got.stdout, `"limit": 0`) {
		t.Errorf("got %q %q", got.stdout, got.err)
	}
}

func TestCallReadsArgumentsFromThreePlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "args.json")
	args := `{"boat":"/jolly"}`
	must.Do(t, os.WriteFile(file, []byte(args), 0o600))
	fromStdin := run(t, args, "call", "boat_weigh")
	for _, other := range []outcome{run(t, "", "call", "boat_weigh", "--args", args), run(t, "", "call", "boat_weigh", "--args", "@"+file)} {
		if diff := cmp.Diff(fromStdin, other, cmp.AllowUnexported(outcome{})); diff != "" || fromStdin.status != 0 {
			t.Error(diff, fromStdin)
		}
	}
}

func TestToolsListsSchemas(t *testing.T) {
	got := run(t, "", "tools", "--json")
	v := must.Get(codec.Parse([]byte(got.stdout)))(t)
	entry := v.Get("tools").Elems()[0]
	var keys []string
	for _, m := range entry.Members() {
		keys = append(keys, m.Key)
	}
	if diff := cmp.Diff([]string{"name", "summary", "effect", "input_schema", "output_schema"}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestToolsPrintsTheReference(t *testing.T) {
	got := run(t, "", "tools", "--markdown").stdout
	for _, schema := range []*codec.Value{weigh().InputSchema(), weigh().OutputSchema()} {
		for _, p := range schema.Get("properties").Members() {
			if !strings.Contains(got, "\n| `"+p.Key+"` | ") {
				t.Errorf("%s is missing in\n%s", p.Key, got)
			}
		}
	}
	for _, want := range []string{"\n## boat_weigh\n", "| `boat_weigh` | `boat weigh` |"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestHelpShowsAnExample(t *testing.T) {
	for _, args := range [][]string{{"boat", "weigh", "--help"}, {"--help"}, {"boat"}, {"help", "call"}} {
		if got := run(t, "", args...); got.status != 0 || strings.Contains(got.stdout, "130  interrupted") {
			t.Errorf("%v: status %d, %s", args, got.status, got.stdout)
		}
	}
	if got := run(t, "", "help", "exit-status"); got.status != 0 || !strings.HasSuffix(got.stdout, "130  interrupted\n") {
		t.Errorf("help exit-status: status %d, %s", got.status, got.stdout)
	}
	program := cli.Program{Tools: []*tool.Tool{weigh()}, Groups: map[string]string{"boat": "All about boats"}}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s does not say what it is for, or shows no example", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(program.Root())
	help := run(t, "", "boat", "weigh", "--help").stdout
	for _, want := range []string{"tidegate boat weigh ./jolly", "--crew", "BOAT  the boat to weigh", "the unit (kg, t)", "boat_weigh"} {
		if !strings.Contains(help, want) {
			t.Errorf("help lacks %q:\n%s", want, help)
		}
	}
}

func TestCompletionsForFourShells(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := run(t, "", "completion", shell); got.status != 0 || !strings.Contains(got.stdout, "tidegate") {
			t.Errorf("%s: status %d", shell, got.status)
		}
	}
	if got := run(t, "", "__complete", "boat", "weigh", "x", "--unit", ""); !strings.Contains(got.stdout, "kg\nt\n") {
		t.Errorf("completion of --unit: %s", got.stdout)
	}
	if got := run(t, "", "__complete", "call", ""); !strings.Contains(got.stdout, "boat_weigh") {
		t.Errorf("completion of call: %s", got.stdout)
	}
}

func TestAReportGoesThroughItsFormat(t *testing.T) {
	if got := run(t, "", "boat", "weigh", "jolly", "--format", "junit"); !strings.Contains(got.stdout, "<testsuite") {
		t.Error(got.stdout)
	}
	got := run(t, "", "boat", "weigh", "jolly")
	if !strings.Contains(got.stdout, "boat") || strings.Contains(got.stdout, "\x1b") {
		t.Errorf("plain text in a pipe: %q", got.stdout)
	}
}

func TestAnInterruptedCommandEndsAsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var errs bytes.Buffer
	program := cli.Program{Stderr: &errs, Commands: []cli.Command{{
		Path: "sail", Run: func(ctx context.Context, _ cli.Invocation) error { cancel(); return ctx.Err() },
	}}}
	if status := program.Run(ctx, []string{"sail"}); status != 130 || !strings.HasPrefix(errs.String(), "tidegate: CANCELLED: ") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

func TestAReportThatFailedEndsACommandWithStatusOne(t *testing.T) {
	for _, status := range []report.Status{report.Pass, report.Warn, report.Fail} {
		var out bytes.Buffer
		program := cli.Program{Stdout: &out, Commands: []cli.Command{{
			Path: "sail", Run: func(_ context.Context, call cli.Invocation) error {
				return call.Show(report.Report{Title: "Wind", Summary: "fair", Status: status}, "text")
			},
		}}}
		want := 0
		if status == report.Fail {
			want = 1
		}
		if got := program.Run(t.Context(), []string{"sail"}); got != want || !strings.Contains(out.String(), "fair") {
			t.Errorf("%s: status %d, want %d: %s", status, got, want, out.String())
		}
	}
}

func TestMisspeltWordsAreAnsweredWithWhatWasMeant(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"boat wiegh ./jolly", `unknown command "wiegh" for "tidegate boat"; did you mean weigh?`},
		{"boat xyzzy", "`tidegate boat --help` lists them"},
		{"baot weigh", `unknown command "baot" for "tidegate"; did you mean boat?`},
		{"boat weigh ./jolly --fromat json", "unknown flag: --fromat; did you mean --format?"},
		{"boat weigh ./jolly --limit", "flag needs an argument: --limit"},
	} {
		var errs bytes.Buffer
		program := cli.Program{Tools: []*tool.Tool{weigh()}, Stdout: new(bytes.Buffer), Stderr: &errs, Dir: t.TempDir()}
		if status := program.Run(t.Context(), strings.Fields(test.line)); status != 2 || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%s: status %d: %s", test.line, status, errs.String())
		}
	}
}

func TestAnAbsentValueIsNotShown(t *testing.T) {
	var errs bytes.Buffer
	program := cli.Program{Tools: []*tool.Tool{weigh()}, Stdout: new(bytes.Buffer), Stderr: &errs, Dir: t.TempDir()}
	if status := program.Run(t.Context(), []string{"boat", "weigh"}); status != 2 || strings.Contains(errs.String(), "null") || !strings.Contains(errs.String(), "BOAT is missing") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

// TestAPathThatIsNotUTF8: the file may well exist, so the message does not say that
// it was not found.
func TestAPathThatIsNotUTF8(t *testing.T) {
	for _, args := range [][]string{{"boat", "weigh", "jo\xfflly"}, {"boat", "weigh", "jolly", "--unit", "\xff"}} {
		if got := onTerminal(t, cli.Terminal{}, "", args...); got.status != 2 || !strings.Contains(got.err, "is not UTF-8") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
