// Package sample makes waves of any size for measurements: perspectives.json
// and one output per perspective. The same wave always has the same bytes.
package sample

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// Wave says what to make.
type Wave struct {
	Outputs  int
	Words    int     // of each output, approximately
	NonASCII float64 // share of words with letters outside ASCII
	Failing  float64 // share of outputs that break their contract
}

// Write makes perspectives.json and wave-1/<id>.md in dir, which must exist.
func (w Wave) Write(dir string) error {
	outputs := filepath.Join(dir, "wave-1")
	if err := os.MkdirAll(outputs, 0o700); err != nil {
		return err
	}
	if err := w.writePerspectives(filepath.Join(dir, "perspectives.json")); err != nil {
		return err
	}
	for i := range w.Outputs {
		if err := os.WriteFile(filepath.Join(outputs, id(i)+".md"), w.output(i), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func id(i int) string { return fmt.Sprintf("p%05d", i) }

type contract struct {
	MaxWords   int            `json:"max_words"`
	MaxSources int            `json:"max_sources"`
	ToolBudget map[string]int `json:"tool_budget"`
	Sections   []string       `json:"must_include_sections"`
}

type perspective struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Track     string   `json:"track"`
	AgentType string   `json:"agent_type"`
	Contract  contract `json:"prompt_contract"`
}

func (w Wave) writePerspectives(path string) error {
	list := make([]perspective, w.Outputs)
	for i := range list {
		list[i] = perspective{
			ID: id(i), Title: fmt.Sprintf("Perspective %d of the question", i), Track: "standard", AgentType: "researcher",
			Contract: contract{
				MaxWords: w.Words + w.Words/5, MaxSources: 12,
				ToolBudget: map[string]int{"search": 10}, Sections: []string{"Summary", "Findings", "Gaps", "Sources"},
			},
		}
	}
	data, err := codec.MarshalFile(struct {
		SchemaVersion string        `json:"schema_version"`
		RunID         string        `json:"run_id"`
		CreatedAt     string        `json:"created_at"`
		Perspectives  []perspective `json:"perspectives"`
	}{"perspectives.v1", "bench", "2026-01-02T15:04:05Z", list})
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

var (
	plain = strings.Fields(`the of measured estimate throughput and latency comparison documentation between releases a
		considerable improvement regression benchmark deployment in production environments reported independently by
		maintainers evidence suggests that incremental compilation dominates remaining overhead which nevertheless
		contradicts earlier observations configuration dependencies infrastructure approximately percent however`)
	accented = strings.Fields(`Überprüfung naïveté señalización größenordnung données référence измерение оценка 測定 性能 ελάχιστο “quoted” co‑operation café`)
)

// writer writes words in lines and paragraphs.
type writer struct {
	buf    []byte
	rng    *rand.Rand
	share  float64
	words  int
	column int
}

func (w Wave) output(i int) []byte {
	o := &writer{rng: rand.New(rand.NewPCG(uint64(i), 1)), share: w.NonASCII}
	failing := o.rng.Float64() < w.Failing
	body := w.Words - 41 // headings, fence and sources make up the rest
	o.raw(fmt.Sprintf("# Output of %s\n\n## Summary\n\n", id(i)))
	o.paragraph(body / 6)
	o.raw("## Findings\n\n")
	for o.words < body*3/4 {
		o.paragraph(60)
		for range 3 {
			o.raw("- ")
			o.paragraph(16)
		}
	}
	o.raw("```sh\n# this is no heading\nmake bench | tee result.txt\n```\n\n> ")
	o.paragraph(20)
	if !failing {
		o.raw("## Gaps\n\n")
	}
	for n := 0; o.words < body; n++ {
		o.raw(fmt.Sprintf("- (P%d) ", n%4))
		o.paragraph(14)
	}
	o.raw("## Sources\n\n")
	for n := range 9 {
		o.raw(fmt.Sprintf("- Report %d https://www.example.org/archive/%s/measurements-%d.html\n", n, id(i), o.rng.IntN(1e6)))
	}
	return o.buf
}

func (o *writer) raw(text string) {
	o.buf = append(o.buf, text...)
	o.words += len(strings.Fields(text))
}

// paragraph writes n words in lines of about 90 columns, and a blank line.
func (o *writer) paragraph(n int) {
	o.column = 0
	for i := range n {
		list := plain
		if o.rng.Float64() < o.share {
			list = accented
		}
		word := list[o.rng.IntN(len(list))]
		o.buf = append(o.buf, word...)
		o.words++
		o.column += len(word) + 1
		switch {
		case i == n-1:
			o.buf = append(o.buf, ".\n\n"...)
		case o.column > 90:
			o.buf = append(o.buf, '\n')
			o.column = 0
		default:
			o.buf = append(o.buf, ' ')
		}
	}
}
