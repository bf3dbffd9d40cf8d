package artifact_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

// Nothing waits for the other end of a FIFO, or reads or writes a device.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	listener := must.Get(net.Listen("unix", socket))(t)
	defer listener.Close()
	f := open(t, dir)
	for _, name := range []string{"fifo", "socket"} {
		for call, err := range use(t, f, name) {
			want := tidegate.WriteFailed
			switch call {
			case "Read", "Open":
				want = tidegate.ReadFailed
			case "Folder":
				want = tidegate.FileNotFound
			case "Exists":
				want = ""
			}
			if tidegate.CodeOf(err) != want {
				t.Errorf("%s %s: %v, want %q", call, name, err, want)
			}
		}
		path := filepath.Join(dir, name)
		if _, err := artifact.Everywhere.ReadFile("path", path); tidegate.CodeOf(err) != tidegate.ReadFailed {
			t.Errorf("ReadFile %s: %v", name, err)
		}
		if _, err := artifact.Everywhere.Open("path", path); tidegate.CodeOf(err) != tidegate.FileNotFound {
			t.Errorf("Open %s: %v", name, err)
		}
		if err := artifact.Everywhere.WriteFile("path", path, nil); tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("WriteFile %s: %v", name, err)
		}
		if err := artifact.Everywhere.WriteFile("path", filepath.Join(path, "below"), nil); tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("WriteFile below %s: %v", name, err)
		}
	}
	if _, err := artifact.Everywhere.ReadFile("path", "/dev/zero"); tidegate.CodeOf(err) != tidegate.ReadFailed {
		t.Errorf("/dev/zero: %v", err)
	}
	if err := artifact.Everywhere.WriteFile("path", "/dev/stdout", nil); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
		t.Errorf("/dev/stdout: %v", err)
	}
}

// asNobody gives this thread the rights of a user without any.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread() // the thread ends with the test
	must.Do(t, syscall.Setfsuid(65534))
	t.Cleanup(func() { syscall.Setfsuid(0) })
}

func TestWithoutPermission(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"open/secret": "secret\n", "closed/secret": "secret\n", "open/log.jsonl": ""})
	before := tree(t, dir)
	for name, mode := range map[string]os.FileMode{".": 0o755, "open": 0o755, "open/secret": 0, "open/log.jsonl": 0, "closed": 0} {
		must.Do(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	if os.Geteuid() != 0 {
		must.Do(t, os.Chmod(filepath.Join(dir, "open"), 0o555))
	}
	f := open(t, dir)
	t.Run("no rights", func(t *testing.T) {
		asNobody(t)
		for _, name := range []string{"open/secret", "closed/secret"} {
			path := filepath.Join(dir, name)
			_, read := artifact.Everywhere.ReadFile("path", path)
			_, inside := f.Read(name)
			for _, err := range []error{read, inside} {
				if tidegate.CodeOf(err) != tidegate.ReadFailed || !errors.Is(err, os.ErrPermission) {
					t.Errorf("reading %s: %v, want READ_FAILED", name, err)
				}
			}
			for _, err := range []error{f.Write(name, nil), artifact.Everywhere.WriteFile("path", path, nil), f.Write(filepath.Dir(name)+"/new", nil), f.MakeFolder(filepath.Dir(name) + "/new")} {
				if tidegate.CodeOf(err) != tidegate.WriteFailed {
					t.Errorf("writing %s: %v, want WRITE_FAILED", name, err)
				}
			}
		}
		if _, err := artifact.Everywhere.Open("path", filepath.Join(dir, "closed")); tidegate.CodeOf(err) != tidegate.ReadFailed {
			t.Errorf("opening a closed folder: %v, want READ_FAILED", err)
		}
		if err := artifact.Everywhere.CreateFolder("path", filepath.Join(dir, "open", "run"), draft); tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("creating a folder: %v, want WRITE_FAILED", err)
		}
		if sub, err := f.Folder("open"); err != nil {
			t.Error(err)
		} else if _, err := sub.Lock(t.Context(), pinned); tidegate.CodeOf(err) != tidegate.WriteFailed {
			t.Errorf("locking: %v, want WRITE_FAILED", err)
		}
	})
	for name, mode := range map[string]os.FileMode{"closed": 0o700, "open": 0o700, "open/secret": 0o600, "open/log.jsonl": 0o600} {
		must.Do(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// A log that may be read and not written stops what would be recorded in it, and
// nothing else.
func TestARecordedLineInALogThatMayNotBeWritten(t *testing.T) {
	dir := recorded(t, 2)
	put(t, dir, map[string]string{"a.json": "old\n"})
	for name, mode := range map[string]os.FileMode{".": 0o777, "logs": 0o777, "logs/audit.jsonl": 0o444, "logs/audit.head": 0o666, "a.json": 0o666, ".tidegate.lock": 0o666} {
		must.Do(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	want := tree(t, dir)
	f := open(t, dir)
	t.Run("recorded", func(t *testing.T) {
		asNobody(t)
		tx := locked(t, f).Begin()
		must.Do(t, errors.Join(tx.Write("a.json", []byte("new\n")), tx.Record(auditLog, event{N: 3})))
		if err := tx.Commit(); tidegate.CodeOf(err) != tidegate.WriteFailed || !errors.Is(err, os.ErrPermission) {
			t.Errorf("%v, want WRITE_FAILED", err)
		}
	})
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("recorded: files (-want +got):\n%s", diff)
	}
	t.Run("logged", func(t *testing.T) {
		asNobody(t)
		tx := locked(t, f).Begin()
		tx.Log(auditLog, event{N: 3})
		if err := errors.Join(tx.Write("a.json", []byte("new\n")), tx.Commit()); err != nil || tidegate.CodeOf(tx.LogError()) != tidegate.WriteFailed {
			t.Errorf("%v, %v, want WRITE_FAILED", err, tx.LogError())
		}
	})
	want["a.json"] = "new\n"
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("logged: files (-want +got):\n%s", diff)
	}
}

// TestWhoMayOnlyReadSeesAClaim, as on a disk that has become read-only.
func TestWhoMayOnlyReadSeesAClaim(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	claim := must.Get(f.Claim("claim", nil))(t)
	defer claim.Release()
	must.Do(t, os.Chmod(filepath.Join(dir, "claim"), 0o444))
	must.Do(t, os.Chmod(dir, 0o755))
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // the thread ends with the test
		must.Do(t, syscall.Setfsuid(65534))
		t.Cleanup(func() { syscall.Setfsuid(0) })
	}
	if _, held, err := f.Claimed("claim"); err != nil || !held {
		t.Errorf("held %v: %v", held, err)
	}
}
