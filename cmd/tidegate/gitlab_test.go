package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestTheJobForGitLabReviews runs the script of the job with a reviewer that approves in
// place of the named one: the command line is right, and the report is where the job says.
func TestTheJobForGitLabReviews(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	var jobs map[string]struct {
		Rules     []struct{ If string }
		Script    []string
		Artifacts struct{ Reports struct{ Codequality string } }
	}
	parseYAML(t, "docs/examples/review-change.gitlab-ci.yml", &jobs)
	job := jobs["review"]
	if len(job.Rules) != 1 || !strings.Contains(job.Rules[0].If, "merge_request_event") || len(job.Script) != 1 {
		t.Fatalf("the job is %+v", job)
	}
	home := newHome(t)
	reviewer := filepath.Join(t.TempDir(), "reviewer")
	answer := "#!/bin/sh\ncat >/dev/null\necho '{\"change_id\":\"topic\",\"verdict\":\"NEEDS_FIX\",\"summary\":\"s\",\"issues\":[{\"title\":\"Wrong\",\"severity\":\"High\",\"category\":\"Bug\",\"file\":\"b.sh\",\"line\":1,\"description\":\"d\"}]}'\n"
	must.Do(t, os.WriteFile(reviewer, []byte(answer), 0o755))
	script := strings.ReplaceAll(job.Script[0], "api:openai", "exec:"+reviewer)
	out, status := home.run(t, `mkdir project && cd project && git init -q -b main . && git config user.name n && git config user.email e@example.org
echo a > a.sh && git add . && git commit -q -m first && git checkout -q -b topic && echo b > b.sh && git add . && git commit -q -m second
CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse main)
`+script+`
status=$?; cat `+job.Artifacts.Reports.Codequality+`; exit $status`, false)
	if status != 1 || !strings.Contains(out, `"path": "b.sh"`) && !strings.Contains(out, `"path":"b.sh"`) {
		t.Errorf("exit status %d\n%s", status, out)
	}
}
