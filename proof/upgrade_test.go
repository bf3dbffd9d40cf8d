package proof_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// upgradedPage is what the outputs of the kept runs cite. It is in their archives.
const upgradedPage = "http://127.0.0.1:8765/port"

// TestRunsOfEarlierProgramsResume: testdata/upgrade.tar.gz has two runs as the program
// of commit b6f6fb6 left them, the first that takes a question to its report by
// jobs. One is completed; the other was in its first wave, with a job leased, when the
// program was killed. Both open and verify; gate A passes again although prompts are
// worded otherwise; the second goes on to its report.
func TestRunsOfEarlierProgramsResume(t *testing.T) {
	full.Story(t)
	t.Parallel()
	home := scratch.Short(t)
	unpack(t, "testdata/upgrade.tar.gz", filepath.Join(home, "runs"))
	typed := func(words ...string) string {
		t.Helper()
		command := exec.Command(binary, words...)
		command.Env, command.Dir = append(os.Environ(), "TIDEGATE_HOME="+home, "COLUMNS=400"), home
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("tidegate %s: %v\n%s", strings.Join(words, " "), err, out)
		}
		return string(out)
	}
	o := newOffice(t)
	done, half := o.run("finished").at(filepath.Join(home, "runs", "finished")), o.run("halfway").at(filepath.Join(home, "runs", "halfway"))
	for _, f := range []folder{done, half} {
		if pass, findings := f.verify(t); !pass {
			t.Fatalf("%s does not verify:\n%s", f.id, findings)
		}
	}
	if got := counting(t, done); strings.Join(got, "") != "ABCDEF" {
		t.Errorf("of the gates of the completed run %v count", got)
	}
	if objection := refused(t, half, "A"); objection != "" {
		t.Errorf("its judge does not pass gate A again, because prompts are worded otherwise: %s", objection)
	}
	half.spoilt(t, "wave-1/wave1-plan.json", func(text string) string { return strings.Replace(text, "source", "sauce", 1) }, func() {
		if objection := refused(t, half, "A"); !strings.Contains(objection, "PLAN_PROMPT_MISMATCH") {
			t.Errorf("an edited prompt passes gate A: %q", objection)
		}
	})
	typed("report", "finished")
	accepted := half.read(t, "wave-1/doubts.md")

	typed("run", "continue", "halfway", "--one-agent", "--agent", obedient(upgradedPage))

	if status := half.json(t, "manifest.json").Get("status").Str(); status != "completed" {
		t.Errorf("the run is %s", status)
	}
	if pass, findings := half.verify(t); !pass {
		t.Errorf("it does not verify:\n%s", findings)
	}
	if got := counting(t, half); strings.Join(got, "") != "ABCDEF" {
		t.Errorf("of its gates %v count", got)
	}
	if string(half.read(t, "wave-1/doubts.md")) != string(accepted) {
		t.Error("an output that was accepted before was written again")
	}
	if half.has("jobs/wave1.doubts/003") || half.has("jobs/perspectives/002") || half.has("jobs/wave1.records/002") {
		t.Error("a job was asked for again that was accepted, or the kill used a try")
	}
	if report := typed("report", "halfway"); !strings.Contains(report, upgradedPage) {
		t.Errorf("the report does not cite its source:\n%s", report)
	}
}

// keptRuns are the runs of testdata/stages.tar.gz, as the program of commit d8e6a497
// left them, with what is said of each: where it stands, the rules that `run verify`
// finds something by, and how many steps `run replay` does again and finds different.
// A replay passes where nothing differs and there is something to do again.
//
// testdata/upgrade.sh made the archive in a worktree of that commit, below
// /srv/tidegate because logs hold absolute paths. Its clock stood at 2026-03-02T09:00:00Z.
var keptRuns = []struct {
	id, stage, status string
	findings          string
	again, differ     int
	before            string // what a person types before the run goes on
	resumes           bool   // to its report
}{
	{"init", "init", "created", "", 0, 0, "", true},
	{"perspectives", "perspectives", "running", "", 1, 1, "", true},
	{"wave1", "wave1", "running", "", 11, 0, "", true},
	{"pivot", "pivot", "running", "", 37, 0, "", true},
	{"wave2", "wave2", "running", "", 44, 0, "", true},
	{"citations", "citations", "running", "", 68, 0, "", true},
	{"summaries", "summaries", "running", "", 78, 0, "", true},
	{"synthesis", "synthesis", "running", "", 119, 0, "", true},
	{"review", "review", "running", "", 127, 0, "", true},
	{"finalize", "finalize", "completed", "", 139, 0, "", false},
	// Its second wave was asked for by name, which a replay does not do.
	{"chosen", "wave2", "running", "", 44, 1, "", true},
	{"returned", "synthesis", "running", "", 137, 0, "", true},
	{"leased", "wave1", "running", "", 24, 0, "", true},
	{"paused", "wave1", "paused", "", 12, 0, "", true},
	{"failed", "wave1", "failed", "", 34, 0, "job retry failed wave1.doubts --note again", true},
	{"cancelled", "wave1", "cancelled", "", 12, 0, "", false},
	{"accepted", "citations", "running", "gate-accepted record-accepted", 64, 1, "", true},
	// No judge passes an output that a person corrected, although it was accepted.
	{"corrected", "citations", "running", "gate-stale record-accepted", 68, 0, "", false},
	{"signed", "finalize", "completed", "", 141, 0, "", false},
	{"harbour", "finalize", "completed", "", 181, 0, "", false},
	// The earlier orchestrator's tools wrote into these.
	{"ticked", "wave1", "running", "", 15, 0, "", true},
	{"reported", "review", "running", "", 135, 0, "", true},
	{"legacy", "review", "running", "", 13, 0, "", false},
	{"seeded", "review", "running", "", 37, 0, "", false},
	{"dry", "init", "created", "", 20, 0, "", false},
}

