package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// The limits of a diff.
const (
	maxShown    = 1 << 20  // bytes of a version of a file that is shown
	maxCompared = 64 << 20 // bytes of all that are
)

// MaxDiff is how many bytes of a diff one prompt holds.
const MaxDiff = 120 << 10

// Diff is what a repository has changed since a base. Files are named as the
// repository names them, whichever of its folders the project is.
type Diff struct {
	Base    string        // the commit that it is compared with, or the empty tree
	Head    string        // the last commit that is part of it, "" before the first
	Parts   []string      // the folders and files that it is limited to, none for the whole repository
	Files   []review.File // to be reviewed line by line, in byte order
	LeftOut []LeftOut     // changed as well, in byte order
	Deleted []string      // of both; a file that only has another name is none
	Commits []string      // the messages of the commits since the base, the oldest first

	converted      []Converted
	root           bool // the base is the empty tree
	ignore         []string
	earlier, later version
	prefix         string // of the project in the repository
	folder         *artifact.Folder
}

// Close ends reading from the project.
func (d *Diff) Close() error { return d.folder.Close() }

// Since is the base in a few characters.
func (d *Diff) Since() string {
	if d.root {
		return "the empty tree"
	}
	return d.Base[:12]
}

// FilesBefore is how many files the base has.
func (d *Diff) FilesBefore() int { return len(d.earlier.files) }

// FromNothing reports whether there is no version before.
func (d *Diff) FromNothing() bool { return d.root }

// Text is the text of a file of the later version, also of one that did not change;
// ok is false for a name that is not a file of it, and for a file that has no text,
// such as a link.
func (d *Diff) Text(ctx context.Context, name string) (text []byte, ok bool, err error) {
	o, found := d.later.files[name]
	if !found || o.kind != "" {
		return nil, false, nil
	}
	contents, err := d.later.read(ctx, []string{name})
	if err != nil {
		return nil, false, Unread(ctx, err)
	}
	return contents[name], true, nil
}

// Version says which content a file of the later version has, "" where it is gone.
func (d *Diff) Version(name string) string { return d.later.files[name].id }

// ChangedSince reports whether a file has changed since a review of files: one that
// was shown then and is not any more has, and so has one that is not shown.
func (d *Diff) ChangedSince(files []string) func(file string) bool {
	return func(file string) bool {
		_, there := d.later.files[file]
		return !there || slices.Contains(files, file) || slices.ContainsFunc(d.LeftOut, func(left LeftOut) bool { return left.File == file })
	}
}

// Changes reports whether a file, by its name in either version, is part of the diff.
func (d *Diff) Changes(file string) bool {
	_, there := d.later.files[file]
	return !there || d.Touches(file)
}

// Touches reports whether a file is part of the diff by its name in either version.
func (d *Diff) Touches(file string) bool {
	return slices.Contains(d.Deleted, file) ||
		slices.ContainsFunc(d.Files, func(f review.File) bool { return f.Name == file || f.From == file }) ||
		slices.ContainsFunc(d.LeftOut, func(left LeftOut) bool { return left.File == file })
}

// GrownSince reports whether the diff is one of a base and a head with more commits
// after that head. It returns READ_FAILED.
func (d *Diff) GrownSince(ctx context.Context, base, head string) (bool, error) {
	if base != d.Base || head == "" || d.Head == "" {
		return false, nil
	}
	if commit, err := commitOf(ctx, d.folder.Path(), head); err != nil || commit != head {
		return false, ctx.Err()
	}
	left, err := Ask(ctx, d.folder.Path(), "merge-base", head, d.Head)
	if err != nil {
		return false, Unread(ctx, err)
	}
	return strings.TrimSpace(string(left)) == head, nil
}

// NewAfter is what of the diff is new after a commit of it. What no reviewer is shown is
// decided as the base of the whole has it. It returns the errors of [ReadDiff].
func (d *Diff) NewAfter(ctx context.Context, desk run.Desk, project, head string, in DiffInput) (*Diff, error) {
	in.Base, in.Settings.At = head, cmp.Or(in.Settings.At, d.Base)
	return ReadDiff(ctx, desk, project, in)
}

// LeftOut is a file that changed and is not shown.
type LeftOut struct {
	File string `json:"file"`
	Why  string `json:"why"`
	// Unseen says that it is text that no reviewer is shown although no rule leaves it
	// out.
	Unseen bool `json:"unseen" jsonschema:"it is text, or a program, that no rule of the project leaves out: a person decides"`
}

// Unseen are the files of LeftOut that hold text that no rule leaves out.
func (d *Diff) Unseen() []LeftOut {
	return slices.DeleteFunc(slices.Clone(d.LeftOut), func(left LeftOut) bool { return !left.Unseen })
}

