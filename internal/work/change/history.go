package change

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/git"
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
	current, err := f.ReadIfThere(reviewFile)
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

// sidecar stands beside a kept review: what the review was about, and on whose
// authority it came. What is missing is null.
type sidecar struct {
	Schema       string             `json:"schema_version"`
	ChangeID     string             `json:"change_id"`
	Number       int                `json:"number"`
	CreatedAt    string             `json:"created_at"`
	Actor        tidegate.ActorKind `json:"actor"`
	Verdict      review.Verdict     `json:"verdict"`
	ReviewDigest string             `json:"review_digest"` // of the markdown
	TreeDigest   *string            `json:"tree_digest"`   // null outside a repository, and when it is not known
	Commit       *string            `json:"commit"`        // that was checked out
	Worktree     *string            `json:"worktree"`      // as STATE.yaml named it; null for the project
	TreeProblem  *string            `json:"tree_problem"`  // why the tree is not known
	Evidence
}

// Evidence is what stands beside the review of an agent that tidegate asked.
type Evidence struct {
	Files       []string         `json:"files,omitempty"`        // that the reviewers were shown
	Findings    []review.Finding `json:"findings,omitempty"`     // the issues of the review, in its order
	Dropped     []review.Dropped `json:"dropped,omitempty"`      // findings that do not hold
	TestCommand string           `json:"test_command,omitempty"` // by which it was tested
	FailedNew   *int64           `json:"failed_new,omitempty"`   // tests that fail with the change and not without it
	Note        string           `json:"note,omitempty"`         // of the implementer, about what was reviewed
	NeedsPerson string           `json:"needs_person,omitempty"` // why a person decides, whatever the verdict
}

const sidecarSchema = "kept_review.v1"

// KeptReviewShape is the schema of kept_review.v1.
func KeptReviewShape() codec.Shape {
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(sidecarSchema)},
		codec.Field{Name: "change_id", Shape: codec.NotBlank()},
		codec.Field{Name: "number", Shape: codec.IntegerFrom(1), About: "of the review among those of the change"},
		codec.Field{Name: "created_at", Shape: codec.NotBlank()},
		codec.Field{Name: "actor", Shape: codec.OneOf(string(tidegate.Agent), string(tidegate.Person), string(tidegate.Rule)), About: "on whose authority the review was handed in"},
		codec.Field{Name: "verdict", Shape: codec.OneOf(review.Verdicts...)},
		codec.Field{Name: "review_digest", Shape: codec.NotBlank(), About: "of the markdown beside this document"},
		codec.Field{Name: "tree_digest", Shape: codec.NotBlank().OrNull(), About: "of the files that were reviewed; null outside a git repository"},
		codec.Field{Name: "commit", Shape: codec.NotBlank().OrNull(), About: "that was checked out"},
		codec.Field{Name: "worktree", Shape: codec.NotBlank().OrNull(), About: "as STATE.yaml named it; null for the project"},
		codec.Field{Name: "tree_problem", Shape: codec.NotBlank().OrNull(), About: "why the tree is not known"},
		codec.Field{Name: "files", Shape: codec.List(codec.Text(), 0), Optional: true, About: "that the reviewers were shown"},
		codec.Field{Name: "findings", Optional: true, About: "the issues of the review, in its order, with what ties them to the code",
			Shape: codec.List(review.FindingShape(), 0)},
		codec.Field{Name: "dropped", Optional: true, About: "findings that do not hold",
			Shape: codec.List(review.FindingShape(codec.Field{Name: "why", Shape: codec.NotBlank()}), 0)},
		codec.Field{Name: "failed_new", Shape: codec.IntegerFrom(0), Optional: true,
			About: "tests that fail with the change and not without it"},
		codec.Field{Name: "test_command", Shape: codec.Text(), Optional: true, About: "by which it was tested"},
		codec.Field{Name: "note", Shape: codec.Text(), Optional: true, About: "of the implementer, about what was reviewed"},
		codec.Field{Name: "needs_person", Shape: codec.NotBlank(), Optional: true, About: "why a person decides, whatever the verdict"},
	)
}

