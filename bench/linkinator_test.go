//go:build bench

package bench_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/fetch"
)

// BenchmarkLinkinator measures somebody else's link checker on two thousand pages of
// one local server, against the same bare loop. It archives nothing.
func BenchmarkLinkinator(b *testing.B) {
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		b.Skip("set TIDEGATE_OUTSIDERS=1 to install linkinator from npm and measure it")
	}
	const version = "linkinator@7.6.1" // 8 needs a newer Node
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Skip(err)
	}
	dir := filepath.Join(cache, "tidegate-test", version)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", "linkinator")); err != nil {
		if out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", version).CombinedOutput(); err != nil {
			b.Skipf("npm cannot install linkinator: %v\n%s", err, out)
		}
	}
	page := strings.Repeat("<p>A line of a page.</p>\n", sourceSize/26)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			io.WriteString(w, page)
			return
		}
		for i := range fetchedSources {
			fmt.Fprintf(w, "<a href=\"/page/%d\">%d</a>\n", i, i)
		}
	}))
	defer server.Close()
	local := &sourceWeb{server: server}
	for i := range fetchedSources {
		local.urls = append(local.urls, fmt.Sprintf("%s/page/%d", server.URL, i))
	}
	var bare, theirs []float64
	for b.Loop() {
		start := time.Now()
		local.bare(b)
		bare = append(bare, time.Since(start).Seconds())
		start = time.Now()
		cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", "linkinator"), server.URL, "--concurrency", fmt.Sprint(fetch.DefaultLimits.Parallel), "--silent")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		theirs = append(theirs, time.Since(start).Seconds())
	}
	b.ReportMetric(median(theirs)/median(bare), "linkinator/bare")
	b.ReportMetric(median(theirs), "linkinator-s")
	b.ReportMetric(0, "ns/op")
}
