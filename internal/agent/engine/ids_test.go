package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

var (
	shownBug   = regexp.MustCompile(`(?m)^ *([0-9]+) [ +]\| .*BUG ([a-z]+)`)
	shownName  = regexp.MustCompile(`(?m)^==== (\S+) \(`)
	earlierBug = regexp.MustCompile(`(?m)^- id ([0-9a-f]+), title Bug ([a-z]+)`)
)

// finds reports every line that says BUG, at the number that it is shown with. What
// it found before it words differently, and names by its id.
func finds(task driver.Task, round int) string {
	before := map[string]string{}
	for _, m := range earlierBug.FindAllStringSubmatch(task.Prompt, -1) {
		before[m[2]] = m[1]
	}
	var issues []string
	diff, _, _ := strings.Cut(task.Prompt, "\n## The tests\n") // the code around earlier issues comes later
	for i, part := range strings.Split(diff, "\n==== ")[1:] {
		file := shownName.FindStringSubmatch("==== " + part)[1]
		for _, m := range shownBug.FindAllStringSubmatch(part, -1) {
			line, _ := strconv.Atoi(m[1])
			issue := fmt.Sprintf(`{"title":"Bug %s","severity":"Low","category":"Bug","file":%q,"line":%d,"description":"Round %d."}`, m[2], file, line, round+i)
			if id := before[m[2]]; id != "" {
				issue = fmt.Sprintf(`{"id":%q,"title":"In other words, line %d","severity":"High","category":"Security","file":%q,"line":%d,"description":"Worded anew."}`, id, line, file, line)
				delete(before, m[2])
			}
			issues = append(issues, issue)
		}
	}
	if round%2 == 0 {
		slices.Reverse(issues)
	}
	closed := []string{}
	for _, id := range before {
		closed = append(closed, strconv.Quote(id))
	}
	return fmt.Sprintf(`{"change_id":"work","verdict":"NEEDS_FIX","summary":"s","issues":[%s],"closed":[%s]}`, strings.Join(issues, ","), strings.Join(closed, ","))
}

// TestIDsStayOverRoundsAndRebases reviews a change after every edit of a corpus: an
// issue that is still there has the id that it had in the first review, whatever
// happened to its line, its order, its wording and the base. In a file of another
// name it is another issue. The short form reviews after every other edit.
func TestIDsStayOverRoundsAndRebases(t *testing.T) {
	t.Parallel()
	dir, home := largeChange(t, 0), t.TempDir()
	write := func(name, text string) { writeFiles(t, dir, map[string]string{name: text}) }
	git := func(args ...string) { t.Helper(); gitIn(t, dir, args...) }
	text := "one\nBUG alpha\ntwo\nBUG beta\nthree\n"
	write("a.txt", text)
	write("b.txt", "BUG gamma\n")
	git("add", ".")
	git("commit", "-q", "-m", "work")
	first := map[string]string{} // by bug, the id that it was given
	var earlier []review.Finding
	edits := []struct {
		name string
		do   func()
		// renamed are the bugs that are other issues afterwards
		renamed []string
		bugs    []string
	}{
		{"nothing", func() {}, nil, []string{"alpha", "beta", "gamma"}},
		{"lines above", func() { write("a.txt", strings.Repeat("new\n", 30)+text) }, nil, []string{"alpha", "beta", "gamma"}},
		{"another order", func() { write("a.txt", "BUG beta\nx\nBUG alpha\n") }, nil, []string{"alpha", "beta", "gamma"}},
		{"one more", func() { write("a.txt", "BUG beta\nBUG delta\nBUG alpha\n") }, nil, []string{"alpha", "beta", "gamma", "delta"}},
		{"committed", func() { git("commit", "-q", "-a", "-m", "more") }, nil, []string{"alpha", "beta", "gamma", "delta"}},
		{"rebased", func() {
			git("checkout", "-q", "main")
			write("c.txt", "of others\n")
			git("add", "c.txt")
			git("commit", "-q", "-m", "others")
			git("checkout", "-q", "work")
			git("rebase", "-q", "main")
		}, nil, []string{"alpha", "beta", "gamma", "delta"}},
		{"squashed", func() { git("reset", "-q", "--soft", "main"); git("commit", "-q", "-m", "all of it") }, nil, []string{"alpha", "beta", "gamma", "delta"}},
		{"one fixed", func() { write("a.txt", "BUG delta\nBUG alpha\n") }, nil, []string{"alpha", "gamma", "delta"}},
		{"a file renamed", func() {
			must.Do(t, os.Rename(filepath.Join(dir, "b.txt"), filepath.Join(dir, "z.txt")))
		}, []string{"gamma"}, []string{"alpha", "gamma", "delta"}},
		{"edited after that", func() { write("z.txt", "x\nx\nBUG gamma\n") }, nil, []string{"alpha", "gamma", "delta"}},
	}
	for round, edit := range edits {
		edit.do()
		if round%2 == 1 && round < len(edits)-1 && !full.Asked() {
			continue
		}
		in := engine.CodeReviewInput{Project: dir, Home: home, Name: "work", Earlier: change.Earlier{Issues: earlier}, Budget: run.DefaultBudget(nil)}
		in.Base = "main"
		r, err := engine.OpenCodeReview(t.Context(), reviewClock, in)
		if err != nil {
			t.Fatalf("%s: %v", edit.name, err)
		}
		v := must.Get(r.Begin(t.Context()))(t)
		out, err := v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: reviewers(func(_ context.Context, task driver.Task) (string, error) { return finds(task, round), nil })})
		r.Close()
		if err != nil || out.WaitingFor != engine.ForNothing {
			t.Fatalf("%s: %v, %s: %s", edit.name, err, out.WaitingFor, out.Reason)
		}
		// What counts is what the file says.
		earlier = review.Identify(review.Read(review.Format(out.Review, out.Warnings)).Payload.Issues)
		var found []string
		for _, issue := range earlier {
			bug := strings.TrimPrefix(issue.Title, "Bug ")
			found = append(found, bug)
			known, seen := first[bug]
			if same := known == issue.ID; seen && same == slices.Contains(edit.renamed, bug) {
				t.Errorf("%s: %s has the id %s, had %s", edit.name, bug, issue.ID, known)
			}
			first[bug] = issue.ID
		}
		slices.Sort(found)
		slices.Sort(edit.bugs)
		if !slices.Equal(found, edit.bugs) {
			t.Errorf("%s: found %v, want %v", edit.name, found, edit.bugs)
		}
	}
}
