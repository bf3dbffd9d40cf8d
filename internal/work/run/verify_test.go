package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

const perspectivesDoc = `{"schema_version":"perspectives.v1","run_id":"r1","created_at":"2026-02-14","perspectives":[{"id":"p1","title":"T","track":"standard","agent_type":"a",` +
	`"prompt_contract":{"max_words":900,"max_sources":12,"tool_budget":{"search_calls":4},"must_include_sections":["Findings","Sources","Gaps"]},"extra":true}]}`

// used is a run with a few writes behind it.
func used(t *testing.T) run.InitResult {
	t.Helper()
	out := runs.Create(t, run.InitInput{})
	must.Get(step.WritePerspectives(t.Context(), runs.Pinned, step.PerspectivesInput{
		PerspectivesPath: filepath.Join(out.Root, "perspectives.json"), Value: runs.Parse(t, perspectivesDoc), Reason: "test"}))(t)
	r := runs.Open(t, out.ManifestPath)
	for n := range 3 {
		must.Get(r.Update(t.Context(), func(u *run.Update) error {
			if n == 0 {
				must.Do(t, u.Write("wave-1/p1.md", []byte("x")))
				if err := u.WriteJSON("pivot.json", map[string]any{"run_wave2": false}); err != nil {
					return err
				}
			}
			return u.Progress("test", "x")
		}))(t)
	}
	must.Get(r.Update(t.Context(), func(u *run.Update) error {
		_, err := u.EditGates(runs.Parse(t, `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["wave-1/p1.md"]}}`), "sha256:x", "test")
		return err
	}))(t)
	return out
}

