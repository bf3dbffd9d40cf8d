package proof_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestASignatureCountsForOneDecision: what an agent with a shell, but without the
// key, tries on a run whose decisions are signed.
func TestASignatureCountsForOneDecision(t *testing.T) {
	t.Parallel()
	dir, typed := withKeys(t)
	original := folder{nil, "tides", filepath.Join(dir, "runs", "tides")}
	for _, words := range [][]string{
		{"run", "init", question, "--id", original.id, "--signers", filepath.Join(dir, "person.signers")},
		{"run", "pause", original.id, "--sign", filepath.Join(dir, "person")},
		{"run", "verify", original.id},
	} {
		if out, err := typed(words...); err != nil {
			t.Fatalf("%q: %s", words, out)
		}
	}
	list := run.SignersFile
	stranger := func(t *testing.T, f folder) {
		f.write(t, list, string(folder{nil, "", dir}.read(t, "stranger.signers")))
	}
	for _, a := range []struct {
		wants string
		given func(t *testing.T, f folder)
		tries []string // refused
		with  string   // the key
	}{
		{"his own key to count by his own list", stranger, []string{"run accept", "run cancel", "run resume"}, "stranger"},
		{"no signature to be asked for, by a list that is gone", func(t *testing.T, f folder) { remove(list)(t, victim{f, ""}) }, []string{"run accept", "run cancel", "run resume"}, ""},
		{"a decision without a key", func(*testing.T, folder) {}, []string{"run cancel", "run resume"}, ""},
		{"a decision with another key", func(*testing.T, folder) {}, []string{"run cancel", "run resume"}, "stranger"},
		{"a resumption by the signature of the pause", func(t *testing.T, f folder) {
			appendLine(t, f, `"kind":"manifest_write","event":"status","actor":"person","from":"paused","status":"running","decision":"logs/decisions/000002.json"`)
		}, nil, ""},
		{"another limit by the signature of the pause", func(t *testing.T, f folder) {
			appendLine(t, f, `"kind":"limit","event":"limit","actor":"person","limit":"max_wave1_agents","from":6,"to":60,"decision":"logs/decisions/000002.json"`)
		}, nil, ""},
		{"an acceptance by the signature of the pause", func(t *testing.T, f folder) {
			appendLine(t, f, `"kind":"run_accept","event":"accepted","what":"record","actor":"person","manifest_revision":2,"gates_revision":1,"decision":"logs/decisions/000002.json"`)
		}, nil, ""},
		{"an acceptance in the name of a rule", func(t *testing.T, f folder) {
			appendLine(t, f, `"kind":"gate_accept","event":"accepted","what":"gate","gate":"B","actor":"rule"`)
		}, nil, ""},
		{"a decision that nobody signed", func(t *testing.T, f folder) {
			appendLine(t, f, `"kind":"limit","event":"limit","actor":"person","limit":"max_wave1_agents","from":6,"to":60`)
		}, nil, ""},
	} {
		t.Run(a.wants, func(t *testing.T) {
			f := original.at(filepath.Join(t.TempDir(), original.id))
			must.Do(t, os.CopyFS(f.root, os.DirFS(original.root)))
			a.given(t, f)
			before := string(f.read(t, "manifest.json"))
			for _, try := range a.tries {
				words := append(strings.Fields(try), f.root, "--reason", "r")
				if a.with != "" {
					words = append(words, "--sign", filepath.Join(dir, a.with))
				}
				if out, err := typed(words...); err == nil {
					t.Errorf("tidegate %s is granted: %s", try, out)
				}
			}
			if string(f.read(t, "manifest.json")) != before {
				t.Error("the run has changed")
			}
			if out, err := typed("run", "verify", f.root); (err == nil) != (a.given != nil && len(a.tries) == 2) {
				t.Errorf("`run verify`: %v\n%s", err, out)
			}
		})
	}
}

