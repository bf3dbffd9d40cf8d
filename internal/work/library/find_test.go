package library_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

func find(t *testing.T, runs, words string) []string {
	t.Helper()
	out := must.Get(library.Find(t.Context(), desk(), library.FindInput{Words: words, Runs: runs}))(t)
	got := []string{}
	for _, h := range out.Hits {
		got = append(got, h.Kind+" "+h.ID+" "+h.Part+": "+h.Passage)
	}
	return got
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

// asked makes a run with a question and a report.
func asked(t *testing.T, runs, id, question, report string) {
	t.Helper()
	must.Get(run.Create(t.Context(), desk(), runs, run.InitInput{Query: question, RunID: id}))(t)
	put(t, filepath.Join(runs, id, "synthesis", "final-synthesis.md"), report)
}

// TestFindLooksEverywhere finds words in each kind of text, ranks them, and shows passages
// as they stand there.
func TestFindLooksEverywhere(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	asked(t, runs, "tugs", "Should the port buy electric tugs?", "## Summary\n\nA zephyr of wind is enough [@cid_1]. Bollards are made of cast iron.\n")
	asked(t, runs, "trains", "Which zephyr trains run at night?", "## Summary\n\nNone.\n")
	pages := web{"https://a.example/ferry": shows(document("The ferry Ampere", "The quokka is a small wallaby of Rottnest Island.", "The ferry carries 120 cars."))("https://a.example/ferry")}
	made := must.Get(audit.Make(t.Context(), desk(), pages.again(nil), audit.Input{Report: "The ferry carries 120 cars [1]. Wombats like it [1].\n\n# References\n\n[1] The ferry Ampere: https://a.example/ferry\n", Home: store.Audits.Home(runs), Dir: runs}))(t)
	put(t, filepath.Join(runs, "reviews", "abc", "REVIEW.md"), "# Review\n\nThe mutex is never released, said the narwhal.\n")
	put(t, filepath.Join(store.Answers.Home(runs), "2026-05-04-aaaaaa", "result.json"), `{"question":"Where do axolotls live?","answer":"In the lake of Xochimilco [@s1]."}`)
	for _, tt := range []struct {
		words string
		want  []string
	}{
		{"xochimilco", []string{"answer 2026-05-04-aaaaaa report: In the lake of Xochimilco."}},
		{"axolotl", []string{"answer 2026-05-04-aaaaaa question: Where do axolotls live?"}},
		{"zephyr", []string{"run trains question: Which zephyr trains run at night?", "run tugs report: A zephyr of wind is enough. Bollards are made of cast iron."}},
		{"Bollard", []string{"run tugs report: Bollards are made of cast iron."}},
		{"QUOKKA island", []string{"audit " + made.AuditID + " page: The quokka is a small wallaby of Rottnest Island. The ferry carries 120 cars."}},
		{"wombats", []string{"audit " + made.AuditID + " report: Wombats like it."}},
		{"ampere", []string{"audit " + made.AuditID + " source: The ferry Ampere https://a.example/ferry", "audit " + made.AuditID + " page: The ferry Ampere The quokka is a small wallaby of Rottnest Island. The ferry carries 120 cars."}},
		{"narwhal", []string{"review abc report: The mutex is never released, said the narwhal."}},
		{"xylophone", []string{}},
	} {
		if got := find(t, runs, tt.words); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: found\n%s\nwant\n%s", tt.words, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
	if _, err := library.Find(t.Context(), desk(), library.FindInput{Words: " ?! ", Runs: runs}); err == nil {
		t.Error("no word is found")
	}
	// What is gone is not found, and what came is.
	must.Do(t, os.RemoveAll(filepath.Join(runs, "trains")))
	asked(t, runs, "later", "Where does the zephyr blow?", "")
	if got := find(t, runs, "zephyr"); len(got) != 2 || !strings.HasPrefix(got[0], "run later question") {
		t.Errorf("found %v", got)
	}
}

// TestTheIndexIsNeverTheTruth deletes and damages the index in every way, also while others
// look, and finds the same.
func TestTheIndexIsNeverTheTruth(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	for i := range 5 {
		asked(t, runs, fmt.Sprintf("r%d", i), fmt.Sprintf("Does zephyr %d blow?", i), "")
	}
	index := filepath.Join(filepath.Dir(runs), "index")
	want := strings.Join(find(t, runs, "zephyr"), "\n")
	files, err := filepath.Glob(index + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no index: %v", err)
	}
	data := must.Get(os.ReadFile(files[0]))(t)
	for i := 0; i < len(data); i += full.Stride(len(data), 40) {
		damaged := append([]byte(nil), data...)
		damaged[i] ^= 0x55
		for _, bytes := range [][]byte{damaged, data[:i]} {
			put(t, files[0], string(bytes))
			if got := strings.Join(find(t, runs, "zephyr"), "\n"); got != want {
				t.Fatalf("damaged at byte %d: found\n%s\nwant\n%s", i, got, want)
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	others.Go(func() {
		for ctx.Err() == nil {
			os.RemoveAll(index)
			os.MkdirAll(index, 0o700) // which the search may do, too, or write there
			os.WriteFile(filepath.Join(index, "recent"), []byte("x"), 0o600)
		}
	})
	for range 50 {
		if got := strings.Join(find(t, runs, "zephyr"), "\n"); got != want {
			t.Errorf("with the index deleted under it: found\n%s", got)
			break
		}
	}
	stop()
	others.Wait()
}

// TestFindIsFast measures a search over many runs once the index is there; with -full
// over 2,000, which must take less than 200 ms.
func TestFindIsFast(t *testing.T) {
	n := 40
	if full.Asked() {
		n = 2000
	}
	runs := filepath.Join(t.TempDir(), "runs")
	for i := range n {
		var b strings.Builder
		for k := range 600 {
			fmt.Fprintf(&b, "Word%d stands in harbour %d. ", (i*7919+k*104729)%50000, k%40)
		}
		asked(t, runs, fmt.Sprintf("run-%04d", i), fmt.Sprintf("How does harbour %d work?", i), b.String())
	}
	find(t, runs, "harbour")
	best := time.Hour
	for range 5 {
		began := time.Now()
		if got := find(t, runs, "harbour work"); len(got) != 20 {
			t.Fatalf("%d hits", len(got))
		}
		best = min(best, time.Since(began))
	}
	t.Logf("%d runs: %v", n, best)
	if full.Asked() && best > 200*time.Millisecond {
		t.Errorf("a search over %d runs takes %v", n, best)
	}
}
