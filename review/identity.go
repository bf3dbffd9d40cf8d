package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Identify gives every issue its id, in the order of the issues. The id comes from
// category, file and title, whatever their letter case and spacing. It stays the
// same when issues are re-ordered, when lines move, even where a title names them,
// and when the severity or the wording of the description changes. Issues that
// share all three are numbered by their other content.
func Identify(issues []Issue) []Finding {
	identified := make([]Finding, len(issues))
	same := map[string][]int{}
	for i, issue := range issues {
		id := identity(issue)
		identified[i] = Finding{ID: id, Issue: issue}
		same[id] = append(same[id], i)
	}
	for i := range identified {
		group := same[identified[i].ID]
		if len(group) < 2 || group[0] != i {
			continue
		}
		slices.SortStableFunc(group, func(a, b int) int { return byContent(issues[a], issues[b]) })
		for n, at := range group[1:] {
			identified[at].ID = fmt.Sprintf("%s-%d", identified[group[0]].ID, n+2)
		}
	}
	return identified
}

var (
	lineInTitle = pattern(`\b(lines?|l\.) ?[0-9]+(?: ?[-–,] ?[0-9]+)*`)
	lineInFile  = pattern(`(?::[0-9]+)+$`)
)

func identity(issue Issue) string {
	title := lineInTitle().ReplaceAllString(strings.ToLower(cleanLine(issue.Title)), "$1")
	file := strings.ReplaceAll(cleanLine(issue.File), `\`, "/")
	file = strings.TrimPrefix(lineInFile().ReplaceAllString(file, ""), "./")
	sum := sha256.Sum256([]byte(strings.ToLower(cleanLine(issue.Category)) + "\x00" + file + "\x00" + title))
	return hex.EncodeToString(sum[:6])
}

// byContent is an order that does not depend on where the issues stood.
func byContent(a, b Issue) int {
	return cmp.Or(
		cmp.Compare(cleanText(a.Description), cleanText(b.Description)),
		cmp.Compare(cleanText(a.Recommendation), cleanText(b.Recommendation)),
		cmp.Compare(rank(a.Severity), rank(b.Severity)),
		cmp.Compare(lineOrZero(a), lineOrZero(b)),
	)
}

func lineOrZero(issue Issue) int64 {
	if issue.Line == nil {
		return 0
	}
	return *issue.Line
}

// Difference is what became of the issues from one review to the next.
type Difference struct {
	New   []Finding `json:"new"`         // only in the later review
	Still []Finding `json:"still_there"` // in both, as the later one has it
	Gone  []Finding `json:"gone"`        // only in the earlier review
}

// Diff compares the issues of two reviews by their ids. Issues stand in the
// order of the review that they are taken from.
func Diff(earlier, later []Issue) Difference { return DiffOf(Identify(earlier), Identify(later)) }

// DiffOf is [Diff] of issues that have their ids.
func DiffOf(before, after []Finding) Difference {
	d := Difference{New: []Finding{}, Still: []Finding{}, Gone: []Finding{}}
	known, kept := ids(before), ids(after)
	for _, issue := range after {
		if known[issue.ID] {
			d.Still = append(d.Still, issue)
		} else {
			d.New = append(d.New, issue)
		}
	}
	for _, issue := range before {
		if !kept[issue.ID] {
			d.Gone = append(d.Gone, issue)
		}
	}
	return d
}

func ids(issues []Finding) map[string]bool {
	set := make(map[string]bool, len(issues))
	for _, issue := range issues {
		set[issue.ID] = true
	}
	return set
}
