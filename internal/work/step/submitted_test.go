package step_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// smallWeb answers by the last part of a path: gone, refused, or down, which
// cannot be reached.
func smallWeb(asked *[]string) sourcing.Fetch {
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for _, url := range urls {
			*asked = append(*asked, url)
			kind, status := archive.Responded, 200
			switch what := url[strings.LastIndex(url, "/")+1:]; {
			case strings.HasPrefix(what, "gone"):
				status = 404
			case strings.HasPrefix(what, "refused"):
				status = 403
			case strings.HasPrefix(what, "nameless"):
				kind = archive.NoSuchName
			case strings.HasPrefix(what, "down"):
				kind = archive.Unreachable
			}
			capture := archive.Capture{URL: url, Kind: kind, Time: runs.Pinned.Now()}
			if kind == archive.Responded {
				contentType, body := "text/html", "<html lang=en><title>Port statistics</title><article><p>"+strings.Repeat("The port handled some 4,200 calls in that year. ", 40)+"</p></article>"
				if strings.HasSuffix(url, ".md") {
					contentType, body = "text/plain; charset=utf-8", "# In\n\nHere we use [Trivy](https://trivy.example) in **all**\npipelines of ours.\n"
				}
				capture.Hops = []archive.Hop{{URL: url, Time: runs.Pinned.Now(), Status: status, Header: []archive.Field{{Name: "Content-Type", Value: contentType}}, Body: []byte(body)}}
			}
			packed, err := archive.Pack(capture)
			if err != nil {
				return err
			}
			if err := keep([]*archive.Packed{packed}); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestSourcesAreCheckedWhileTheirAuthorIsThere(t *testing.T) {
	web, noWeb := run.InitInput{}, run.InitInput{Sensitivity: "no_web"}
	denied := run.InitInput{Policy: policy.Policy{DenyDomains: []string{"example.org"}}}
	since := run.InitInput{Policy: policy.Policy{Since: "2023-01-01"}}
	dated := run.InitInput{Policy: policy.Policy{Since: "2023-01-01", Dated: true}}
	many := make([]string, 9)
	for i := range many {
		many[i] = fmt.Sprintf("ok%d", i)
	}
	for _, c := range []struct {
		name    string
		init    run.InitInput
		pages   []string
		text    string
		most    int
		fetched int
		faults  []string // code and page
		offline bool
	}{
		{"good ones", web, []string{"ok1", "ok2"}, "", 9, 2, nil, false},
		{"a page that is gone", web, []string{"ok1", "gone"}, "", 9, 2, []string{"SOURCE_NOT_USABLE gone"}, false},
		{"a page that is refused, of two", web, []string{"ok1", "refused"}, "", 9, 2, []string{"SOURCE_NOT_USABLE refused"}, false},
		{"a page that is refused, of ten", web, append(slices.Clone(many), "refused"), "", 10, 10, nil, false},
		{"a machine that is down, of two", web, []string{"ok1", "down"}, "", 9, 2, []string{"SOURCE_NOT_USABLE down"}, false},
		{"the line at home is down", web, []string{"down1", "down2"}, "", 9, 2, []string{"SOURCE_NOT_USABLE down1", "SOURCE_NOT_USABLE down2"}, true},
		{"a name that does not exist", web, []string{"nameless", "down"}, "", 9, 2, []string{"SOURCE_NOT_USABLE nameless", "SOURCE_NOT_USABLE down"}, false},
		{"no more than the contract allows", web, []string{"ok1", "ok2", "gone"}, "", 2, 2, nil, false},
		{"a run that opens no connection", noWeb, []string{"gone"}, "", 9, 0, nil, false},
		{"what is not a URL", noWeb, []string{"[::1"}, "", 9, 0, []string{"SOURCE_NOT_USABLE [::1"}, false},
		{"a denied domain is not asked", denied, []string{"ok1"}, "", 9, 0, []string{"SOURCE_NOT_ALLOWED ok1"}, false},
		{"a denied domain, and nothing can be reached", denied, []string{"down"}, "", 9, 0, []string{"SOURCE_NOT_ALLOWED down"}, false},
		{"a page that may be too old is asked", dated, []string{"ok1"}, "", 9, 1, []string{"SOURCE_NOT_ALLOWED ok1"}, false},
		{"a page without a date", since, []string{"ok1"}, "", 9, 1, nil, false},
		{"a quotation that is there", web, []string{"ok1"}, "It says \"handled some 4,200 calls in that year\" (https://example.org/ok1).", 9, 1, nil, false},
		{"a quotation that is not there", web, []string{"ok1"}, "It says \"words that stand on no page\" (https://example.org/ok1).", 9, 1, []string{"QUOTATION_NOT_FOUND words"}, false},
		{"a quotation of a page that is not listed", web, []string{"ok1"}, "The port (https://example.org/ok1) says \"words that stand on another page\" (https://example.org/ok2).", 9, 1,
			[]string{"QUOTATION_NOT_FOUND https://example.org/ok2,"}, false},
		{"words of Markdown", web, []string{"in.md"}, "It says \"we use Trivy in all pipelines of ours\" (https://example.org/in.md).", 9, 1, nil, false},
		{"Markdown as it is written", web, []string{"in.md"}, "It says \"we use [Trivy](https://trivy.example) in **all** pipelines of ours\" (https://example.org/in.md).", 9, 1, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := runs.Create(t, c.init)
			r := must.Get(run.Open(t.Context(), runClock, made.ManifestPath))(t)
			defer r.Close()
			var b strings.Builder
			fmt.Fprintf(&b, "## Findings\n\n%s\n\n## Sources\n\n", c.text)
			for _, page := range c.pages {
				if strings.HasPrefix(page, "[") {
					fmt.Fprintf(&b, "- Port statistics https://%s\n", page)
				} else {
					fmt.Fprintf(&b, "- Port statistics https://example.org/%s\n", page)
				}
			}
			var asked []string
			check := sourcing.NewSourceChecker(r)
			in := sourcing.SubmittedSources{Text: []byte(b.String()), MaxSources: c.most, Quotations: true}
			checked := must.Get(check.Check(t.Context(), runs.Pinned, smallWeb(&asked), in))(t)
			faults := checked.Faults
			if checked.Offline != c.offline {
				t.Errorf("the line is down: %t", checked.Offline)
			}
			if holds, err := check.Holds(t.Context(), checked); err != nil || !holds {
				t.Errorf("what was just judged does not hold: %v", err)
			}
			if len(asked) != c.fetched {
				t.Errorf("fetched %q", asked)
			}
			for i, f := range faults {
				if i >= len(c.faults) || !strings.HasPrefix(c.faults[i], string(f.Code)) || !strings.Contains(f.Message, strings.Fields(c.faults[i])[1]) || f.Line == 0 || f.ChangeNote == "" {
					t.Errorf("%+v", f)
				}
			}
			if len(faults) != len(c.faults) {
				t.Errorf("%d faults, want %q", len(faults), c.faults)
			}
			asked = nil
			if again, err := check.Check(t.Context(), runs.Pinned, smallWeb(&asked), in); err != nil || len(again.Faults) != len(faults) || len(asked) != 0 {
				t.Errorf("again: %v, %v, fetched %q", again, err, asked)
			}
		})
	}
}

// TestASourceThatComesBackIsUsable: a machine that was down for a moment is asked
// again, a minute later, by the next output that names it; a page that is gone or
// refused is not.
func TestASourceThatComesBackIsUsable(t *testing.T) {
	made := runs.Create(t, run.InitInput{})
	r := must.Get(run.Open(t.Context(), runClock, made.ManifestPath))(t)
	defer r.Close()
	text := "## Sources\n\n- Port https://example.org/ok\n- Port https://example.org/down\n- Port https://example.org/gone\n- Port https://example.org/refused\n"
	var asked []string
	check := func(fetch sourcing.Fetch, after time.Duration) int {
		t.Helper()
		asked = nil
		desk := run.Desk{Now: func() time.Time { return runs.Pinned.Now().Add(after) }, Pinned: true}
		checked := must.Get(sourcing.NewSourceChecker(r).Check(t.Context(), desk, fetch, sourcing.SubmittedSources{Text: []byte(text), MaxSources: 9}))(t)
		return len(checked.Faults)
	}
	back := func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		asked = append(asked, urls...)
		body := "<title>Port</title><p>" + strings.Repeat("The port handled some 4,200 calls in that year. ", 40)
		packed, err := archive.Pack(archive.Capture{URL: urls[0], Kind: archive.Responded, Time: runs.Pinned.Now(), Hops: []archive.Hop{{URL: urls[0], Time: runs.Pinned.Now(), Status: 200,
			Header: []archive.Field{{Name: "Content-Type", Value: "text/html"}}, Body: []byte(body)}}})
		if err != nil {
			return err
		}
		return keep([]*archive.Packed{packed})
	}
	if got := check(smallWeb(&asked), 0); got != 3 {
		t.Fatalf("%d faults at first", got)
	}
	if got := check(back, time.Second); got != 3 || len(asked) > 0 {
		t.Errorf("a second later: %d faults, asked for %q", got, asked)
	}
	if got := check(smallWeb(&asked), -time.Hour); got != 3 || !slices.Equal(asked, []string{"https://example.org/down"}) {
		t.Errorf("by a clock that was set back: %d faults, asked for %q", got, asked)
	}
	if got := check(back, 2*time.Minute); got != 2 || !slices.Equal(asked, []string{"https://example.org/down"}) {
		t.Errorf("two minutes later: %d faults, asked for %q", got, asked)
	}
}

