package sourcing_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// TestKeptEvidenceIsWhatAFreshReadingFinds: a checker that has been there all the time
// finds and fetches what one that reads log and archive from the beginning finds and
// fetches, whatever others do to the run between two outputs.
func TestKeptEvidenceIsWhatAFreshReadingFinds(t *testing.T) {
	t.Parallel()
	const count = 60
	for seed := 0; seed < count; seed += full.Stride(count, 1) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			made := runs.Create(t, run.InitInput{})
			o := others{t: t, dice: rand.New(rand.NewPCG(uint64(seed), 0)), made: made, now: runs.Pinned.Now()}
			desk := run.Desk{Pinned: true, Now: func() time.Time { return o.now }}
			o.run = runs.OpenAt(t, desk, made.ManifestPath)
			kept := sourcing.NewSourceChecker(runs.OpenAt(t, desk, made.ManifestPath))
			o.inspect = func() {
				must.Get(kept.Check(t.Context(), runs.Pinned, nil, sourcing.SubmittedSources{Text: o.output(), MaxSources: 9}))(t)
			}
			faults := 0
			for range 80 / full.Stride(2, 1) {
				what := o.act()
				in := sourcing.SubmittedSources{Text: o.output(), MaxSources: 9, Quotations: true}
				got := found(func(fetch sourcing.Fetch) ([]sourcing.SourceFault, error) {
					checked, err := kept.Check(t.Context(), desk, fetch, in)
					return checked.Faults, err
				})
				want := found(func(fetch sourcing.Fetch) ([]sourcing.SourceFault, error) {
					return sourcing.CheckFresh(t.Context(), desk, fetch, runs.OpenAt(t, desk, made.ManifestPath), in)
				})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("after %q, a fresh reading against a kept one:\n%s", what, diff)
				}
				faults += len(got.Faults)
			}
			if faults == 0 {
				t.Error("no source was ever at fault")
			}
		})
	}
}

// finding is what a check says, and which pages it asks for.
type finding struct {
	Faults []sourcing.SourceFault
	Asked  []string
	Code   tidegate.Code
}

// found is what a check finds with a web that answers nothing.
func found(check func(sourcing.Fetch) ([]sourcing.SourceFault, error)) finding {
	var f finding
	faults, err := check(func(_ context.Context, urls []string, _ func([]*archive.Packed) error) error {
		f.Asked = slices.Clone(urls)
		return nil
	})
	f.Faults, f.Code = faults, tidegate.CodeOf(err)
	return f
}

// others are the other processes that write to a run, and what can happen to them.
type others struct {
	t       *testing.T
	dice    *rand.Rand
	made    run.InitResult
	run     *run.Run
	now     time.Time
	inspect func() // of the checker that has been there all the time
}

const manyPages = 8

func (o *others) url() string {
	return fmt.Sprintf("https://example.org/page%d", o.dice.IntN(manyPages))
}

// output names some of the pages, and quotes one.
func (o *others) output() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "## Findings\n\nIt says \"handled some 4,200 calls in that year\" (%s).\n\n## Sources\n\n", o.url())
	for range 1 + o.dice.IntN(4) {
		fmt.Fprintf(&b, "- Port statistics %s\n", o.url())
	}
	return []byte(b.String())
}

