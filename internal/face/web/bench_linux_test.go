package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// manyJobs is a run with n answered jobs of the first wave.
func manyJobs(t testing.TB, n int) *web.Site {
	t.Helper()
	s := site(t.TempDir())
	limit := int64(n)
	made := must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain", Limits: &run.Limits{MaxWave1Agents: &limit}}))(t)
	var list []tidegate.Details
	for i := range n {
		list = append(list, tidegate.Pairs("id", fmt.Sprintf("p%04d", i), "title", "T", "track", "standard", "agent_type", "researcher",
			"prompt_contract", tidegate.Pairs("max_words", 300, "max_sources", 3, "tool_budget", tidegate.Pairs(), "must_include_sections", []string{"Findings", "Gaps", "Sources"})))
	}
	doc := codec.Of(tidegate.Pairs("schema_version", "perspectives.v1", "run_id", "rain", "created_at", "2026-02-14T12:00:00.000Z", "perspectives", list))
	must.Get(step.WritePerspectives(t.Context(), s.Desk, step.PerspectivesInput{PerspectivesPath: filepath.Join(made.Root, "perspectives.json"), Value: doc, Reason: "many"}))(t)
	must.Get(engine.Drive(t.Context(), filepath.Join(made.Root, run.ManifestFile), engine.Options{Desk: s.Desk, Pool: instant{}}))(t)
	return s
}

// instant is a pool whose agents answer at once.
type instant struct{}

func (instant) Do(context.Context, driver.Task, func(driver.Event)) (driver.Answer, error) {
	return driver.Answer{Text: "## Findings\n\nIt rains.\n\n## Gaps\n\nNone.\n\n## Sources\n\n- Rain https://example.org/rain\n"}, nil
}

func (instant) Cancel(context.Context, string) error { return nil }

// longReport is the demo's run with a report of that many bytes.
func longReport(t testing.TB, size int) *web.Site {
	t.Helper()
	folder := must.Get(play())(t)
	s := site(t.TempDir())
	root := filepath.Join(s.Home, "harbour")
	must.Do(t, os.CopyFS(root, os.DirFS(filepath.Join(folder, "runs", "harbour"))))
	name := filepath.Join(root, "synthesis", "final-synthesis.md")
	text := must.Get(os.ReadFile(name))(t)
	line := ""
	for l := range strings.Lines(string(text)) {
		if strings.Contains(l, "210,000 euro") {
			line = l
		}
	}
	long := strings.Replace(string(text), line, strings.Repeat(line, size/len(line)), 1)
	must.Do(t, os.WriteFile(name, []byte(long), 0o600))
	return s
}

// timed is how long it takes until an answer begins, and until all of it has come.
func (b *browser) timed(t testing.TB, path string) (begins, whole time.Duration) {
	t.Helper()
	var begun, first time.Time
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { begun = time.Now() }, GotFirstResponseByte: func() { first = time.Now() }}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, b.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer := must.Get(b.Do(r))(t)
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || n < 1000 {
		t.Fatalf("%s is answered with %d, %d bytes, %v", path, answer.StatusCode, n, err)
	}
	return first.Sub(begun), time.Since(begun)
}