// DiffInput says what is compared.
type DiffInput struct {
	// Base is a revision; what is compared with is where the later version left it.
	// "" is where that left its upstream or, without one, the main branch; for what is
	// staged, the last commit; for a Head that the main branch has, the commit before.
	Base string
	// Head is a revision whose files are the later version; "" is the one that is
	// checked out.
	Head string
	// Committed leaves out what is not committed yet, as a Head does.
	Committed bool
	// Staged compares what is staged.
	Staged bool
	// Settings say what no reviewer is shown.
	Settings Settings
	// Paths are the absolute paths of the folders and files that are compared, none
	// for the whole repository.
	Paths []string
}

// ReadDiff compares the files of the repository in which a project lies, as they
// are, as they are staged or as they were committed, with those of a base. Nothing
// of the repository is run, and the content of files is compared as it is: a file
// that a filter would change on its way into the repository counts as changed. The
// project's folder of changes is left out.
//
// The caller must close the diff. It returns NOT_FOUND outside a git repository,
// INVALID_ARGS for a revision that does not exist and for a path outside the
// repository, INVALID_STATE where a shallow clone does not have what is compared and
// where what is staged is in conflict, PATH_NOT_ALLOWED, SIZE_CAP_EXCEEDED when too
// much has changed, READ_FAILED and CANCELLED.
func ReadDiff(ctx context.Context, desk run.Desk, project string, in DiffInput) (*Diff, error) {
	if err := InWorkTree(ctx, project); err != nil {
		return nil, Unread(ctx, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("project", project), "there are no versions to compare in %s: %w", project, err))
	}
	r, err := OpenCheckout(ctx, desk, project)
	if err != nil {
		return nil, Unread(ctx, err)
	}
	d := &Diff{folder: r.Folder}
	if err := d.readAll(ctx, r, in); err != nil {
		d.Close()
		return nil, Unread(ctx, err)
	}
	return d, nil
}

func (d *Diff) readAll(ctx context.Context, r *Checkout, in DiffInput) error {
	compared, err := spanOf(ctx, r.Dir, in)
	if err != nil {
		return err
	}
	d.Base, d.Head, d.root = compared.base, compared.head, compared.root
	if d.Commits, err = compared.messages(ctx, r.Dir); err != nil {
		return err
	}
	if d.Parts, err = r.inside(in.Paths); err != nil {
		return err
	}
	d.prefix = r.prefix
	earlier, err := r.committed(ctx, d.Base)
	d.earlier = earlier
	switch {
	case err != nil:
		return err
	case in.Staged:
		d.later, err = r.staged(ctx, earlier)
	case (in.Committed || in.Head != "") && d.Head != "":
		d.later, err = r.committed(ctx, d.Head)
	case in.Committed:
		d.later = earlier
	default:
		d.later, err = r.present(ctx, earlier)
	}
	if err != nil {
		return err
	}
	if err := d.compare(ctx, earlier); err != nil {
		return err
	}
	d.ignore = in.Settings.ignoredBefore()
	return d.leaveMarked(ctx, r.Dir, in.Settings)
}

// Unread gives an error of git, or of reading, its code.
func Unread(ctx context.Context, err error) error {
	var coded *tidegate.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &coded):
		return err
	}
	return tidegate.Errorf(tidegate.ReadFailed, nil, "the versions cannot be compared: %w", err)
}

// compare finds the files that differ and reads them.
func (d *Diff) compare(ctx context.Context, earlier version) error {
	var names []string
	gone := map[object]string{} // by id and kind, a file that the later version does not have
	for name, before := range earlier.files {
		after, there := d.later.files[name]
		switch {
		case !d.covers(name):
		case !there:
			names = append(names, name)
			same := object{id: before.id, kind: before.kind}
			gone[same] = max(gone[same], name)
		case after.id != before.id || after.kind != before.kind:
			names = append(names, name)
		case before.mode != "" && after.mode != "" && before.mode != after.mode:
			d.LeftOut = append(d.LeftOut, LeftOut{File: name, Why: fmt.Sprintf("its mode is %s, it was %s", after.mode, before.mode)})
		}
	}
	renamed := map[string]string{} // later name → earlier name
	for _, name := range d.later.names() {
		if _, there := earlier.files[name]; there || !d.covers(name) {
			continue
		}
		names = append(names, name)
		same := object{id: d.later.files[name].id, kind: d.later.files[name].kind}
		if from := gone[same]; from != "" {
			renamed[name] = from
			delete(gone, same)
		}
	}
	slices.Sort(names)
	moved := map[string]bool{}
	for _, from := range renamed {
		moved[from] = true
	}
	names = slices.DeleteFunc(names, func(name string) bool { return moved[name] })
	d.Deleted = slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, there := d.later.files[name]; return there })
	return d.read(ctx, earlier, names, renamed)
}

// covers reports whether a file lies in the parts that are compared.
func (d *Diff) covers(name string) bool {
	return len(d.Parts) == 0 || slices.ContainsFunc(d.Parts, func(part string) bool { _, in := artifact.Inside(part, name); return in })
}

