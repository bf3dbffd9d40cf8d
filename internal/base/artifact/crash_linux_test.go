package artifact_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/artifact"
)

const (
	oldLog = `{"n":1}` + "\n" + `{"n":2}` + "\n"
	logged = `{"n":3,"prev":"sha256:`
)

var (
	oldFiles = map[string]string{"a.json": "old a\n", "sub": "folder", "sub/b.json": "old b\n", "gone.json": "to be removed\n", "log.jsonl": oldLog, ".tidegate.lock": ""}
	newFiles = map[string]string{"a.json": "new a\n", "sub": "folder", "sub/b.json": "new b\n", "deep": "folder", "deep/er": "folder", "deep/er/c.json": "new c\n", ".tidegate.lock": ""}
)

func prepareOld(t *testing.T) func(dir string) {
	return func(dir string) {
		for name, content := range oldFiles {
			if content != "folder" {
				put(t, dir, map[string]string{name: content})
			}
		}
	}
}

func stage(dir string) (*artifact.Lock, *artifact.Tx, error) {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return nil, nil, err
	}
	markBegin()
	l, err := f.Lock(context.Background(), time.Now)
	if err != nil {
		return nil, nil, err
	}
	tx := l.Begin()
	for _, name := range []string{"sub/b.json", "deep/er/c.json", "a.json"} {
		if err := tx.Write(name, []byte(newFiles[name])); err != nil {
			l.Unlock()
			return nil, nil, err
		}
	}
	if err := tx.Remove("gone.json"); err != nil {
		l.Unlock()
		return nil, nil, err
	}
	tx.Log("log.jsonl", map[string]int{"n": 3})
	return l, tx, nil
}

func commitAll(dir string) error {
	l, tx, err := stage(dir)
	if err != nil {
		return err
	}
	defer l.Unlock()
	if err := tx.Commit(); err != nil {
		return err
	}
	if tx.LogError() != nil {
		return errNotLogged
	}
	return nil
}

func TestInterruptedTransactionIsAllOrNothing(t *testing.T) {
	needStrace(t)
	atEveryCall(t, "commit", []fault{killed, brokenDisk, noSpace, noAccess}, prepareOld(t), checkCommit)
}

func TestTransactionIsAllOrNothingWhicheverSyncFails(t *testing.T) {
	needStrace(t)
	atEverySync(t, "commit", prepareOld(t), func(t *testing.T, dir, said string) {
		eachOldOrNew(t, tree(t, dir))
		// More than one sync may have failed, including one of taking back: then
		// the next lock goes on with it.
		afterRecovery(t, dir, said)
	})
}

func checkCommit(t *testing.T, dir, said string) {
	t.Helper()
	state := tree(t, dir)
	switch said {
	case "": // killed
		eachOldOrNew(t, state)
	case "done", "done, not logged":
		expectFiles(t, state, newFiles, true)
	default:
		expectFiles(t, state, oldFiles, false)
	}
	afterRecovery(t, dir, said)
}

// eachOldOrNew checks what a reader sees between a crash and the recovery.
func eachOldOrNew(t *testing.T, state map[string]string) {
	t.Helper()
	for _, name := range []string{"a.json", "sub/b.json", "deep/er/c.json", "gone.json"} {
		if got := state[name]; got != oldFiles[name] && got != newFiles[name] {
			t.Errorf("%s is neither old nor new: %q", name, got)
		}
	}
}

// expectFiles compares a folder with what should be in it, log aside. What the
// last step could not clear away may still be there.
func expectFiles(t *testing.T, state, want map[string]string, strays bool) {
	t.Helper()
	got := maps.Clone(state)
	want = maps.Clone(want)
	delete(got, "log.jsonl")
	delete(want, "log.jsonl")
	if strays {
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, ".tidegate-tx") })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

