package step_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// sharing is a home whose runs share what they fetch, with a web that counts who asks.
type sharing struct {
	t     *testing.T
	home  string // of runs
	now   time.Time
	like  string
	asked []string
	page  func(url string) archive.Capture
	// recorded says that no server answers.
	recorded bool
}

func newSharing(t *testing.T) *sharing {
	s := &sharing{t: t, home: filepath.Join(t.TempDir(), "runs"), now: runs.Pinned.Now()}
	s.page = func(url string) archive.Capture {
		return archive.Capture{URL: url, Kind: archive.Responded, Time: s.now, Hops: []archive.Hop{{
			URL: url, Time: s.now, Status: 200, Header: []archive.Field{{Name: "Content-Type", Value: "text/html"}},
			Body: []byte("<html><head><title>Port statistics</title></head><body><p>The port handled some 4,200 calls in that year, says " + url + ".</p></body></html>"),
		}}}
	}
	return s
}

func (s *sharing) desk() run.Desk {
	return run.Desk{Pinned: true, Now: func() time.Time { return s.now }, Sharing: func(context.Context) (*run.Shared, error) {
		return &run.Shared{Runs: s.home, Reach: artifact.Everywhere, Like: s.like, Fresh: 24 * time.Hour}, nil
	}}
}

func (s *sharing) fetch(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	for _, url := range urls {
		s.asked = append(s.asked, url)
		packed, err := archive.Pack(s.page(url))
		if err != nil {
			return err
		}
		packed.Fetched = !s.recorded
		if err := keep([]*archive.Packed{packed}); err != nil {
			return err
		}
	}
	return nil
}

// run makes a run that cites pages, and fetches them; asked are those that were asked for.
func (s *sharing) run(id, sensitivity string, pages ...string) (made run.InitResult, asked []string) {
	s.t.Helper()
	made = must.Get(run.Create(s.t.Context(), s.desk(), s.home, run.InitInput{Query: "What moves the tide?", RunID: id, Sensitivity: sensitivity}))(s.t)
	output := "## Findings\n\nText.\n\n## Sources\n\n"
	for _, page := range pages {
		output += "- Port statistics https://example.org/" + page + "\n"
	}
	runs.Put(s.t, made.Root, "wave-1/p1.md", output+"\n## Gaps\n\nNone.\n")
	return made, s.again(made, false)
}

func (s *sharing) again(made run.InitResult, again bool) []string {
	s.t.Helper()
	s.asked = nil
	must.Get(sourcing.FetchSources(s.t.Context(), s.desk(), s.fetch, sourcing.FetchInput{ManifestPath: made.ManifestPath, Again: again}))(s.t)
	return s.asked
}

func (s *sharing) verifies(made run.InitResult) {
	s.t.Helper()
	out, err := run.Verify(s.t.Context(), s.desk(), run.VerifyInput{ManifestPath: made.ManifestPath})
	if err != nil || !out.Pass {
		s.t.Errorf("%s does not verify: %v %v", made.RunID, out.Findings, err)
	}
}

// notes are the files of what is shared.
func (s *sharing) notes() []string {
	found := must.Get(filepath.Glob(filepath.Join(filepath.Dir(s.home), "archive", "*", "*")))(s.t)
	return found
}

// shared are the lines of a log that name where a page is from.
func (s *sharing) shared(made run.InitResult) (all []string) {
	for line := range strings.Lines(must.Read(s.t, filepath.Join(made.Root, "logs", "audit.jsonl"))) {
		if from := runs.Parse(s.t, line).Get("shared"); from != nil {
			all = append(all, from.Get("url").Str()+" of "+from.Get("run_id").Str()+" at "+from.Get("fetched_at").Str())
			if from.Get("record").Str() == "" || !strings.Contains(must.Read(s.t, filepath.Join(made.Root, "logs", "audit.jsonl")), from.Get("record").Str()) {
				s.t.Errorf("the record is not named: %s", line)
			}
		}
	}
	return all
}

