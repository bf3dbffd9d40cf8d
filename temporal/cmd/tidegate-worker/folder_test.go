package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/driver"
	"github.com/tidegate/tidegate/engine"
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

// TestFolderOfATask looks at the folder of a task on a worker: it is empty in each turn,
// the repair has it in the same place and nowhere else, and nothing of it is on the
// machine while no agent works in it.
func TestFolderOfATask(t *testing.T) {
	_, address := beginServer(t)
	bin, temp := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(curious), 0o700); err != nil {
		t.Fatal(err)
	}
	beginWorker(t, address, []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "TMPDIR=" + temp}, "--agent", "claude")
	connection, err := temporal.Connect(t.Context(), temporal.Options{Address: address, Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	pool := &temporal.Pool{Connection: connection, Program: "test", Local: &engine.Local{},
		Queue: func(string) string { return defaultQueue }, Agent: func(string) string { return "claude" }}

	var session, place string
	for turn, resumed := range []string{"no", "yes"} {
		answer, err := pool.Do(t.Context(), driver.Task{ID: "sha256:" + resumed, Job: "job", Attempt: 1, Turn: turn + 1, Prompt: "prompt", Role: "researcher",
			Session: session, Limits: driver.Limits{Deadline: 2 * time.Minute}}, func(driver.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(answer.Text, "|")
		if len(parts) != 3 || parts[0] != resumed {
			t.Fatalf("turn %d: the answer is %q, want one with resumed %s", turn+1, answer.Text, resumed)
		}
		if place == "" {
			place = parts[1]
		}
		if parts[1] != place || !strings.HasPrefix(place, temp) {
			t.Errorf("turn %d is in %s, the attempt began in %s, below %s", turn+1, parts[1], place, temp)
		}
		if strings.Contains(parts[2], "left") {
			t.Errorf("turn %d: the folder is not empty: %s", turn+1, parts[2])
		}
		left, err := os.ReadDir(temp)
		if err != nil || len(left) > 0 {
			t.Errorf("after turn %d the machine still has %v, %v", turn+1, left, err)
		}
		session = answer.Session
	}
}
