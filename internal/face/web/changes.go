package web

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	tgchange "github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/review"
)

type changesView struct {
	cut
	Project string
	Changes []changeRow
}

type changeRow struct {
	tgchange.ListEntry
	State state
}

// phaseWords is a phase in the words of people.
func phaseWords(phase string) string {
	words := map[string]string{tgchange.SpecsGenerated: "specified", tgchange.TasksGenerated: "tasks written", tgchange.CodeReviewing: "in review"}
	return cmp.Or(words[phase], phase)
}

func phaseState(phase, needsPerson, problem string) state {
	switch {
	case problem != "":
		return bad("unreadable")
	case needsPerson != "":
		return person("needs a person")
	case phase == tgchange.Complete:
		return good(phase)
	case phase == tgchange.Archived || phase == tgchange.Rejected:
		return waiting(phase)
	}
	return working(phaseWords(phase))
}

// stampChanges is a stamp of the state of the project's changes; it is empty while
// something is being written. begun are the changes whose folder is still empty:
// somebody is about to make them.
func (s *Site) stampChanges() (stamp string, begun map[string]bool, err error) {
	root, err := artifact.Everywhere.Open("project", s.Project)
	if err != nil {
		return "", nil, err
	}
	defer root.Close()
	var b strings.Builder
	begun = map[string]bool{}
	changes := s.Desk.ChangesFolder() + "/changes"
	found, err := root.List(changes)
	if err != nil {
		return "", nil, err
	}
	for _, entry := range found {
		folder, err := root.Folder(changes + "/" + entry.Name())
		if err != nil {
			continue // not a folder, or no longer there
		}
		files, writing := 0, folder.Pending()
		walkErr := fs.WalkDir(folder.FS(), ".", func(name string, file fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case name != "." && strings.HasPrefix(name, "."):
				if file.IsDir() {
					return fs.SkipDir
				}
				return nil
			case file.IsDir():
				if strings.Count(name, "/") > 1 {
					return fs.SkipDir // what agents left; the log has it
				}
				return nil
			}
			info, err := file.Info()
			if err != nil {
				return err
			}
			files++
			fmt.Fprintf(&b, "%s %d.%d\n", name, info.Size(), info.ModTime().UnixNano())
			return nil
		})
		writing = writing || folder.Pending()
		folder.Close()
		if walkErr != nil || writing {
			return "", nil, nil
		}
		begun[entry.Name()] = files == 0
		fmt.Fprintf(&b, "%s %d\n", entry.Name(), files)
	}
	return "changes\n" + b.String(), begun, nil
}

// quiet makes a page of changes at a moment when nobody writes. It returns LOCK_HELD
// where there is no such moment.
func (s *Site) quiet(ctx context.Context, build func(begun map[string]bool) (*page, error)) (*page, error) {
	for start := time.Now(); time.Since(start) < quietTime; {
		before, begun, err := s.stampChanges()
		if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
			return nil, err
		}
		if err != nil {
			return build(nil) // there are none
		}
		if before != "" {
			p, err := build(begun)
			if after, _, _ := s.stampChanges(); after == before {
				return p, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(betweenReads):
		}
	}
	return nil, errBusy
}

// changesPage lists the changes of the project.
func (s *Site) changesPage(ctx context.Context, query url.Values, link func(string, ...string) string) (*page, error) {
	return s.quiet(ctx, func(begun map[string]bool) (*page, error) { return s.makeChangesPage(query, link, begun) })
}

func (s *Site) makeChangesPage(query url.Values, link func(string, ...string) string, begun map[string]bool) (*page, error) {
	view := changesView{Project: s.Project}
	list, err := tgchange.All(s.Desk, s.Project)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return nil, err
	}
	var found []tgchange.ListEntry
	for _, c := range list.Changes {
		if !begun[c.ChangeID] && matches(query.Get("q"), c.ChangeID, c.Phase, c.Verdict) {
			found = append(found, c)
		}
	}
	view.cut = cutAt(query, len(found), perPage, link("changes"))
	for _, c := range piece(view.cut, found) {
		view.Changes = append(view.Changes, changeRow{c, phaseState(c.Phase, c.NeedsPerson, c.Problem)})
	}
	return (&page{View: "changes", Title: "Changes", Live: following(link("liveChanges"), query), Data: view, Now: s.Desk.Now(), link: link}).sealed()
}

