package artifact_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// These tests run an operation in another process under strace, once for every
// system call on files that it makes, and let that call fail or kill the
// process there. The operation knows nothing of it.

const fileCalls = "openat,read,pread64,write,fsync,syncfs,renameat,renameat2,unlinkat,mkdirat,linkat,fchmod,ftruncate,flock,newfstatat,fstat,readlinkat,getdents64,close"

func init() {
	operations["commit"] = commitAll
	operations["commit many"] = commitMany
	operations["take back"] = commitAndFail
	operations["recover"] = justLock
	operations["write"] = writeOne
	operations["write a path"] = writeReport
	operations["create"] = createRun
}

// begin marks in the trace where the operation begins.
const begin = "/tidegate-test-begins"

func markBegin() { _ = syscall.Access(begin, 0) }

// fault is what happens to a call.
type fault struct {
	name, inject string
}

var (
	killed     = fault{"killed", "signal=KILL"}
	brokenDisk = fault{"broken disk", "error=EIO"}
	noSpace    = fault{"no space", "error=ENOSPC"}
	noAccess   = fault{"no access", "error=EACCES"}
)

func needStrace(t *testing.T) {
	t.Helper()
	if underRaceDetector() {
		t.Skip("thousands of processes with the race detector take long and race with nobody")
	}
	if err := exec.Command("strace", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
}

// underRaceDetector reports whether this program was built with -race.
func underRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// traced runs an operation under strace and returns what it printed ("" when it
// was killed) and the trace.
func traced(t *testing.T, op, dir string, options ...string) (said string, trace string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "trace")
	before := append([]string{"strace", "-qq", "-o", out, "-e", "trace=faccessat,faccessat2," + fileCalls}, options...)
	cmd := self(t, op, dir, before...)
	hung := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	printed, _ := cmd.Output()
	data := must.Get(os.ReadFile(out))(t)
	if !hung.Stop() {
		t.Fatalf("%s did not end:\n%s", op, lastLines(string(data), 60))
	}
	return string(printed), string(data)
}

// callsOf counts the calls of an operation by name: those before it begins,
// which are the start of the program, and all of them.
func callsOf(t *testing.T, op, dir string) (before, all map[string]int) {
	t.Helper()
	said, trace := traced(t, op, dir)
	if said == "" {
		t.Fatalf("%s did not finish without a fault", op)
	}
	all = map[string]int{}
	for line := range strings.Lines(trace) {
		call, _, isCall := strings.Cut(line, "(")
		switch {
		case strings.Contains(line, begin):
			before = maps.Clone(all)
		case isCall:
			all[call]++
		}
	}
	if before == nil || maps.Equal(before, all) {
		t.Fatalf("no calls of %s in the trace:\n%s", op, trace)
	}
	return before, all
}

// atEveryCall lets each call of an operation go wrong in each way, or some of
// them without -full. Prepare makes the folder as it was before, check looks at
// it afterwards.
func atEveryCall(t *testing.T, op string, faults []fault, prepare func(dir string), check func(t *testing.T, dir, said string)) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	prepare(dir)
	before, all := callsOf(t, op, dir)
	type point struct {
		call  string
		n     int // of the calls of that name
		fault fault
	}
	var points []point
	for _, call := range slices.Sorted(maps.Keys(all)) {
		for n := before[call] + 1; n <= all[call]; n++ {
			for _, fault := range faults {
				points = append(points, point{call, n, fault})
			}
		}
	}
	// A few of them are spread over all calls and faults.
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	tried := 0
	for i := 0; i < len(points); i += full.Stride(len(points), 2) {
		p := points[i]
		dir := t.TempDir()
		prepare(dir)
		said, trace := traced(t, op, dir, "-e", fmt.Sprintf("inject=%s:%s:when=%d", p.call, p.fault.inject, p.n))
		tried++
		check(t, dir, said)
		if t.Failed() {
			t.Fatalf("%s: %s at %s %d: said %q\n%s", op, p.fault.name, p.call, p.n-before[p.call], said, lastLines(trace, 60))
		}
		os.RemoveAll(dir)
	}
	t.Logf("%s: %d of %d points tried", op, tried, len(points))
}

// atEverySync does the same with the syncs that other threads make. Strace
// counts them by thread, so that one fault may strike several of them.
func atEverySync(t *testing.T, op string, prepare func(dir string), check func(t *testing.T, dir, said string)) {
	t.Helper()
	t.Parallel()
	points := 0
	for _, fault := range []fault{killed, brokenDisk} {
		for n := 1; ; n += full.Stride(40, 10) {
			dir := t.TempDir()
			prepare(dir)
			said, trace := traced(t, op, dir, "-f", "-e", fmt.Sprintf("inject=fsync,syncfs:%s:when=%d", fault.inject, n))
			if said != "" && !strings.Contains(trace, "INJECTED") {
				break
			}
			points++
			check(t, dir, said)
			if t.Failed() {
				t.Fatalf("%s: %s at sync %d of each thread: said %q\n%s", op, fault.name, n, said, lastLines(trace, 60))
			}
		}
	}
	t.Logf("%s: %d points tried", op, points)
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
