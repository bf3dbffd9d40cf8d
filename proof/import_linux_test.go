package proof_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestImportSurvivesKill kills an import at every system call with which it changes files.
// What it imports is absent or whole, the next import takes it in, and nothing is left
// among temporary files of what was laid out there to be judged.
func TestImportSurvivesKill(t *testing.T) {
	t.Parallel()
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	a := newAuditing(t, map[string]string{
		"report.md":        "The ferry carries 120 cars [1].\n\n# References\n\n[1] https://a.example/a\n",
		"pages/index.json": `{"https://a.example/a": "a.html"}`,
		"pages/a.html":     "<!doctype html><title>A</title><p>The ferry Ampere carries 120 cars and 360 passengers.",
	})
	if out, status := a.run(binary, "audit", "report.md", "--pages", "pages"); status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	made := filepath.Dir(a.audits()[0])
	folder := filepath.Dir(made)
	bundle := filepath.Join(a.work, "audit.bundle")
	if out, status := a.run(binary, "run", "export", filepath.Base(made), "--bundle", bundle); status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	temp := filepath.Join(a.work, "temp")
	t.Cleanup(func() { os.RemoveAll(temp) })
	command := func(before ...string) []string {
		return append(before, "env", "TMPDIR="+temp, binary, "import", bundle)
	}
	begin := func() {
		must.Do(t, os.RemoveAll(folder))
		must.Do(t, os.RemoveAll(temp))
		must.Do(t, os.Mkdir(temp, 0o700))
	}
	begin()
	log := filepath.Join(a.work, "trace")
	if out, status := a.run("strace", command("-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace="+strings.Join(writingCalls, ","))...); status != 0 {
		t.Fatalf("undisturbed: %d\n%s", status, out)
	}
	trace := must.Get(os.ReadFile(log))(t)
	whole := len(snapshot(t, only(t, folder)))
	var points [][2]string
	for _, call := range writingCalls {
		first, all := occurrences(string(trace), call, a.work)
		for n := first; n <= all; n++ {
			points = append(points, [2]string{call, fmt.Sprint(n)})
		}
	}
	absent := 0
	for i := 0; i < len(points); i += full.Stride(len(points), 2) {
		begin()
		where := "killed at " + points[i][0] + " " + points[i][1]
		a.run("strace", command("-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject="+points[i][0]+":signal=KILL:when="+points[i][1])...)
		left := only(t, folder)
		if left == "" {
			absent++
		} else if n := len(snapshot(t, left)); n != whole {
			t.Errorf("%s: %d of %d files are there", where, n, whole)
		}
		scratch, _ := filepath.Glob(filepath.Join(temp, "*"))
		for _, path := range scratch { // one that is being made may have no claim yet
			must.Do(t, os.Chtimes(path, time.Time{}, time.Now().Add(-2*time.Hour)))
		}
		want := map[bool]int{true: 0, false: 4}[left == ""]
		if out, status := a.run("env", command()[1:]...); status != want {
			t.Errorf("%s: the next one: %d, want %d\n%s", where, status, want, out)
		}
		if scratch, _ = filepath.Glob(filepath.Join(temp, "*")); len(scratch) > 0 {
			t.Errorf("%s: the next one leaves %v", where, scratch)
		}
		if out, status := a.run(binary, "verify", only(t, folder)); status != 0 {
			t.Errorf("%s: %d\n%s", where, status, out)
		}
		if drafts, _ := filepath.Glob(filepath.Join(folder, ".*")); len(drafts) > 0 {
			t.Errorf("%s: the next one leaves %v", where, drafts)
		}
	}
	if absent == 0 {
		t.Error("no kill came before the end: nothing was tried")
	}
}

// TestSealSurvivesKill kills the sealing of a run at system calls with which it changes
// files, from the first copy on. The file is absent or whole; the next seal makes one that verifies, and nothing is
// left among temporary files of the copies in which a seal was tried before it was signed.
func TestSealSurvivesKill(t *testing.T) {
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	a := newAuditing(t, nil)
	must.Do(t, os.CopyFS(filepath.Join(a.work, "home", "runs", "tides"), os.DirFS(begun(t, withoutGap, "completed").root)))
	temp, key, signers := filepath.Join(a.work, "temp"), filepath.Join(a.work, "key"), filepath.Join(a.work, "signers")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	must.Write(t, signers, "ada@example.org "+string(must.Get(os.ReadFile(key+".pub"))(t)))
	must.Do(t, os.Mkdir(temp, 0o700))
	t.Setenv("TMPDIR", temp)
	scratch := func() []string { return must.Get(filepath.Glob(filepath.Join(temp, "*")))(t) }
	copied := 0
	file := filepath.Join(a.work, "tides.sealed")
	line := []string{"run", "seal", "tides", "--sign", key, "--output", file}
	killed(t, a, filepath.Join(temp, "tidegate-replica-"), "sealed", 0, line, func(where string) {
		for _, path := range scratch() {
			copied++
			must.Do(t, os.Chtimes(path, time.Time{}, time.Now().Add(-2*time.Hour))) // one that is being made may have no claim yet
		}
		if _, err := os.Stat(file); err == nil {
			if out, status := a.run(binary, "verify", file, "--signers", signers); status != 0 {
				t.Errorf("%s: what is there does not verify: %d\n%s", where, status, out)
			}
		}
		if out, status := a.run(binary, line...); status != 0 {
			t.Errorf("%s: the next one: %d\n%s", where, status, out)
		}
		if left := scratch(); len(left) > 0 {
			t.Errorf("%s: the next one leaves %v", where, left)
		}
		if out, status := a.run(binary, "verify", file, "--signers", signers); status != 0 {
			t.Errorf("%s: the file of the next one does not verify: %d\n%s", where, status, out)
		}
		must.Do(t, os.Remove(file))
	})
	if copied == 0 {
		t.Error("no kill left a copy: nothing was tried")
	}
}

// only is the one audit of a folder, "" for none; what begins with a dot is a draft.
func only(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "2*"))
	if err != nil || len(found) > 1 {
		t.Fatalf("%v: %v", found, err)
	}
	return strings.Join(found, "")
}