// afterRecovery lets the next process take the lock: everything is old or
// everything is new, the log has the line exactly when it is new, nothing else
// is left, and the next transaction works.
func afterRecovery(t *testing.T, dir, said string) {
	t.Helper()
	if err := justLock(dir); err != nil {
		t.Errorf("next lock: %v", err)
		return
	}
	state := tree(t, dir)
	log := state["log.jsonl"]
	times := strings.Count(log, logged)
	if state["a.json"] == oldFiles["a.json"] {
		if said == "done" {
			t.Error("old, although it said done")
		}
		expectFiles(t, state, oldFiles, false)
		if log != oldLog {
			t.Errorf("log of what did not happen: %q", log)
		}
	} else {
		expectFiles(t, state, newFiles, false)
		if want := map[bool]int{true: 0, false: 1}[said == "done, not logged"]; times != want {
			t.Errorf("log has the line %d times, want %d: %q", times, want, log)
		}
	}
	if err := commitAll(dir); err != nil {
		t.Errorf("next transaction: %v", err)
	}
	state = tree(t, dir)
	expectFiles(t, state, newFiles, false)
	report, err := artifact.VerifyLog(strings.NewReader(state["log.jsonl"]))
	if err != nil || report.Broken > 0 || report.Torn || report.Unchained != 2 {
		t.Errorf("log after the next transaction: %+v, %v\n%s", report, err, state["log.jsonl"])
	}
}

func justLock(dir string) error {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	defer f.Close()
	markBegin()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	l, err := f.Lock(ctx, time.Now)
	if err != nil {
		return err
	}
	l.Unlock()
	return nil
}

// A commit that meets a folder where a file should go takes back the changes
// that it has made.
func commitAndFail(dir string) error {
	l, tx, err := stage(dir)
	if err != nil {
		return err
	}
	defer l.Unlock()
	if err := tx.Write("last.json", []byte("new\n")); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "last.json"), 0o700); err != nil {
		return err
	}
	return tx.Commit()
}

func TestInterruptedFailedCommitTakesItsChangesBack(t *testing.T) {
	needStrace(t)
	atEveryCall(t, "take back", []fault{killed, brokenDisk}, prepareOld(t), func(t *testing.T, dir, said string) {
		if strings.HasPrefix(said, "done") {
			t.Error("commit succeeded over a folder")
		}
		if err := justLock(dir); err != nil {
			t.Errorf("next lock: %v", err)
		}
		state := tree(t, dir)
		delete(state, "last.json")
		expectFiles(t, state, oldFiles, false)
		if state["log.jsonl"] != oldLog {
			t.Errorf("log of what did not happen: %q", state["log.jsonl"])
		}
	})
}

func TestRecoveryCanBeInterruptedToo(t *testing.T) {
	needStrace(t)
	for _, crash := range []struct{ name, inject string }{
		{"before the first change", "renameat:signal=KILL:when=1"},
		{"between the changes", "renameat:signal=KILL:when=2"},
		{"after the log line", "unlinkat:signal=KILL:when=1"},
	} {
		t.Run(crash.name, func(t *testing.T) {
			prepare := func(dir string) {
				prepareOld(t)(dir)
				said, _ := traced(t, "commit", dir, "-e", "inject="+crash.inject)
				if _, err := os.Stat(filepath.Join(dir, ".tidegate-tx", "record")); said != "" || err != nil {
					t.Fatalf("commit was not interrupted: %q, %v", said, err)
				}
			}
			atEveryCall(t, "recover", []fault{killed, brokenDisk}, prepare, func(t *testing.T, dir, said string) {
				eachOldOrNew(t, tree(t, dir))
				// A log line that could not be written is given up here as
				// in a commit; nothing else may be different.
				if said == "done" && tree(t, dir)["log.jsonl"] == oldLog {
					afterRecovery(t, dir, "done, not logged")
				} else {
					afterRecovery(t, dir, "")
				}
			})
		})
	}
}

func manyFiles(content string) map[string]string {
	files := map[string]string{".tidegate.lock": "", "many": "folder"}
	for i := range 40 {
		files[fmt.Sprintf("many/%d.md", i)] = fmt.Sprintf("%s %d\n", content, i)
	}
	return files
}

