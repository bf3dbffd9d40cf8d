package proof_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/corpus"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/tool"
)

// writingCalls are the system calls with which a tool changes files.
var writingCalls = []string{"openat", "write", "fsync", "syncfs", "renameat", "renameat2", "unlinkat", "mkdirat", "linkat", "fchmod", "ftruncate", "flock"}

// injury is what happens to the process at one system call. Inject tells strace to
// do it, with the number of the call left open. Last says that the process can put
// nothing back afterwards.
type injury struct {
	name, inject string
	last         bool
}

var injuries = []injury{
	{"killed", "signal=KILL:when=%d", true}, {"no space", "error=ENOSPC:when=%d", false}, {"broken disk", "error=EIO:when=%d", false},
	{"disk broken from there on", "error=EIO:when=%d+", true}, {"no permission", "error=EACCES:when=%d", false}, {"other file system", "error=EXDEV:when=%d", false},
}

// exchangingCalls are those of them between which old and new files stand beside
// each other.
var exchangingCalls = []string{"fsync", "syncfs", "renameat", "renameat2", "unlinkat", "linkat"}

// someWriters is how many writers the short form tries, each with a last injury at one
// exchanging call and at one other point, different ones for each writer.
const someWriters = 5

// mostPoints is how many points the long form tries of a call that works in parts.
const mostPoints = 2000

// TestEveryWritingToolSurvivesEveryInjury kills each writing tool, or makes one of
// its system calls fail, at every call with which it changes files; in the short
// form some of the tools at some of their calls. Right afterwards, every artifact is the old one or the new
// one, whole. After the next call the result is that of one or two undisturbed calls,
// no other file is left, the lock is free, the audit chain is unbroken, and the run
// agrees with its record.
func TestEveryWritingToolSurvivesEveryInjury(t *testing.T) {
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	var points atomic.Int64
	t.Cleanup(func() { t.Logf("%d points in all", points.Load()) })
	all := writers()
	for i := 0; i < len(all); i += full.Stride(len(all), someWriters) {
		t.Run(all[i].name, func(t *testing.T) {
			t.Parallel()
			points.Add(all[i].injure(t, i))
		})
	}
}

// TestEveryWritingToolIsInjured fails for a tool that nobody put among the
// writers.
func TestEveryWritingToolIsInjured(t *testing.T) {
	t.Parallel()
	injured := map[string]bool{
		recoverRun.tool: true, // its writes are the recovery after an injury
		deleteRun:       true, // nothing of the run is left to compare
		// It reaches a service, and keeps what came in the way in which pages are kept.
		"deep_research_search": true,
		"report_audit":         true, // each call makes a folder of its own: TestAnAuditSurvivesKill
		"find":                 true, // an index that is never the truth: TestTheIndexIsNeverTheTruth
	}
	for _, w := range writers() {
		injured[w.tool] = true
	}
	for _, each := range catalog.Tools(&catalog.Env{}) {
		if each.Effect == tool.Reads || injured[each.Name] {
			continue
		}
		if !slices.ContainsFunc(writers(), func(w writer) bool { return each.Command != nil && strings.HasPrefix(w.tool, each.Command.Path+" ") }) {
			t.Errorf("%s writes and is not among the writers", each.Name)
		}
	}
}

