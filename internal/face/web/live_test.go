package web_test

import (
	"bufio"
	"context"
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// newRun makes a separate run.
func newRun(t *testing.T) (s *web.Site, manifest string, desk run.Desk) {
	t.Helper()
	s = site(t.TempDir())
	made := must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain"}))(t)
	return s, filepath.Join(made.Root, run.ManifestFile), s.Desk
}

// stream is the events of a run, as a browser gets them.
type stream struct {
	*bufio.Scanner
	stop context.CancelFunc
}

func (b *browser) follow(t testing.TB, path, last string) *stream {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, b.base+path, nil))(t)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer := must.Get(b.Do(r))(t)
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("the stream is answered with %d, %s", answer.StatusCode, kind)
	}
	return &stream{bufio.NewScanner(answer.Body), stop}
}

// next is the id of the next event.
func (s *stream) next(t *testing.T) int {
	t.Helper()
	for s.Scan() {
		if id, ok := strings.CutPrefix(s.Text(), "id: "); ok {
			n := must.Get(strconv.Atoi(id))(t)
			return n
		}
	}
	t.Fatalf("the stream ended: %v", s.Err())
	return 0
}

func lines(t testing.TB, manifest string) int {
	t.Helper()
	log := must.Get(run.Log(t.Context(), run.Desk{}, run.LogInput{ManifestPath: manifest}))(t)
	return log.Lines
}