func newSidecar(ctx context.Context, desk run.Desk, p review.Payload, number int, data []byte, about git.Tree, with Evidence) sidecar {
	return sidecar{
		Schema: sidecarSchema, ChangeID: p.ChangeID, Number: number, CreatedAt: tidegate.Stamp(desk.Now()), Actor: tidegate.ActorOf(ctx).Kind,
		Verdict: p.Verdict, ReviewDigest: codec.DigestBytes(data),
		TreeDigest: orNull(about.Digest), Commit: orNull(about.Commit), Worktree: orNull(about.Worktree), TreeProblem: orNull(about.Problem),
		Evidence: with,
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// readSidecar is what stands beside a kept review.
func readSidecar(folder *artifact.Folder, number int) (s sidecar, err error) {
	data, err := folder.Read(sidecarName(number))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

// tree is the tree that a sidecar names.
func (s sidecar) tree() git.Tree {
	return git.Tree{Digest: textOf(s.TreeDigest), Commit: textOf(s.Commit), Worktree: textOf(s.Worktree), Problem: textOf(s.TreeProblem)}
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// CreateReview writes a review to the REVIEW.md of the change that the payload
// names, and keeps it, and every earlier one, under a number in reviews. What is
// kept decides: beside the review stands what it was about and on whose
// authority it came, and the log of the change has the digests of both. A
// missing change folder is made and named in a warning; in strict mode it is
// NOT_FOUND, and everything else that would be a warning is a violation.
//
// It returns INVALID_ARGS with details.violations for an invalid payload, and
// then nothing on the disk has changed; INVALID_ARGS for a project_path that is
// not the project; NOT_FOUND, PATH_NOT_ALLOWED, LOCK_HELD, CANCELLED,
// READ_FAILED and WRITE_FAILED.
func CreateReview(ctx context.Context, desk run.Desk, project string, payload *codec.Value, strict bool) (Created, error) {
	p, warnings, err := review.Parse(payload, strict)
	if err != nil {
		return Created{}, err
	}
	if err := checkProjectPath(desk, project, payload.Get("project_path")); err != nil {
		return Created{}, err
	}
	return KeepReview(ctx, desk, project, p, warnings, Evidence{}, strict)
}

// KeepReview keeps a review that was judged already, with the warnings about it and what
// stands beside it. Where strict, the change has a folder.
func KeepReview(ctx context.Context, desk run.Desk, project string, p review.Payload, warnings []string, with Evidence, strict bool) (Created, error) {
	folder, made, err := openForReview(ctx, desk, project, p.ChangeID, strict)
	if err != nil {
		return Created{}, err
	}
	defer folder.Close()
	about, err := reviewedTree(ctx, desk, project, folder)
	if err != nil {
		return Created{}, err
	}
	held, err := lock(ctx, desk, folder)
	if err != nil {
		return Created{}, err
	}
	defer held.Unlock()
	data := review.Format(p, warnings)
	if with.Findings != nil {
		data = review.FormatFindings(p, with.Findings, warnings)
	}
	if err := keep(ctx, desk, held, p, data, about, with); err != nil {
		return Created{}, err
	}
	place := git.ChangesDir(desk) + "/" + p.ChangeID
	if made {
		warnings = append(warnings, "change folder "+place+" did not exist and was created")
	}
	if about.Problem != "" {
		warnings = append(warnings, "the review cannot be bound to the files of the project: "+about.Problem)
	}
	if with.Findings == nil { // what we asked for ourselves was judged by it
		warnings = append(warnings, misplaced(ctx, desk, project, about, p)...)
	}
	counts := p.Counts()
	return Created{
		Message:    fmt.Sprintf("Review written to %s/%s: %s, %s", place, reviewFile, p.Verdict, report.Counted(counts.Total(), "issue")),
		ChangeID:   p.ChangeID,
		Verdict:    string(p.Verdict),
		ReviewPath: filepath.Join(folder.Path(), reviewFile),
		Issues:     counts,
		Warnings:   warnings,
	}, nil
}

// misplaced are warnings about issues in files that the change does not touch, and at lines
// that their files do not have. Where it is not known what the change is, there are none.
func misplaced(ctx context.Context, desk run.Desk, project string, about git.Tree, p review.Payload) []string {
	if about.Digest == "" {
		return nil
	}
	dir := project
	switch {
	case filepath.IsAbs(about.Worktree):
		dir = about.Worktree
	case about.Worktree != "":
		dir = filepath.Join(project, about.Worktree)
	}
	d, err := git.ReadDiff(ctx, desk, dir, git.DiffInput{})
	if err != nil {
		return nil
	}
	defer d.Close()
	known := !d.FromNothing() && len(d.Files)+len(d.LeftOut) > 0
	var warnings []string
	for i, issue := range p.Issues {
		name := filepath.ToSlash(issue.File)
		if text, ok, err := d.Text(ctx, name); ok && err == nil && issue.Line != nil {
			if n := review.CountLines(text); *issue.Line > int64(n) {
				warnings = append(warnings, fmt.Sprintf("issues[%d].line %d is beyond the end of %s, which has %s", i, *issue.Line, tidegate.Cut(name), report.Counted(n, "line")))
			}
		}
		if known && name != "" && !d.Touches(name) && !d.Touches(d.Prefix()+name) {
			warnings = append(warnings, fmt.Sprintf("issues[%d].file %q is not in the change, which is compared with %s (`tidegate review check --base` compares a committed one with where it began)",
				i, tidegate.Cut(issue.File), d.Since()))
		}
	}
	return warnings
}

func openForReview(ctx context.Context, desk run.Desk, project, id string, strict bool) (*artifact.Folder, bool, error) {
	if strict {
		folder, err := OpenFolder(ctx, desk, project, id)
		return folder, false, err
	}
	return openOrMake(ctx, desk, project, id)
}

// reviewedTree is the tree of the change as it is. A STATE.yaml that is missing,
// or cannot be read, names no place other than the project.
func reviewedTree(ctx context.Context, desk run.Desk, project string, folder *artifact.Folder) (git.Tree, error) {
	worktree := ""
	if s, err := readState(folder); err == nil {
		worktree = s.worktree
	}
	return git.ReadTree(ctx, desk, project, worktree)
}

// keep writes a review to REVIEW.md and to the history, together with a REVIEW.md
// that is not in the history yet, in one transaction. REVIEW.md comes last, so
// that any reader that sees it also finds it in the history.
func keep(ctx context.Context, desk run.Desk, held *artifact.Lock, p review.Payload, data []byte, about git.Tree, with Evidence) error {
	folder := held.Folder()
	numbers, err := history(folder)
	if err != nil {
		return err
	}
	current, err := folder.ReadIfThere(reviewFile)
	if err != nil {
		return err
	}
	r, err := readLocked(desk, held, p.ChangeID)
	if err != nil {
		r = newRecord() // the review is written, whatever became of the log
	}
	next := max(lastOf(numbers), r.newest()) + 1
	tx := held.Begin()
	if current != nil {
		var newest []byte
		if len(numbers) > 0 {
			if newest, err = folder.Read(historyName(lastOf(numbers))); err != nil {
				return err
			}
		}
		if len(numbers) == 0 || !bytes.Equal(current, newest) {
			tx.Write(historyName(next), current)
			tx.Log(logFile, r.line(ctx, desk, p.ChangeID, "create_review", eventFound, tidegate.Pairs("review", next,
				"digests", tidegate.Pairs(historyName(next), codec.DigestBytes(current)))))
			next++
		}
	}
	beside, err := codec.MarshalFile(newSidecar(ctx, desk, p, next, data, about, with))
	if err != nil {
		return err
	}
	tx.Write(historyName(next), data)
	tx.Write(sidecarName(next), beside)
	tx.Write(reviewFile, data)
	// The line is kept as well as it can be: a review that the log does not name
	// is written all the same, and decides nothing.
	tx.Log(logFile, r.line(ctx, desk, p.ChangeID, "create_review", eventKept, tidegate.Pairs("review", next, "verdict", p.Verdict,
		"digests", tidegate.Pairs(historyName(next), codec.DigestBytes(data), sidecarName(next), codec.DigestBytes(beside)),
		"tree_digest", orNull(about.Digest), "commit", orNull(about.Commit))))
	return tx.Commit()
}

// checkProjectPath accepts the argument of older callers when it names the
// project, by whatever path.
func checkProjectPath(desk run.Desk, project string, v *codec.Value) error {
	if v.Kind() == codec.Absent || v.Kind() == codec.Null {
		return nil
	}
	path := v.Str()
	if strings.TrimSpace(path) != "" {
		given := path
		if !filepath.IsAbs(given) {
			given = filepath.Join(project, given)
		}
		if filepath.Clean(given) == filepath.Clean(project) || sameFolder(desk, given, project) {
			return nil
		}
	}
	value := any(v)
	if v.Kind() == codec.String {
		value = tidegate.Cut(path)
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("project_path", value),
		"project_path must name the project folder %s", project)
}

func sameFolder(desk run.Desk, one, two string) bool {
	a, err := desk.Reach.Open("project_path", one)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := desk.Reach.Open("project", two)
	if err != nil {
		return false
	}
	defer b.Close()
	return a.Is(b)
}
