package artifact_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

// followed is what came of following a log. It is used in a bubble, where time
// passes when all wait.
type followed struct {
	mu    sync.Mutex
	lines []string
	err   error
	ended bool
	leave context.CancelFunc
}

func follow(t *testing.T, dir string, from int) *followed {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	got := &followed{leave: cancel}
	f := open(t, dir)
	go func() {
		for line, err := range f.Follow(ctx, auditLog, from) {
			got.mu.Lock()
			if err != nil {
				got.err = err
			} else {
				got.lines = append(got.lines, fmt.Sprintf("%d %s", line.Number, line.Text))
			}
			got.mu.Unlock()
		}
		got.mu.Lock()
		defer got.mu.Unlock()
		got.ended = true
	}()
	t.Cleanup(cancel)
	return got
}

// pass lets time pass until every follower has looked again.
func pass() {
	time.Sleep(time.Second) // in the time of the bubble
	synctest.Wait()
}

// expect compares what was followed so far.
func (f *followed) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(f.lines, "\n")); diff != "" {
		t.Errorf("%s: lines (-want +got):\n%s", when, diff)
	}
	if f.ended {
		t.Errorf("%s: it ended with %v", when, f.err)
	}
}

func appendTo(t *testing.T, dir, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "logs"), 0o700))
	file := must.Get(os.OpenFile(filepath.Join(dir, "logs", "audit.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(t)
	defer file.Close()
	must.Get(file.WriteString(text))(t)
}

func TestFollowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		all, late := follow(t, dir, 0), follow(t, dir, 3)
		pass()
		all.expect(t, "no log")
		appendTo(t, dir, "a\nb\n")
		pass()
		all.expect(t, "two lines", "1 a", "2 b")
		late.expect(t, "two lines")
		appendTo(t, dir, "c")
		pass()
		all.expect(t, "a line without end", "1 a", "2 b")
		appendTo(t, dir, "c\n\nd")
		pass()
		all.expect(t, "its end", "1 a", "2 b", "3 cc", "4 ")
		later := follow(t, dir, 2)
		synctest.Wait()
		later.expect(t, "at once", "2 b", "3 cc", "4 ")
		appendTo(t, dir, "\n")
		pass()
		all.expect(t, "the last", "1 a", "2 b", "3 cc", "4 ", "5 d")
		late.expect(t, "the last", "3 cc", "4 ", "5 d")
		later.expect(t, "the last", "2 b", "3 cc", "4 ", "5 d")
		for _, f := range []*followed{all, late, later} {
			f.leave()
			synctest.Wait()
			if !f.ended || f.err != nil {
				t.Errorf("after the end of its context: ended %v, %v", f.ended, f.err)
			}
		}
		if n := artifact.Watched(); n != 0 {
			t.Errorf("%d logs are looked at for nobody", n)
		}
	})
}

// A line without end is taken back, and another of the same length takes its
// place.
func TestFollowingALineThatIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		appendTo(t, dir, "a\nbb")
		f := follow(t, dir, 1)
		pass()
		write(t, dir, auditLog, "a\nc\n")
		// The bubble's clock does not reach the file's.
		must.Do(t, os.Chtimes(filepath.Join(dir, "logs", "audit.jsonl"), time.Time{}, time.Now()))
		pass()
		f.expect(t, "another line", "1 a", "2 c")
	})
}

func TestFollowingEndsWhenTheLogIsTamperedWith(t *testing.T) {
	for what, test := range map[string]struct {
		reason string
		tamper func(t *testing.T, dir, path string) error
	}{
		"removed": {"gone", func(_ *testing.T, _, path string) error { return os.Remove(path) }},
		"another file": {"another file", func(t *testing.T, dir, path string) error {
			write(t, dir, "logs/other", "a\nb\nc\n")
			return os.Rename(filepath.Join(dir, "logs", "other"), path)
		}},
		"cut":              {"shorter", func(_ *testing.T, _, path string) error { return os.Truncate(path, 2) }},
		"emptied":          {"shorter", func(_ *testing.T, _, path string) error { return os.Truncate(path, 0) }},
		"without its end":  {"shorter", func(_ *testing.T, _, path string) error { return os.Truncate(path, 3) }},
		"another end":      {"line 2 is another", func(t *testing.T, dir, _ string) error { write(t, dir, auditLog, "a\nx\nc\n"); return nil }},
		"rewritten longer": {"line 2 is another", func(t *testing.T, dir, _ string) error { write(t, dir, auditLog, "xxxxxxxx\nb\nc\n"); return nil }},
		"a folder": {"another file", func(t *testing.T, dir, path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				appendTo(t, dir, "a\nb\n")
				f := follow(t, dir, 1)
				pass()
				f.expect(t, "before", "1 a", "2 b")
				path := filepath.Join(dir, "logs", "audit.jsonl")
				must.Do(t, test.tamper(t, dir, path))
				pass()
				if reason, _ := tidegate.AsError(f.err).Details.Get("reason"); tidegate.CodeOf(f.err) != tidegate.Tampered || !strings.Contains(fmt.Sprint(reason), test.reason) || !f.ended {
					t.Errorf("%v, want TAMPERED with %q", f.err, test.reason)
				}
				if len(f.lines) != 2 {
					t.Errorf("lines %q", f.lines)
				}
			})
		})
	}
}

func TestWhatCannotBeFollowed(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"folder/x": ""})
	f := open(t, dir)
	for name, want := range map[string]tidegate.Code{"../log": tidegate.PathNotAllowed, "folder": tidegate.ReadFailed, "folder/x/log": tidegate.FileNotFound} {
		n := 0
		for _, err := range f.Follow(t.Context(), name, 1) {
			if n++; tidegate.CodeOf(err) != want || n > 1 {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}

// Every follower gets every line of many writers, in order, and the process
// looks at the log once for all of them. A follower that does not go on delays
// nobody and misses nothing.
func TestManyFollowManyWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers, each, followers = 8, 25, 20
		dir := t.TempDir()
		put(t, dir, map[string]string{"counter": "0\n"})
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		got := make([][]string, followers)
		var all, fast sync.WaitGroup
		fast.Add(followers - 1)
		for i := range followers {
			f := open(t, dir)
			all.Go(func() {
				for line, err := range f.Follow(ctx, "log.jsonl", 1) {
					if err != nil {
						t.Error(err)
						return
					}
					got[i] = append(got[i], string(line.Text))
					if i == 0 && line.Number == 1 {
						<-release
					}
					if line.Number == writers*each {
						if i > 0 {
							fast.Done()
						}
						return
					}
				}
			})
		}
		for range writers {
			go func() {
				for range each {
					if err := countOnce(dir); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		synctest.Wait()
		if n := artifact.Watched(); n != 1 {
			t.Errorf("%d looks at one log", n)
		}
		fast.Wait()
		synctest.Wait()
		if len(got[0]) > 1 {
			t.Errorf("one that does not go on has %d lines", len(got[0]))
		}
		close(release)
		all.Wait()
		cancel()
		want := strings.Split(strings.TrimSuffix(tree(t, dir)["log.jsonl"], "\n"), "\n")
		for i := range followers {
			if diff := cmp.Diff(want, got[i]); diff != "" {
				t.Fatalf("follower %d (-want +got):\n%s", i, diff)
			}
		}
	})
}
