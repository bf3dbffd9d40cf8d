package artifact_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestTransactionThatIsNotCommittedChangesNothing(t *testing.T) {
	for what, end := range map[string]func(*artifact.Lock, *artifact.Tx){
		"rolled back":        func(_ *artifact.Lock, tx *artifact.Tx) { tx.Rollback(); tx.Rollback() },
		"unlocked":           func(l *artifact.Lock, _ *artifact.Tx) { l.Unlock() },
		"another one begun":  func(l *artifact.Lock, _ *artifact.Tx) { l.Begin() },
		"a write has failed": func(_ *artifact.Lock, tx *artifact.Tx) { tx.Write("folder", nil); tx.Commit() },
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, map[string]string{"a.json": "old\n", "folder/x": "x\n", ".tidegate.lock": ""})
			before := tree(t, dir)
			l := locked(t, open(t, dir))
			tx := l.Begin()
			must.Do(t, errors.Join(tx.Write("a.json", []byte("new\n")), tx.Write("deep/b.json", []byte("new\n")), tx.Remove("folder/x")))
			tx.Log("log.jsonl", event{N: 1})
			end(l, tx)
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
			if err := tx.Commit(); tidegate.CodeOf(err) != tidegate.Internal {
				t.Errorf("commit after the end: %v", err)
			}
		})
	}
}

func TestWriteErrorComesBackFromCommit(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"folder/x": "x\n"})
	tx := locked(t, open(t, dir)).Begin()
	wrote := tx.Write("folder", []byte("x\n"))
	if committed := tx.Commit(); tidegate.CodeOf(wrote) != tidegate.WriteFailed || committed != wrote {
		t.Errorf("write %v, commit %v", wrote, committed)
	}
}

