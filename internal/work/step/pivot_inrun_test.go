package step_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
)

// pivotRun makes a run of one perspective with one urgent gap.
func pivotRun(t *testing.T, manifest string) (root string, in step.PivotInput) {
	t.Helper()
	root = must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	write(t, filepath.Join(root, "wave-1", "p1.md"), "# Gaps\n- (P0) Need X #verification\n")
	return root, step.PivotInput{
		Outputs:      []pivot.Output{{PerspectiveID: "p1", Path: "wave-1/p1.md"}},
		Reports:      []*codec.Value{goodReport("p1")},
		ManifestPath: write(t, filepath.Join(root, "manifest.json"), manifest),
	}
}

const plainManifest = `{"schema_version": "manifest.v1", "run_id": "r1"}`

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestTheDecisionIsWrittenToTheRun(t *testing.T) {
	root, in := pivotRun(t, plainManifest)
	in.Reports[0].Set("tool_usage", codec.NewObject())
	d := decided(t, in)
	file := filepath.Join(root, "pivot.json")
	if d.PivotPath == nil || *d.PivotPath != file || d.AuditWritten {
		t.Errorf("pivot_path %v, audit_written %v", d.PivotPath, d.AuditWritten)
	}
	want := `{
  "schema_version": "pivot_decision.v1",
  "run_id": "r1",
  "generated_at": "2026-03-04T05:06:07.000Z",
  "inputs_digest": "sha256:750d4eef1941cd9a8ada56fa82c42b1c8da98602bc9fd42b6349543d163d73fc",
  "actor": "agent",
  "wave1": {
    "outputs": [
      {
        "perspective_id": "p1",
        "output_md": "wave-1/p1.md",
        "digest": "sha256:dfaab64539b86e5fdaccacd230e39323cec09c38f32a721638a23681f2345481",
        "validator_report": {
          "ok": true,
          "perspective_id": "p1",
          "markdown_path": "/run/wave-1/p1.md",
          "words": 842,
          "sources": 9,
          "missing_sections": []
        }
      }
    ]
  },
  "gaps": [
    {
      "gap_id": "gap_p1_1",
      "priority": "P0",
      "text": "Need X #verification",
      "tags": [
        "verification"
      ],
      "source": "parsed_wave1",
      "from_perspective_id": "p1"
    }
  ],
  "decision": {
    "wave2_required": true,
    "rule_hit": "Wave2Required.P0",
    "metrics": {
      "p0_count": 1,
      "p1_count": 0,
      "p2_count": 0,
      "p3_count": 0,
      "total_gaps": 1
    },
    "explanation": "Wave 2 required because p0_count=1 (rule Wave2Required.P0).",
    "wave2_gap_ids": [
      "gap_p1_1"
    ]
  }
}
`
	if diff := cmp.Diff(want, must.Read(t, file)); diff != "" {
		t.Errorf("pivot.json (-want +got):\n%s", diff)
	}
	if exists(filepath.Join(root, "logs")) {
		t.Error("an audit line was written without a reason")
	}
}