// act does one thing to the run and says what.
func (o *others) act() string {
	o.now = o.now.Add(time.Duration(o.dice.IntN(90)) * time.Second)
	switch n := o.dice.IntN(20); {
	case n < 8:
		o.keep(run.EventFetched, tidegate.Pairs("sensitivity", "normal"), o.capture(o.url()))
		return "a page was fetched"
	case n < 9:
		o.keep(run.EventFetched, tidegate.Pairs("sensitivity", "no_web"), o.capture(o.url()))
		return "a fetch that does not count"
	case n < 11:
		o.keep("", nil, o.capture(o.url()))
		return "a fetch that was killed before its line"
	case n < 13:
		cid := cidOf(o.t, o.url())
		o.keep(run.EventAttached, tidegate.Pairs("cid", cid), archive.Attachment("attached://"+cid, "a.txt", "text/plain", []byte(o.text()), o.now))
		return "a file was attached"
	case n < 15:
		o.keep(run.EventReplaced, tidegate.Pairs("cid", cidOf(o.t, o.url()), "url", o.url()))
		return "a source was replaced"
	case n < 16:
		o.change("evidence/archive.warc.gz", func(data []byte) []byte { return append(data, "\x1f\x8b\x08\x00part of a record"...) })
		return "a record was torn"
	case n < 17:
		o.change("evidence/archive.warc.gz", func(data []byte) []byte { return data[:max(0, len(data)-o.dice.IntN(3000))] })
		for range o.dice.IntN(4) {
			o.keep(run.EventFetched, tidegate.Pairs("sensitivity", "normal"), o.capture(o.url()))
		}
		return "the archive was cut, and went on"
	case n < 18:
		o.takeBack()
		return "a write was taken back, and another made"
	}
	return "nothing"
}

// keep adds captures to the archive and, where there is an event, its line to the log.
func (o *others) keep(event run.Event, fields tidegate.Details, captures ...archive.Capture) {
	o.t.Helper()
	must.Get(o.run.Update(o.t.Context(), func(u *run.Update) error {
		a, err := archive.Open(o.t.Context(), o.run.Folder(), "evidence/archive.warc.gz", nil)
		if err != nil {
			return err
		}
		var records []archive.Ref
		for _, c := range captures {
			packed, err := archive.Pack(c)
			if err != nil {
				return err
			}
			added, err := a.Append(o.t.Context(), u.Lock(), packed)
			if err != nil {
				return err
			}
			records = append(records, added[0].Records...)
		}
		if event != "" {
			u.Log(event, "test", append(fields, tidegate.Pairs("records", records)...))
		}
		return nil
	}))(o.t)
}

func (o *others) text() string {
	if o.dice.IntN(3) == 0 {
		return strings.Repeat("The harbour has other figures for other years. ", 40)
	}
	return strings.Repeat("The port handled some 4,200 calls in that year. ", 40)
}

// capture is what became of a fetch.
func (o *others) capture(url string) archive.Capture {
	c := archive.Capture{URL: url, Kind: archive.Responded, Time: o.now}
	status := []int{0, 200, 200, 200, 403, 404, 503}[o.dice.IntN(7)]
	if status == 0 {
		c.Kind = archive.Unreachable
		return c
	}
	body := "<html lang=en><title>Port statistics</title><article><p>" + o.text() + "</p></article>"
	c.Hops = []archive.Hop{{URL: url, Time: o.now, Status: status, Header: []archive.Field{{Name: "Content-Type", Value: "text/html"}}, Body: []byte(body)}}
	return c
}

// change writes a file of the run anew, if it is there.
func (o *others) change(name string, to func([]byte) []byte) {
	o.t.Helper()
	path := filepath.Join(o.made.Root, name)
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return
	}
	if err == nil {
		err = os.WriteFile(path, to(data), 0o600)
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// takeBack writes a line, lets the checker read it, takes it back, and writes another.
func (o *others) takeBack() {
	o.t.Helper()
	before := map[string][]byte{}
	for _, name := range []string{run.LogFile, "logs/audit.head"} {
		o.change(name, func(data []byte) []byte { before[name] = data; return data })
	}
	o.keep(run.EventFetched, tidegate.Pairs("sensitivity", "normal"), o.capture(o.url()))
	o.inspect()
	o.run = runs.OpenAt(o.t, o.run.Desk(), o.made.ManifestPath) // it has not written what is taken back
	for name, data := range before {
		o.change(name, func([]byte) []byte { return data })
	}
	o.keep(run.EventFetched, tidegate.Pairs("sensitivity", "normal"), o.capture(o.url()))
}

func cidOf(t *testing.T, url string) string {
	t.Helper()
	normalized := must.Get(link.Normalize(url))(t)
	return source.CID(normalized)
}
