package temporal_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.temporal.io/sdk/testsuite"
)

// TestTheScheduledUpdateSaysHowItEnded runs the workflow of docs/after.md with a program
// that says that a sentence no longer stands.
func TestTheScheduledUpdateSaysHowItEnded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a script of a shell")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tidegate"), []byte("#!/bin/sh\n[ \"$*\" = 'run update harbour --format json' ] && exit 1\nexit 2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(UpdateReport)
	env.ExecuteWorkflow(UpdateDaily, "harbour")
	var status int
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if err := env.GetWorkflowResult(&status); err != nil || status != 1 {
		t.Errorf("status %d, %v", status, err)
	}
}