func TestWithoutAManifestNothingIsWritten(t *testing.T) {
	root, in := pivotRun(t, plainManifest)
	in.ManifestPath, in.Outputs[0].Path, in.Reason = "", filepath.Join(root, "wave-1", "p1.md"), "because"
	d := decided(t, in)
	if d.PivotPath != nil || d.AuditWritten {
		t.Errorf("pivot_path %v, audit_written %v", d.PivotPath, d.AuditWritten)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestTheAuditLineIsWrittenWhenAReasonIsGiven(t *testing.T) {
	root, in := pivotRun(t, plainManifest)
	in.Reason = "  wave 1 is in "
	if d := decided(t, in); !d.AuditWritten {
		t.Error("audit_written is false")
	}
	first, _, _ := strings.Cut(must.Read(t, filepath.Join(root, "logs", "audit.jsonl")), "\n")
	line := runs.Parse(t, first)
	line.Delete("prev")
	got, _ := codec.MarshalLine(line)
	want := `{"ts":"2026-03-04T05:06:07.000Z","kind":"pivot_decide","run_id":"r1","event":"decided","seq":1,"actor":"agent","reason":"wave 1 is in","pivot_path":"` + filepath.Join(root, "pivot.json") +
		`","wave2_required":true,"rule_hit":"Wave2Required.P0","inputs_digest":"sha256:750d4eef1941cd9a8ada56fa82c42b1c8da98602bc9fd42b6349543d163d73fc","clock":"pinned"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestAnUnwritableAuditLogChangesNothingElse(t *testing.T) {
	root, in := pivotRun(t, plainManifest)
	write(t, filepath.Join(root, "logs"), "a file in the place of the folder")
	in.Reason = "because"
	d := decided(t, in)
	if d.AuditWritten || d.PivotPath == nil || !exists(*d.PivotPath) {
		t.Errorf("audit_written %v, pivot_path %v", d.AuditWritten, d.PivotPath)
	}
}

func TestTheManifestSaysWhereTheDecisionGoes(t *testing.T) {
	for _, test := range []struct{ name, pivotFile, want string }{
		{"in a folder that is made", "decisions/pivot/1.json", "decisions/pivot/1.json"},
		{"absolute, in the run", "$ROOT/p.json", "p.json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, in := pivotRun(t, plainManifest)
			write(t, in.ManifestPath, `{"schema_version": "manifest.v1", "run_id": "r1", "artifacts": {"paths": {"pivot_file": "`+strings.ReplaceAll(test.pivotFile, "$ROOT", root)+`"}}}`)
			d := decided(t, in)
			if want := filepath.Join(root, test.want); *d.PivotPath != want || !exists(want) {
				t.Errorf("pivot_path %s, want %s", *d.PivotPath, want)
			}
		})
	}
	for _, file := range []string{"../pivot.json", "/nowhere/pivot.json", "manifest.json", "gates.json", "perspectives.json",
		"operator/scope.json", "logs/audit.jsonl", "wave-review.json", "summaries/summary-pack.json"} {
		t.Run("refused: "+file, func(t *testing.T) {
			root, in := pivotRun(t, plainManifest)
			manifest := `{"schema_version": "manifest.v1", "run_id": "r1", "artifacts": {"paths": {"pivot_file": "` + file + `"}}}`
			write(t, in.ManifestPath, manifest)
			_, err := step.DecidePivot(t.Context(), runClock, in)
			if tidegate.CodeOf(err) != tidegate.PathNotAllowed {
				t.Errorf("got %v, want PATH_NOT_ALLOWED", err)
			}
			if must.Read(t, in.ManifestPath) != manifest || exists(filepath.Join(filepath.Dir(root), "pivot.json")) {
				t.Error("something was written")
			}
		})
	}
}

func TestPathsOfOutputsInARun(t *testing.T) {
	outputMD := func(t *testing.T, root string) string {
		return runs.Parse(t, must.Read(t, filepath.Join(root, "pivot.json"))).Get("wave1").Get("outputs").Elems()[0].Get("output_md").Str()
	}
	t.Run("relative", func(t *testing.T) {
		root, in := pivotRun(t, plainManifest)
		in.Outputs[0].Path = "./wave-1//p1.md"
		decided(t, in)
		if got := outputMD(t, root); got != "wave-1/p1.md" {
			t.Errorf("output_md %s", got)
		}
	})
	t.Run("absolute and inside", func(t *testing.T) {
		root, in := pivotRun(t, plainManifest)
		in.Outputs[0].Path = filepath.Join(root, "wave-1", "p1.md")
		decided(t, in)
		if got := outputMD(t, root); got != "wave-1/p1.md" {
			t.Errorf("output_md %s", got)
		}
	})
	t.Run("absolute and outside", func(t *testing.T) {
		root, in := pivotRun(t, plainManifest)
		in.Outputs[0].Path = write(t, filepath.Join(t.TempDir(), "p1.md"), "# Gaps\n")
		decided(t, in)
		if got := outputMD(t, root); got != in.Outputs[0].Path {
			t.Errorf("output_md %s", got)
		}
	})
	t.Run("relative and leaving", func(t *testing.T) {
		_, in := pivotRun(t, plainManifest)
		in.Outputs[0].Path = "wave-1/../../p1.md"
		details := tidegate.Pairs("perspective_id", "p1", "output_md_path", "wave-1/../../p1.md")
		refused(t, in, tidegate.PathNotAllowed, details)
		in.ManifestPath += ".absent" // it is not even looked for
		refused(t, in, tidegate.PathNotAllowed, details)
	})
	t.Run("relative and leaving by a link", func(t *testing.T) {
		root, in := pivotRun(t, plainManifest)
		outside := write(t, filepath.Join(t.TempDir(), "p1.md"), "# Gaps\n")
		if err := os.Symlink(outside, filepath.Join(root, "link.md")); err != nil {
			t.Skip(err)
		}
		in.Outputs[0].Path = "link.md"
		refused(t, in, tidegate.PathNotAllowed, tidegate.Pairs("perspective_id", "p1", "output_md_path", "link.md"))
	})
	t.Run("relative and missing", func(t *testing.T) {
		_, in := pivotRun(t, plainManifest)
		in.Outputs[0].Path = "wave-1/p2.md"
		refused(t, in, tidegate.FileNotFound, tidegate.Pairs("perspective_id", "p1", "output_md_path", "wave-1/p2.md"))
	})
}

func TestARefusedDecisionLeavesTheRunAsItWas(t *testing.T) {
	root, in := pivotRun(t, plainManifest)
	in.Reason = "because"
	decided(t, in)
	before, log := must.Read(t, filepath.Join(root, "pivot.json")), must.Read(t, filepath.Join(root, "logs", "audit.jsonl"))
	write(t, filepath.Join(root, "wave-1", "p1.md"), "# Gaps\n- broken\n")
	refused(t, in, tidegate.GapsParseFailed, tidegate.Pairs("perspective_id", "p1", "line", "- broken", "line_number", 2))
	if must.Read(t, filepath.Join(root, "pivot.json")) != before || must.Read(t, filepath.Join(root, "logs", "audit.jsonl")) != log {
		t.Error("something was written")
	}
}

func TestTheManifestMustBeReadable(t *testing.T) {
	root, in := pivotRun(t, `{"schema_version": "manifest.v1"`)
	refused(t, in, tidegate.InvalidJSON, tidegate.Pairs("manifest_path", in.ManifestPath))
	write(t, in.ManifestPath, `{"schema_version": "manifest.v9", "run_id": "r1"}`)
	refused(t, in, tidegate.SchemaValidationFailed, tidegate.Pairs("path", "$.schema_version"))
	in.ManifestPath = filepath.Join(root, "other.json")
	refused(t, in, tidegate.FileNotFound, tidegate.Pairs("manifest_path", in.ManifestPath))
}

func TestTheResultHoldsNoTime(t *testing.T) {
	_, in := pivotRun(t, plainManifest)
	first, _ := codec.Marshal(decided(t, in))
	later := run.Desk{Now: func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }}
	d := must.Get(step.DecidePivot(t.Context(), later, in))(t)
	second, _ := codec.Marshal(d)
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Errorf("(-first +later):\n%s", diff)
	}
	if got := runs.Parse(t, must.Read(t, *d.PivotPath)).Get("generated_at").Str(); got != "2030-01-01T00:00:00.000Z" {
		t.Errorf("generated_at %s", got)
	}
}

func TestTheDecisionIsMadeUnderTheLockOfTheRun(t *testing.T) {
	root, in := pivotRun(t, plainManifest)
	folder := must.Get(artifact.Everywhere.Open("root", root))(t)
	defer folder.Close()
	lock := must.Get(folder.Lock(t.Context(), runClock.Now))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := step.DecidePivot(ctx, runClock, in); tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Errorf("got %v while the lock was held", err)
	}
	lock.Unlock()
	decided(t, in)
}

func printedSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	printed := must.Get(codec.Marshal(pivot.Shape().Schema(pivot.DocumentVersion)))(t)
	schema := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(string(printed))))(t)
	compiler := jsonschema.NewCompiler()
	must.Do(t, compiler.AddResource("pivot.json", schema))
	compiled := must.Get(compiler.Compile("pivot.json"))(t)
	return compiled
}

func TestTheSchemaDemandsEveryFieldOfTheEarlierSystem(t *testing.T) {
	root, in := pivotRun(t, plainManifest)
	decided(t, in)
	text := must.Read(t, filepath.Join(root, "pivot.json"))
	schema, fields := printedSchema(t), 0
	var visit func(v *codec.Value, path string)
	visit = func(v *codec.Value, path string) {
		for _, elem := range v.Elems() {
			visit(elem, path+"[]")
		}
		for _, m := range v.Members() {
			fields++
			broken := runs.Parse(t, text)
			remove(broken, path, m.Key)
			document := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(string(must.Value(codec.Marshal(broken))))))(t)
			optional := m.Key == "from_perspective_id" || m.Key == "actor" || m.Key == "digest"
			if err := pivot.Shape().Check(broken); (err == nil) != optional {
				t.Errorf("without %s.%s: %v", path, m.Key, err)
			}
			if err := schema.Validate(document); (err == nil) != optional {
				t.Errorf("without %s.%s, by the printed schema: %v", path, m.Key, err)
			}
			visit(m.Value, path+"."+m.Key)
		}
	}
	visit(runs.Parse(t, text), "")
	if fields < 30 {
		t.Errorf("only %d fields were visited", fields)
	}
}

// remove deletes a key from the objects at path, such as .wave1.outputs[].
func remove(v *codec.Value, path, key string) {
	if path == "" {
		v.Delete(key)
		return
	}
	if rest, ok := strings.CutPrefix(path, "[]"); ok {
		for _, elem := range v.Elems() {
			remove(elem, rest, key)
		}
		return
	}
	name := path[1:]
	rest := ""
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	remove(v.Get(name), rest, key)
}

func TestPivotReport(t *testing.T) {
	required, in := pivotRun(t, `{"schema_version": "manifest.v1", "run_id": "r1", "limits": {"max_wave2_agents": 1}}`)
	write(t, filepath.Join(required, "wave-1", "p1.md"), "# Findings\nx\n\n# Gaps\n- (P3) later\n- (P1) a \x1b[31mhostile\x1b[0m | text\n- (P0) now #soon\n")
	root, unlimited := pivotRun(t, plainManifest)
	skipped := wave1(t, map[string]string{"p1": "# Gaps\n"})
	explicit := wave1(t, map[string]string{"p1": ""})
	explicit.ExplicitGaps = list(t, `[{"gap_id": "g1", "priority": "P2", "text": "from an operator"}]`)
	for _, test := range []struct {
		name, root string
		in         step.PivotInput
	}{{"required", required, in}, {"unlimited", root, unlimited}, {"skipped", "", skipped}, {"explicit", "", explicit}} {
		for _, format := range []string{"text", "markdown"} {
			t.Run(test.name+" as "+format, func(t *testing.T) {
				f, _ := report.Lookup(format)
				var out bytes.Buffer
				must.Do(t, f.Write(&out, decided(t, test.in).Report(), report.Options{Root: test.root}))
				got := out.Bytes()
				if test.root != "" {
					got = bytes.ReplaceAll(got, []byte(test.root), []byte("ROOT"))
				}
				golden(t, test.name+"."+format, got)
			})
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "pivot", name)
	if *update {
		must.Write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run: go test ./internal/work/step -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

const contracts = `{"schema_version": "perspectives.v1", "perspectives": [
	{"id": "b", "prompt_contract": {"max_words": 20, "max_sources": 2, "must_include_sections": ["Gaps", "Sources"]}},
	{"id": "a", "prompt_contract": {"max_words": 20, "max_sources": 2, "must_include_sections": ["Gaps"]}, "source_artifact": "else/where.md"}]}`

func TestFromRunValidatesEveryOutput(t *testing.T) {
	root := t.TempDir()
	manifest := write(t, filepath.Join(root, "manifest.json"), plainManifest)
	write(t, filepath.Join(root, "perspectives.json"), contracts)
	b := write(t, filepath.Join(root, "wave-1", "b.md"), "# Gaps\n- (P1) x\n# Sources\n- https://example.org\n")
	a := write(t, filepath.Join(root, "wave-1", "a.md"), "# Gaps\n")
	write(t, filepath.Join(root, "else", "where.md"), "# Gaps\n- (P0) what nobody judged\n")
	in, err := step.PivotOf(t.Context(), runClock, manifest)
	if err != nil {
		t.Fatal(err)
	}
	want := []pivot.Output{{PerspectiveID: "a", Path: a}, {PerspectiveID: "b", Path: b}}
	if diff := cmp.Diff(want, in.Outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	reports, _ := codec.MarshalLine(in.Reports)
	wantReports := `[{"ok":true,"perspective_id":"a","markdown_path":"` + a + `","words":2,"sources":0,"missing_sections":[]},` +
		`{"ok":true,"perspective_id":"b","markdown_path":"` + b + `","words":9,"sources":1,"missing_sections":[]}]`
	if diff := cmp.Diff(wantReports, string(reports)); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if d := decided(t, in); d.Metrics.Total != 1 || *d.PivotPath != filepath.Join(root, "pivot.json") {
		t.Errorf("got %+v", d)
	}

	write(t, b, "# Gaps\n")
	if in, err = step.PivotOf(t.Context(), runClock, manifest); err != nil {
		t.Fatal(err)
	}
	refused(t, in, tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", "b",
		"failure", tidegate.Pairs("code", "MISSING_REQUIRED_SECTION", "message", "Missing section: Sources")))

	must.Do(t, os.Remove(b))
	_, err = step.PivotOf(t.Context(), runClock, manifest)
	e := tidegate.AsError(err)
	if e == nil || e.Code != tidegate.FileNotFound {
		t.Fatalf("got %v, want NOT_FOUND", err)
	}
	if diff := cmp.Diff(tidegate.Pairs("perspective_id", "b", "output_md_path", b), e.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestFromRunLooksWhereTheManifestSays(t *testing.T) {
	root := t.TempDir()
	manifest := write(t, filepath.Join(root, "manifest.json"),
		`{"schema_version": "manifest.v1", "run_id": "r1", "artifacts": {"paths": {"wave1_dir": "first", "perspectives_file": "p/p.json"}}}`)
	write(t, filepath.Join(root, "p", "p.json"), `{"schema_version": "perspectives.v1", "perspectives": [
		{"id": "x", "prompt_contract": {"max_words": 20, "max_sources": 2, "must_include_sections": []}}]}`)
	x := write(t, filepath.Join(root, "first", "x.md"), "# Gaps\n")
	in := must.Get(step.PivotOf(t.Context(), runClock, manifest))(t)
	if diff := cmp.Diff([]pivot.Output{{PerspectiveID: "x", Path: x}}, in.Outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}
