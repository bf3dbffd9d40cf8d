package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/fakeforge"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestTheJobForGitLabReviews runs the script of the job with another reviewer in place of the
// named one: the report is where the job says, and the merge request has the comments.
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
	if len(job.Rules) != 1 || !strings.Contains(job.Rules[0].If, "merge_request_event") {
		t.Fatalf("the job is %+v", job)
	}
	home := newHome(t)
	reviewer := filepath.Join(t.TempDir(), "reviewer")
	answer := "#!/bin/sh\ncat >/dev/null\necho '{\"change_id\":\"review\",\"verdict\":\"NEEDS_FIX\",\"summary\":\"s\",\"issues\":[{\"title\":\"Wrong\",\"severity\":\"High\",\"category\":\"Bug\",\"file\":\"b.sh\",\"line\":1,\"quote\":\"echo b\",\"description\":\"Everybody is told b.\"}]}'\n"
	must.Do(t, os.WriteFile(reviewer, []byte(answer), 0o755))
	commits, _ := home.run(t, `mkdir project && cd project && git init -q -b main . && git config user.name n && git config user.email e@example.org
echo a > a.sh && git add . && git commit -q -m first && git checkout -q -b topic && echo 'echo b' > b.sh && git add . && git commit -q -m second
git rev-parse main topic`, false)
	base, head, _ := strings.Cut(strings.TrimSpace(commits), "\n")
	project := &fakeforge.GitLab{Number: 5, Head: head, Base: base, Start: base, Author: "octocat", Diffs: map[string]string{"b.sh": "@@ -0,0 +1 @@\n+echo b\n"}}
	server := httptest.NewServer(project)
	t.Cleanup(server.Close)
	script := strings.ReplaceAll(strings.Join(job.Script, "\n"), "api:openai", "exec:"+reviewer)
	out, status := home.run(t, `cd project && set -e
export CI_API_V4_URL=`+server.URL+`/api/v4 CI_PROJECT_ID=42 CI_PROJECT_URL=https://gitlab.example/owner/name GITLAB_TOKEN=`+fakeforge.Token+`
CI_MERGE_REQUEST_DIFF_BASE_SHA=`+base+` CI_MERGE_REQUEST_IID=5 CI_COMMIT_SHA=`+head+`
trap 'cat `+job.Artifacts.Reports.Codequality+`' EXIT
`+script, false)
	if status != 1 || !strings.Contains(out, `"path": "b.sh"`) && !strings.Contains(out, `"path":"b.sh"`) {
		t.Errorf("exit status %d\n%s", status, out)
	}
	if len(project.Threads) != 1 || project.Threads[0].NewLine != 1 || len(project.Notes) != 1 || len(project.Statuses) != 1 || project.Statuses[0].Conclusion != "failed" {
		t.Errorf("the merge request has %+v, %+v and %+v\n%s", project.Threads, project.Notes, project.Statuses, out)
	}
}
