package artifact_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

func init() {
	operations["record"] = func(dir string) error { return recordIn(dir, true) }
	operations["record alone"] = func(dir string) error { return recordIn(dir, false) }
	operations["record in two logs"] = recordInTwo
	operations["accept"] = acceptIn
	operations["check"] = checkIn
	operations["one file, recorded"] = func(dir string) error {
		return inTx(dir, func(tx *artifact.Tx) {
			tx.Write("a.json", nil)
			tx.Record("log.jsonl", event{})
		})
	}
	operations["one file, logged without a head"] = func(dir string) error {
		return inTx(dir, func(tx *artifact.Tx) {
			tx.Write("a.json", nil)
			tx.Log("other.jsonl", event{})
		})
	}
}

// recordIn records a line, alone or with changes of files and a line of a
// second log.
func recordIn(dir string, changes bool) error {
	return inTx(dir, func(tx *artifact.Tx) {
		if changes {
			tx.Write("a.json", []byte("new a\n"))
			tx.Write("deep/er/c.json", []byte("new c\n"))
			tx.Remove("gone.json")
			tx.Record("deep/log.jsonl", map[string]int{"n": 9})
		}
		tx.Record(auditLog, map[string]int{"n": 9})
	})
}

func recordInTwo(dir string) error {
	return inTx(dir, func(tx *artifact.Tx) {
		tx.Record("a.json", map[string]int{"n": 9})
		tx.Record(auditLog, map[string]int{"n": 9})
	})
}

func acceptIn(dir string) error {
	return inTx(dir, func(tx *artifact.Tx) {
		tx.Write("a.json", []byte("new a\n"))
		tx.Accept(auditLog)
		tx.Record(auditLog, map[string]int{"n": 9})
	})
}

func inTx(dir string, change func(*artifact.Tx)) error {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	defer f.Close()
	markBegin()
	l, err := f.Lock(context.Background(), time.Now)
	if err != nil {
		return err
	}
	defer l.Unlock()
	tx := l.Begin()
	change(tx)
	return tx.Commit()
}

// checkIn is what a process does first when it is going to write to a log.
func checkIn(dir string) error {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	defer f.Close()
	markBegin()
	l, err := f.Lock(context.Background(), time.Now)
	if err != nil {
		return err
	}
	defer l.Unlock()
	_, first := l.CheckLog(auditLog)
	_, second := l.CheckLog("deep/log.jsonl")
	return errors.Join(first, second)
}

// logsBefore are the states in which a transaction finds the log.
func logsBefore(t *testing.T) map[string]map[string]string {
	files := map[string]string{"a.json": "old a\n", "gone.json": "old\n", ".tidegate.lock": ""}
	with := func(log, head string) map[string]string {
		all := map[string]string{}
		for name, content := range files {
			all[name] = content
		}
		if log != "" {
			all[auditLog] = log
		}
		if head != "" {
			all[auditHead] = head
		}
		return all
	}
	dir := recorded(t, 3)
	log, head := read(t, dir, auditLog), read(t, dir, auditHead)
	return map[string]map[string]string{
		"no log":                  with("", ""),
		"a log of others":         with(oldLog, ""),
		"a log of others, torn":   with(oldLog+"{", ""),
		"a log with a head":       with(log, head),
		"a line without end":      with(log+`{"n":8,"prev":"sha256:`, head),
		"a head that is behind":   with(log+next(log[strings.LastIndex(log[:len(log)-1], "\n")+1:]), head),
		"a log that was tampered": with(tamperedWith(log), head),
	}
}

// tamperedWith is a log to which others have added a line.
func tamperedWith(log string) string { return strings.TrimSuffix(log, "{}\n") + "{}\n" }

// checkRecorded returns a check that files, log and head are all as before or
// all as after.
func checkRecorded(before, after map[string]string) func(t *testing.T, dir, said string) {
	return func(t *testing.T, dir, said string) {
		t.Helper()
		if state := tree(t, dir); said != "" {
			want := before
			if said == "done" {
				want = after
			}
			compareRecorded(t, "at once", want, state, said == "done")
		}
		err := checkIn(dir)
		state := tree(t, dir)
		if err != nil && state[auditLog] != tamperedWith(before[auditLog]) {
			t.Errorf("next lock: %v", err)
		}
		want := before
		if strings.Contains(state[auditLog], `{"n":9,"prev"`) && strings.HasSuffix(state[auditLog], "\n") {
			want = after
		}
		if said == "done" && want["a.json"] != after["a.json"] || said != "" && said != "done" && state[auditLog] == after[auditLog] {
			t.Errorf("it said %q", said)
		}
		compareRecorded(t, "after the next lock", want, state, false)
	}
}

// compareRecorded compares a folder with what should be in it. An unfinished line
// may have been cut off, and a head that was behind may have moved.
func compareRecorded(t *testing.T, when string, want, got map[string]string, strays bool) {
	t.Helper()
	clean := func(files map[string]string) map[string]string {
		all := map[string]string{}
		for name, content := range files {
			if strays && strings.HasPrefix(name, ".tidegate-tx") || strings.HasSuffix(name, ".tmp") {
				continue
			}
			if name == auditHead {
				log := files[auditLog]
				if log = log[:strings.LastIndex(log, "\n")+1]; content != headOf(log) {
					content = "behind"
				} else {
					content = "as the log"
				}
			}
			if name == auditLog && files[auditHead] != "" {
				content = content[:strings.LastIndex(content, "\n")+1]
			}
			all[name] = content
		}
		return all
	}
	want, got = clean(want), clean(got)
	if want[auditHead] == "behind" && got[auditHead] == "as the log" {
		got[auditHead] = "behind"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folder %s (-want +got):\n%s", when, diff)
	}
}