func TestVerifyNamesWhatWasTamperedWith(t *testing.T) {
	lines := func(root string, change func([]string) []string) {
		t.Helper()
		path := filepath.Join(root, "logs/audit.jsonl")
		all := strings.SplitAfter(strings.TrimSuffix(must.Read(t, path), "\n"), "\n")
		all[len(all)-1] += "\n"
		must.Do(t, os.WriteFile(path, []byte(strings.Join(change(all), "")), 0o600))
	}
	edit := func(root, name, old, new string) {
		t.Helper()
		before := must.Read(t, filepath.Join(root, name))
		if !strings.Contains(before, old) {
			t.Fatalf("no %q in %s", old, name)
		}
		runs.Put(t, root, name, strings.Replace(before, old, new, 1))
	}
	for _, tt := range []struct {
		name   string
		tamper func(root string)
		want   string // level rule file
		pass   bool
	}{
		{"nothing", func(string) {}, "", true},
		{"status edited", func(root string) { edit(root, "manifest.json", `"created"`, `"running"`) }, "error digest-mismatch manifest.json", false},
		{"stage edited", func(root string) { edit(root, "manifest.json", `"current": "init"`, `"current": "review"`) },
			"error digest-mismatch manifest.json; error history-broken manifest.json", false},
		{"revision edited", func(root string) { edit(root, "manifest.json", `"revision": 4`, `"revision": 9`) },
			"error digest-mismatch manifest.json; error revision-mismatch manifest.json", false},
		{"gate edited", func(root string) { edit(root, "gates.json", `"not_run"`, `"pass"`) },
			"error schema-violation gates.json; error digest-mismatch gates.json", false},
		{"question edited in the scope", func(root string) { edit(root, "operator/scope.json", "What moves", "What stops") }, "error digest-mismatch operator/scope.json", false},
		{"policy edited", func(root string) { edit(root, "run-config/policy.json", `"verify": "require"`, `"verify": "off"`) }, "error digest-mismatch run-config/policy.json", false},
		{"policy removed", func(root string) { os.Remove(filepath.Join(root, "run-config/policy.json")) }, "error file-missing run-config/policy.json", false},
		{"perspectives edited", func(root string) { edit(root, "perspectives.json", "900", "90000") }, "error digest-mismatch perspectives.json", false},
		{"perspectives spoilt", func(root string) { runs.Put(t, root, "perspectives.json", "[") }, "error not-json perspectives.json; error digest-mismatch perspectives.json", false},
		{"perspectives removed", func(root string) { os.Remove(filepath.Join(root, "perspectives.json")) }, "error file-missing perspectives.json", false},
		{"perspectives laid out differently", func(root string) { edit(root, "perspectives.json", "  ", "    ") }, "error digest-mismatch perspectives.json", false},
		{"decision edited", func(root string) { edit(root, "pivot.json", "false", "true") }, "error digest-mismatch pivot.json", false},
		{"decision removed", func(root string) { os.Remove(filepath.Join(root, "pivot.json")) }, "error file-missing pivot.json", false},
		{"decision replaced by a folder", func(root string) {
			os.Remove(filepath.Join(root, "pivot.json"))
			runs.Put(t, root, "pivot.json/x", "")
		}, "error file-unreadable pivot.json; note file-unrecorded pivot.json/x", false},
		{"decision edited after another program wrote to the log", func(root string) {
			runs.Put(t, root, "logs/audit.jsonl", must.Read(t, filepath.Join(root, "logs/audit.jsonl"))+"{\"kind\":\"pivot_decide\"}\n")
			edit(root, "pivot.json", "false", "true")
		}, "error line-unchained logs/audit.jsonl; error head-mismatch logs/audit.head; error digest-mismatch pivot.json", false},
		{"gates removed", func(root string) { os.Remove(filepath.Join(root, "gates.json")) }, "error file-missing gates.json", false},
		{"judged output edited", func(root string) { runs.Put(t, root, "wave-1/p1.md", "y") }, "error digest-mismatch wave-1/p1.md; warning gate-stale wave-1/p1.md", false},
		{"log line edited", func(root string) {
			edit(root, "logs/audit.jsonl", `"reason":"test [progress:x]"`, `"reason":"nothing"`)
		}, "error chain-broken logs/audit.jsonl; error head-mismatch logs/audit.head", false},
		{"log line removed", func(root string) { lines(root, func(l []string) []string { return append(l[:3:3], l[4:]...) }) },
			"error chain-broken logs/audit.jsonl; error sequence-broken logs/audit.jsonl; error transaction-broken logs/audit.jsonl; error revision-gap logs/audit.jsonl; " +
				"error digest-mismatch logs/audit.jsonl; error head-mismatch logs/audit.head", false},
		{"log line put into another transaction", func(root string) { edit(root, "logs/audit.jsonl", `"seq":5,"tx":4`, `"seq":5,"tx":3`) },
			"error chain-broken logs/audit.jsonl; error transaction-broken logs/audit.jsonl", false},
		{"version of the log taken away", func(root string) { edit(root, "logs/audit.jsonl", `"log":`, `"was":`) },
			"error chain-broken logs/audit.jsonl", false},
		{"arguments edited", func(root string) { edit(root, "logs/audit.jsonl", `"args":{}`, `"args":{"x":1}`) },
			"error chain-broken logs/audit.jsonl; error head-mismatch logs/audit.head", false},
		{"log rewritten as a whole, with the policy", func(root string) {
			was := codec.DigestBytes([]byte(must.Read(t, filepath.Join(root, "run-config/policy.json"))))
			edit(root, "run-config/policy.json", `"verify": "require"`, `"verify": "off"`)
			is := codec.DigestBytes([]byte(must.Read(t, filepath.Join(root, "run-config/policy.json"))))
			runs.Rechain(t, root, func(line string) string { return strings.ReplaceAll(line, was, is) })
		}, "error state-mismatch logs/audit.jsonl", false},
		{"log lines swapped", func(root string) { lines(root, func(l []string) []string { l[5], l[6] = l[6], l[5]; return l }) },
			"error chain-broken logs/audit.jsonl; error chain-broken logs/audit.jsonl; error chain-broken logs/audit.jsonl; " +
				"error sequence-broken logs/audit.jsonl; error revision-gap logs/audit.jsonl; error digest-mismatch logs/audit.jsonl; " +
				"error sequence-broken logs/audit.jsonl; error revision-gap logs/audit.jsonl; error digest-mismatch logs/audit.jsonl; " +
				"error sequence-broken logs/audit.jsonl; error digest-mismatch manifest.json; error revision-mismatch manifest.json", false},
		{"last log line removed", func(root string) { lines(root, func(l []string) []string { return l[:len(l)-1] }) },
			"error head-mismatch logs/audit.head; error digest-mismatch gates.json; error revision-mismatch gates.json", false},
		{"log torn", func(root string) {
			runs.Put(t, root, "logs/audit.jsonl", must.Read(t, filepath.Join(root, "logs/audit.jsonl"))+`{"ts":`)
		}, "warning line-torn logs/audit.jsonl", true},
		{"foreign line", func(root string) {
			runs.Put(t, root, "logs/audit.jsonl", must.Read(t, filepath.Join(root, "logs/audit.jsonl"))+"{\"kind\":\"x\"}\n")
		}, "error line-unchained logs/audit.jsonl; error head-mismatch logs/audit.head", false},
		{"log removed", func(root string) { os.Remove(filepath.Join(root, "logs/audit.jsonl")) },
			"note log-missing logs/audit.jsonl; error head-mismatch logs/audit.head; note revision-unrecorded manifest.json; note revision-unrecorded gates.json", false},
		{"head removed", func(root string) { os.Remove(filepath.Join(root, "logs/audit.head")) }, "error file-missing logs/audit.head", false},
		{"gates of another run", func(root string) { edit(root, "gates.json", `"run_id": "r1"`, `"run_id": "r2"`) },
			"error run-id-mismatch gates.json; error digest-mismatch gates.json", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := used(t)
			tt.tamper(out.Root)
			before := must.Tree(t, out.Root)
			v := must.Get(run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: out.ManifestPath}))(t)
			var got []string
			for _, f := range v.Findings {
				got = append(got, f.Level+" "+f.Rule+" "+f.File)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" || v.Pass != tt.pass || v.Passed() != tt.pass {
				t.Errorf("pass %v (-want +got):\n%s", v.Pass, diff)
			}
			if diff := cmp.Diff(before, must.Tree(t, out.Root)); diff != "" {
				t.Errorf("verify changed something:\n%s", diff)
			}
			var b strings.Builder
			if err := report.Text(&b, v.Report(), report.Options{}); err != nil || !strings.Contains(b.String(), "rewritten as a whole") {
				t.Errorf("the report does not say what a chain cannot show: %v\n%s", err, b.String())
			}
		})
	}
}

