package change

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

// FuzzRecord reads arbitrary logs: a record is broken unless it is a chain from
// the first line to the last, and what it says never leads out of the folder.
func FuzzRecord(f *testing.F) {
	const first = `{"event":"kept","change_id":"c","review":1,"digests":{"reviews/0001.md":"x"},"prev":"` + artifact.FirstPrev + `"}` + "\n"
	f.Add(first)
	f.Add(first + first)
	f.Add(`{"event":"limit","change_id":"c","actor":"person","max_rounds":-1,"prev":"` + artifact.FirstPrev + `"}`)
	f.Add(`{"event":"accepted","change_id":"c","actor":"person","digests":[],"phase":1,"prev":"` + artifact.FirstPrev + `"}` + "\n")
	f.Add(`{"event":"kept","change_id":"c","review":99999999999999999,"prev":"` + artifact.FirstPrev + `"}` + "\n")
	f.Add("\n{}\nnull\n[1]")
	f.Fuzz(func(t *testing.T, log string) {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, logFile), []byte(log), 0o600))
		folder := must.Get(artifact.Everywhere.Open("folder", dir))(t)
		defer folder.Close()
		r := must.Get(readRecord(always, folder, "c"))(t)
		chain := must.Get(folder.VerifyLog(logFile))(t)
		if whole := chain.Broken+chain.Unchained == 0; r.broken == "" && !whole {
			t.Errorf("the record counts, but its chain is %+v", chain)
		}
		if err := r.checkFiles(folder, "c"); err != nil && tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("got error %v, want TAMPERED", err)
		} else if err == nil && len(r.reviews) > 0 {
			t.Errorf("reviews %+v are taken to be there", r.reviews)
		}
	})
}
