package run_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestEventsOfAreThoseOfTheWholeLog compares what is picked out of a log with the
// whole log.
func TestEventsOfAreThoseOfTheWholeLog(t *testing.T) {
	made := runs.CreateAt(t, runs.Pinned, run.InitInput{Query: "Why?", RunID: "tides"})
	r := must.Get(run.Open(t.Context(), runs.Pinned, made.ManifestPath))(t)
	defer r.Close()
	for i, event := range []run.Event{run.EventFetched, run.EventProgress, run.EventAttached, run.EventFetched, run.EventJudged} {
		must.Get(r.Update(t.Context(), func(u *run.Update) error {
			u.Log(event, "test", tidegate.Pairs("n", i, "reason", "attached"))
			return nil
		}))(t)
	}
	all := must.Get(r.Events())(t)
	want := slices.DeleteFunc(all, func(e run.Entry) bool { return e.Event != run.EventFetched && e.Event != run.EventAttached })
	got, err := r.EventsOf(run.EventFetched, run.EventAttached)
	if err != nil || len(want) != 3 {
		t.Fatal(want, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(run.Entry{}, "Entry")); diff != "" {
		t.Error(diff)
	}

	// A log from which lines were taken back is read from its beginning.
	path := filepath.Join(made.Root, run.LogFile)
	data := must.Get(os.ReadFile(path))(t)
	lines := bytes.SplitAfter(data, []byte("\n"))
	must.Do(t, os.WriteFile(path, bytes.Join(lines[:len(lines)-3], nil), 0o600))
	if got, err = r.EventsOf(run.EventFetched, run.EventAttached); err != nil || len(got) != 2 {
		t.Errorf("%d events, %v", len(got), err)
	}
}

// TestRecordedOfAFileIsThatOfTheWholeLog compares what is picked out of a log for each file
// with the whole log, whoever wrote a line and however it spells a name.
func TestRecordedOfAFileIsThatOfTheWholeLog(t *testing.T) {
	made := runs.Create(t, run.InitInput{})
	r := runs.Open(t, made.ManifestPath)
	for _, change := range []func(u *run.Update) error{
		func(u *run.Update) error { return u.Write("notes/a.md", []byte("a")) },
		func(u *run.Update) error { return u.Write("notes/a.md.old", []byte("old")) },
		func(u *run.Update) error { return u.Write("notes/b.md", []byte("b")) },
		func(u *run.Update) error { return u.Remove("notes/b.md") },
		func(u *run.Update) error { return u.SetBudget("tries", 2, "test") },
	} {
		must.Get(r.Update(t.Context(), func(u *run.Update) error {
			u.Log(run.EventProgress, "test", nil)
			return change(u)
		}))(t)
	}
	path := filepath.Join(made.Root, run.LogFile)
	said := must.Read(t, path) + `{"kind":"files_write","event":"files","files":{"notes\/c.md":"sha256:c"}}
{"kind":"files_write","event":"files","files":{"notes/d.md":"sha256:d","notes/e.md":"sha256:e"}}
`
	must.Do(t, os.WriteFile(path, []byte(said), 0o600))
	recorded, err := r.Recorded()
	if err != nil || recorded["notes/c.md"] == "" || recorded["notes/e.md"] == "" || recorded[run.ManifestFile] == "" {
		t.Fatal(recorded, err)
	}
	for _, name := range append(slices.Collect(maps.Keys(recorded)), "notes/d.md", "notes") {
		if got, err := r.RecordedOf(name); err != nil || got != recorded[name] {
			t.Errorf("%s: %q, %v; the whole log has %q", name, got, err, recorded[name])
		}
	}
}
