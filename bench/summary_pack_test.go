//go:build bench

package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/must"
)

const (
	packSummaries = 5000
	packBytes     = 5 << 10
	packPairs     = 11
)

// BenchmarkSummaryPack builds a pack of many summaries and copies the same files
// with cp -r and sync, in turn, each into a folder that does not exist yet, and
// reports the median of the ratios of neighbouring runs. Everything that is read
// is on the disk beforehand, and nothing is removed meanwhile: ext4 is slow to
// create files where others were removed within the last minute.
//
// The folder is that of TIDEGATE_BENCH_DIR, or else a temporary one; it must be on
// a disk.
func BenchmarkSummaryPack(b *testing.B) {
	dir := diskFolder(b)
	binary := filepath.Join(dir, "tidegate")
	command(b, "go", "build", "-o", binary, "../cmd/tidegate")
	root, fixtures := filepath.Join(dir, "run"), filepath.Join(dir, "fixtures")
	writeSummaries(b, root, fixtures)
	var ratios, builds, copies []float64
	for b.Loop() {
		for range packPairs {
			target := fmt.Sprint("summaries", len(ratios))
			command(b, "sync")
			took := command(b, binary, "summary", "build", root, "--fixtures", fixtures, "--format", "json",
				"--summaries-dir", filepath.Join(root, target), "--pack", filepath.Join(root, target, "summary-pack.json"))
			command(b, "sync")
			copyTook := command(b, "sh", "-c", `cp -r "$1" "$2" && sync`, "sh", fixtures, filepath.Join(dir, target))
			ratios, builds, copies = append(ratios, took/copyTook), append(builds, took), append(copies, copyTook)
		}
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(slices.Min(ratios), "least-ratio")
	b.ReportMetric(slices.Max(ratios), "most-ratio")
	b.ReportMetric(median(builds), "build-ms")
	b.ReportMetric(median(copies), "cp-sync-ms")
	b.Logf("%d summaries of %d bytes on %s, %d pairs", packSummaries, packBytes, diskOf(dir), len(ratios))
}

// diskFolder is a folder on a disk.
func diskFolder(b *testing.B) string {
	b.Helper()
	if _, err := exec.LookPath("cp"); err != nil {
		b.Skip("there is no cp to compare with")
	}
	dir := must.Get(os.MkdirTemp(os.Getenv("TIDEGATE_BENCH_DIR"), "tidegate-bench"))(b)
	b.Cleanup(func() { os.RemoveAll(dir) })
	if strings.Contains(diskOf(dir), "tmpfs") {
		b.Skipf("%s is in memory; set TIDEGATE_BENCH_DIR to a folder on a disk", dir)
	}
	return dir
}

// diskOf names the device and the file system that a folder is on.
func diskOf(dir string) string {
	out, err := exec.Command("df", "--output=source,fstype", dir).Output()
	if err != nil {
		return "an unknown disk"
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(strings.Fields(lines[len(lines)-1]), ", ")
}

// writeSummaries makes a run and a folder with a summary of packBytes bytes for
// each of its perspectives: paragraphs and list items; every other one cites one of
// a thousand citations.
func writeSummaries(b *testing.B, root, fixtures string) {
	b.Helper()
	var perspectives, pool strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&pool, `{"schema_version":"citation.v1","normalized_url":"https://example.org/%d","cid":"cid_%064x","url":"https://example.org/%d","url_original":"https://example.org/%d","status":"valid"}`+"\n", i, i, i, i)
	}
	for i := range packSummaries {
		id := fmt.Sprintf("p%05d", i)
		fmt.Fprintf(&perspectives, `,{"id":%q}`, id)
		var text strings.Builder
		for n := 0; text.Len() < packBytes; n++ {
			fmt.Fprintf(&text, "- Finding %d of %s is that measured throughput rose by %d percent between two releases [@cid_%064x].\n", n, id, n, (i*31+n)%1000)
			fmt.Fprintf(&text, "\nWhat the agents of perspective %s found beyond that, in their own words and at some length, is told here in paragraph %d.\n\n", id, n)
		}
		write(b, filepath.Join(fixtures, id+".md"), text.String()[:packBytes-200]+"\n"+strings.Repeat("end of it ", 20)[:199])
	}
	write(b, filepath.Join(root, "manifest.json"), fmt.Sprintf(`{"schema_version":"manifest.v1","run_id":"bench","limits":{"max_summary_kb":5,"max_total_summary_kb":%d}}`, 5*packSummaries))
	write(b, filepath.Join(root, "perspectives.json"), `{"schema_version":"perspectives.v1","perspectives":[`+perspectives.String()[1:]+`]}`)
	write(b, filepath.Join(root, "citations", "citations.jsonl"), pool.String())
}

func write(b *testing.B, path, text string) {
	b.Helper()
	must.Write(b, path, text)
}

// command runs a program and returns how many milliseconds it took.
func command(b *testing.B, argv ...string) float64 {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", argv[0], err, out)
	}
	return float64(time.Since(begin)) / 1e6
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