// TestAStreamTellsOfEveryLine: a stream has each line of the log once, in order,
// and a stream that resumes has all that came since.
func TestAStreamTellsOfEveryLine(t *testing.T) {
	t.Parallel()
	s, manifest, desk := newRun(t)
	b := visit(t, s, nil)
	first := b.follow(t, "/runs/rain/events", "")
	seen := 0
	for there := lines(t, manifest); seen < there; {
		if n := first.next(t); n != seen+1 {
			t.Fatalf("line %d follows line %d", n, seen)
		}
		seen++
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(stage.Pause(person, desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"}))(t)
	if n := first.next(t); n != seen+1 {
		t.Fatalf("line %d follows line %d", n, seen)
	}
	first.stop()
	must.Get(stage.Resume(person, desk, stage.ResumeInput{ManifestPath: manifest, Reason: "back"}))(t)
	again := b.follow(t, "/runs/rain/events?after=1", strconv.Itoa(seen+1))
	if n := again.next(t); n != seen+2 {
		t.Errorf("the stream comes back with line %d, want %d", n, seen+2)
	}
}

// TestAPageIsOfOneMoment: a page that is requested after a line of the log was
// seen has that line, and says so.
func TestAPageIsOfOneMoment(t *testing.T) {
	t.Parallel()
	s, manifest, desk := newRun(t)
	b := visit(t, s, nil)
	events := b.follow(t, "/runs/rain/events", strconv.Itoa(lines(t, manifest)))
	_, before := b.get(t, "/runs/rain")
	if !strings.Contains(before, `data-live="/runs/rain/events"`) || strings.Contains(before, "paused the run") {
		t.Fatalf("the page is not that of a run under way:\n%s", before)
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(stage.Pause(person, desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"}))(t)
	n := events.next(t)
	_, after := b.get(t, "/runs/rain")
	for _, want := range []string{`data-seen="` + strconv.Itoa(lines(t, manifest)) + `"`, "A person paused the run", "paused</span>"} {
		if !strings.Contains(after, want) {
			t.Errorf("after line %d the page has no %s", n, want)
		}
	}
}

// TestHostileAnswersAreText: whatever an agent writes, a page shows it as text.
func TestHostileAnswersAreText(t *testing.T) {
	t.Parallel()
	s, manifest, desk := newRun(t)
	b := visit(t, s, nil)
	board := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer board.Close()
	taken := must.Get(board.Lease(t.Context(), job.LeaseInput{Holder: `<img src=x onerror=alert(1)>`, JobID: job.PerspectivesID, For: job.DefaultLease}))(t)
	answer := `<script>alert(1)</script>` + "\n" + `[x](javascript:alert(1)) "><svg onload=alert(1)>` + "\n\u202egnp.exe\u200b\x1b[31m\x00\n" +
		"</code></li></ol><style>*{display:none}</style>{{.Data}}\n" + strings.Repeat("x", 1<<18) + "\n"
	must.Get(board.Submit(t.Context(), job.SubmitInput{Token: taken.Token, Answer: []byte(answer)}))(t)
	for _, path := range []string{"/runs/rain", "/runs/rain/jobs", "/runs/rain/jobs/perspectives", "/runs/rain/log"} {
		status, page := b.get(t, path)
		if status != http.StatusOK {
			t.Fatalf("%s is answered with %d:\n%s", path, status, page)
		}
		for _, bad := range []string{"<script>alert", "<svg onload", "<img", "<style", "\u202e", "\u200b", "\x1b", "\x00", `href="javascript:`, strings.Repeat("x", 3000)} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
	_, page := b.get(t, "/runs/rain/jobs/perspectives")
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", "javascript:alert(1)", `\u202egnp.exe\u200b\x1b[31m\x00`, "260,144 more characters", "{{.Data}}", "&lt;img src=x"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	answered := must.Get(b.Get(b.base + "/runs/rain/text/perspectives/1/answer-1.json"))(t)
	defer answered.Body.Close()
	if kind, policy := answered.Header.Get("Content-Type"), answered.Header.Get("Content-Security-Policy"); kind != "text/plain; charset=utf-8" ||
		!strings.Contains(policy, "sandbox") || answered.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the whole text comes as %s with %q", kind, policy)
	}
}

// TestNoPageShowsAStateThatNeverWas: while a writer moves a run, every page that a
// reader gets is, byte for byte, the page of one of the states that the writer
// left behind.
func TestNoPageShowsAStateThatNeverWas(t *testing.T) {
	t.Parallel()
	s, manifest, desk := newRun(t)
	views := []string{"/runs/rain", "/runs/rain/jobs", "/runs/rain/jobs/perspectives", "/runs/rain/log"}
	alone, writer := visit(t, s, nil), tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	board := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer board.Close()
	states := map[string]bool{}
	record := func() {
		for _, view := range views {
			_, page := alone.get(t, view)
			states[page] = true
		}
	}
	record()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	seen := make([][]string, 2)
	for i := range seen {
		// A separate site shares no snapshot of the run with the others.
		b := visit(t, &web.Site{Home: s.Home, Project: s.Project, Desk: s.Desk, Version: s.Version, Standing: s.Standing}, nil)
		readers.Go(func() {
			for n := i; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if status, page := b.get(t, views[n%len(views)]); status == http.StatusOK {
					seen[i] = append(seen[i], page)
				}
			}
		})
	}
	for range 5 { // each step is one write
		must.Get(board.Lease(t.Context(), job.LeaseInput{Holder: "one", JobID: job.PerspectivesID, For: job.DefaultLease}))(t)
		record()
		must.Get(board.ReleaseJob(writer, job.PerspectivesID, "again"))(t)
		record()
		must.Get(stage.Pause(writer, desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"}))(t)
		record()
		must.Get(stage.Resume(writer, desk, stage.ResumeInput{ManifestPath: manifest, Reason: "back"}))(t)
		record()
	}
	close(stop)
	readers.Wait()
	all := map[string]bool{}
	for _, list := range seen {
		for _, page := range list {
			all[page] = true
			if !states[page] {
				t.Fatalf("no such state was ever there:\n%s", page)
			}
		}
	}
	if len(all) < len(views)*2 {
		t.Errorf("the readers saw %d different pages: they did not read while it was written", len(all))
	}
}

// nextID is the id of the next event, whatever it is.
func (s *stream) nextID(t testing.TB) string {
	t.Helper()
	for s.Scan() {
		if id, ok := strings.CutPrefix(s.Text(), "id: "); ok {
			return id
		}
	}
	t.Fatalf("the stream ended: %v", s.Err())
	return ""
}

var seenState = regexp.MustCompile(` data-seen="([^"]*)"`)

// TestListsAreLive: the lists of runs and changes, and the page of a change, report
// each write once; a stream that resumes reports what it missed.
func TestListsAreLive(t *testing.T) {
	t.Parallel()
	s, manifest, desk := newRun(t)
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	changeClock := run.Desk{Now: desk.Now, Pinned: true}
	must.Get(change.Start(person, changeClock, s.Project, "planner", nil))(t)
	b := visit(t, s, nil)
	rounds := int64(3)
	for _, c := range []struct {
		page, live string
		write      func() error
	}{
		{"/", "/live/runs", func() error {
			_, err := stage.Pause(person, desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"})
			return err
		}},
		{"/?sort=oldest", "/live/runs?sort=oldest", func() error {
			_, err := stage.Resume(person, desk, stage.ResumeInput{ManifestPath: manifest, Reason: "back"})
			return err
		}},
		{"/changes/planner", "/live/changes/planner", func() error {
			_, err := change.Start(person, changeClock, s.Project, "planner", &rounds)
			return err
		}},
		{"/changes", "/live/changes", func() error {
			_, err := change.Start(person, changeClock, s.Project, "another", nil)
			return err
		}},
	} {
		state := func() string {
			_, page := b.get(t, c.page)
			if !strings.Contains(page, `data-live="`+html.EscapeString(c.live)+`"`) {
				t.Errorf("%s does not follow %s", c.page, c.live)
			}
			return seenState.FindStringSubmatch(page)[1]
		}
		before := state()
		events := b.follow(t, c.live, before)
		if err := c.write(); err != nil {
			t.Fatalf("%s: %v", c.page, err)
		}
		sent := events.nextID(t)
		if after := state(); sent != after || after == before {
			t.Errorf("%s was %s, the event says %s and it is %s", c.page, before, sent, after)
		}
		events.stop()
		if again := b.follow(t, c.live, before).nextID(t); again != sent {
			t.Errorf("%s comes back with %s, want %s", c.live, again, sent)
		}
	}
}
