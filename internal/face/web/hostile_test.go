package web_test

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	warc "github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/must"
)

// hostile is what an agent writes where it may write anything.
const hostile = `'\"><script>pwned=1</script><img src=x onerror=pwned=1><svg onload=pwned=1><a href='javascript:pwned=1'>x</a>`

// bidi is text that looks like another.
const bidi = "\u202egnp.exe\u2066\u200b"

// hostileRun is a run with hostile agents and pages, as far as it gets: one answer
// is refused, the others are accepted with what they are allowed to have.
func hostileRun(t *testing.T) *underWay {
	t.Helper()
	folder := recordings(t)
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "attempt.json" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text := string(data)
		switch {
		case strings.Contains(name, "perspectives"):
			text = strings.Replace(text, "What it costs over", hostile, 1)
		case strings.Contains(filepath.ToSlash(name), "wave1.operations/001"):
			text += "\n" + strings.ReplaceAll(hostile, `\`, "") + bidi + "\n" + strings.Repeat("x", 1<<20) + "\n[a](javascript:pwned=1)\n"
		case strings.Contains(name, "wave1."):
			text = strings.Replace(text, "- (P", "- (P2) `<script>pwned=1</script>` and `javascript:pwned=1` are words #x\n- (P", 1)
		}
		return os.WriteFile(name, []byte(text), 0o600)
	})
	if err == nil { // a second agent answers the job that the first one lost
		err = os.CopyFS(filepath.Join(folder, "jobs", released, "002"), os.DirFS(filepath.Join(folder, "jobs", released, "001")))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := site(t.TempDir())
	planted := pages(s)
	u := drive(t, s, folder, func(ctx context.Context, urls []string, keep func([]*warc.Packed) error) error {
		var all []*warc.Packed
		for _, url := range urls {
			if err := planted(ctx, []string{url}, func(one []*warc.Packed) error { all = append(all, one...); return nil }); err != nil {
				return err
			}
			if url != hostilePage {
				continue
			}
			packed, err := warc.Pack(warc.Capture{URL: url, Kind: warc.Responded, Time: s.Desk.Now(), Hops: []warc.Hop{{URL: url, Time: s.Desk.Now(), Status: 200,
				Header: []warc.Field{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}, Body: []byte(hostileHTML)}}})
			if err != nil {
				return err
			}
			all[len(all)-1] = packed
		}
		return keep(all)
	}, map[string]float64{"max_answer_kb": 2048})
	for {
		task, more := u.next(t)
		if !more {
			return u
		}
		if task.Job == released && task.Attempt == 1 {
			release(t, u, task.Job)
		}
		u.answer()
	}
}

const (
	released    = "wave1.skeptic"
	hostilePage = "https://quaypower.example/capacity/inner-basin"
	hostileHTML = "<!doctype html><title>Capacity of the inner basin &lt;script>pwned=1&lt;/script> " + bidi + `</title><script>pwned=1</script>
<h1>Capacity of the inner basin</h1><p>The substation at the inner basin has 1.1 MW to spare on a winter evening; two electric tugs that charge at the same time
need 3.0 MW. &lt;svg onload=pwned=1> &lt;a href="javascript:pwned=1"> The firm capacity of the substation at the inner basin is 6.3 MW, and the highest load of the
winter was 5.2 MW, between six and eight in the evening.</p>`
)

// release takes a job away, with a reason that is written to the log.
func release(t *testing.T, u *underWay, id string) {
	t.Helper()
	board := must.Get(job.OpenBoard(t.Context(), u.site.Desk, u.manifest))(t)
	defer board.Close()
	must.Get(board.ReleaseJob(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), id, strings.ReplaceAll(hostile, `\`, "")))(t)
}

// TestHostileRunsAreText asks for every view of a hostile run without a browser:
// nothing in it becomes markup, and no page is too large.
func TestHostileRunsAreText(t *testing.T) {
	t.Parallel()
	u := hostileRun(t)
	b := visit(t, deciding(u.site), nil)
	shown := ""
	for _, view := range []string{"", "/jobs", "/jobs/wave1.economics", "/jobs/wave1.operations", "/jobs/" + released, "/outputs", "/gates", "/sources", "/report", "/log", "/decide"} {
		code, page := b.get(t, "/runs/harbour"+view)
		if code != http.StatusOK || len(page) > 1<<20 {
			t.Errorf("%s is answered with %d, %d bytes", view, code, len(page))
		}
		for _, bad := range []string{"<script>", "<img", "<svg onload", "<a href='", `href="javascript:`, "\u202e", "\u2066", "\u200b"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q", view, bad)
			}
		}
		shown += page
	}
	for _, want := range []string{"&lt;script&gt;pwned=1&lt;/script&gt;", "more characters"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no page has %q", want)
		}
	}
}

// TestManyFaultsAreCut: an answer that breaks a rule in every line does not make an
// endless page.
func TestManyFaultsAreCut(t *testing.T) {
	t.Parallel()
	folder := recordings(t)
	name := filepath.Join(folder, "jobs", "synthesis", "001", "answer-1.md")
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, append(text, strings.Repeat("\nIt costs 123,456 euro.\n", 300)...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := site(t.TempDir())
	u := drive(t, s, folder, pages(s), nil)
	for task, more := u.next(t); task.Job != "synthesis" || task.Attempt != 2; task, more = u.next(t) {
		if !more {
			t.Fatal("the run has ended")
		}
		u.answer()
	}
	_, page := visit(t, s, nil).get(t, "/runs/harbour/jobs/synthesis")
	if got := strings.Count(page, "<li><b>UNCITED_SENTENCE"); got == 0 || got > 200 || !strings.Contains(page, "more faults and warnings") {
		t.Errorf("%d faults are shown", got)
	}
}
