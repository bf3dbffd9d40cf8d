package audit_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
)

// counting fetches pages, says which, and stops after so many.
func counting(pages web, most int, asked *[]string) func(context.Context, []string, func([]*archive.Packed) error) error {
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for _, url := range urls {
			if len(*asked) == most {
				return errors.New("killed")
			}
			*asked = append(*asked, url)
			if err := pages.fetch(ctx, []string{url}, keep); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestAnInterruptedAuditResumes stops an audit after each number of sources: the next one
// goes on in its folder, fetches the rest and nothing twice, and has the result of one that
// nobody stopped.
func TestAnInterruptedAuditResumes(t *testing.T) {
	const report = "The port of Ardmore employs 213 people [1]. It opened in 1990 [2]. It is [3].\n\n## References\n\n[1] https://ports.example/ardmore/terminal\n[2] https://ports.example/belhaven/terminal\n[3] https://ports.example/castrup/terminal\n"
	_, _, pages := planted()
	at := noon()
	desk := run.Desk{Now: func() time.Time { return at }, Program: "test"}
	begin := func(home string, asked *[]string, most int, in audit.Input) (string, string, error) {
		in.Report, in.Home = report, home
		result, err := audit.Make(t.Context(), desk, counting(pages, most, asked), in)
		if err != nil {
			return "", "", err
		}
		return result.AuditPath, document(t, result), nil
	}
	var all []string
	_, want, err := begin(t.TempDir(), &all, 99, audit.Input{})
	if err != nil || len(all) != 3 {
		t.Fatal(err, all)
	}
	for stop := range len(all) {
		home := t.TempDir()
		var asked []string
		if _, _, err := begin(home, &asked, stop, audit.Input{}); err == nil {
			t.Fatal("it was not stopped")
		}
		left, _ := filepath.Glob(filepath.Join(home, "*"))
		asked = nil
		path, got, err := begin(home, &asked, 99, audit.Input{})
		if err != nil || got != want || len(left) != 1 || path != left[0] || len(asked) != 3-stop {
			t.Errorf("stopped after %d: %v, %v asked again, in %s of %v, same: %v", stop, err, asked, path, left, got == want)
		}
		if v, err := audit.Verify(t.Context(), desk, filepath.Join(path, audit.File), "test"); err != nil || !v.Pass {
			t.Errorf("stopped after %d: %v %v", stop, v.Wrong, err)
		}
		if again, _, err := begin(home, &asked, 99, audit.Input{}); err != nil || again == path {
			t.Errorf("an audit that is finished is made again in its folder: %v", err)
		}
	}

	// Another report, other options, a day later, or while the first goes on: a folder of its own.
	home := t.TempDir()
	var asked []string
	stopped := func() string {
		t.Helper()
		if _, _, err := begin(home, &asked, len(asked)+1, audit.Input{}); err == nil {
			t.Fatal("it was not stopped")
		}
		left, _ := filepath.Glob(filepath.Join(home, "*"))
		return left[len(left)-1]
	}
	left := stopped()
	if path, _, err := begin(home, &asked, 99, audit.Input{FailOn: "weak"}); err != nil || path == left {
		t.Errorf("other options: %s %v", path, err)
	}
	at = at.Add(25 * time.Hour)
	if path, _, err := begin(home, &asked, 99, audit.Input{}); err != nil || path == left {
		t.Errorf("a day later: %s %v", path, err)
	}
	home = t.TempDir()
	inner := ""
	_, err = audit.Make(t.Context(), desk, func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		if inner == "" {
			var err error
			if inner, _, err = begin(home, &asked, 99, audit.Input{}); err != nil {
				t.Error(err)
			}
		}
		return pages.fetch(ctx, urls, keep)
	}, audit.Input{Report: report, Home: home})
	if made, _ := filepath.Glob(filepath.Join(home, "*")); err != nil || len(made) != 2 {
		t.Errorf("two at once: %v %v", made, err)
	}
}

// TestAnAuditOfSavedPagesResumes stops an audit of saved pages: the next one of the same pages
// goes on in its folder, and one of other pages has its own.
func TestAnAuditOfSavedPagesResumes(t *testing.T) {
	const report = "The port employs 213 people [1].\n\n## References\n\n[1] https://ports.example/a\n"
	pages, home := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(pages, "index.json"), []byte(`{"https://ports.example/a":"a.html"}`), 0o600))
	saved := func(text string) {
		must.Do(t, os.WriteFile(filepath.Join(pages, "a.html"), []byte("<title>Port</title><p>"+text), 0o600))
	}
	saved("The port employs 213 people.")
	ctx, stop := context.WithCancel(t.Context())
	desk := run.Desk{Now: noon, Program: "test"}
	desk.Now = func() time.Time {
		if left, _ := filepath.Glob(filepath.Join(home, "*", audit.File)); len(left) > 0 {
			stop()
		}
		return noon()
	}
	in := audit.Input{Report: report, Home: home, Pages: pages}
	if _, err := audit.Make(ctx, desk, nil, in); err == nil {
		t.Fatal("it was not stopped")
	}
	left, _ := filepath.Glob(filepath.Join(home, "*"))
	saved("The port employs 214 people.")
	if other := must.Get(audit.Make(t.Context(), desk, nil, in))(t); len(left) != 1 || other.AuditPath == left[0] {
		t.Errorf("other pages are put to those of %v", left)
	}
	saved("The port employs 213 people.")
	if again := must.Get(audit.Make(t.Context(), desk, nil, in))(t); again.AuditPath != left[0] || again.Outcome != foreign.NoErrorByRule {
		t.Errorf("it does not go on in %v but in %s", left, again.AuditPath)
	}
}

