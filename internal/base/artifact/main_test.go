package artifact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
)

// The test binary runs itself as another process when it is given an operation
// and a folder.
const (
	opVar     = "ARTIFACT_TEST_OP"
	folderVar = "ARTIFACT_TEST_FOLDER"
)

func init() {
	if os.Getenv(opVar) != "" {
		// One thread makes all the calls that are counted.
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	name := os.Getenv(opVar)
	if name == "" {
		os.Exit(m.Run())
	}
	err := operations[name](os.Getenv(folderVar))
	switch {
	case err == nil:
		fmt.Print("done")
	case errors.Is(err, errNotLogged):
		fmt.Print("done, not logged")
	default:
		fmt.Print(tidegate.CodeOf(err))
	}
	os.Exit(0)
}

var errNotLogged = errors.New("the log line was not written")

// operations are what another process can be asked to do in a folder.
var operations = map[string]func(dir string) error{"count": countUp, "hold": holdLock}

func self(t *testing.T, op, dir string, before ...string) *exec.Cmd {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	args := append(before, exe)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), opVar+"="+op, folderVar+"="+dir, "GOMAXPROCS=2")
	return cmd
}

func open(t *testing.T, dir string) *artifact.Folder {
	t.Helper()
	f := must.Get(artifact.Everywhere.Open("dir", dir))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

func locked(t *testing.T, f *artifact.Folder) *artifact.Lock {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	l := must.Get(f.Lock(ctx, time.Now))(t)
	t.Cleanup(l.Unlock)
	return l
}

func pinned() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }

// tree is all that is in a folder: the content of each file by name, "folder"
// for each folder and "link" for each symbolic link.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		switch d.Type() {
		case os.ModeDir:
			all[name] = "folder"
			return nil
		case os.ModeSymlink:
			all[name] = "link"
			return nil
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	}))
	return all
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Write(t, path, content)
	}
}

func countUp(dir string) error {
	for range 50 {
		if err := countOnce(dir); err != nil {
			return err
		}
	}
	return nil
}

func countOnce(dir string) error {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := f.Lock(context.Background(), time.Now)
	if err != nil {
		return err
	}
	defer l.Unlock()
	data, err := f.Read("counter")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		return err
	}
	tx := l.Begin()
	if err := tx.Write("counter", fmt.Appendln(nil, n+1)); err != nil {
		return err
	}
	if err := tx.Record("log.jsonl", map[string]int{"n": n + 1}); err != nil {
		return err
	}
	return tx.Commit()
}