func TestTransactionsFollowEachOther(t *testing.T) {
	dir := t.TempDir()
	l := locked(t, open(t, dir))
	for i := range 3 {
		tx := l.Begin()
		must.Do(t, errors.Join(tx.Write("a.json", fmt.Appendln(nil, i)), tx.Remove("not there"), tx.Remove(fmt.Sprint(i-1)), tx.Write(fmt.Sprint(i), nil), tx.Commit()))
	}
	if err := l.Begin().Commit(); err != nil {
		t.Errorf("an empty transaction: %v", err)
	}
	tx := l.Begin()
	if err := errors.Join(tx.Remove("a.json"), tx.Commit()); err != nil {
		t.Errorf("a removal alone: %v", err)
	}
	if diff := cmp.Diff(map[string]string{".tidegate.lock": "", "2": ""}, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestAFileIsChangedOnceInATransaction(t *testing.T) {
	tx := locked(t, open(t, t.TempDir())).Begin()
	tx.Write("a.json", nil)
	if err := tx.Write("./a.json", nil); tidegate.CodeOf(err) != tidegate.Internal {
		t.Errorf("%v, want INTERNAL", err)
	}
}

func TestModes(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"shared": "old\n", "public": "old\n", "fixed": "old\n"})
	for name, mode := range map[string]os.FileMode{"shared": 0o640, "public": 0o644, "fixed": 0o400} {
		must.Do(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	f := open(t, dir)
	tx := locked(t, f).Begin()
	must.Do(t, errors.Join(f.Write("public", []byte("new\n")), f.Write("a/new", nil), tx.Write("shared", []byte("new\n")), tx.Write("fixed", []byte("new\n")), tx.Write("b/new", nil), tx.Commit()))
	for name, want := range map[string]os.FileMode{"shared": 0o640, "public": 0o644, "fixed": 0o400, "a": 0o700 | os.ModeDir, "a/new": 0o600, "b": 0o700 | os.ModeDir, "b/new": 0o600, ".tidegate.lock": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, want %v (%v)", name, info.Mode(), want, err)
		}
	}
}

func TestModesOfASharedFolder(t *testing.T) {
	dir := t.TempDir()
	// What another program makes shows the umask.
	must.Do(t, errors.Join(os.Mkdir(filepath.Join(dir, "usual"), 0o777), os.WriteFile(filepath.Join(dir, "usual", "file"), nil, 0o666),
		os.WriteFile(filepath.Join(dir, "private"), nil, 0o600)))
	mode := func(name string) os.FileMode {
		info := must.Get(os.Stat(filepath.Join(dir, filepath.FromSlash(name))))(t)
		return info.Mode()
	}
	root := open(t, dir)
	root.Share()
	must.Do(t, root.MakeFolder("agentd/changes"))
	f := must.Get(root.Folder("agentd"))(t)
	defer f.Close()
	tx := locked(t, f).Begin()
	tx.Log("logs/log.jsonl", map[string]int{"a": 1})
	must.Do(t, errors.Join(f.Write("a/one", nil), tx.Write("b/two", nil), tx.Commit(), tx.LogError(), root.Write("private", []byte("new\n"))))
	for _, name := range []string{"agentd", "agentd/changes", "agentd/a", "agentd/b", "agentd/logs"} {
		if got := mode(name); got != mode("usual") {
			t.Errorf("%s has mode %v, want %v", name, got, mode("usual"))
		}
	}
	for _, name := range []string{"agentd/a/one", "agentd/b/two", "agentd/logs/log.jsonl"} {
		if got := mode(name); got != mode("usual/file") {
			t.Errorf("%s has mode %v, want %v", name, got, mode("usual/file"))
		}
	}
	if got := mode("private"); got != 0o600 {
		t.Errorf("a file that was replaced has mode %v, want that of the old one", got)
	}
}

// A reader without the lock who sees the last file of a transaction sees all of
// them, and never a part of one.
func TestReadersSeeWholeFilesInOrder(t *testing.T) {
	dir := t.TempDir()
	content := func(i int) string { return strings.Repeat(fmt.Sprintln(i), 1000) }
	put(t, dir, map[string]string{"first": content(0), "last": content(0)})
	f := open(t, dir)
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			last, err1 := f.Read("last")
			first, err2 := f.Read("first")
			if err := errors.Join(err1, err2); err != nil {
				t.Error(err)
				return
			}
			var seen, before int
			fmt.Sscan(string(first), &seen)
			fmt.Sscan(string(last), &before)
			if seen < before || string(first) != content(seen) || string(last) != content(before) {
				t.Errorf("first is %d with %d bytes after last was %d with %d bytes", seen, len(first), before, len(last))
				return
			}
		}
	})
	l := locked(t, f)
	for i := range 100 {
		tx := l.Begin()
		if err := errors.Join(tx.Write("first", []byte(content(i))), tx.Write("last", []byte(content(i))), tx.Commit()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	reader.Wait()
}

// What a killed process can leave behind, without a process to kill.
func TestWhatTheNextLockMakesOfATransaction(t *testing.T) {
	record := func(json string) string { return json + "\n" + codec.DigestBytes([]byte(json)) + "\n" }
	whole := fmt.Sprintf(`{"schema_version":"tidegate_commit.v1","folders":["deep"],"changes":[{"name":"a","digest":%q,"replaces":true},{"name":"deep/b","digest":%q,"replaces":false}],"logs":[{"name":"log","from":0,"lines":["{\"n\":1}"]}]}`,
		codec.DigestBytes([]byte("new a\n")), codec.DigestBytes([]byte("new b\n")))
	staged := map[string]string{"a": "old a\n", ".tidegate-tx/0": "new a\n", ".tidegate-tx/0.old": "old a\n", ".tidegate-tx/1": "new b\n"}
	before := map[string]string{".tidegate.lock": "", "a": "old a\n"}
	after := map[string]string{".tidegate.lock": "", "a": "new a\n", "deep": "folder", "deep/b": "new b\n", "log": `{"n":1,"prev":"` + artifact.FirstPrev + `"}` + "\n"}
	with := func(more map[string]string, but ...string) map[string]string {
		files := map[string]string{}
		for name, content := range staged {
			files[name] = content
		}
		for name, content := range more {
			files[name] = content
		}
		for _, name := range but {
			delete(files, name)
		}
		return files
	}
	for what, left := range map[string]struct{ files, want map[string]string }{
		"nothing staged yet":        {map[string]string{"a": "old a\n", ".tidegate-tx/0": ""}, before},
		"no record":                 {staged, before},
		"an empty record":           {with(map[string]string{".tidegate-tx/record": ""}), before},
		"a record without digest":   {with(map[string]string{".tidegate-tx/record": whole + "\n"}), before},
		"a record cut short":        {with(map[string]string{".tidegate-tx/record": record(whole)[:len(record(whole))-1]}), before},
		"a whole record":            {with(map[string]string{".tidegate-tx/record": record(whole)}), after},
		"a part done":               {with(map[string]string{".tidegate-tx/record": record(whole), "a": "new a\n"}, ".tidegate-tx/0"), after},
		"all done but the log":      {with(map[string]string{".tidegate-tx/record": record(whole), "a": "new a\n", "deep/b": "new b\n"}, ".tidegate-tx/0", ".tidegate-tx/1"), after},
		"a part of the line logged": {with(map[string]string{".tidegate-tx/record": record(whole), "a": "new a\n", "deep/b": "new b\n", "log": `{"n":1,"pre`}, ".tidegate-tx/0", ".tidegate-tx/1"), after},
		"all done":                  {with(map[string]string{".tidegate-tx/record": record(whole), "a": "new a\n", "deep/b": "new b\n", "log": after["log"]}, ".tidegate-tx/0", ".tidegate-tx/1"), after},
		"other content staged":      {with(map[string]string{".tidegate-tx/record": record(whole), ".tidegate-tx/1": "other\n"}), before},
		"other content, a part done": {with(map[string]string{".tidegate-tx/record": record(whole), "a": "new a\n", ".tidegate-tx/1": "other\n"},
			".tidegate-tx/0"), before},
		"taken back in part": {with(map[string]string{".tidegate-tx/undo": record(whole), "deep/b": "new b\n"}, ".tidegate-tx/1", ".tidegate-tx/0", ".tidegate-tx/0.old"), before},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, left.files)
			locked(t, open(t, dir)).Unlock()
			if diff := cmp.Diff(left.want, tree(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a record of a later kind", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, with(map[string]string{".tidegate-tx/record": record(`{"schema_version":"tidegate_commit.v2"}`)}))
		before := tree(t, dir)
		_, err := open(t, dir).Lock(t.Context(), pinned)
		if tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("%v, want WRITE_FAILED", err)
		}
		before[".tidegate.lock"] = ""
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Errorf("files (-before +after):\n%s", diff)
		}
	})
	t.Run("a line of others after ours", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, with(map[string]string{".tidegate-tx/record": record(whole), "log": after["log"] + `{"n":2}` + "\n"}))
		locked(t, open(t, dir)).Unlock()
		if log := tree(t, dir)["log"]; log != after["log"]+`{"n":2}`+"\n" {
			t.Errorf("log is %q", log)
		}
	})
	t.Run("a link in place of the staging folder", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, map[string]string{"wave/a.md": "a\n"})
		if err := os.Symlink("wave", filepath.Join(dir, ".tidegate-tx")); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		if _, err := open(t, dir).Lock(t.Context(), pinned); tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("%v, want WRITE_FAILED", err)
		}
		if got := tree(t, dir)["wave/a.md"]; got != "a\n" {
			t.Errorf("what the link names was changed: %q", got)
		}
	})
}

func TestLargeTransaction(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	for _, content := range []string{"old\n", "new\n"} {
		commitFiles(t, f, 200, []byte(content))
		state := tree(t, dir)
		if len(state) != 200+4 {
			t.Errorf("%d files and folders", len(state))
		}
		for i := range 200 {
			if name := fmt.Sprintf("summaries/%05d.md", i); state[name] != content {
				t.Fatalf("%s is %q, want %q", name, state[name], content)
			}
		}
	}
}
