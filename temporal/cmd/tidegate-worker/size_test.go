package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNoServerInTheWorker: whoever installs a worker neither builds nor loads a server.
func TestNoServerInTheWorker(t *testing.T) {
	deps := func(program string) string {
		out, err := exec.Command("go", "list", "-deps", program).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if !strings.Contains(deps("../tidegate-temporal-dev"), "\ngo.temporal.io/server/temporal\n") {
		t.Error("the server for trying out has none in it, so the test shows nothing")
	}
	for name := range strings.Lines(deps(".")) {
		if strings.HasPrefix(name, "go.temporal.io/server/") || strings.HasPrefix(name, "modernc.org/sqlite") {
			t.Errorf("tidegate-worker is built from %s", name)
		}
	}
}
