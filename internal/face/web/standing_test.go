package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestWhatNeedsAPersonComesFirst: one sentence and one command, the same that research
// ends with, on the page of the run and at the top of the list. All else is folded.
func TestWhatNeedsAPersonComesFirst(t *testing.T) {
	t.Parallel()
	u := failedRun(t)
	b := visit(t, u.site, nil)
	_, page := b.get(t, "/runs/harbour")
	first := "tidegate job show harbour perspectives"
	inOrder(t, page, "needs you · Overview", "<main", `data-layout="needs"`, "All tries are used up for “Plan the perspectives of the research”.", first, "What else you may type", `<details id="d-rest"><summary>`, "What came in last")
	_, list := b.get(t, "/")
	inOrder(t, list, "All tries are used up for “Plan the perspectives of the research”.", first, `id="runs"`)
	board, err := job.OpenBoard(t.Context(), u.site.Desk, u.manifest)
	if err != nil {
		t.Fatal(err)
	}
	defer board.Close()
	if stands, err := u.site.Standing(board); err != nil || stands.Next[0].Command != first {
		t.Errorf("%+v, %v", stands, err)
	}
}

// TestAPlanThatWaitsIsShown: perspectives that wait for a person's yes are what the run
// needs, whichever stage it is in.
func TestAPlanThatWaitsIsShown(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	made, err := run.Create(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), s.Desk, s.Home, run.InitInput{Query: question, RunID: "harbour", Shape: demo.Shape, ConfirmPlan: true})
	if err != nil {
		t.Fatal(err)
	}
	b := visit(t, s, nil)
	if _, page := b.get(t, "/runs/harbour"); !strings.Contains(page, "Nobody drives the run.") {
		t.Error("the page does not say that nobody drives the run")
	}
	folder, err := play()
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(folder, "runs", "harbour", "perspectives.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(made.Root, "perspectives.json"), written, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/runs/harbour", "/"} {
		_, page := b.get(t, path)
		inOrder(t, page, "<main", "The plan waits for your yes.", "tidegate run continue harbour", "is the yes to the plan")
	}
	_, page := b.get(t, "/runs/harbour")
	inOrder(t, page, "is the yes to the plan", "What agents would look at", "What it costs over fifteen years, and who pays", `data-name="Words at most">320<`, `<details id="d-rest">`)
}

// TestADeadProcessIsNotAtWork: when the process that drives a run is gone, its stream
// says that something has changed, and the page that nobody drives it, with the command,
// though the lease of its agent still lives.
func TestADeadProcessIsNotAtWork(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	u := drive(t, s, recordings(t), pages(s), nil)
	if _, more := u.next(t); !more {
		t.Fatal("the run asks no agent")
	}
	b := visit(t, s, nil)
	if _, page := b.get(t, "/"); !strings.Contains(page, "running") {
		t.Error("the list does not say that the run is running")
	}
	copied := filepath.Join(s.Home, "copy")
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(s.Home, "harbour"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/runs/copy", "/"} {
		if _, page := b.get(t, path); !strings.Contains(page, "nobody drives it") {
			t.Errorf("%s does not say that nobody drives the copy", path)
		}
	}
	_, page := b.get(t, "/runs/copy")
	inOrder(t, page, `data-layout="alone"`, "Nobody drives the run.", "tidegate run continue", "left off")
	for _, path := range []string{"/runs/copy", "/runs/copy/jobs", "/runs/copy/jobs/perspectives"} {
		_, page := b.get(t, path)
		if _, main, _ := strings.Cut(page, "<main"); strings.Contains(main, `<span aria-hidden="true">▸</span> at work`) || strings.Contains(main, "data-since") {
			t.Errorf("%s says that somebody is at work", path)
		}
	}
}

// TestAStreamHearsThatNobodyDrives: within the time of a poll.
func TestAStreamHearsThatNobodyDrives(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	made, err := run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: question, RunID: "harbour", Shape: demo.Shape})
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Open(t.Context(), s.Desk, filepath.Join(made.Root, run.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	claim, err := r.Folder().Claim(run.HomeFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := visit(t, s, nil)
	if _, page := b.get(t, "/runs/harbour"); !strings.Contains(page, `data-layout="at work"`) {
		t.Error("a run that is driven is not at work")
	}
	stream := b.follow(t, "/runs/harbour/events", "")
	for stream.Scan() && !strings.HasPrefix(stream.Text(), "retry:") {
	}
	claim.Release()
	for stream.Scan() && stream.Text() != "data: tools" {
	}
	if _, page := b.get(t, "/runs/harbour"); !strings.Contains(page, `data-layout="alone"`) {
		t.Error("the page does not say that nobody drives the run")
	}
	stream.stop()
}