// outcome is a folder before and after an operation.
func outcome(t *testing.T, op string, files map[string]string) (prepare func(dir string), before, after map[string]string) {
	t.Helper()
	prepare = func(dir string) { put(t, dir, files) }
	dir := t.TempDir()
	prepare(dir)
	before = tree(t, dir)
	if err := operations[op](dir); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	return prepare, before, tree(t, dir)
}

func TestRecordedLineIsThereExactlyWhenItsChangeIs(t *testing.T) {
	needStrace(t)
	for name, files := range full.Some(logsBefore(t), 4) {
		for _, op := range []string{"record", "record alone", "accept"} {
			if strings.Contains(name, "tampered") && op != "accept" {
				continue
			}
			t.Run(op+", "+name, func(t *testing.T) {
				prepare, before, after := outcome(t, op, files)
				if log := after[auditLog]; after[auditHead] != headOf(log) || strings.Count(log, `{"n":9,"prev"`) != 1 {
					t.Fatalf("without a fault: head %s of\n%s", after[auditHead], log)
				}
				atEveryCall(t, op, []fault{killed, brokenDisk, noSpace, noAccess}, prepare, checkRecorded(before, after))
			})
		}
	}
}

func TestRecordedLineAndChangeStayTogether(t *testing.T) {
	needStrace(t)
	prepare, before, after := outcome(t, "record", logsBefore(t)["a log with a head"])
	atEverySync(t, "record", prepare, func(t *testing.T, dir, said string) {
		// More than one sync may have failed, including one of taking back: then
		// the next lock goes on with it.
		if said != "done" {
			said = ""
		}
		checkRecorded(before, after)(t, dir, said)
	})
}

func TestLinesOfSeveralLogsAreThereTogether(t *testing.T) {
	needStrace(t)
	files := logsBefore(t)["a log with a head"]
	files["a.json"], files["a.json.head"] = files[auditLog], files[auditHead]
	prepare, before, after := outcome(t, "record in two logs", files)
	atEveryCall(t, "record in two logs", []fault{killed, brokenDisk, noSpace, noAccess}, prepare, checkRecorded(before, after))
}

// The line is on the disk before the head that names it gets its name.
func TestALineIsDurableBeforeItsHead(t *testing.T) {
	needStrace(t)
	dir := recorded(t, 2)
	_, trace := traced(t, "record alone", dir, "-f")
	wrote := regexp.MustCompile(`write\((\d+), "{\\"n\\":9`).FindStringSubmatchIndex(trace)
	if wrote == nil {
		t.Fatalf("no line was written:\n%s", trace)
	}
	fd, after := trace[wrote[2]:wrote[3]], trace[wrote[1]:]
	synced := strings.Index(after, "fsync("+fd)
	if renamed := strings.Index(after, `"audit.head")`); synced < 0 || synced > renamed {
		t.Errorf("the line is synced at %d, its head renamed at %d:\n%s", synced, renamed, after)
	}
}

// A line that is part of a transaction costs one more sync than one that is not:
// that of the head, whose name need not be durable.
func TestSyncsOfARecordedLine(t *testing.T) {
	needStrace(t)
	syncs := func(op string) int {
		dir := t.TempDir()
		put(t, dir, map[string]string{"log.jsonl": oldLog, "other.jsonl": oldLog})
		must.Do(t, operations["one file, recorded"](dir))
		_, trace := traced(t, op, dir, "-f")
		return strings.Count(trace, "fsync(")
	}
	if plain, recorded := syncs("one file, logged without a head"), syncs("one file, recorded"); recorded-plain != 1 {
		t.Errorf("%d syncs with a recorded line, %d with a logged one", recorded, plain)
	}
}

func TestRecoveryOfARecordedLineCanBeInterruptedToo(t *testing.T) {
	needStrace(t)
	for name, crash := range full.Some(map[string]struct {
		left   string
		inject []string
	}{
		"before the first change": {"record", []string{"renameat:signal=KILL:when=1"}},
		"between the changes":     {"record", []string{"renameat:signal=KILL:when=2"}},
		"between the heads":       {"record", []string{"renameat:signal=KILL:when=5"}},
		"while it is taken back":  {"undo", []string{"write:error=ENOSPC:when=5", "renameat:signal=KILL:when=6"}},
		"when all is done":        {"record", []string{"unlinkat:signal=KILL:when=1"}},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			files := logsBefore(t)["a log with a head"]
			_, before, after := outcome(t, "record", files)
			prepare := func(dir string) {
				put(t, dir, files)
				var options []string
				for _, inject := range crash.inject {
					options = append(options, "-e", "inject="+inject)
				}
				said, trace := traced(t, "record", dir, options...)
				if _, err := os.Stat(filepath.Join(dir, ".tidegate-tx", crash.left)); said != "" || err != nil {
					t.Fatalf("commit was not interrupted: %q, %v\n%s", said, err, lastLines(trace, 60))
				}
			}
			atEveryCall(t, "check", []fault{killed, brokenDisk}, prepare, func(t *testing.T, dir, _ string) {
				checkRecorded(before, after)(t, dir, "")
			})
		})
	}
}
