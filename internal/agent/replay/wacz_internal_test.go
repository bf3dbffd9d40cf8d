package replay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestNoPagePassesForTheReport: an answer from the host of the report is in no index, however
// its address is written, and no address makes two lines of one.
func TestNoPagePassesForTheReport(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	others := []string{"https://report.invalid.example/", "https://a.example/?q=report.invalid", "https://a.example/\n{}\r\ninvalid,report)/ 1", "https://a.example/\u202e/../.."}
	var packed []*archive.Packed
	for _, url := range append([]string{seal.ReportURL, "http://report.invalid/", "https://REPORT.invalid:443/x", "https://report.invalid./"}, others...) {
		p := must.Get(archive.Pack(archive.Attachment(url, "page.html", "text/html", []byte("not the report"), at)))(t)
		packed = append(packed, p)
	}
	data, _ := archive.Lay(0, packed...)
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.warc.gz"), data, 0o600))
	folder := must.Get(artifact.Everywhere.Open("run", dir))(t)
	defer folder.Close()
	pages := must.Get(archive.Open(t.Context(), folder, "a.warc.gz", func(string) bool { return true }))(t)
	s := &subject{question: "q\n", pages: func() (*archive.List, error) { return &pages.List, nil }}
	made := must.Get(s.web(t.Context(), []byte("the report"), "2026-05-03T12:00:00.000Z"))(t)
	var reports, lines int
	for line := range strings.Lines(string(made[1].Data)) {
		lines++
		parts := strings.SplitN(line, " ", 3)
		if len(parts) != 3 || !json.Valid([]byte(parts[2])) {
			t.Errorf("no line of an index: %q", line)
		} else if strings.Contains(parts[0], "report)") && !strings.Contains(parts[0], "example") {
			reports++
		}
	}
	if made[1].Name != waczIndex || reports != 1 || lines != 1+len(others) {
		t.Errorf("%d of %d lines are the report:\n%s", reports, lines, made[1].Data)
	}
}
