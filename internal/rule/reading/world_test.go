package reading_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// world is a small web about which everything is known: pages of sentences with names,
// numbers and years, and a report that repeats some of them.
type world struct {
	pages  map[string]string // by cid
	lies   map[string]bool   // by id
	report evidence.Report
	claims evidence.Claims
	held   []claim.Judgement
}

// newWorld makes a report of some sentences, of which so many are lies made of words of the
// pages.
func newWorld(t testing.TB, seed uint64, sentences, lies int) *world {
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
	w := &world{pages: map[string]string{}, lies: map[string]bool{}}
	var told []string
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
			if n := len(told); k%3 == 0 && n < sentences {
				told = append(told, text)
				if n%(sentences/max(lies, 1)+1) == 1 && len(w.lies) < lies {
					text = w.lie(r, text)
					w.lies[fmt.Sprintf("c%d", n+1)] = true
				}
				fmt.Fprintf(&draft, "%s [@%s]\n\n", text, cid)
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

// lie is a sentence of a page with another of its numbers or its opposite in it.
func (w *world) lie(r *rand.Rand, text string) string {
	fields := strings.Fields(text)
	switch r.IntN(3) {
	case 0: // In 1950 the noun of Place increased the noun by 40 nouns while Other lost noun.
		fields[5], fields[13] = fields[13], fields[5]
	case 1:
		fields[10] = fmt.Sprint(11 + r.IntN(900))
	default:
		fields[6] = map[string]string{"increased": "decreased", "decreased": "increased"}[fields[6]]
		if fields[6] == "" {
			fields[6] = "never"
		}
	}
	return strings.Join(fields, " ")
}

// questions are what readers are asked of the report.
func (w *world) questions(seed uint64) *reading.Questions {
	claims := w.claims
	claims.Sentences = slices.Clone(claims.Sentences)
	q := &reading.Questions{Claims: &claims, Seed: reading.PinnedSeed(int64(seed), "sha256:0"), Material: reading.Material{Language: "en", Text: func(cid string) string { return w.pages[cid] }}}
	q.Further = func(id string) []claim.Window {
		i := slices.IndexFunc(claims.Sentences, func(c evidence.Claim) bool { return c.ID == id })
		return w.held[i].Further(w.held[i].Windows)
	}
	q.SetParts()
	return q
}

// true reports whether a claim stands on its pages.
func (w *world) isTrue(i reading.Item) bool {
	for _, page := range w.pages {
		if strings.Contains(page, i.Text) {
			return true
		}
	}
	return false
}

// reader answers claim by claim.
type reader func(i reading.Item) (supported bool)

// answer is what a reader says of a part: its words are those of the nearest sentence.
func (read reader) answer(a reading.Asked) []byte {
	var verdicts []map[string]any
	for i, item := range a.Items {
		v := map[string]any{"claim": i + 1, "verdict": evidence.Unsupported, "because": "no passage says it"}
		if read(item) {
			v = map[string]any{"claim": i + 1, "verdict": evidence.Supported, "passage": 1, "words": item.Windows[0].Text}
		}
		verdicts = append(verdicts, v)
	}
	data, _ := codec.Marshal(map[string]any{"verdicts": verdicts})
	return data
}
