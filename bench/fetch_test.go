//go:build bench

package bench_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

const (
	fetchedSources = 2000
	sourceSize     = 30_000
)

// sourceWeb is a local server under two thousand names, one page each, as sources
// have them.
type sourceWeb struct {
	server *httptest.Server
	urls   []string
}

func newSourceWeb(b *testing.B, size int) *sourceWeb {
	page := func(n int) string { return article(n, size) }
	pages := make([]string, 64)
	for i := range pages {
		pages[i] = page(i)
	}
	w := &sourceWeb{server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		var n int
		fmt.Sscanf(r.Host, "source%d.", &n)
		io.WriteString(w, pages[n%len(pages)])
	}))}
	b.Cleanup(w.server.Close)
	for i := range fetchedSources {
		w.urls = append(w.urls, fmt.Sprintf("http://source%d.example/page", i))
	}
	return w
}

// article is a page like those of real sources: a head, navigation, and paragraphs
// of sentences with links in them.
func article(n, size int) string {
	words := strings.Fields("the tide gauge of a harbour has recorded water levels since its mean was first surveyed and every year " +
		"a method with less error gives another figure for what currents do to the reference in table or result while wind pressure storms rivers " +
		"ships silt dredging walls locks ice moon sun salt heat rain add their own part which nobody can measure alone")
	var text strings.Builder
	fmt.Fprintf(&text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Source %d</title>\n<meta name=\"author\" content=\"A. Writer\">\n"+
		"<link rel=\"stylesheet\" href=\"/style.css\">\n<script>window.page = {id: %d, kind: \"article\"};</script>\n</head>\n<body>\n<nav class=\"site\"><ul>", n, n)
	for i := range 8 {
		fmt.Fprintf(&text, "<li><a href=\"/section/%d\">Section %d</a></li>", i, i)
	}
	fmt.Fprintf(&text, "</ul></nav>\n<main><article>\n<h1>Source %d</h1>\n", n)
	for i := 0; text.Len() < size; i++ {
		if i%6 == 5 {
			fmt.Fprintf(&text, "<h2 id=\"part-%d\">Part %d</h2>\n", i, i)
		}
		text.WriteString("<p>")
		for sentence := range 4 {
			for k := range 9 + (n+i+sentence)%9 {
				word := words[(n*31+i*17+sentence*7+k*k*5+k)%len(words)]
				switch {
				case k == 0:
					word = strings.ToUpper(word[:1]) + word[1:]
				case k == 5 && sentence == 1:
					word = fmt.Sprintf("<a href=\"https://example.org/%s/%d\">%s</a>", word, i, word)
				case k == 7:
					word = fmt.Sprint((n + 1) * (i + 3) % 9973)
				}
				text.WriteString(word + " ")
			}
			text.WriteString("and so on. ")
		}
		text.WriteString("</p>\n")
	}
	return text.String() + "</article></main>\n<footer><p>A harbour, a house, a street.</p></footer>\n</body>\n</html>\n"
}

func (w *sourceWeb) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, w.server.Listener.Addr().String())
}

// client fetches from the server under every name.
func (w *sourceWeb) client() *fetch.Client {
	return fetch.New(fetch.Options{
		Dial: w.dial,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("20.1.2.3")}, nil
		},
	})
}

// bare asks for every page and takes its digest.
func (w *sourceWeb) bare(b *testing.B) {
	client := &http.Client{Transport: &http.Transport{DialContext: w.dial}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range fetch.DefaultLimits.Parallel {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(w.urls); i = next.Add(1) - 1 {
				resp, err := client.Get(w.urls[i])
				if err != nil {
					b.Error(err)
					return
				}
				sum := sha256.New()
				if _, err := io.Copy(sum, resp.Body); err != nil {
					b.Error(err)
				}
				resp.Body.Close()
				sum.Sum(nil)
			}
		})
	}
	workers.Wait()
}

// archived fetches every page into a new archive.
func (w *sourceWeb) archived(b *testing.B, dir string) {
	ctx := context.Background()
	folder := must.Get(artifact.Everywhere.Open("dir", dir))(b)
	defer folder.Close()
	a := must.Get(archive.Open(ctx, folder, "archive.warc.gz", nil))(b)
	client := w.client()
	defer client.Close()
	must.Do(b, client.Each(ctx, w.urls, func(batch []*archive.Packed) error {
		lock, err := folder.Lock(ctx, time.Now)
		if err != nil {
			return err
		}
		defer lock.Unlock()
		_, err = a.Append(ctx, lock, batch...)
		return err
	}, nil))
	for _, entry := range a.Entries() {
		if entry.Kind != archive.Responded || entry.Status != http.StatusOK {
			b.Fatalf("%s: %s %d", entry.URL, entry.Kind, entry.Status)
		}
	}
	if len(a.Entries()) != len(w.urls) {
		b.Fatalf("%d of %d sources are in the archive", len(a.Entries()), len(w.urls))
	}
}

