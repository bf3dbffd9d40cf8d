package web_test

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/must"
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
	inOrder(t, page, "needs you · Overview", "<main", `data-layout="needs"`, `dir="auto">“Plan the perspectives of the research” is stuck: how shall it go on?</h1>`, "All tries are used up for “Plan the perspectives of the research”.", "What is wrong", "What do you want to do?", first, "What else you may type")
	if strings.Contains(page, `id="tell"`) || strings.Contains(page, " 0 ") || strings.Contains(page, "Nothing is lost") {
		t.Error("it offers to say when it is over, or counts what is not there")
	}
	_, list := b.get(t, "/")
	inOrder(t, list, "All tries are used up for “Plan the perspectives of the research”.", first, `id="runs"`)
	board := must.Get(job.OpenBoard(t.Context(), u.site.Desk, u.manifest))(t)
	defer board.Close()
	if stands, err := u.site.Standing(board); err != nil || stands.Next[0].Command != first {
		t.Errorf("%+v, %v", stands, err)
	}
}

// TestARefusedReportSaysWhy: which sentences stopped the run, each once with what its page says,
// and a note for the next try that is written from them. A try of a run without a limit does not
// take all that may be spent.
func TestARefusedReportSaysWhy(t *testing.T) {
	t.Parallel()
	answers := recordings(t)
	first := filepath.Join(answers, "jobs", "synthesis", "001")
	written := string(must.Get(os.ReadFile(filepath.Join(first, "answer-1.md")))(t))
	for _, lie := range []string{"001/answer-2.md", "002/answer-1.md", "002/answer-2.md", "003/answer-1.md", "003/answer-2.md"} {
		path := filepath.Join(first, "..", lie)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(written), 0o600))
		must.Do(t, os.WriteFile(filepath.Join(path, "..", "attempt.json"), must.Get(os.ReadFile(filepath.Join(first, "attempt.json")))(t), 0o600))
	}
	s := deciding(working(t, t.TempDir(), waiting, 20))
	u := drive(t, s, answers, pages(s), map[string]float64{"tries": 3})
	for _, more := u.next(t); more; _, more = u.next(t) {
		u.answer()
	}
	b := visit(t, s, nil)
	_, page := b.get(t, "/runs/harbour")
	inOrder(t, html.UnescapeString(page), "needs you", "6 answers to “Write the report” were refused, for the same 5 sentences.", "Nothing is lost: 8 jobs accepted", "What is wrong",
		"An electric tug spends about 310,000 euro less a year on energy than a diesel boat.</q>", "<del dir=\"auto\">310,000 euro</del>: the page says <ins dir=\"auto\">210,000 euro</ins>", "in 6 answers",
		"310,000 euro: the page says 210,000 euro.", "Try again with this note", "Let it try again", "In a terminal:")
	if wrong := regexp.MustCompile(`\[@|line \d|” its tries again`).FindString(page); wrong != "" {
		t.Errorf("the page has %s", wrong)
	}
	if status, page, _ := b.fill(t, "/runs/harbour/retry/synthesis", url.Values{"note": {"Use the numbers of the pages."}}); status != http.StatusSeeOther {
		t.Errorf("a further try is answered with %d: %s", status, words(page))
	}
	if left, _ := s.Background.Left(); left != 15 {
		t.Errorf("a run without a limit leaves %v of 20 USD", left)
	}
}

// TestAPlanThatWaitsIsShown: perspectives that wait for a person's yes are what the run
// needs, whichever stage it is in.
func TestAPlanThatWaitsIsShown(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	made := must.Get(run.Create(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), s.Desk, s.Home, run.InitInput{Query: question, RunID: "harbour", Shape: demo.Shape, Asked: run.Asked{ConfirmPlan: true}}))(t)
	b := visit(t, s, nil)
	if _, page := b.get(t, "/runs/harbour"); !strings.Contains(page, "Nobody drives the run.") {
		t.Error("the page does not say that nobody drives the run")
	}
	folder := must.Get(play())(t)
	written := must.Get(os.ReadFile(filepath.Join(folder, "runs", "harbour", "perspectives.json")))(t)
	must.Do(t, os.WriteFile(filepath.Join(made.Root, "perspectives.json"), written, 0o600))
	for _, path := range []string{"/runs/harbour", "/"} {
		_, page := b.get(t, path)
		inOrder(t, page, "<main", "The plan waits for your yes.", "tidegate run continue harbour", "is the yes to the plan")
	}
	_, page := b.get(t, "/runs/harbour")
	inOrder(t, page, "What agents would look at", "What it costs over fifteen years, and who pays", `data-name="Words at most">320<`, "is the yes to the plan")
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
	must.Do(t, os.CopyFS(copied, os.DirFS(filepath.Join(s.Home, "harbour"))))
	for _, path := range []string{"/runs/copy", "/"} {
		if _, page := b.get(t, path); !strings.Contains(page, "nobody drives it") {
			t.Errorf("%s does not say that nobody drives the copy", path)
		}
	}
	_, page := b.get(t, "/runs/copy")
	inOrder(t, page, `data-layout="alone"`, "Nobody drives the run.", "tidegate run continue")
	_, page = b.get(t, "/runs/copy/made")
	inOrder(t, page, "left off")
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
	made := must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: question, RunID: "harbour", Shape: demo.Shape}))(t)
	r := must.Get(run.Open(t.Context(), s.Desk, filepath.Join(made.Root, run.ManifestFile)))(t)
	defer r.Close()
	claim := must.Get(r.Folder().Claim(run.HomeFile, nil))(t)
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