// changeView is one change: where it stands, its issues over the rounds, each
// review, and what became of the issues between reviews.
type changeView struct {
	tgchange.Status
	State   state
	Command string // that comes next, "" where it is none
	Last    string // what was done last, in words
	Phases  []railStage
	Reviews []reviewView
}

// reviewView is a review with its difference from the one before it.
type reviewView struct {
	review.Shown
	Number  int
	State   state
	Found   string // how many issues it has, in words
	Diff    *tgchange.DiffResult
	Since   string // the difference in numbers, in words
	Problem string
}

// testsState is how the tests ended that a review reports, by number.
func testsState(t *review.TestResults) state {
	number := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	passed, failed, all := number(t.Passed), number(t.Failed), number(t.Total)
	switch {
	case t.FailedTests() > 0 && passed != "":
		return bad(failed + " failed, " + passed + " passed")
	case t.FailedTests() > 0:
		return bad(failed + " failed")
	case passed == "":
		return waiting(cmp.Or(all, "none") + " run")
	case all != "" && all != passed:
		return good(passed + " of " + all + " passed")
	}
	return good(passed + " passed")
}

func reviewVerdict(verdict string) state {
	switch verdict {
	case "APPROVED":
		return good("approved")
	case "NEEDS_FIX":
		return bad("needs a fix")
	case "MAJOR_ISSUES":
		return bad("major issues")
	}
	return waiting(verdict)
}

func (s *Site) changePage(ctx context.Context, id string, link func(string, ...string) string) (*page, error) {
	return s.quiet(ctx, func(map[string]bool) (*page, error) { return s.makeChangePage(ctx, id, link) })
}

func (s *Site) makeChangePage(ctx context.Context, id string, link func(string, ...string) string) (*page, error) {
	status, err := tgchange.StatusOf(ctx, s.Desk, s.Project, id)
	if err != nil {
		return nil, err
	}
	list, err := tgchange.Reviews(s.Desk, s.Project, id)
	if err != nil {
		return nil, err
	}
	view := changeView{Status: status, State: phaseState(status.Phase, status.NeedsPerson, "")}
	if strings.HasPrefix(status.Next, "tidegate ") {
		view.Command = status.Next
	}
	view.Last = strings.ReplaceAll(status.LastAction, "-", " ")
	for _, phase := range tgchange.Phases {
		r := railStage{Name: phaseWords(phase), Stages: []string{phase}}
		switch {
		case phase == status.Phase:
			r.Class, r.State = "here", view.State
			if r.State.Word == r.Name {
				r.State.Word = "" // it is said already
			}
		case slices.Contains(status.Been, phase):
			r.Class, r.State = "done", good("done")
		default:
			continue // it did not happen
		}
		view.Phases = append(view.Phases, r)
	}
	for _, r := range list.Reviews {
		v := reviewView{Number: r.Number, State: reviewVerdict(r.Verdict), Found: counted(part{r.Issues.High, "high"}, part{r.Issues.Medium, "medium"}, part{r.Issues.Low, "low"})}
		if v.Shown, err = tgchange.ShowReview(s.Desk, r.Path); err != nil {
			v.Problem = tidegate.AsError(err).Message
		}
		if r.Number > 1 && v.Problem == "" {
			if diff, err := tgchange.ReviewDiff(s.Desk, s.Project, id, 0, r.Number); err == nil {
				v.Diff = &diff
				if len(diff.Gone)+len(diff.Still)+len(diff.New) > 0 {
					v.Since = counted(part{len(diff.Gone), "gone"}, part{len(diff.Still), "still there"}, part{len(diff.New), "new"})
				}
			} else {
				v.Problem = tidegate.AsError(err).Message
			}
		}
		view.Reviews = append([]reviewView{v}, view.Reviews...) // the newest first
	}
	return (&page{View: "change", Title: "Change " + filepath.Base(id), Live: link("liveChange", id), Decides: len(s.Decisions) > 0 && status.NeedsPerson != "", Data: view, Now: s.Desk.Now(), link: link}).sealed()
}
