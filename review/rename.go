package review

import (
	"cmp"
	"slices"
	"strings"
)

// The limits of the search for renamed files.
const (
	mostPairs = 40_000 // of a file that is gone and one that is new
	alike     = 0.5    // how much of the larger file must stand in both
)

// JoinRenames makes one file of a deleted and an added one that have at least half
// of their text in common, so that a reviewer sees what was edited and not the whole
// text twice. The most similar go first. The files stay in order.
func JoinRenames(files []File) []File {
	var gone, added []int
	for i, f := range files {
		switch {
		case f.From != "" || len(f.Before)+len(f.After) == 0:
		case f.After == nil:
			gone = append(gone, i)
		case f.Before == nil:
			added = append(added, i)
		}
	}
	if len(gone)*len(added) > mostPairs {
		return files
	}
	lines := make([]map[string]int, len(gone))
	for i, from := range gone {
		lines[i] = countLines(files[from].Before)
	}
	type pair struct {
		from, to int
		score    float64
	}
	var pairs []pair
	for _, to := range added {
		for i, from := range gone {
			if score := similar(files[from].Before, files[to].After, lines[i]); score >= alike {
				pairs = append(pairs, pair{from, to, score})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.score, a.score) })
	joined := map[int]bool{}
	files = slices.Clone(files)
	for _, p := range pairs {
		if joined[p.from] || joined[p.to] {
			continue
		}
		joined[p.from], joined[p.to] = true, true
		f := &files[p.to]
		f.From, f.Before, f.ModeBefore = files[p.from].Name, files[p.from].Before, files[p.from].ModeBefore
	}
	kept := files[:0]
	for i, f := range files {
		if f.After != nil || !joined[i] {
			kept = append(kept, f)
		}
	}
	return kept
}

func countLines(text []byte) map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts[line]++
	}
	return counts
}

// similar is how much of the larger of two texts stands in both, from 0 to 1. Lines
// are those of before.
func similar(before, after []byte, lines map[string]int) float64 {
	largest := max(len(before), len(after))
	if float64(min(len(before), len(after))) < alike*float64(largest) {
		return 0
	}
	common, used := 0, map[string]int{}
	for line := range strings.Lines(string(after)) {
		if used[line] < lines[line] {
			used[line]++
			common += len(line)
		}
	}
	return float64(common) / float64(largest)
}