// withKeys makes a folder with the keys of a person and a stranger, and a list of
// signers for each. Typed runs a command line there.
func withKeys(t *testing.T) (dir string, typed func(words ...string) (string, error)) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("there is no ssh-keygen here")
	}
	dir = scratch.Short(t)
	must.Do(t, os.MkdirAll(dir, 0o700))
	for _, name := range []string{"person", "stranger"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		public := must.Get(os.ReadFile(filepath.Join(dir, name+".pub")))(t)
		folder{nil, "", dir}.write(t, name+".signers", name+"@example.org "+string(public))
	}
	return dir, func(words ...string) (string, error) {
		command := exec.Command(binary, words...)
		command.Env, command.Dir = append(os.Environ(), "TIDEGATE_HOME="+dir), dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
}

// TestASignatureCountsForOneDecisionAboutAChange: the same for a change.
func TestASignatureCountsForOneDecisionAboutAChange(t *testing.T) {
	t.Parallel()
	dir, typed := withKeys(t)
	project := folder{nil, "", dir}
	project.write(t, "agentd/allowed_signers", string(project.read(t, "person.signers")))
	project.write(t, "major.json", `{"change_id":"c","verdict":"MAJOR_ISSUES","summary":"s"}`)
	succeed := func(words ...string) {
		t.Helper()
		if out, err := typed(words...); err != nil && !strings.Contains(strings.Join(words, " "), "advance") {
			t.Fatalf("%q: %s", words, out)
		}
	}
	succeed("change", "start", "c")
	succeed("review", "create", "major.json")
	succeed("change", "advance", "c")
	succeed("change", "resume", "c", "--accept", "--reason", "seen", "--sign", filepath.Join(dir, "person"))
	succeed("review", "create", "major.json")
	succeed("change", "advance", "c")
	change := folder{nil, "c", filepath.Join(dir, "agentd", "changes", "c")}
	log := string(change.read(t, "log.jsonl"))
	var accepted *codec.Value
	for _, line := range lines([]byte(log)) {
		if entry := parsed(t, line); entry.Get("event").Str() == "accepted" {
			accepted = entry
		}
	}
	if accepted == nil {
		t.Fatalf("the log does not say that a person accepted it:\n%s", log)
	}
	for wants, forge := range map[string]func(line *codec.Value){
		"the same acceptance to count again":  func(*codec.Value) {},
		"an acceptance that nobody signed":    func(line *codec.Value) { line.Delete("signature") },
		"an acceptance that nobody has taken": func(line *codec.Value) { line.Delete("decision"); line.Delete("signature") },
	} {
		t.Run(wants, func(t *testing.T) {
			line := accepted.Clone()
			forge(line)
			line.Delete("prev")
			all := lines([]byte(log))
			line.Set("prev", codec.Of(codec.DigestBytes([]byte(strings.TrimSuffix(string(all[len(all)-1]), "\n")))))
			change.write(t, "log.jsonl", log+asJSON(line)+"\n")
			defer change.write(t, "log.jsonl", log)
			if out, err := typed("change", "advance", "c"); err == nil || !strings.Contains(out, "TAMPERED") {
				t.Errorf("`change advance`: %v\n%s", err, out)
			}
		})
	}
}

// appendLine adds a line to the log of a run that follows correctly from the line
// before it, as anybody who may write to its folder can.
func appendLine(t *testing.T, f folder, fields string) {
	t.Helper()
	log := f.read(t, run.LogFile)
	all := lines(log)
	last := strings.TrimSuffix(string(all[len(all)-1]), "\n")
	state := parsed(t, []byte(last)).Get("state").Str()
	line := fmt.Sprintf(`{"ts":"2026-03-04T00:00:00.000Z","run_id":%q,"seq":%d,%s,"state":%q,"prev":%q}`, f.id, len(all)+1, fields, state, codec.DigestBytes([]byte(last)))
	must.Get(codec.Parse([]byte(line)))(t)
	f.write(t, run.LogFile, string(log)+line+"\n")
	for read, err := range artifact.ReadLog(strings.NewReader(string(f.read(t, run.LogFile)))) {
		if err != nil || read.Number > 1 && read.Prev == "" {
			t.Fatal("the line is not chained")
		}
	}
}
