//go:build bench

package bench_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// baseline is a way to judge a claim by its words alone: the lower its score, the less of
// the claim is on the page.
type baseline struct {
	name  string
	score func(l labelled) float64
}

// baselines are what people would try first.
var baselines = []baseline{
	{"every number of the claim stands on the page", numbersThere},
	{"share of its words on the page", func(l labelled) float64 { return shareOf(grams(l.Claim, 1), grams(l.text(), 1)) }},
	{"share of its pairs of words on the page", func(l labelled) float64 { return shareOf(grams(l.Claim, 2), grams(l.text(), 2)) }},
	{"share of its words in the best three sentences, rare words more", bestSentences},
}

func (l labelled) text() string { return strings.Join(l.References, "\n") }

// numbersThere is 1 where every run of digits of the claim stands on the page, else 0.
func numbersThere(l labelled) float64 {
	text := l.text()
	for _, number := range strings.FieldsFunc(l.Claim, func(r rune) bool { return r < '0' || r > '9' }) {
		if !strings.Contains(text, number) {
			return 0
		}
	}
	return 1
}

// grams are the runs of n words of a text.
func grams(text string, n int) map[string]bool {
	var words []string
	page.EachFolded(text, func(word []byte, _ int) { words = append(words, string(word)) })
	all := map[string]bool{}
	for i := 0; i+n <= len(words); i++ {
		all[strings.Join(words[i:i+n], " ")] = true
	}
	return all
}

func shareOf(asked, there map[string]bool) float64 {
	if len(asked) == 0 {
		return 1
	}
	found := 0
	for gram := range asked {
		if there[gram] {
			found++
		}
	}
	return float64(found) / float64(len(asked))
}

// bestSentences weighs each word by how few sentences of the page have it, and takes the
// best three sentences in a row.
func bestSentences(l labelled) float64 {
	text := l.text()
	var sentences []map[string]bool
	in := map[string]int{}
	for _, at := range sentence.Split(text, "en") {
		words := grams(text[at.Start:at.End], 1)
		for word := range words {
			in[word]++
		}
		sentences = append(sentences, words)
	}
	asked := grams(l.Claim, 1)
	weight := func(word string) float64 { return math.Log(float64(len(sentences)+1)/float64(in[word]+1)) + 0.1 }
	total, best := 0.0, 0.0
	for word := range asked {
		total += weight(word)
	}
	for i := range sentences {
		found := 0.0
		for word := range asked {
			for _, s := range sentences[i:min(i+3, len(sentences))] {
				if s[word] {
					found += weight(word)
					break
				}
			}
		}
		best = max(best, found)
	}
	if total == 0 {
		return 1
	}
	return best / total
}

// besideBaselines is the table of the rules beside the baselines. The threshold of a
// baseline is chosen on the same claims, so that over all sets together it raises as many
// false alarms as the rules do: no choice is better for it at that price.
func besideBaselines(sets []labelledSet) string {
	all := sets[len(sets)-1].rows
	allowed := 0
	for _, row := range all {
		if row.supported() && row.standing != "found" && row.standing != "unchecked" {
			allowed++
		}
	}
	var table strings.Builder
	table.WriteString("| set | claims | checked | judged by | found | false alarms | precision | balanced accuracy | macro F1 |\n| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n")
	type judge struct {
		name  string
		alarm func(l labelled) bool
	}
	judges := []judge{
		{"tidegate, faults", func(l labelled) bool { return l.standing == "missing" }},
		{"tidegate, faults and weak", func(l labelled) bool { return l.standing == "missing" || l.standing == "weak" }},
	}
	for i, base := range baselines {
		limit := threshold(all, i, allowed)
		judges = append(judges, judge{base.name, func(l labelled) bool { return l.scores[i] < limit }})
	}
	for _, set := range sets {
		checked := 0
		for _, row := range set.rows {
			if row.standing != "unchecked" {
				checked++
			}
		}
		for i, j := range judges {
			name, size, looked := "", "", ""
			if i == 0 {
				name, size, looked = set.name, fmt.Sprint(len(set.rows)), fmt.Sprintf("%.3f", float64(checked)/float64(len(set.rows)))
			}
			fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", name, size, looked, j.name, measured(set.rows, j.alarm))
		}
	}
	return table.String()
}

// threshold is the highest one by which a score raises no more false alarms than allowed.
// Scores of few values, such as yes and no, may raise more or fewer.
func threshold(rows []labelled, baseline, allowed int) float64 {
	var scores []float64
	for _, row := range rows {
		if row.supported() {
			scores = append(scores, row.scores[baseline])
		}
	}
	slices.Sort(scores)
	if distinct := slices.Compact(slices.Clone(scores)); len(distinct) <= 2 {
		return distinct[len(distinct)-1]
	}
	return scores[min(allowed, len(scores)-1)]
}

func (l labelled) supported() bool { return l.Label == "attributable" }

// measured are the figures of one judge on one set, as cells of a table.
func measured(rows []labelled, alarm func(labelled) bool) string {
	var hit, missed, falsely, quiet float64
	for _, row := range rows {
		switch raised := alarm(row); {
		case raised && !row.supported():
			hit++
		case raised:
			falsely++
		case row.supported():
			quiet++
		default:
			missed++
		}
	}
	recall, alarms := hit/(hit+missed), falsely/(falsely+quiet)
	precision := hit / max(1, hit+falsely)
	f1 := func(right, wrong, left float64) float64 { return 2 * right / max(1, 2*right+wrong+left) }
	return fmt.Sprintf("%.3f | %.3f | %.3f | %.3f | %.3f", recall, alarms, precision, (recall+1-alarms)/2, (f1(hit, falsely, missed)+f1(quiet, missed, falsely))/2)
}
