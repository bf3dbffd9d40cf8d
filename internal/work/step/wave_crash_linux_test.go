package step_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/step"
)

// waveFolder makes the test binary review the wave in that folder, as a process
// of its own.
const waveFolder = "WAVE_TEST_FOLDER"

// reviewWave is what that process does.
func reviewWave(dir string) {
	if _, err := step.ReviewWave(context.Background(), runs.Pinned, reportRequest(dir)); err != nil {
		fmt.Print(tidegate.CodeOf(err))
	} else {
		fmt.Print("done")
	}
}

func reportRequest(dir string) step.WaveReviewInput {
	return step.WaveReviewInput{
		PerspectivesPath: filepath.Join(dir, "perspectives.json"), OutputsDir: filepath.Join(dir, "wave-1"),
		MaxFailures: 25, ReportPath: filepath.Join(dir, "reports", "wave-review.json"),
	}
}

// Whenever a review is killed, or the disk fails it, the report is the old one
// or the new one; and where it says that it failed, nothing else is left.
func TestReportIsOldOrNewWhereverTheReviewIsInterrupted(t *testing.T) {
	full.Story(t)
	if err := exec.Command("strace", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	_, outputs := mixed(t)
	dir := filepath.Dir(outputs)
	reports := filepath.Join(dir, "reports")
	report := filepath.Join(reports, "wave-review.json")
	if err := os.Mkdir(reports, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := step.ReviewWave(t.Context(), runs.Pinned, reportRequest(dir)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	const old = "the old report\n"
	_, trace := reviewUnder(t, dir, "-e", "trace=openat,write,fsync,renameat,renameat2,fchmod")
	for _, fault := range []string{"signal=KILL", "error=ENOSPC", "error=EIO"} {
		said := map[string]int{}
		for _, call := range []string{"openat", "write", "fsync", "renameat", "renameat2", "fchmod"} {
			for n := 1; n <= strings.Count(trace, call+"("); n += full.Stride(4, 1) {
				writeFile(t, report, old)
				answer, _ := reviewUnder(t, dir, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, n))
				said[answer]++
				got, err := os.ReadFile(report)
				if err != nil || string(got) != old && string(got) != string(whole) {
					t.Fatalf("%s at %s %d: the report is neither old nor new (%v):\n%s", fault, call, n, err, got)
				}
				if answer == "done" && string(got) == old {
					t.Fatalf("%s at %s %d: it said done and the report is the old one", fault, call, n)
				}
				if left := clearBeside(t, report); answer != "" && len(left) > 0 {
					t.Fatalf("%s at %s %d: it said %s and left %v behind", fault, call, n, answer, left)
				}
			}
		}
		t.Logf("%s: %v", fault, said)
		if (said[""] > 3) != (fault == "signal=KILL") || said[""] == 0 && said[string(tidegate.WriteFailed)] < 3 {
			t.Errorf("%s: %v: the faults do not strike the report", fault, said)
		}
	}
}

// clearBeside removes the files next to the report and returns their names.
func clearBeside(t *testing.T, report string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(report))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(report) {
			names = append(names, e.Name())
			if err := os.Remove(filepath.Join(filepath.Dir(report), e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return names
}

// reviewUnder reviews in a process under strace. It returns what was said, "" when
// it was killed, and the trace.
func reviewUnder(t *testing.T, dir string, options ...string) (said, trace string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", append(append([]string{"-qq", "-o", out}, options...), exe)...)
	cmd.Env = append(os.Environ(), waveFolder+"="+dir)
	printed, _ := cmd.Output()
	log, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(printed), string(log)
}