// BenchmarkFirstBytes measures how long large pages take until their first byte:
// for the first request to a server that has read its home ahead, and for later ones.
func BenchmarkFirstBytes(b *testing.B) {
	for _, c := range []struct {
		name  string
		site  func() *web.Site
		paths []string
	}{
		{"10000 runs", func() *web.Site { return manyRuns(b, 10_000) }, []string{"/", "/?page=100", "/?q=rain09999", "/?state=failed"}},
		{"1000 jobs", func() *web.Site { return manyJobs(b, 1000) }, []string{"/runs/rain", "/runs/rain/jobs", "/runs/rain/jobs?q=p0999", "/runs/rain/log", "/runs/rain/outputs"}},
		{"5 MB report", func() *web.Site { return longReport(b, 5<<20) }, []string{"/runs/harbour", "/runs/harbour/report", "/runs/harbour/report.html", "/runs/harbour/outputs"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			made := c.site()
			for _, path := range c.paths {
				b.Run(strings.ReplaceAll(path, "/", "."), func(b *testing.B) {
					fresh := site(made.Project)
					before := processorTime(b)
					fresh.Warm(b.Context()) // as serve does when it starts
					ahead := processorTime(b) - before
					page := visit(b, fresh, nil)
					before = processorTime(b)
					begins, whole := page.timed(b, path)
					first := processorTime(b) - before
					var again time.Duration
					n := 0
					for b.Loop() {
						_, one := page.timed(b, path)
						again += one
						n++
					}
					b.ReportMetric(float64(ahead.Microseconds())/1000, "read-ahead-cpu-ms")
					b.ReportMetric(float64(first.Microseconds())/1000, "first-page-cpu-ms")
					b.ReportMetric(float64(begins.Microseconds())/1000, "first-byte-ms")
					b.ReportMetric(float64(whole.Microseconds())/1000, "first-page-ms")
					b.ReportMetric(float64(again.Microseconds())/1000/float64(n), "next-page-ms")
				})
			}
		})
	}
}