// TestRunsOfEveryStageOfAnEarlierProgramResume: each run is shown, verified and replayed
// with the outcome above, and none of that changes it. Those that are not finished go
// on to their reports, by agents that do what their prompts say. The short form looks at
// four of them, and the one in summaries goes on.
func TestRunsOfEveryStageOfAnEarlierProgramResume(t *testing.T) {
	t.Parallel()
	home := scratch.Short(t)
	unpack(t, "testdata/stages.tar.gz", home)
	o := officeIn(t, home)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, article(r.URL.Path))
	}))
	t.Cleanup(web.Close)
	// An hour later every lease has run out.
	env := append(os.Environ(), "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+home, "COLUMNS=400", "TIDEGATE_NOW=2026-03-02T10:00:00Z",
		"TIDEGATE_FETCH_ALLOW="+strings.TrimPrefix(web.URL, "http://"))
	typed := func(words ...string) (string, int) {
		command := exec.Command(binary, words...)
		command.Env, command.Dir = env, filepath.Join(home, "project")
		out, err := command.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Errorf("tidegate %s: %v", strings.Join(words, " "), err)
		}
		return string(out), command.ProcessState.ExitCode()
	}
	entries, err := os.ReadDir(filepath.Join(home, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"runs-ledger.jsonl": true, ".tidegate.lock": true, "audit": true, "bundles": true}
	for _, kept := range keptRuns {
		known[kept.id] = true
	}
	for _, entry := range entries {
		if !known[entry.Name()] {
			t.Errorf("the archive has %s, of which nothing is demanded", entry.Name())
		}
	}
	for i := 0; i < len(keptRuns); i += full.Stride(len(keptRuns), 4) {
		kept := keptRuns[i]
		t.Run(kept.id, func(t *testing.T) {
			t.Parallel()
			f := o.run(kept.id)
			before := snapshot(t, f.root)
			shown, exit := typed("run", "status", kept.id, "--format", "json")
			status := parsed(t, []byte(shown))
			if got, want := status.Get("stage").Str()+" "+status.Get("status").Str(), kept.stage+" "+kept.status; exit != 0 || got != want {
				t.Errorf("`run status` exits with %d and shows it in %s, want %s", exit, got, want)
			}
			shown, exit = typed("run", "verify", kept.id, "--format", "json")
			var rules []string
			for _, each := range parsed(t, []byte(shown)).Get("findings").Elems() {
				rules = append(rules, each.Get("rule").Str())
			}
			slices.Sort(rules)
			if got := strings.Join(rules, " "); exit != 0 || got != kept.findings {
				t.Errorf("`run verify` exits with %d and finds %q, want %q", exit, got, kept.findings)
			}
			shown, exit = typed("run", "replay", kept.id, "--format", "json")
			replayed := parsed(t, []byte(shown))
			steps := replayed.Get("steps").Elems()
			var differ []string
			for _, step := range steps {
				if !step.Get("same").Bool() {
					differ = append(differ, step.Get("what").Str()+": "+step.Get("difference").Str())
				}
			}
			passes := kept.again > 0 && kept.differ == 0
			if len(steps) != kept.again || len(differ) != kept.differ || replayed.Get("pass").Bool() != passes || (exit == 0) != passes {
				t.Errorf("`run replay` exits with %d; of %d steps %d differ, want %d of %d:\n%s", exit, len(steps), len(differ), kept.differ, kept.again, strings.Join(differ, "\n"))
			}
			if after := snapshot(t, f.root); !maps.EqualFunc(before, after, bytes.Equal) {
				t.Errorf("looking at it has changed it:\n%s", cmp.Diff(before, after))
			}
			if !kept.resumes || !full.Asked() && kept.id != "summaries" {
				return
			}
			if words := strings.Fields(kept.before); len(words) > 0 {
				if shown, exit := typed(words...); exit != 0 {
					t.Fatalf("tidegate %s: %s", kept.before, shown)
				}
			}
			shown, _ = typed("run", "continue", kept.id, "--one-agent", "--agent", obedient(web.URL+"/port"))
			if got := f.json(t, "manifest.json").Get("status").Str(); got != "completed" {
				t.Fatalf("it goes on until it is %s:\n%s", got, shown)
			}
			if pass, findings := f.verify(t); !pass {
				t.Errorf("it does not verify after it went on:\n%s", findings)
			}
		})
	}
	t.Run("a sealed run", func(t *testing.T) {
		t.Parallel()
		shown, exit := typed("verify", filepath.Join(home, "signed.sealed"), "--signers", filepath.Join(home, "allowed_signers"))
		if exit != 0 || !strings.Contains(shown, "signed by person@example.org") {
			t.Errorf("`verify` exits with %d:\n%s", exit, shown)
		}
	})
	t.Run("a change between two rounds of review", func(t *testing.T) {
		t.Parallel()
		// Its second review wants fixes too, which is the last round that nobody has to allow.
		if shown, exit := typed("change", "advance", "planner"); exit != 1 || !strings.Contains(shown, "round 2 of 2") {
			t.Errorf("`change advance` exits with %d:\n%s", exit, shown)
		}
	})
}

// spoilt calls look while a file of the run is edited.
func (f folder) spoilt(t *testing.T, name string, edit func(text string) string, check func()) {
	t.Helper()
	before := f.read(t, name)
	after := edit(string(before))
	if after == string(before) {
		t.Fatalf("%s is not edited", name)
	}
	f.write(t, name, after)
	check()
	f.write(t, name, string(before))
}

// unpack writes the files of a compressed archive below dir.
func unpack(t *testing.T, name, dir string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