func TestLogShowsItsLastLinesAndToleratesATornOne(t *testing.T) {
	out := used(t)
	runs.Put(t, out.Root, "logs/audit.jsonl", "no json\n"+must.Read(t, filepath.Join(out.Root, "logs/audit.jsonl"))+`{"ts":`)
	log, err := run.Log(t.Context(), runs.Pinned, run.LogInput{ManifestPath: out.ManifestPath})
	if err != nil || log.Lines != 10 || len(log.Entries) != 10 || log.Entries[0].Chained || !log.Entries[1].Chained || !log.Entries[9].Torn {
		t.Fatalf("%+v, %v", log, err)
	}
	log, err = run.Log(t.Context(), runs.Pinned, run.LogInput{ManifestPath: out.ManifestPath, Last: 2})
	if err != nil || len(log.Entries) != 2 || log.Lines != 10 || log.Entries[0].Entry.Get("kind").Str() != "gates_write" {
		t.Fatalf("%+v, %v", log, err)
	}
	if r := log.Report(); len(r.Blocks) != 1 || r.Summary != "the last 2 of 10 lines; "+log.Damaged || !strings.Contains(log.Damaged, "is damaged") {
		t.Errorf("report %+v", r)
	}
	must.Do(t, os.Remove(log.Path))
	if log, err := run.Log(t.Context(), runs.Pinned, run.LogInput{ManifestPath: out.ManifestPath}); err != nil || len(log.Entries) != 0 || log.Entries == nil {
		t.Errorf("%+v, %v", log, err)
	}
}

