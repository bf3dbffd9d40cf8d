package library_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/store"
)

// TestAnUpdateIsBoundToItsReport verifies an update, and then changes each of its files and
// the audit that it is about.
func TestAnUpdateIsBoundToItsReport(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	id, later := plant(t, runs)
	u := must.Get(library.Update(t.Context(), desk(), runs, later.again, open(t, runs, id)))(t)
	path, ok := library.FindKept(desk(), runs, runs, u.UpdateID)
	if !ok || path != u.UpdatePath {
		t.Fatalf("%s is not found: %s", u.UpdateID, path)
	}
	verify := func() string {
		t.Helper()
		v, err := library.Verify(t.Context(), desk(), runs, path)
		if err != nil {
			return err.Error()
		}
		return strings.Join(v.Wrong, "; ")
	}
	if wrong := verify(); wrong != "" {
		t.Fatalf("an update does not verify: %s", wrong)
	}
	for _, tt := range []struct{ file, from, to, want string }{
		{filepath.Join(path, "result.json"), `"changed"`, `"stands"`, "result.json is not the file that the log records"},
		{filepath.Join(path, "about.json"), `"kind": "audit"`, `"kind": "aud"`, "about.json is not the file that the log records"},
		{filepath.Join(path, "logs", "audit.jsonl"), `"event":"judged"`, `"event":"jugded"`, "log"},
		{filepath.Join(path, "evidence", "archive.warc.gz"), "\x1f\x8b", "\x1f\x8c", "archive"},
		{filepath.Join(store.Audits.Home(runs), id, "logs", "audit.jsonl"), "", "{\"x\":1}\n", "another head"},
	} {
		data := must.Get(os.ReadFile(tt.file))(t)
		changed := strings.Replace(string(data), tt.from, tt.to, 1)
		if tt.from == "" {
			changed = string(data) + tt.to
		}
		put(t, tt.file, changed)
		if wrong := verify(); changed == string(data) || !strings.Contains(wrong, tt.want) {
			t.Errorf("%s changed: %q, want %q", filepath.Base(tt.file), wrong, tt.want)
		}
		put(t, tt.file, string(data))
	}
	if wrong := verify(); wrong != "" {
		t.Errorf("put back, it does not verify: %s", wrong)
	}
}

// TestAnUpdateWithoutANetworkSaysSo: where not one host is reached, nothing is said of the
// pages, and nothing is kept.
func TestAnUpdateWithoutANetworkSaysSo(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	id, _ := plant(t, runs)
	_, err := library.Update(t.Context(), desk(), runs, web{}.again, open(t, runs, id))
	if tidegate.CodeOf(err) != tidegate.InvalidState || !strings.Contains(err.Error(), "not one of 28 sources could be reached: ") {
		t.Errorf("without a network: %v", err)
	}
	if kept, err := os.ReadDir(store.Updates.Home(runs)); err == nil && len(kept) > 0 {
		t.Errorf("%d updates are kept", len(kept))
	}
}