// BenchmarkAWriteReachesThePage measures how long it takes from a write until the
// page that shows it has come.
func BenchmarkAWriteReachesThePage(b *testing.B) {
	s := site(b.TempDir())
	made := must.Get(run.Create(b.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain"}))(b)
	manifest := filepath.Join(made.Root, run.ManifestFile)
	page := visit(b, s, nil)
	for path, live := range map[string]string{"/runs/rain": "/runs/rain/events", "/": "/live/runs"} {
		b.Run(strings.ReplaceAll(path, "/", "."), func(b *testing.B) {
			_, now := page.get(b, path)
			events := page.follow(b, live, seenState.FindStringSubmatch(now)[1])
			person := tidegate.WithActor(b.Context(), tidegate.Actor{Kind: tidegate.Person})
			var longest time.Duration
			for b.Loop() {
				begun := time.Now()
				var err error
				if status(b, manifest) == run.Paused {
					_, err = stage.Resume(person, s.Desk, stage.ResumeInput{ManifestPath: manifest, Reason: "back"})
				} else {
					_, err = stage.Pause(person, s.Desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"})
				}
				if err != nil {
					b.Fatal(err)
				}
				events.nextID(b)
				page.get(b, path)
				longest = max(longest, time.Since(begun))
			}
			b.ReportMetric(float64(longest.Milliseconds()), "longest-ms")
			events.stop()
		})
	}
}

// BenchmarkFollowers has 200 tabs follow one run that is written to five times a
// second. Each asks for the page whenever it hears of a line. It measures what share
// of a core server and tabs take, and how much memory the process has.
func BenchmarkFollowers(b *testing.B) {
	const followers = 200
	s := site(b.TempDir())
	made := must.Get(run.Create(b.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain"}))(b)
	manifest := filepath.Join(made.Root, run.ManifestFile)
	page := visit(b, s, nil)
	page.Transport = &http.Transport{MaxIdleConnsPerHost: followers}
	var tabs sync.WaitGroup
	ctx, stop := context.WithCancel(b.Context())
	for range followers {
		events := page.follow(b, "/runs/rain/events?after="+strconv.Itoa(lines(b, manifest)), "")
		tabs.Go(func() { page.asks(ctx, events, "/runs/rain") })
		defer events.stop()
	}
	person := tidegate.WithActor(b.Context(), tidegate.Actor{Kind: tidegate.Person})
	before, begun := processorTime(b), time.Now()
	var most uint64
	for b.Loop() {
		must.Get(stage.Limit(person, s.Desk, stage.LimitInput{ManifestPath: manifest, Name: "max_minutes", Value: 240 + float64(b.N%7), Reason: "again"}))(b)
		time.Sleep(200 * time.Millisecond)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.Sys-m.HeapReleased)
	}
	b.ReportMetric((processorTime(b)-before).Seconds()/time.Since(begun).Seconds(), "cores")
	b.ReportMetric(float64(most)/(1<<20), "MiB")
	stop()
}

// paints notes, for each line of the log that the page has come to, when the frame that shows
// it was painted.
const paints = `(() => {
	window.painted = {};
	const now = () => performance.timeOrigin + performance.now();
	new MutationObserver(() => {
		const line = document.body.dataset.seen;
		requestAnimationFrame(() => requestAnimationFrame(() => { window.painted[line] ??= now(); })); // the second comes after the first was painted
	}).observe(document.body, {attributeFilter: ["data-seen"]});
	return true;
})()`

// BenchmarkPixels measures how long it takes from a line in the log of a run until tabs of
// Chromium have painted it. Other tabs do what a tab does without painting: they follow the
// stream, and ask for the page.
func BenchmarkPixels(b *testing.B) {
	for _, c := range []struct{ painting, others int }{{1, 0}, {1, 99}, {10, 90}} {
		b.Run(fmt.Sprintf("%d tabs and %d that do not paint", c.painting, c.others), func(b *testing.B) {
			s := site(b.TempDir())
			u := drive(b, s, recordings(b), pages(s), nil)
			for range 9 { // the page has something to show
				u.next(b)
				u.answer()
			}
			u.next(b)
			var tabs []*tab
			for range c.painting {
				p := newTab(b, s)
				p.open("/runs/harbour")
				p.until(`document.getElementById("live").dataset.state == "live"`)
				ask[bool](p, paints)
				tabs = append(tabs, p)
			}
			page := visit(b, s, nil)
			page.Transport = &http.Transport{MaxIdleConnsPerHost: c.others}
			ctx, stop := context.WithCancel(b.Context())
			defer stop()
			for range c.others {
				events := page.follow(b, "/runs/harbour/events?after="+strconv.Itoa(lines(b, u.manifest)), "")
				defer events.stop()
				go page.asks(ctx, events, "/runs/harbour")
			}
			person := tidegate.WithActor(b.Context(), tidegate.Actor{Kind: tidegate.Person})
			var took []float64
			for n := 0; b.Loop(); n++ {
				time.Sleep(time.Duration(300+37*(n%11)) * time.Millisecond) // another moment of what goes on regularly
				begun := time.Now()
				must.Get(stage.Limit(person, s.Desk, stage.LimitInput{ManifestPath: u.manifest, Name: "max_minutes", Value: 240 + float64(n%7), Reason: "again"}))(b)
				line := strconv.Itoa(lines(b, u.manifest))
				for _, p := range tabs {
					at := ask[float64](p, `new Promise((done) => { const look = () => window.painted[`+line+`] ? done(window.painted[`+line+`]) : setTimeout(look, 5); look(); })`)
					took = append(took, at-float64(begun.UnixMicro())/1000)
				}
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "median-ms")
			b.ReportMetric(took[len(took)-1], "longest-ms")
		})
	}
}

// asks asks for a page whenever a stream tells of a line.
func (b *browser) asks(ctx context.Context, events *stream, path string) {
	for events.Scan() {
		if strings.HasPrefix(events.Text(), "id: ") && ctx.Err() == nil {
			if answer, err := b.Get(b.base + path); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}
	}
}

// BenchmarkIdleTab measures what share of a core an open tab takes while nothing happens.
func BenchmarkIdleTab(b *testing.B) {
	for _, c := range []struct {
		name, live string
		site       func() *web.Site
	}{
		{"a run", "/runs/rain/events", func() *web.Site { return manyRuns(b, 1) }},
		{"100 runs", "/live/runs", func() *web.Site { return manyRuns(b, 100) }},
		{"10000 runs", "/live/runs", func() *web.Site { return manyRuns(b, 10_000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			page := visit(b, c.site(), nil)
			events := page.follow(b, c.live, "")
			defer events.stop()
			go func() {
				for events.Scan() {
				}
			}()
			time.Sleep(5 * time.Second) // what the first look takes is not what an idle tab takes
			before, begun := processorTime(b), time.Now()
			for b.Loop() {
				time.Sleep(time.Second)
			}
			b.ReportMetric(100*(processorTime(b)-before).Seconds()/time.Since(begun).Seconds(), "%-of-a-core")
		})
	}
}

// processorTime is how much processor time this process has used.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var use syscall.Rusage
	must.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