func (v version) names() []string { return slices.Sorted(maps.Keys(v.files)) }

// read reads both versions of the files that can be shown.
func (d *Diff) read(ctx context.Context, earlier version, names []string, renamed map[string]string) error {
	var shown, large, before, after, links []string
	total := int64(0)
	for _, name := range names {
		from := cmp.Or(renamed[name], name)
		was, had := earlier.files[from]
		is, has := d.later.files[name]
		total += was.size + is.size
		switch why := cmp.Or(is.kind, was.kind); {
		case is.kind == symlink && is.size <= maxShown:
			links = append(links, name)
			continue
		case why == submodule:
			d.LeftOut = append(d.LeftOut, LeftOut{File: name, Why: movedSubmodule(was, is)})
			continue
		case why != "":
			d.LeftOut = append(d.LeftOut, LeftOut{File: name, Why: why})
			continue
		case max(was.size, is.size) > maxShown:
			large = append(large, name)
			total -= was.size + is.size
			continue
		case total > maxCompared:
			return tooMuch()
		}
		shown = append(shown, name)
		if had {
			before = append(before, from)
		}
		if has {
			after = append(after, name)
		}
	}
	was, err := earlier.read(ctx, before)
	if err != nil {
		return err
	}
	is, err := d.later.read(ctx, slices.Concat(after, links))
	if err != nil {
		return err
	}
	for _, name := range links {
		decides := unlinked(name)
		d.LeftOut = append(d.LeftOut, LeftOut{File: name, Why: fmt.Sprintf("a link to %q", is[name]) + decides, Unseen: decides != ""})
	}
	for _, name := range shown {
		from := cmp.Or(renamed[name], name)
		d.Files = append(d.Files, review.File{Name: name, From: renamed[name], Before: was[from], After: is[name],
			ModeBefore: earlier.files[from].mode, ModeAfter: d.later.files[name].mode})
	}
	d.Files = review.JoinRenames(d.Files)
	for _, name := range large {
		f, err := d.beginning(ctx, earlier, name, cmp.Or(renamed[name], name))
		if err != nil {
			return err
		}
		d.Files = append(d.Files, f)
	}
	return nil
}

// beginning is a file that is too large to be shown, as it begins.
func (d *Diff) beginning(ctx context.Context, earlier version, name, from string) (review.File, error) {
	f := review.File{Name: name, Large: true, ModeBefore: earlier.files[from].mode, ModeAfter: d.later.files[name].mode}
	if from != name {
		f.From = from
	}
	var err error
	if _, had := earlier.files[from]; had {
		f.Before, err = earlier.begin(ctx, from)
	}
	if _, has := d.later.files[name]; has && err == nil {
		f.After, err = d.later.begin(ctx, name)
	}
	return f, err
}

// takeOut takes the files out of the diff that are not reviewed line by line, for the
// reason that why gives.
func (d *Diff) takeOut(why func(review.File) (reason string, unseen bool)) {
	d.Files = slices.DeleteFunc(d.Files, func(f review.File) bool {
		reason, unseen := why(f)
		if reason == "" {
			return false
		}
		if f.From != "" {
			reason += ", " + f.Status()
		}
		d.LeftOut = append(d.LeftOut, LeftOut{f.Name, reason, unseen})
		return true
	})
	slices.SortFunc(d.LeftOut, func(a, b LeftOut) int { return cmp.Compare(a.File, b.File) })
}

// movedSubmodule says which commits of a submodule are meant.
func movedSubmodule(was, is object) string {
	switch {
	case is.kind != submodule:
		return fmt.Sprintf("no longer a submodule, it was at %.12s", was.id)
	case was.kind != submodule:
		return fmt.Sprintf("a submodule at %.12s", is.id)
	}
	return fmt.Sprintf("a submodule at %.12s, it was at %.12s", is.id, was.id)
}

// Prompts are what the reviewers of a diff are asked, one for each part of it. An
// earlier issue is for the reviewer who is shown its file, or else for the first. With
// functions, all of the function around a change is shown: for a reviewer who can look
// nothing up.
func (d *Diff) Prompts(changeID string, tests *review.TestRun, earlier []review.Finding,
	functions bool) []review.Prompt {
	parts := review.Split(d.Files, MaxDiff, functions)
	prompts := make([]review.Prompt, len(parts))
	for i, part := range parts {
		prompts[i] = review.Prompt{ChangeID: changeID, Diff: part.Text, Part: i + 1, Parts: len(parts), Tests: tests, Commits: d.Commits}
		for _, left := range d.LeftOut {
			prompts[i].LeftOut = append(prompts[i].LeftOut, left.File+": "+left.Why)
		}
	}
	for _, issue := range earlier {
		at := max(0, slices.IndexFunc(parts, func(p review.Part) bool { return slices.Contains(p.Files, issue.File) }))
		prompts[at].Earlier = append(prompts[at].Earlier, issue)
	}
	return prompts
}
