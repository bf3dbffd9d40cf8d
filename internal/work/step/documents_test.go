package step_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestOwnDocuments: what can be read is taken as it was read, what cannot is named with
// why, and a document that changes in between is not taken at all.
func TestOwnDocuments(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("fleet.csv", "Tug,Pull\nMöwe,68\n")
	write("letter.eml", "Subject: The tug\r\n\r\nIt pulls.\r\n")
	write("torn.eml", "Subject: The tug\r\nContent-Transfer-Encoding: base64\r\n\r\nSXQgcHVsbHM!\r\n")
	write("broken.docx", "PK\x03\x04 nothing")
	write("empty.txt", " \n")
	if f, err := os.Create(filepath.Join(dir, "huge.txt")); err != nil || f.Truncate(64<<20) != nil || f.Close() != nil {
		t.Fatal(err)
	}
	desk := run.Desk{Reach: artifact.Everywhere, Now: func() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }, Pinned: true}
	documents, err := step.ReadDocuments(desk, dir)
	if err != nil {
		t.Fatal(err)
	}
	var unread []string
	for _, u := range documents.Unread {
		unread = append(unread, u.String())
	}
	want := "broken.docx has no text that can be read\nempty.txt has no text that can be read\nhuge.txt is larger than 63 MiB\ntorn.eml cannot be read to its end: it is broken, or has more than 64 MiB of text"
	if got := strings.Join(unread, "\n"); got != want || len(documents.List) != 2 {
		t.Errorf("%d documents; unread:\n%s", len(documents.List), got)
	}
	made, err := run.Create(t.Context(), desk, t.TempDir(), run.InitInput{Query: "How strong is the tug?", RunID: "tug", Sensitivity: "no_web"})
	if err != nil {
		t.Fatal(err)
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	if err := step.AttachDocuments(person, desk, made.ManifestPath, documents); err != nil {
		t.Fatal(err)
	}
	r, err := run.Open(t.Context(), desk, made.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	events, err := r.EventsOf(run.EventAttached)
	if err != nil || len(events) != 2 || strings.Join(events[0].Entry.Get("left_out_files").Strs(), "\n") != want {
		t.Errorf("the log does not name the files that were left out: %v", err)
	}
	if told, _ := events[0].Tell(); !strings.Contains(told.Text, "; 4 files left out that cannot be read: broken.docx has no text that can be read; empty.txt ") {
		t.Errorf("the log is told as %q", told.Text)
	}
	list, err := step.AttachedDocuments(r)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	err = step.ReadAttached(t.Context(), r, list, func(d step.Document, c page.Content) bool {
		texts = append(texts, d.Name+" "+d.URL+" "+c.Text)
		return true
	})
	if got := strings.Join(texts, "\n"); err != nil || got != "fleet.csv https://files.invalid/fleet.csv Tug\tPull\nTug: Möwe\tPull: 68\nletter.eml https://files.invalid/letter.eml Subject: The tug\nIt pulls." {
		t.Errorf("%v\n%s", err, got)
	}
	write("fleet.csv", "Tug,Pull\nMöwe,70\n")
	if err := step.AttachDocuments(person, desk, made.ManifestPath, documents); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("a document that has changed: %v", err)
	}
}
