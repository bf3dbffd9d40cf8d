package temporal_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.temporal.io/sdk/testsuite"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestTheScheduledUpdateSaysHowItEnded runs the workflow of the example with a program
// that says that a sentence no longer stands.
func TestTheScheduledUpdateSaysHowItEnded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a script of a shell")
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "tidegate"), []byte("#!/bin/sh\n[ \"$*\" = 'run update harbour --format json' ] && exit 1\nexit 2\n"), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(UpdateReport)
	env.ExecuteWorkflow(UpdateDaily, "harbour")
	var status int
	must.Do(t, env.GetWorkflowError())
	if err := env.GetWorkflowResult(&status); err != nil || status != 1 {
		t.Errorf("status %d, %v", status, err)
	}
}