// TestRunsShareWhatTheyFetched: a page that another run fetched is not fetched again, its
// record is named, and the run is whole by itself.
func TestRunsShareWhatTheyFetched(t *testing.T) {
	s := newSharing(t)
	first, asked := s.run("first", "", "a", "b")
	if len(asked) != 2 {
		t.Fatalf("the first asks for %v", asked)
	}
	fetched := s.now
	s.now = s.now.Add(23 * time.Hour)
	second, asked := s.run("second", "", "a", "b", "c")
	if !slices.Equal(asked, []string{"https://example.org/c"}) {
		t.Errorf("the second asks for %v", asked)
	}
	want := []string{"https://example.org/a of first at " + fetched.Format("2006-01-02T15:04:05.000Z"), "https://example.org/b of first at " + fetched.Format("2006-01-02T15:04:05.000Z")}
	if got := s.shared(second); !slices.Equal(got, want) {
		t.Errorf("the log names %v", got)
	}
	ours, theirs := must.Read(t, filepath.Join(second.Root, "evidence", "archive.warc.gz")), must.Read(t, filepath.Join(first.Root, "evidence", "archive.warc.gz"))
	if !strings.HasPrefix(ours, theirs) {
		t.Error("the records have other bytes than those that were fetched")
	}
	// What was only taken is not passed on as if it had just been fetched.
	s.now = s.now.Add(2 * time.Hour)
	if _, asked := s.run("third", "", "a", "c"); !slices.Equal(asked, []string{"https://example.org/a"}) {
		t.Errorf("the third asks for %v", asked)
	}
	// Each is whole by itself.
	must.Do(t, os.RemoveAll(first.Root))
	s.verifies(second)
	if asked := s.again(second, false); asked != nil {
		t.Errorf("without the first, it asks for %v", asked)
	}
	must.Get(sourcing.ValidateCitations(t.Context(), s.desk(), noFetch(t), sourcing.CitationsInput{ManifestPath: second.ManifestPath, Reason: "test"}))(t)
	for _, r := range records(t, second) {
		if r.Status != "valid" {
			t.Errorf("%s is %s: %s", r.URL, r.Status, r.Notes)
		}
	}
	if r := records(t, second)[0]; r.CheckedAt != fetched.Format("2006-01-02T15:04:05.000Z") && records(t, second)[1].CheckedAt != fetched.Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("it was checked at %s, and not when it was fetched", r.CheckedAt)
	}
}

