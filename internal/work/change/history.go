package change

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// historyDir holds every review of a change under its number: the newest is
// what REVIEW.md says.
const historyDir = "reviews"

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^0*([1-9][0-9]{0,8})\.md$`) })

func historyName(number int) string { return fmt.Sprintf("%s/%04d.md", historyDir, number) }
func sidecarName(number int) string { return fmt.Sprintf("%s/%04d.json", historyDir, number) }

// history lists the numbers of the kept reviews, in order.
func history(f *artifact.Folder) ([]int, error) {
	list, err := f.List(historyDir)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, entry := range list {
		m := numbered().FindStringSubmatch(entry.Name())
		if m == nil {
			continue
		}
		number, err := strconv.Atoi(m[1])
		if err == nil && historyName(number) == historyDir+"/"+entry.Name() {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func lastOf(numbers []int) int {
	if len(numbers) == 0 {
		return 0
	}
	return numbers[len(numbers)-1]
}

// kept is one review of a change.
type kept struct {
	number int
	name   string // of its file in the change folder
	data   []byte
}

// reviews reads all reviews of a change, oldest first. A REVIEW.md that is not
// the newest kept one, because it was written by other means, is the last, with
// the number that it will be kept under.
func reviews(f *artifact.Folder) ([]kept, error) {
	numbers, err := history(f)
	if err != nil {
		return nil, err
	}
	var all []kept
	for _, number := range numbers {
		data, err := f.Read(historyName(number))
		if err != nil {
			return nil, err
		}
		all = append(all, kept{number, historyName(number), data})
	}
	current, err := readIfThere(f, reviewFile)
	if err != nil {
		return nil, err
	}
	if current != nil && (len(all) == 0 || !bytes.Equal(all[len(all)-1].data, current)) {
		all = append(all, kept{lastOf(numbers) + 1, reviewFile, current})
	}
	return all, nil
}

// Reviews lists the reviews of a change, oldest first. It returns INVALID_ARGS
// for a bad id, NOT_FOUND when there is no such change, and READ_FAILED.
func Reviews(desk run.Desk, project, id string) (ReviewList, error) {
	folder, err := open(desk, project, id)
	if err != nil {
		return ReviewList{}, err
	}
	defer folder.Close()
	all, err := reviews(folder)
	if err != nil {
		return ReviewList{}, err
	}
	list := ReviewList{ChangeID: id, Reviews: []ReviewEntry{}}
	for _, r := range all {
		shown := review.Show(filepath.Join(folder.Path(), filepath.FromSlash(r.name)), r.data)
		beside, _ := readSidecar(folder, r.number) // a review that came by other means has none
		list.Reviews = append(list.Reviews, ReviewEntry{
			Number: r.number, Commit: textOf(beside.Commit), CreatedAt: beside.CreatedAt, Path: shown.ReviewPath,
			Verdict: shown.Verdict, AgentdVerdict: shown.AgentdVerdict,
			Complete: shown.Complete, Issues: shown.Counts,
		})
	}
	return list, nil
}

// ReviewDiff compares two reviews of a change by the ids of their issues. From
// and to are numbers of [Reviews]; a to of 0 is the newest, a from of 0 the one
// before to. Before the first review there are no issues.
//
// It returns INVALID_ARGS for a bad id or a number below 0, NOT_FOUND when there
// is no such change or review, and INVALID_STATE when the issues of a review
// cannot be read because tidegate did not write it.
func ReviewDiff(desk run.Desk, project, id string, from, to int) (DiffResult, error) {
	for _, number := range []struct {
		name  string
		value int
	}{{"from", from}, {"to", to}} {
		if number.value < 0 {
			return DiffResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(number.name, number.value),
				"%s must be the number of a review, got %d", number.name, number.value)
		}
	}
	folder, err := open(desk, project, id)
	if err != nil {
		return DiffResult{}, err
	}
	defer folder.Close()
	all, err := reviews(folder)
	if err != nil {
		return DiffResult{}, err
	}
	if len(all) == 0 {
		path := filepath.Join(folder.Path(), reviewFile)
		return DiffResult{}, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("review_path", path), "the change has no review: %s", path)
	}
	if to == 0 {
		to = all[len(all)-1].number
	}
	later, err := issuesOf(all, id, "to", to)
	if err != nil {
		return DiffResult{}, err
	}
	var earlier []review.Issue
	if from == 0 {
		from = before(all, to)
	}
	if from != 0 {
		if earlier, err = issuesOf(all, id, "from", from); err != nil {
			return DiffResult{}, err
		}
	}
	return DiffResult{ChangeID: id, Reviews: []string{}, From: from, To: to, Difference: review.Diff(earlier, later)}, nil
}

// before is the number of the review before another, 0 when that is the first.
func before(all []kept, number int) int {
	i := slices.IndexFunc(all, func(r kept) bool { return r.number == number })
	if i < 1 {
		return 0
	}
	return all[i-1].number
}

func issuesOf(all []kept, id, arg string, number int) ([]review.Issue, error) {
	i := slices.IndexFunc(all, func(r kept) bool { return r.number == number })
	if i < 0 {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs(arg, number), "change %s has no review %d", id, number)
	}
	reading := review.Read(all[i].data)
	if !reading.Complete {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs(arg, number, "problems", reading.Problems),
			"the issues of review %d cannot be read: tidegate did not write it as it is", number)
	}
	return reading.Payload.Issues, nil
}