// checked does what deep_research_citations_validate does in a run whose outputs
// cite every page: it fetches them into the archive, with the log lines that make
// them count, judges them from there, and writes the records.
func (w *sourceWeb) checked(b *testing.B, home string) {
	ctx := context.Background()
	desk := run.Desk{Now: time.Now}
	made := must.Get(run.Create(ctx, desk, home, run.InitInput{Query: "How fast?", RunID: "fast"}))(b)
	var output strings.Builder
	output.WriteString("## Sources\n\n")
	for i, url := range w.urls {
		fmt.Fprintf(&output, "- Source %d, %s\n", i%64, url)
	}
	path := filepath.Join(made.Root, "wave-1", "p1.md")
	must.Write(b, path, output.String())
	client := w.client()
	defer client.Close()
	out, err := sourcing.ValidateCitations(ctx, desk, func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		return client.Each(ctx, urls, keep, nil)
	}, sourcing.CitationsInput{ManifestPath: made.ManifestPath, Reason: "measured"})
	if err != nil || out.Validated != len(w.urls) || out.Statuses.Valid != len(w.urls) {
		b.Fatalf("%+v %v", out.Statuses, err)
	}
}

// BenchmarkFetch compares fetching two thousand sources into an archive, and
// fetching, archiving and judging them in a run, with a bare loop of GETs and
// digests at the same concurrency, in turn in one run. The target for checked/bare is
// 3 with small pages, which show what a page costs apart from its bytes. The target
// for MiB is 128: the peak memory of the process meanwhile, server included. Pages of
// 30 KB, which are usual on the web, also cost their compression.
func BenchmarkFetch(b *testing.B) {
	for _, size := range []int{3_000, sourceSize} {
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) { benchmarkFetch(b, size) })
	}
}

func benchmarkFetch(b *testing.B, size int) {
	w := newSourceWeb(b, size)
	var bare, archived, reading, checked []float64
	var peak atomic.Uint64
	for b.Loop() {
		start := time.Now()
		w.bare(b)
		bare = append(bare, time.Since(start).Seconds())

		dir := b.TempDir()
		debug.FreeOSMemory()
		stop := watchMemory(&peak)
		start = time.Now()
		w.archived(b, dir)
		archived = append(archived, time.Since(start).Seconds())
		stop()

		home := b.TempDir()
		debug.FreeOSMemory()
		stop = watchMemory(&peak)
		start = time.Now()
		w.checked(b, home)
		checked = append(checked, time.Since(start).Seconds())
		stop()
		must.Do(b, os.RemoveAll(home))

		start = time.Now()
		readArchive(b, dir, size)
		reading = append(reading, time.Since(start).Seconds())
		must.Do(b, os.Remove(filepath.Join(dir, "archive.warc.gz")))
	}
	b.ReportMetric(median(archived)/median(bare), "archived/bare")
	b.ReportMetric(median(checked)/median(bare), "checked/bare")
	b.ReportMetric(median(checked), "checked-s")
	b.ReportMetric(median(bare), "bare-s")
	b.ReportMetric(median(archived), "archived-s")
	b.ReportMetric(median(reading), "read-s")
	b.ReportMetric(float64(peak.Load())/(1<<20), "MiB")
	b.ReportMetric(0, "ns/op")
}

// readArchive reads every page of an archive again.
func readArchive(b *testing.B, dir string, size int) {
	ctx := context.Background()
	folder := must.Get(artifact.Everywhere.Open("dir", dir))(b)
	defer folder.Close()
	a := must.Get(archive.Open(ctx, folder, "archive.warc.gz", nil))(b)
	for _, entry := range a.Entries() {
		if c, err := a.Read(ctx, entry); err != nil || len(c.Last().Body) < size {
			b.Fatal(len(c.Last().Body), err)
		}
	}
}

// watchMemory records the peak memory of the process until it is stopped.
func watchMemory(peak *atomic.Uint64) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	go func() {
		defer close(done)
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				metrics.Read(samples)
				if now := samples[0].Value.Uint64() - samples[1].Value.Uint64(); now > peak.Load() {
					peak.Store(now)
				}
			case <-ended:
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}
