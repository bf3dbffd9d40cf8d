package claim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
)

// prose makes pages of sentences about a port, some with numbers, dates and names, and
// claims that are on them.
type prose struct {
	*rand.Rand
	words []string
}

func newProse(seed uint64) prose {
	p := prose{Rand: rand.New(rand.NewPCG(seed, 7))}
	for range 4000 {
		var b strings.Builder
		for range 2 + p.IntN(3) {
			b.WriteString([]string{"ha", "ri", "to", "mes", "lun", "gar", "ve", "sol", "pin", "dor", "ke", "bal"}[p.IntN(12)])
		}
		p.words = append(p.words, b.String())
	}
	return p
}

func (p prose) sentence() string {
	var words []string
	for range 8 + p.IntN(14) {
		word := p.words[p.IntN(len(p.words))]
		switch p.IntN(100) {
		case 0, 1:
			word = fmt.Sprintf("%d,%03d", 1+p.IntN(99), p.IntN(1000))
		case 2:
			word = fmt.Sprintf("%d March %d", 1+p.IntN(28), 1980+p.IntN(40))
		case 3, 4, 5, 6, 7, 8:
			word = strings.ToUpper(word[:1]) + word[1:]
		default:
			if p.IntN(3) > 0 {
				break
			}
			word = []string{"the", "of", "and", "in", "was", "which"}[p.IntN(6)]
		}
		words = append(words, word)
	}
	return "The " + strings.Join(words, " ") + "."
}

func (p prose) page(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(p.sentence())
		b.WriteString([]string{" ", " ", " ", "\n"}[p.IntN(4)])
	}
	return b.String()
}

// BenchmarkJudge judges claims one by one, each on a page of 8 kB of its own, on one
// core.
func BenchmarkJudge(b *testing.B) {
	p := newProse(1)
	var pages []string
	var sentences []claim.Question
	for range 100 {
		pages = append(pages, p.page(8<<10))
		sentences = append(sentences, claim.Question{Text: p.sentence(), CIDs: []string{"a"}})
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	n := 0
	for b.Loop() {
		at := n % len(pages)
		judge(b, sentences[at:at+1], func(string) string { return pages[at] })
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "claims/s")
}

// BenchmarkReport prepares a report: windows and rules of its sentences on pages of
// 60 kB.
func BenchmarkReport(b *testing.B) {
	for _, size := range []struct{ sentences, pages int }{{250, 50}, {1000, 200}, {2000, 400}} {
		b.Run(fmt.Sprintf("%d-on-%d", size.sentences, size.pages), func(b *testing.B) {
			p := newProse(2)
			texts := map[string]string{}
			for i := range size.pages {
				texts[fmt.Sprint(i)] = p.page(60 << 10)
			}
			var sentences []claim.Question
			for i := range size.sentences {
				sentences = append(sentences, claim.Question{Text: p.sentence(), CIDs: []string{fmt.Sprint(i % size.pages), fmt.Sprint((i * 7) % size.pages)}})
			}
			b.ReportAllocs()
			for b.Loop() {
				judge(b, sentences, func(cid string) string { return texts[cid] })
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
		})
	}
}

func judge(t testing.TB, sentences []claim.Question, text func(cid string) string) []claim.Judgement {
	t.Helper()
	found := must.Get(claim.Judge(context.Background(), sentences, func(cid string) (*claim.Page, error) { return &claim.Page{CID: cid, Text: text(cid)}, nil }, claim.Titles{}))(t)
	return found
}