// injure returns the number of points tried. Shift chooses which ones, where not
// all of them are tried.
func (w writer) injure(t *testing.T, shift int) (tried int64) {
	work := scratch.Short(t)
	prepared := w.state(t, work)
	restore := func() {
		must.Do(t, os.RemoveAll(work))
		for name, data := range prepared {
			path := filepath.Join(work, name)
			must.Write(t, path, data)
		}
	}
	restore()
	before := snapshot(t, work)
	trace := w.traced(t, work)
	once := snapshot(t, work)
	wanted := []map[string][]byte{once}
	if w.parts() {
		w.callThen(t, work)
		wanted = append(wanted, snapshot(t, work))
	}
	w.call(t, work)
	wanted = append(wanted, snapshot(t, work))
	if maps.EqualFunc(before, once, bytes.Equal) {
		t.Fatalf("%s changed nothing", w.tool)
	}
	type point struct {
		where   string
		injured func()
	}
	var last, others []point // last injuries at exchanging calls, and all others
	for _, call := range writingCalls {
		first, all := occurrences(trace, call, work)
		for _, injury := range injuries {
			for n := first; n <= all; n++ {
				each := point{fmt.Sprintf("%s at %s %d of %d", injury.name, call, n, all), func() {
					w.traced(t, work, "-e", "inject="+call+":"+fmt.Sprintf(injury.inject, n))
				}}
				if injury.last && slices.Contains(exchangingCalls, call) {
					last = append(last, each)
				} else {
					others = append(others, each)
				}
			}
		}
	}
	for _, size := range shortSizes(once) {
		others = append(others, point{fmt.Sprintf("short write at byte %d", size), func() {
			w.under(t, work, "prlimit", fmt.Sprintf("--fsize=%d", size))
		}})
	}
	points, stride := slices.Concat(last, others), 1
	all := len(points)
	switch {
	case !full.Asked():
		points = []point{last[shift*37%len(last)], others[shift*37%len(others)]}
	case w.parts():
		// Its changes resemble each other, and each has a thousand points.
		stride = max(1, all/mostPoints)
	}
	for i := 0; i < len(points); i += stride {
		restore()
		points[i].injured()
		tried++
		if w.parts() {
			checkAgrees(t, points[i].where, work)
		} else {
			checkWhole(t, points[i].where, before, once, snapshot(t, work))
		}
		w.call(t, work)
		checkHealed(t, points[i].where, w.parts(), wanted, snapshot(t, work))
		checkAgrees(t, points[i].where, work)
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d of %d points", tried, all)
	return tried
}

// shortSizes are file sizes beyond which nothing can be written: a write that
// crosses one is short, and the next one fails. Every file is cut at its first
// byte, before its last, and at each power of two in between.
func shortSizes(files map[string][]byte) []int {
	var sizes []int
	longest := 0
	for _, data := range files {
		longest = max(longest, len(data))
		sizes = append(sizes, max(len(data)-1, 0))
	}
	for size := 1; size < longest; size *= 2 {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// traced makes the call under strace and returns the trace. The call may fail.
func (w writer) traced(t *testing.T, work string, options ...string) string {
	t.Helper()
	log := filepath.Join(filepath.Dir(work), "trace")
	w.under(t, work, append([]string{"strace", "-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace=" + strings.Join(writingCalls, ",")}, options...)...)
	data := must.Get(os.ReadFile(log))(t)
	return string(data)
}

// under makes the call under another program. The call may fail, but must start.
func (w writer) under(t *testing.T, work string, program ...string) {
	t.Helper()
	command := exec.Command(program[0], append(append(program[1:], binary), commandLine(work, w.tool)...)...)
	command.Env = append(os.Environ(), "TIDEGATE_HOME="+work, "TIDEGATE_NOW="+corpus.Now.Format(time.RFC3339), "GOMAXPROCS=1")
	command.Dir = work
	command.Stdin = strings.NewReader(strings.ReplaceAll(w.args, "$WORK", work))
	// What an injured process prints and how it ends does not matter.
	if _, err := command.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Fatal(err)
	}
}

// occurrences says which calls of one name belong to the tool's work: from the
// first one after the work folder is mentioned up to the last.
func occurrences(trace, call, work string) (first, all int) {
	started := false
	for line := range strings.Lines(trace) {
		started = started || strings.Contains(line, work)
		if strings.Contains(line, " "+call+"(") {
			all++
			if started && first == 0 {
				first = all
			}
		}
	}
	if first == 0 {
		return 1, 0
	}
	return first, all
}

// checkWhole demands that every artifact is the old one or the new one.
func checkWhole(t *testing.T, where string, before, after, got map[string][]byte) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, had := before[name]
		data, has := got[name]
		switch {
		case isLog(name) || strings.HasSuffix(name, ".lock"):
		case isArchive(name) && bytes.HasPrefix(data, old):
		case has && (bytes.Equal(data, after[name]) || had && bytes.Equal(data, old)):
		case !has && !had:
		default:
			t.Errorf("%s: %s is neither the old nor the new one (there: %v):\n%s", where, name, has, data)
		}
	}
}

