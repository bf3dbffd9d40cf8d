package reading_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/test/must"
	scripted "github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// world is a small web about which everything is known: pages of sentences with names,
// numbers and years, and a report that repeats some of them.
type world struct {
	pages  map[string]string // by cid
	bases  []reading.Base
	report evidence.Report
	claims evidence.Claims
	held   []claim.Judgement
	known  sync.Map // judgements by text and cids
}

func newWorld(t testing.TB, seed uint64, sentences int) *world {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	word := func(list string) string {
		all := strings.Fields(list)
		return all[r.IntN(len(all))]
	}
	syllables := "ka ro vel mun dra sil tho bre nag lis por tem ul fen gra hol"
	place := func() string {
		name := word(syllables) + word(syllables) + word("burg holm stad mouth field by")
		return strings.ToUpper(name[:1]) + name[1:]
	}
	noun := func() string { return word(syllables) + word(syllables) + word("er ing age ment ism ware") }
	w := &world{pages: map[string]string{}}
	var draft strings.Builder
	draft.WriteString("## Evidence\n\n")
	for i := range max(3, sentences/8+1) {
		cid := fmt.Sprintf("s%d", i+1)
		var lines []string
		for k := range 24 {
			text := fmt.Sprintf("In %d the %s of %s %s the %s by %d %ss while %s %s %s.", 1900+r.IntN(120), noun(), place(),
				word("increased decreased improved strengthened opened supported"), noun(), 11+r.IntN(900), noun(), place(),
				word("kept lost gained rejected accepted"), noun())
			lines = append(lines, text)
			if k%3 > 0 {
				w.bases = append(w.bases, reading.Base{Text: text, CIDs: []string{cid}, Page: true})
			} else if len(strings.Split(draft.String(), "[@")) <= sentences {
				fmt.Fprintf(&draft, "%s [@%s].\n\n", strings.TrimSuffix(text, "."), cid)
			}
		}
		w.pages[cid] = strings.Join(lines, " ")
	}
	w.report = evidence.Read(markdown.Read([]byte(draft.String())), evidence.Facts{Template: evidence.Briefing, Language: "en"})
	if len(w.report.Faults) > 0 || len(w.report.Sentences) != sentences {
		t.Fatalf("%d sentences: %v", len(w.report.Sentences), w.report.Faults)
	}
	var err error
	if w.held, err = w.report.Hold(t.Context(), "en", w.page, claim.Titles{}); err != nil {
		t.Fatal(err)
	}
	w.claims = evidence.Assemble(w.report, "sha256:0", nil, w.held, nil)
	return w
}

func (w *world) page(cid string) (*claim.Page, error) {
	return &claim.Page{CID: cid, Text: w.pages[cid], Title: "Page " + cid, Language: "en"}, nil
}

func (w *world) material() reading.Material {
	m := reading.Material{Language: "en", Bases: w.bases, Text: func(cid string) string { return w.pages[cid] },
		Windows: func(text string, cids []string) ([]claim.Window, error) {
			held, err := claim.Judge(context.Background(), []claim.Question{{Text: text, Language: "en", CIDs: cids}}, w.page, claim.Titles{})
			if err != nil {
				return nil, err
			}
			return held[0].Windows, nil
		}}
	for _, s := range w.claims.Sentences {
		m.Report = append(m.Report, s.Text)
	}
	return m
}

func seedOf(n uint64) (seed [reading.SeedSize]byte) {
	return reading.PinnedSeed("verify", int(n), "sha256:0")
}

func plant(t testing.TB, p reading.Part, seed uint64, m reading.Material) reading.Asked {
	t.Helper()
	asked := must.Get(reading.Plant(p, seedOf(seed), m))(t)
	return asked
}

// reader answers claim by claim.
type reader func(i reading.Item) (supported bool)

// answer is what a reader says of a part: its words are those of the nearest sentence.
func (read reader) answer(a reading.Asked) []byte {
	var verdicts []map[string]any
	for i, item := range a.Items {
		v := map[string]any{"claim": i + 1, "verdict": evidence.Unsupported, "because": "no passage says it"}
		if read(item) {
			var passages []string
			for _, w := range item.Windows {
				passages = append(passages, w.Text)
			}
			passage, words := scripted.Words(item.Text, passages)
			v = map[string]any{"claim": i + 1, "verdict": evidence.Supported, "passage": passage, "words": words}
		}
		verdicts = append(verdicts, v)
	}
	data, _ := codec.Marshal(map[string]any{"verdicts": verdicts})
	return data
}

// honest knows what is planted.
func honest(i reading.Item) bool { return i.ID != "" }
