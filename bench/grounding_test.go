//go:build bench

package bench_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/docs"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/page"
)

var update = flag.Bool("update", false, "write the tables of BenchmarkGrounding into docs/evidence.md")

// labelledClaims is where public sets of claims lie: in the folder that GROUNDING_SETS
// names, or beside the repository.
var labelledClaims = cmp.Or(os.Getenv("GROUNDING_SETS"), "../../shared/grounding")

// labelled is a claim that people labelled, and what the program says of it.
type labelled struct {
	ID         string   `json:"id"`
	Claim      string   `json:"claim"`
	References []string `json:"references"`
	Label      string   `json:"attribution_label,omitzero"`

	standing string
	windows  []struct{ Reference, Start, End int }
	scores   []float64 // of the baselines
}

// BenchmarkGrounding runs ground --claims over four public sets and prints how it does:
// which share of the unsupported claims is found, how often a supported one raises a
// false alarm, how much of a supported claim its windows hold, and how simpler rules do
// on the same claims. With -update the
// tables are written into docs/evidence.md.
func BenchmarkGrounding(b *testing.B) {
	if _, err := os.Stat(labelledClaims); err != nil {
		b.Skipf("the labelled claims are not there: %v", err)
	}
	binary := filepath.Join(b.TempDir(), "tidegate")
	command(b, "go", "build", "-o", binary, "../cmd/tidegate")
	var table, beside strings.Builder
	rate := 0.0
	for b.Loop() {
		table.Reset()
		beside.Reset()
		table.WriteString("| set | claims | found by faults | found in all | false alarms by faults | in all | words in the windows | claims whose windows hold nine tenths |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
		var all []labelled
		var sets []labelledSet
		took := 0.0
		for _, set := range setsIn(b, labelledClaims) {
			took += ground(b, binary, set.rows)
			for i := range set.rows {
				for _, base := range baselines {
					set.rows[i].scores = append(set.rows[i].scores, base.score(set.rows[i]))
				}
			}
			table.WriteString(scoreRow(set.name, set.rows))
			sets, all = append(sets, set), append(all, set.rows...)
		}
		table.WriteString(scoreRow("all of them", all))
		beside.WriteString(besideBaselines(append(sets, labelledSet{"all of them", all})))
		rate = float64(len(all)) / took
	}
	b.ReportMetric(rate, "claims/s")
	b.Logf("\n%s\n%s", table.String(), beside.String())
	if *update {
		fill(b, "../docs/evidence.md", "public claims", table.String())
		fill(b, "../docs/evidence.md", "grounding", beside.String())
	}
}

// fill writes a table into a document.
func fill(b *testing.B, path, name, table string) {
	b.Helper()
	document := must.Get(os.ReadFile(path))(b)
	filled := must.Get(docs.Fill(string(document), name, table))(b)
	must.Do(b, os.WriteFile(path, []byte(filled), 0o644))
}

// ground has the program judge the claims, and returns the seconds that it took.
func ground(b *testing.B, binary string, rows []labelled) float64 {
	b.Helper()
	var asked bytes.Buffer
	for _, row := range rows {
		row.Label = ""
		line := must.Get(json.Marshal(row))(b)
		asked.Write(append(line, '\n'))
	}
	cmd := exec.Command(binary, "ground", "--claims", "-")
	cmd.Stdin, cmd.Stderr = &asked, os.Stderr
	begin := time.Now()
	out := must.Get(cmd.Output())(b)
	took := time.Since(begin).Seconds()
	lines := json.NewDecoder(bytes.NewReader(out))
	for i := range rows {
		var said struct {
			ID, Standing string
			Windows      []struct{ Reference, Start, End int }
		}
		if err := lines.Decode(&said); err != nil || said.ID != rows[i].ID {
			b.Fatalf("line %d is about %q: %v", i+1, said.ID, err)
		}
		rows[i].standing, rows[i].windows = said.Standing, said.Windows
	}
	return took
}

func scoreRow(name string, rows []labelled) string {
	count := map[bool]map[string]int{true: {}, false: {}} // by label
	total := map[bool]int{}
	held, measured, wide := 0.0, 0, 0
	for _, row := range rows {
		supported := row.Label == "attributable"
		total[supported]++
		count[supported][row.standing]++
		if share, ok := row.held(); supported && ok {
			held += share
			measured++
			if share >= 0.9 {
				wide++
			}
		}
	}
	share := func(supported bool, standings ...string) string {
		n := 0
		for _, s := range standings {
			n += count[supported][s]
		}
		return fmt.Sprintf("%.3f", float64(n)/float64(total[supported]))
	}
	return fmt.Sprintf("| %s | %d | %s | %s | %s | %s | %.3f | %.3f of %d |\n", name, len(rows), share(false, "missing"), share(false, "missing", "weak"), share(true, "missing"), share(true, "missing", "weak"),
		held/float64(max(1, measured)), float64(wide)/float64(max(1, measured)), measured)
}

// longPage is how many words the references of a claim have at least of which windows
// are a choice.
const longPage = 400

// held is the share of the words of a claim, among those that its references have, that
// stand in its windows; ok is false for references that the windows nearly cover.
func (l labelled) held() (share float64, ok bool) {
	on, in := map[string]bool{}, map[string]bool{}
	words := 0
	for _, reference := range l.References {
		words += page.CountWords(reference)
		addWords(on, reference)
	}
	for _, w := range l.windows {
		if w.End > len(l.References[w.Reference]) {
			return 0, false // it was read as a page
		}
		addWords(in, l.References[w.Reference][w.Start:w.End])
	}
	asked, stand := map[string]bool{}, 0
	addWords(asked, l.Claim)
	for word := range asked {
		if !on[word] {
			delete(asked, word)
		} else if in[word] {
			stand++
		}
	}
	return float64(stand) / float64(len(asked)), words >= longPage && len(asked) > 0
}

// addWords adds the words of a text that have four letters or digits.
func addWords(to map[string]bool, text string) {
	page.EachFolded(text, func(word []byte, _ int) {
		if len(word) >= 4 {
			to[string(word)] = true
		}
	})
}