// TestWhatIsNeverShared: what a run may not give, or another may not take, is fetched.
func TestWhatIsNeverShared(t *testing.T) {
	for name, first := range map[string]func(s *sharing){
		"a restricted run":   func(s *sharing) { s.run("first", "restricted", "a") },
		"an old page":        func(s *sharing) { s.run("first", "", "a"); s.now = s.now.Add(24*time.Hour + time.Second) },
		"a page of tomorrow": func(s *sharing) { s.run("first", "", "a"); s.now = s.now.Add(-time.Second) },
		"a recorded page":    func(s *sharing) { s.recorded = true; s.run("first", "", "a"); s.recorded = false },
		"another reach":      func(s *sharing) { s.like = "intranet"; s.run("first", "", "a"); s.like = "" },
		"a run elsewhere": func(s *sharing) {
			home := s.home
			s.home = filepath.Join(s.t.TempDir(), "runs")
			s.run("first", "", "a")
			s.home = home
		},
		"an error": func(s *sharing) {
			page := s.page
			s.page = func(url string) archive.Capture { c := page(url); c.Hops[0].Status = 503; return c }
			s.run("first", "", "a")
			s.page = page
		},
		"a part of a page": func(s *sharing) {
			page := s.page
			s.page = func(url string) archive.Capture { c := page(url); c.Hops[0].Truncated = "length"; return c }
			s.run("first", "", "a")
			s.page = page
		},
		"nobody": func(s *sharing) {
			page := s.page
			s.page = func(url string) archive.Capture {
				return archive.Capture{URL: url, Kind: archive.NoSuchName, Time: s.now}
			}
			s.run("first", "", "a")
			s.page = page
		},
		"a person's file": func(s *sharing) {
			made, _ := s.run("first", "", "b")
			file := filepath.Join(s.t.TempDir(), "a.html")
			runs.Put(s.t, filepath.Dir(file), "a.html", "<p>secret")
			runs.Put(s.t, made.Root, "wave-1/p1.md", "## Findings\n\nText.\n\n## Sources\n\n- Port statistics https://example.org/a\n\n## Gaps\n\nNone.\n")
			must.Get(sourcing.ValidateCitations(s.t.Context(), s.desk(), nil, sourcing.CitationsInput{ManifestPath: made.ManifestPath, Reason: "test", DryRun: true}))(s.t)
			must.Get(sourcing.Attach(s.t.Context(), s.desk(), sourcing.AttachInput{ManifestPath: made.ManifestPath, CID: records(s.t, made)[0].CID, FilePath: file}))(s.t)
		},
		"a run that is gone": func(s *sharing) {
			made, _ := s.run("first", "", "a")
			must.Do(s.t, os.RemoveAll(made.Root))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSharing(t)
			first(s)
			made, asked := s.run("second", "", "a")
			if !slices.Equal(asked, []string{"https://example.org/a"}) || s.shared(made) != nil {
				t.Errorf("it asks for %v, and takes %v", asked, s.shared(made))
			}
			s.verifies(made)
		})
	}
	// A restricted run may take what others fetched: it tells nobody what it looks for.
	s := newSharing(t)
	s.run("first", "", "a")
	if made, asked := s.run("second", "restricted", "a"); asked != nil {
		t.Errorf("a restricted run asks for %v", asked)
	} else {
		s.verifies(made)
	}
}

// TestAPageThatIsAskedForAgainIsFetched: what a run has itself is not taken from others.
func TestAPageThatIsAskedForAgainIsFetched(t *testing.T) {
	s := newSharing(t)
	page := s.page
	s.page = func(url string) archive.Capture { c := page(url); c.Hops[0].Status = 403; return c }
	made, _ := s.run("first", "", "a")
	s.page = page
	s.run("second", "", "a")
	if asked := s.again(made, true); !slices.Equal(asked, []string{"https://example.org/a"}) {
		t.Errorf("it asks for %v", asked)
	}
}