// checkHealed demands the files of one or two undisturbed calls and no others,
// and logs with an unbroken chain. For a call in parts it compares neither times
// nor the files of attempts: an injury may have cost an attempt.
func checkHealed(t *testing.T, where string, parts bool, wanted []map[string][]byte, got map[string][]byte) {
	t.Helper()
	compared := withoutOffsets
	if parts {
		compared = withoutTimes
	}
	differs := func(want map[string][]byte) string {
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if parts && ofAttempt(name) {
				continue
			}
			if _, ok := got[name]; !ok {
				return name + " is missing"
			}
			if !isLog(name) && !isArchive(name) && !bytes.Equal(compared(name, got[name]), compared(name, want[name])) {
				return name + " differs:\n" + string(got[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(got)) {
			if _, ok := want[name]; !ok && !(parts && ofAttempt(name)) {
				return name + " is left over"
			}
		}
		return ""
	}
	var found []string
	for _, want := range wanted {
		difference := differs(want)
		if difference == "" {
			found = nil
			break
		}
		found = append(found, difference)
	}
	if len(found) > 0 {
		t.Errorf("%s, after the next call: %s", where, found[len(found)-1])
	}
	for name, data := range got {
		if isLog(name) && strings.Contains(name, "audit") {
			checkChain(t, where, data)
		}
	}
}

var offsetRule = regexp.MustCompile(`"offset": \d+`)

// withoutOffsets is a file without the offsets of the records in the archive: they
// depend on what a killed process left there.
func withoutOffsets(name string, data []byte) []byte {
	if filepath.Base(name) != "index.json" {
		return data
	}
	return offsetRule.ReplaceAll(data, nil)
}

var timesRule = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|sha256:[0-9a-f]{64}`)

// withoutTimes is a file without its times, and without digests of content that
// has times in it.
func withoutTimes(name string, data []byte) []byte {
	return timesRule.ReplaceAll(withoutOffsets(name, data), nil)
}

// ofAttempt reports whether a file of a run belongs to an attempt at a job, or is
// the claim of the process that drove the run.
func ofAttempt(name string) bool {
	inside := strings.TrimPrefix(name, "runs/tides/")
	return inside == run.HomeFile || strings.HasPrefix(inside, run.JobsDir+"/") && documentOfRun.MatchString(inside)
}

// checkAgrees demands that the run, if there is one, agrees with its record: no
// change without a line, no line without a change.
func checkAgrees(t *testing.T, where, work string) {
	t.Helper()
	verdict, err := run.Verify(t.Context(), run.Desk{}, run.VerifyInput{ManifestPath: filepath.Join(work, "runs/tides/manifest.json"), Follows: stage.Follows})
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return
	}
	if err != nil || !verdict.Pass || verdict.Log.Torn {
		t.Errorf("%s, after the next call: the run does not agree with its record: %v %+v", where, err, verdict.Findings)
	}
}

// checkChain verifies the log by the documented rule: each line carries the digest
// of the raw bytes of the line before it.
func checkChain(t *testing.T, where string, data []byte) {
	t.Helper()
	var previous []byte
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		v, err := codec.Parse(line)
		if err != nil {
			t.Errorf("%s: line %d of the log is not JSON: %s", where, i+1, line)
			return
		}
		if prev := v.Get("prev").Str(); previous != nil && prev != codec.DigestBytes(previous) {
			t.Errorf("%s: line %d of the log does not carry the digest of the line before", where, i+1)
		}
		previous = line
	}
}
