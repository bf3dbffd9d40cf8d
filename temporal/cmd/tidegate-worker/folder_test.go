package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/temporal"
)

// curious is a claude that answers with its arguments, its folder and what is in there,
// and leaves a file behind.
const curious = `#!/bin/sh
case "$1" in
--version) echo '2.1.325 (Claude Code)'; exit;;
auth) exit;;
esac
found="$(ls -A . "$TMPDIR" | tr '\n' ' ')"
echo notes > left
echo notes > "$TMPDIR/left"
resumed=no
case "$*" in *'--resume s1'*) resumed=yes;; esac
printf '{"type":"system","subtype":"init","session_id":"s1"}\n'
printf '{"type":"result","subtype":"success","session_id":"s1","result":"%s|%s|%s"}\n' "$resumed" "$PWD" "$found"
`

// TestFolderOfATask follows the folder of a task on a worker: it is empty at first,
// the repair finds in it what the agent left, and it is gone once the attempt has
// ended: by the repair, by an answer that needs none, by the end of the worker, or,
// for a worker that was killed, at the start of the next one.
func TestFolderOfATask(t *testing.T) {
	t.Parallel()
	_, address := beginServer(t)
	bin, temp := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(curious), 0o700))
	work := func() *process {
		return beginWorker(t, address, []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "TMPDIR=" + temp}, "--agent", "claude")
	}
	connection := must.Get(temporal.Connect(t.Context(), temporal.Options{Address: address, Namespace: "default"}))(t)
	defer connection.Close()
	pool := &temporal.Pool{Connection: connection, Program: "test", Local: &engine.Local{},
		Queue: func(string) string { return defaultQueue }, Agent: func(string) string { return "claude" }}
	ask := func(id, session, resumed string) (place, found, next string) {
		t.Helper()
		task := driver.Task{ID: "sha256:" + id, Job: "job", Attempt: 1, Turn: 1, Prompt: "prompt", Role: "researcher", Session: session,
			Limits: driver.Limits{Deadline: 2 * time.Minute}}
		if session != "" {
			task.Turn = 2
		}
		answer := must.Get(pool.Do(t.Context(), task, func(driver.Event) {}))(t)
		parts := strings.Split(answer.Text, "|")
		if len(parts) != 3 || parts[0] != resumed {
			t.Fatalf("the answer is %q, want one with resumed %s", answer.Text, resumed)
		}
		return parts[1], parts[2], answer.Session
	}
	folders := func() int {
		left := must.Get(os.ReadDir(temp))(t)
		return len(left)
	}

	w := work()
	place, found, session := ask("first", "", "no")
	if strings.Contains(found, "left") || !strings.HasPrefix(place, temp) || folders() != 1 {
		t.Errorf("the first turn is in %s with %s, and leaves %d folders below %s", place, found, folders(), temp)
	}
	again, found, _ := ask("repair", session, "yes")
	if again != place || strings.Count(found, "left") != 2 {
		t.Errorf("the repair is in %s and finds %s; the attempt began in %s and left two files", again, found, place)
	}
	if folders() != 0 {
		t.Error("the folder is still there after the repair")
	}

	_, found, session = ask("accepted", "", "no")
	if strings.Contains(found, "left") {
		t.Errorf("another attempt finds %s", found)
	}
	must.Do(t, pool.Cancel(t.Context(), "sha256:accepted"))
	until(t, "the folder of an attempt that has ended is gone", func() bool { return folders() == 0 })
	if _, err := pool.Do(t.Context(), driver.Task{ID: "sha256:late", Turn: 2, Role: "researcher", Session: session}, func(driver.Event) {}); !isGone(err) {
		t.Errorf("the session of an attempt that has ended was continued: %v", err)
	}

	ask("drained", "", "no")
	w.signal(syscall.SIGTERM)
	if status := w.ends(); status != 0 || folders() != 0 {
		t.Errorf("the worker ends with %d and leaves %d folders", status, folders())
	}

	w = work()
	ask("killed", "", "no")
	w.kill()
	if folders() != 1 {
		t.Fatalf("a killed worker leaves %d folders, want 1", folders())
	}
	work()
	until(t, "the folder of a killed worker is gone", func() bool { return folders() == 0 })
}

func isGone(err error) bool {
	var failure *driver.Error
	return errors.As(err, &failure) && failure.SessionGone
}