func commitMany(dir string) error {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	l, err := f.Lock(context.Background(), time.Now)
	if err != nil {
		return err
	}
	defer l.Unlock()
	tx := l.Begin()
	for name, content := range manyFiles("new") {
		if strings.HasPrefix(name, "many/") {
			if err := tx.Write(name, []byte(content)); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

func TestLargeTransactionIsWholeWhicheverSyncFails(t *testing.T) {
	needStrace(t)
	files := func(content string) map[string]string {
		files := manyFiles(content)
		delete(files, "many")
		return files
	}
	atEverySync(t, "commit many", func(dir string) { put(t, dir, files("old")) }, func(t *testing.T, dir, said string) {
		if err := justLock(dir); err != nil {
			t.Error(err)
		}
		want := manyFiles("old")
		if state := tree(t, dir); said == "done" || said == "" && state["many/0.md"] == "new 0\n" {
			want = manyFiles("new")
		}
		expectFiles(t, tree(t, dir), want, false)
	})
}

func writeOne(dir string) error {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	markBegin()
	return f.Write("deep/er/c.json", []byte("new c\n"))
}

func TestWriteIsAllOrNothingWhereverItIsInterrupted(t *testing.T) {
	needStrace(t)
	atEveryCall(t, "write", []fault{killed, brokenDisk, noSpace, noAccess}, func(string) {}, func(t *testing.T, dir, said string) {
		whole := map[string]string{"deep": "folder", "deep/er": "folder", "deep/er/c.json": "new c\n"}
		state := tree(t, dir)
		if content, there := state["deep/er/c.json"]; there && content != "new c\n" {
			t.Errorf("a part was written: %q", content)
		} else if there && said != "" || said == "done" {
			expectFiles(t, state, whole, false)
		} else if said != "" {
			expectFiles(t, state, map[string]string{}, false)
		}
		if err := writeOne(dir); err != nil {
			t.Errorf("next write: %v", err)
		}
		expectFiles(t, tree(t, dir), whole, false)
	})
}

func writeReport(dir string) error {
	markBegin()
	return artifact.Everywhere.WriteFile("report_path", filepath.Join(dir, "report.json"), []byte("new\n"))
}

func TestWriteFileIsAllOrNothingWhereverItIsInterrupted(t *testing.T) {
	needStrace(t)
	before := map[string]string{"report.json": "old\n"}
	after := map[string]string{"report.json": "new\n"}
	atEveryCall(t, "write a path", []fault{killed, brokenDisk, noSpace, noAccess}, func(dir string) { put(t, dir, before) }, func(t *testing.T, dir, said string) {
		switch state := tree(t, dir); {
		case said == "done", said != "" && state["report.json"] == after["report.json"]:
			expectFiles(t, state, after, false)
		case said != "":
			expectFiles(t, state, before, false)
		case state["report.json"] != before["report.json"] && state["report.json"] != after["report.json"]:
			t.Errorf("a part was written: %q", state)
		}
		if err := writeReport(dir); err != nil {
			t.Errorf("next write: %v", err)
		}
		expectFiles(t, tree(t, dir), after, false)
	})
}

var createdRun = map[string]string{"runs": "folder", "runs/r1": "folder", "runs/r1/.tidegate.lock": "", "runs/r1/wave-1": "folder", "runs/r1/manifest.json": "{}\n", "runs/r1/operator": "folder", "runs/r1/operator/scope.json": "{}\n"}

func createRun(dir string) error {
	markBegin()
	return artifact.Everywhere.CreateFolder("root", filepath.Join(dir, "runs", "r1"), func(d *artifact.Draft) error {
		if err := d.MakeFolder("wave-1"); err != nil {
			return err
		}
		if err := d.Write("operator/scope.json", []byte("{}\n")); err != nil {
			return err
		}
		return d.Write("manifest.json", []byte("{}\n"))
	})
}

func checkCreated(t *testing.T, dir, said string) {
	t.Helper()
	state := tree(t, dir)
	switch {
	case said == "done", said == "" && state["runs/r1"] != "":
		expectFiles(t, state, createdRun, false)
	case said != "":
		expectFiles(t, state, map[string]string{}, false)
	}
	if err := createRun(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Errorf("next attempt: %v", err)
	}
	expectFiles(t, tree(t, dir), createdRun, false)
}

func TestInterruptedFolderIsWholeOrAbsent(t *testing.T) {
	needStrace(t)
	atEveryCall(t, "create", []fault{killed, brokenDisk, noSpace, noAccess}, func(string) {}, checkCreated)
}

func TestFolderAppearsWholeOrNotAtAllWhicheverSyncFails(t *testing.T) {
	needStrace(t)
	atEverySync(t, "create", func(string) {}, checkCreated)
}