// TestNothingReached: where nobody answers, that is no judgement of the report, whatever
// the kind of silence; where somebody does, what does not exist is dead.
func TestNothingReached(t *testing.T) {
	silent := func(kinds ...archive.Kind) error {
		n := 0
		_, err := audit.Make(t.Context(), run.Desk{Now: noon, Program: "test"}, func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
			for _, url := range urls {
				c := archive.Capture{URL: url, Kind: kinds[n%len(kinds)], Time: noon()}
				if n++; c.Kind == archive.Responded {
					shows(url, 200, "A", "One is here, and it is here for all to see.")(&c)
				}
				packed, err := archive.Pack(c)
				if err != nil {
					return err
				}
				if err := keep([]*archive.Packed{packed}); err != nil {
					return err
				}
			}
			return nil
		}, audit.Input{Report: "One is [a](https://a.example/). Two is [b](https://b.example/).", Home: t.TempDir()})
		return err
	}
	for _, kinds := range [][]archive.Kind{{archive.NoSuchName}, {archive.Unreachable}, {archive.TimedOut}, {archive.NoSuchName, archive.Refused}} {
		if err := silent(kinds...); tidegate.CodeOf(err) != tidegate.InvalidState {
			t.Errorf("%v: %v", kinds, err)
		}
	}
	for _, kinds := range [][]archive.Kind{{archive.NoSuchName, archive.Responded}, {archive.Refused}, {archive.BadTLS}} {
		if err := silent(kinds...); err != nil {
			t.Errorf("%v: %v", kinds, err)
		}
	}
}

// TestAuditsArePrivate: files are for their owner alone, and a credential in a cited
// address stands in the copy of the report and nowhere else.
func TestAuditsArePrivate(t *testing.T) {
	const secret = "sk-ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
	address := "https://x.example/a?api_key=" + secret
	_, _, pages := planted()
	written := "The port of Ardmore employs 213 people, as https://ports.example/ardmore/terminal says. The ferry carries 120 cars, says " + address + " today. It is “so at " + address + "” [1]. Run `curl " + address + "` [1].\n\n## About `" + address + "`\n\nIt is [2].\n\n## Sources\n\n[1] T " + address + ": " + address + "\n"
	result := must.Get(audit.Make(t.Context(), run.Desk{Now: noon, Program: "test"}, pages.fetch, audit.Input{Report: written, Home: t.TempDir(), Explain: true}))(t)
	shown := paper.AuditOf(&result).HTML()
	var text bytes.Buffer
	must.Do(t, report.Text(&text, result.Report(), report.Options{}))
	all := map[string][]byte{"page": shown, "text": text.Bytes()}
	must.Do(t, filepath.WalkDir(result.AuditPath, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := entry.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		if !entry.IsDir() && filepath.Base(path) != "report.md" && filepath.Ext(path) != ".gz" {
			all[path], err = os.ReadFile(path)
		} else if filepath.Ext(path) == ".gz" {
			all[path], err = unpacked(path)
		}
		return err
	}))
	for name, data := range all {
		if len(data) == 0 && !strings.Contains(name, ".tidegate") || bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s has the credential, or nothing", name)
		}
	}
	if data, err := os.ReadFile(filepath.Join(result.AuditPath, "report.md")); err != nil || string(data) != written {
		t.Errorf("the copy is another one: %v", err)
	}
}

func unpacked(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