// TestNobodyPoisonsWhatIsShared forges notes and what they point to: whatever they say, the
// page is fetched.
func TestNobodyPoisonsWhatIsShared(t *testing.T) {
	type note = map[string]any
	for name, forge := range map[string]func(s *sharing, made run.InitResult, n note){
		"no note":             func(s *sharing, _ run.InitResult, n note) { clear(n) },
		"another schema":      func(_ *sharing, _ run.InitResult, n note) { n["schema_version"] = "shared_page.v9" },
		"no such run":         func(_ *sharing, _ run.InitResult, n note) { n["run_id"] = "nowhere" },
		"a way out":           func(_ *sharing, _ run.InitResult, n note) { n["run_id"] = "../../first" },
		"the run itself":      func(_ *sharing, _ run.InitResult, n note) { n["run_id"] = "second" },
		"another time":        func(_ *sharing, _ run.InitResult, n note) { n["fetched_at"] = "2026-02-14T12:00:00.001Z" },
		"no records":          func(_ *sharing, _ run.InitResult, n note) { n["records"] = []any{} },
		"records of nobody":   func(_ *sharing, _ run.InitResult, n note) { n["records"].([]any)[0].(note)["digest"] = "sha256:0" },
		"another place":       func(_ *sharing, _ run.InitResult, n note) { n["records"].([]any)[0].(note)["offset"] = 7 },
		"a place behind":      func(_ *sharing, _ run.InitResult, n note) { n["records"].([]any)[0].(note)["offset"] = 1 << 40 },
		"a huge record":       func(_ *sharing, _ run.InitResult, n note) { n["records"].([]any)[0].(note)["length"] = 1 << 50 },
		"a negative place":    func(_ *sharing, _ run.InitResult, n note) { n["records"].([]any)[0].(note)["offset"] = -1 },
		"a negative length":   func(_ *sharing, _ run.InitResult, n note) { n["records"].([]any)[0].(note)["length"] = -5 },
		"a part of a capture": func(_ *sharing, _ run.InitResult, n note) { n["records"] = n["records"].([]any)[1:] },
		"another page": func(s *sharing, made run.InitResult, n note) {
			for _, path := range s.notes() {
				if other := must.Read(s.t, path); strings.Contains(other, "example.org/b") {
					var b note
					must.Do(s.t, json.Unmarshal([]byte(other), &b))
					n["records"] = b["records"]
				}
			}
		},
		"other bytes": func(s *sharing, made run.InitResult, n note) {
			name := filepath.Join(made.Root, "evidence", "archive.warc.gz")
			data := []byte(must.Read(s.t, name))
			data[len(data)/4] ^= 1
			runs.Put(s.t, made.Root, "evidence/archive.warc.gz", string(data))
		},
		"records that no line counts": func(s *sharing, made run.InitResult, _ note) {
			log := must.Read(s.t, filepath.Join(made.Root, "logs", "audit.jsonl"))
			runs.Put(s.t, made.Root, "logs/audit.jsonl", strings.ReplaceAll(log, `"event":"fetched"`, `"event":"searched"`))
		},
		"a run that became restricted": func(s *sharing, made run.InitResult, _ note) {
			manifest := must.Read(s.t, made.ManifestPath)
			runs.Put(s.t, made.Root, "manifest.json", strings.ReplaceAll(manifest, `"sensitivity": "normal"`, `"sensitivity": "restricted"`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSharing(t)
			made, _ := s.run("first", "", "a", "b")
			for _, path := range s.notes() {
				text := must.Read(t, path)
				if !strings.Contains(text, "example.org/a") {
					continue
				}
				var n note
				must.Do(t, json.Unmarshal([]byte(text), &n))
				forge(s, made, n)
				data := must.Get(json.Marshal(n))(t)
				runs.Put(t, filepath.Dir(path), filepath.Base(path), string(data))
			}
			second, asked := s.run("second", "", "a")
			if !slices.Equal(asked, []string{"https://example.org/a"}) || s.shared(second) != nil {
				t.Errorf("it asks for %v, and takes %v", asked, s.shared(second))
			}
			s.verifies(second)
		})
	}
}

// TestTheSharedArchiveCanBeDeleted deletes it, and damages it, while runs fetch: each is as it
// would be without it, and old notes go by themselves.
func TestTheSharedArchiveCanBeDeleted(t *testing.T) {
	s := newSharing(t)
	dir := filepath.Join(filepath.Dir(s.home), "archive")
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	others.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			os.RemoveAll(dir)
			if n%3 == 0 {
				_ = os.WriteFile(dir, []byte("no folder"), 0o600)
			}
			os.Remove(dir)
		}
	})
	for i := range 12 / full.Stride(2, 1) {
		made, _ := s.run(fmt.Sprint("r", i), "", "a", "b", "c", "d")
		s.verifies(made)
		if asked := s.again(made, false); asked != nil {
			t.Errorf("%s has not all that it needs: %v", made.RunID, asked)
		}
	}
	stop()
	others.Wait()
	os.RemoveAll(dir)
	s.run("before", "", "e")
	if len(s.notes()) != 1 {
		t.Fatalf("the notes are %v", s.notes())
	}
	s.now = s.now.Add(40 * 24 * time.Hour)
	s.run("after", "", "f")
	if left := s.notes(); len(left) != 1 || strings.Contains(left[0], "2026-02-14") {
		t.Errorf("the notes are %v", left)
	}
}