func TestChangeIsLoggedHoweverLongItsReason(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	r := runs.Open(t, out.ManifestPath)
	long := strings.Repeat("é", 2<<20)
	audit, err := r.Update(t.Context(), func(u *run.Update) error {
		if _, err := u.EditGates(runs.Parse(t, `{"B":{"status":"not_run"}}`), long, long); err != nil {
			return err
		}
		return u.Progress(long, "x")
	})
	if err != nil || !audit.Written {
		t.Errorf("%+v, %v", audit, err)
	}
	if v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: out.ManifestPath}); err != nil || !v.Pass {
		t.Errorf("%+v, %v", v.Findings, err)
	}
}

func TestDigestsOfManyFilesAreLogged(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	r := runs.Open(t, out.ManifestPath)
	const files = 2500
	must.Get(r.Update(t.Context(), func(u *run.Update) error {
		for i := range files {
			if err := u.Write(fmt.Sprintf("wave-1/p%d.md", i), []byte("x")); err != nil {
				return err
			}
		}
		return nil
	}))(t)
	runs.Put(t, out.Root, "wave-1/p2499.md", "y")
	v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: out.ManifestPath})
	if err != nil || len(v.Findings) != 1 || v.Findings[0].File != "wave-1/p2499.md" || v.Log.Lines != 4 {
		t.Errorf("%+v, %v", v.Findings, err)
	}
}

func TestAuditLinesHaveTheDocumentedFieldsInOrder(t *testing.T) {
	out := used(t)
	want := []string{
		"ts kind run_id event seq tx actor log manifest_revision gates_revision scope_digest manifest_digest gates_digest policy_digest args state clock prev",
		"ts kind run_id event seq tx actor reason path value_digest replan state clock prev",
		"ts kind run_id event seq tx actor files state clock prev",
		"ts kind run_id event seq tx actor prev_revision new_revision reason patch_digest manifest_digest prev_digest progress args state clock prev",
		"ts kind run_id event seq tx actor files state clock prev",
		"ts kind run_id event seq tx actor prev_revision new_revision reason patch_digest manifest_digest prev_digest progress args state clock prev",
		"ts kind run_id event seq tx actor prev_revision new_revision reason patch_digest manifest_digest prev_digest progress args state clock prev",
		"ts kind run_id event seq tx actor prev_revision new_revision reason inputs_digest gates_digest prev_digest gates state clock prev",
	}
	log := must.Get(run.Log(t.Context(), runs.Pinned, run.LogInput{ManifestPath: out.ManifestPath}))(t)
	var got []string
	for _, e := range log.Entries {
		var keys []string
		for _, m := range e.Entry.Members() {
			keys = append(keys, m.Key)
		}
		got = append(got, strings.Join(keys, " "))
		if e.Entry.Get("clock").Str() != "pinned" {
			t.Errorf("line %d does not say that the clock was pinned", e.Line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	unpinned := run.Desk{Now: runs.Pinned.Now}
	r := runs.OpenAt(t, unpinned, out.ManifestPath)
	must.Get(r.Update(t.Context(), func(u *run.Update) error { return u.Progress("test", "x") }))(t)
	log, _ = run.Log(t.Context(), unpinned, run.LogInput{ManifestPath: out.ManifestPath, Last: 1})
	if log.Entries[0].Entry.Get("clock") != nil {
		t.Error("a line under the real clock says pinned")
	}
}

// TestVerifyNotesRecordsThatNoLineNames, also in an archive of which the log says
// nothing at all.
func TestVerifyNotesRecordsThatNoLineNames(t *testing.T) {
	out := used(t)
	runs.Put(t, out.Root, run.ArchiveFile, "a whole record")
	v := must.Get(run.Verify(t.Context(), run.Desk{}, run.VerifyInput{ManifestPath: out.ManifestPath}))(t)
	for _, f := range v.Findings {
		if f.Rule == "record-unnamed" && strings.Contains(f.Message, "14 bytes") {
			return
		}
	}
	t.Errorf("nothing is said of it: %+v", v.Findings)
}
