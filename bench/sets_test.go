//go:build bench

package bench_test

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// labelledSet is a public set of claims.
type labelledSet struct {
	name string
	rows []labelled
}

// knownSets are the files of ../shared/grounding, in the order of the tables.
var knownSets = []struct{ file, name string }{{"ab_dev", "AttributionBench"}, {"wice_dev", "WiCE"}, {"se_dev", "SummEdits"}, {"fact_dev", "FACT"}}

// setsIn reads the files of JSON lines in a folder, packed by gzip or not: those of
// ../shared/grounding by their names, any other as a set that is called as its file is.
func setsIn(b *testing.B, folder string) (sets []labelledSet) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl*"))
	if err != nil || len(files) == 0 {
		b.Fatalf("%s has no files of JSON lines: %v", folder, err)
	}
	files = slices.DeleteFunc(files, func(file string) bool { return strings.Contains(setName(file), "_support") }) // passages that people marked
	rank := func(file string) int {
		return slices.IndexFunc(knownSets, func(s struct{ file, name string }) bool { return s.file == setName(file) })
	}
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	for _, file := range files {
		name := setName(file)
		if i := rank(file); i >= 0 {
			name = knownSets[i].name
		}
		sets = append(sets, labelledSet{name, readLabelled(b, file)})
	}
	return sets
}

func setName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".jsonl")
}

// original is a row as the sets publish it: AttributionBench has claim, references and
// attribution_label; WiCE claim, evidence and label; SummEdits summary, doc and label.
type original struct {
	ID               any      `json:"id"`
	Claim            string   `json:"claim"`
	Summary          string   `json:"summary"`
	References       []string `json:"references"`
	Evidence         []string `json:"evidence"`
	Doc              string   `json:"doc"`
	AttributionLabel string   `json:"attribution_label"`
	Label            any      `json:"label"`
}

// labelled is the row as it is measured. What is partly supported counts as not.
func (o original) labelled(number int) (labelled, error) {
	l := labelled{ID: fmt.Sprint(number), Claim: cmp.Or(o.Claim, o.Summary), References: o.References, Label: o.AttributionLabel}
	switch {
	case o.Doc != "":
		l.References = []string{o.Doc}
	case len(o.Evidence) > 0:
		l.References = []string{strings.Join(o.Evidence, " ")}
	}
	switch o.Label {
	case "supported", 1.0, "1":
		l.Label = "attributable"
	case "partially_supported", "not_supported", 0.0, "0":
		l.Label = "not attributable"
	}
	if l.Claim == "" || len(l.References) == 0 || l.Label == "" {
		return l, fmt.Errorf("row %d has no claim, no text or no label", number)
	}
	return l, nil
}

func readLabelled(b *testing.B, file string) (rows []labelled) {
	b.Helper()
	f, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var text io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			b.Fatal(err)
		}
	}
	for lines := json.NewDecoder(text); ; {
		var o original
		if err := lines.Decode(&o); err == io.EOF {
			return rows
		} else if err != nil {
			b.Fatalf("%s: %v", file, err)
		}
		row, err := o.labelled(len(rows) + 1)
		if err != nil {
			b.Fatalf("%s: %v", file, err)
		}
		rows = append(rows, row)
	}
}
