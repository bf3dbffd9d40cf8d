package git

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// Base is the commit that a diff of the project would be compared with, or the empty
// tree. It returns the errors of [ReadDiff].
func Base(ctx context.Context, project string, in DiffInput) (string, error) {
	compared, err := spanOf(ctx, project, in)
	if err != nil {
		return "", Unread(ctx, err)
	}
	return compared.base, nil
}

// FileAt reads a file of the project's repository, by its absolute path, as a commit
// has it; found is false where it does not have one there. It returns READ_FAILED.
func FileAt(ctx context.Context, desk run.Desk, project, commit, file string) (text []byte, found bool, err error) {
	r, err := OpenCheckout(ctx, desk, project)
	if err != nil {
		return nil, false, Unread(ctx, err)
	}
	defer r.Folder.Close()
	names, err := r.inside([]string{file})
	if err != nil || len(names) == 0 {
		return nil, false, nil // above the repository there is no commit
	}
	listed, err := Ask(ctx, r.Dir, "ls-tree", "-z", commit, "--", names[0])
	if err != nil {
		return nil, false, Unread(ctx, err)
	}
	fields := strings.Fields(string(listed)) // mode, type, id, name
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "100") {
		return nil, false, nil
	}
	contents, err := blobs(ctx, r.Dir, map[string]object{names[0]: {id: fields[2]}}, []string{names[0]})
	if err != nil {
		return nil, false, Unread(ctx, err)
	}
	return contents[names[0]], true, nil
}

// marks are the attributes by which a repository says that nobody reads a file, with
// what they mean.
var marks = map[string]string{"linguist-generated": "generated, says .gitattributes", "linguist-vendored": "vendored, says .gitattributes"}

// ours is the mark of a file of which the attributes say that it is neither.
const ours = "ours"

// marked are the files that the repository's attributes mark, with the reason:
// attributes as they are in the work tree or, with a commit, there.
func marked(ctx context.Context, dir, commit string, files []string) (map[string]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	var input bytes.Buffer
	for _, name := range files {
		input.WriteString(name + "\x00")
	}
	args := []string{"check-attr", "-z", "--stdin", "linguist-generated", "linguist-vendored"}
	var env []string
	if commit != "" {
		scratch, remove, err := artifact.Scratch("tidegate-index-")
		if err != nil {
			return nil, err
		}
		defer remove()
		env = []string{"GIT_INDEX_FILE=" + filepath.Join(scratch, "index")}
		if _, err := Run(ctx, dir, env, nil, "read-tree", commit); err != nil {
			return nil, err
		}
		args = append([]string{"check-attr", "--cached"}, args[1:]...)
	}
	answer, err := Run(ctx, dir, env, input.Bytes(), args...)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(answer), "\x00") // name, attribute, value, …
	why := map[string]string{}
	for i := 0; i+2 < len(fields); i += 3 {
		switch value := fields[i+2]; {
		case value == "set" || value == "true":
			why[fields[i]] = marks[fields[i+1]]
		case (value == "unset" || value == "false") && why[fields[i]] == "":
			why[fields[i]] = ours
		}
	}
	return why, nil
}

// Settings say which files of a diff no reviewer is shown.
type Settings struct {
	Ignore []string // globs
	// IgnoreBefore are those that the base has, where Ignore is of the files as they are:
	// what the change itself hides is for a person.
	IgnoreBefore []string
	At           string // the commit whose attributes count, "" for those of the work tree
}

// ignoredBefore are the globs of the base.
func (s Settings) ignoredBefore() []string {
	if s.At != "" {
		return s.Ignore
	}
	return s.IgnoreBefore
}

// DismissedFile, beside the folder of changes, has the findings of which a person
// wants to hear no more.
const DismissedFile = "dismissed.json"

// DecidesReviews reports whether a file says what is reviewed, by whom, or what counts.
func DecidesReviews(name string) bool {
	switch path.Base(name) {
	case config.FileName, attributesFile, DismissedFile:
		return true
	}
	return false
}

// leaveMarked takes the files out of the diff that settings and attributes name:
// nobody has to see them. Attributes count in full only as the base has them: what
// the change itself marks is not shown, and a person decides about it.
func (d *Diff) leaveMarked(ctx context.Context, dir string, s Settings) error {
	var names []string
	for _, f := range d.Files {
		names = append(names, f.Name)
		if line := convertedBy(f); line != "" {
			d.converted = append(d.converted, Converted{f.Name, line})
		}
	}
	why, err := marked(ctx, dir, s.At, names)
	if err != nil {
		return err
	}
	before := why
	if s.At == "" && len(why) > 0 {
		if before, err = marked(ctx, dir, d.Base, names); err != nil {
			return err
		}
	}
	d.takeOut(func(f review.File) (string, bool) {
		f.Ours = why[f.Name] == ours
		reason, unseen := f.LeftOut()
		if DecidesReviews(f.Name) || reason != "" && !unseen {
			return reason, unseen // a file that decides could keep itself from being seen
		}
		if glob, ignored := named(s.Ignore, f.Name); ignored {
			if _, ignoredBefore := named(s.ignoredBefore(), f.Name); ignoredBefore {
				return fmt.Sprintf("ignored by %q of tidegate.toml", glob), false
			}
			return fmt.Sprintf("ignored by %q of tidegate.toml, which the base does not say", glob), f.After != nil
		}
		switch mark := why[f.Name]; {
		case mark == "" || mark == ours:
			return reason, unseen
		case before[f.Name] == "" || before[f.Name] == ours:
			return mark + ", which the base does not say", f.After != nil
		default:
			return mark, false
		}
	})
	return nil
}

// named is the first of the globs that mean a file.
func named(globs []string, name string) (glob string, ok bool) {
	at := slices.IndexFunc(globs, func(glob string) bool { return matches(glob, name) })
	if at < 0 {
		return "", false
	}
	return globs[at], true
}

// matches reports whether a file has a name that a glob means: ** stands for any
// number of folders, and a glob without a slash is about the last part of the name.
func matches(glob, name string) bool {
	if !strings.Contains(glob, "/") {
		name = path.Base(name)
	}
	return matchParts(strings.Split(strings.TrimPrefix(glob, "/"), "/"), strings.Split(name, "/"))
}

func matchParts(globs, parts []string) bool {
	at, back, from := 0, -1, 0 // in globs; after the last **, and what it stands for up to there
	for i := 0; i < len(parts); {
		switch {
		case at < len(globs) && globs[at] == "**":
			at, back, from = at+1, at+1, i
		case at < len(globs) && matchPart(globs[at], parts[i]):
			at, i = at+1, i+1
		case back >= 0:
			from++
			at, i = back, from
		default:
			return false
		}
	}
	for at < len(globs) && globs[at] == "**" {
		at++
	}
	return at == len(globs)
}

func matchPart(glob, part string) bool {
	ok, err := path.Match(glob, part)
	return err == nil && ok
}