// TestAFetchThatIsCutOffIsNoFault leaves a page that does not answer in time to the
// stage citations: there is no record of it, and no fault. A caller that gives up
// gets an error.
func TestAFetchThatIsCutOffIsNoFault(t *testing.T) {
	hang := func(ctx context.Context, _ []string, _ func([]*archive.Packed) error) error {
		<-ctx.Done()
		return ctx.Err()
	}
	in := sourcing.SubmittedSources{Text: []byte("## Sources\n\n- Port https://example.org/slow\n"), MaxSources: 3}
	synctest.Test(t, func(t *testing.T) {
		made := runs.Create(t, run.InitInput{})
		r := must.Get(run.Open(t.Context(), runClock, made.ManifestPath))(t)
		defer r.Close()
		began := time.Now()
		checked, err := sourcing.NewSourceChecker(r).Check(t.Context(), runs.Pinned, hang, in)
		if err != nil || len(checked.Faults) != 0 || time.Since(began) != 40*time.Second {
			t.Errorf("%v, %v after %s", checked.Faults, err, time.Since(began))
		}
		if there, err := r.Folder().Exists("evidence/archive.warc.gz"); err != nil || there {
			t.Errorf("a record was kept: %v, %v", there, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := sourcing.NewSourceChecker(r).Check(ctx, runs.Pinned, hang, in); tidegate.CodeOf(err) != tidegate.Cancelled {
			t.Errorf("a caller who gives up gets %v", err)
		}
	})
}
