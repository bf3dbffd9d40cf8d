package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/wave"
)

// Kind is a kind of folder that a home keeps.
type Kind struct {
	Noun string // what one is called
	File string // that says what a folder is about; without it a folder is none of the kind
	ID   string // the key of the id in File, "" where it has none
	Last string // the file that is written last: a folder without it has nothing to be found yet

	place  string // the folder of all of the kind
	beside bool   // it lies beside the folder of runs, and not in it
}

// The kinds of folders. A home is named by its folder of runs. Code changes lie in their
// projects and not in a home.
var (
	Runs    = Kind{Noun: "run", File: "manifest.json", ID: "run_id", Last: LogFile}
	Reviews = Kind{Noun: "review", File: "review.json", Last: "REVIEW.md", place: "reviews"}
	Audits  = Kind{Noun: "audit", File: "audit.json", ID: "audit_id", Last: LogFile, place: "audits", beside: true}
	Answers = Kind{Noun: "answer", File: AboutFile, ID: "id", Last: ResultFile, place: "answers", beside: true}
	Updates = Kind{Noun: "update", File: AboutFile, ID: "id", Last: ResultFile, place: "updates", beside: true}
)

// Exported is the kind of that name, if its folders move between machines in one file.
func Exported(noun string) (kind Kind, ok bool) {
	for _, kind := range []Kind{Runs, Audits, Answers, Updates} {
		if kind.Noun == noun {
			return kind, true
		}
	}
	return Kind{}, false
}

// AboutFile says what a folder is about that is bound to others, and ResultFile is its result.
const (
	AboutFile  = "about.json"
	ResultFile = "result.json"
)

// CheckHome returns INVALID_ARGS where the folder of runs is not known: an environment without
// a home folder for its user has none for tidegate either.
func CheckHome(runs string) error {
	if runs == "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("home", runs),
			"the home of runs is not known: set TIDEGATE_HOME to the folder in which runs are to live")
	}
	return nil
}

// Home is the folder of all of the kind in the home with that folder of runs, "" where that
// is not known.
func (k Kind) Home(runs string) string {
	if runs == "" {
		return ""
	}
	if k.beside {
		runs = filepath.Dir(runs)
	}
	return filepath.Join(runs, k.place)
}

// IsID reports whether a folder of a home can have that name.
func IsID(name string) bool { return IDFault(name) == "" }

// IDFault says what is wrong with an id that names a folder of a home, or "". A person types
// and pastes it into commands: it is no flag, and nothing that a shell acts upon.
func IDFault(id string) string {
	if fault := wave.IDFault(id); fault != "" {
		return fault
	}
	if first, _ := utf8.DecodeRuneInString(id); !unicode.IsLetter(first) && !unicode.IsNumber(first) {
		return "must begin with a letter or digit"
	}
	for _, r := range id {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune("._-+=:@,% ", r) {
			return fmt.Sprintf("must have letters, digits, blanks and . _ - + = : @ , %% alone, got %q", r)
		}
	}
	return ""
}

// Find is the path of [Kind.File] of what a person names: by the path of that file or of its
// folder, by its id under home, or by a path relative to workdir. An id takes precedence over
// a relative path. It returns INVALID_ARGS without a name, NOT_FOUND with the places that were
// searched, and READ_FAILED where the caller may not look into such a place.
func (k Kind) Find(reach artifact.Reach, home, workdir, name string) (string, error) {
	if strings.TrimSpace(name) == "" {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(k.Noun, name), "%s must not be blank", k.Noun)
	}
	var candidates []string
	if filepath.IsAbs(name) {
		candidates = []string{filepath.Clean(name)}
	} else {
		if IsID(name) && home != "" {
			candidates = append(candidates, filepath.Join(home, name))
		}
		candidates = append(candidates, filepath.Join(workdir, name))
	}
	var denied error
	for _, path := range candidates {
		manifest, err := k.fileAt(reach, path)
		switch {
		case err == nil:
			return manifest, nil
		case denied == nil && errors.Is(err, fs.ErrPermission):
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	if home == "" {
		home = "a home of " + k.Noun + "s, which is not known (set TIDEGATE_HOME),"
	}
	return "", tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs(k.Noun, name, "searched", candidates),
		"there is no %s %q: neither an id under %s nor the folder of one; `tidegate %s list` shows what there is", k.Noun, tidegate.Cut(name), home, k.Noun)
}

// fileAt is the path of the file that stands at path or in the folder there.
func (k Kind) fileAt(reach artifact.Reach, path string) (string, error) {
	file, err := reach.OpenFile(k.Noun, path)
	if err == nil {
		return path, file.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", err
	}
	inFolder := filepath.Join(path, k.File)
	if file, err = reach.OpenFile(k.Noun, inFolder); err != nil {
		return "", err
	}
	return inFolder, file.Close()
}

// FindByBeginning is the path of the file of what a person names as [Kind.Find] takes names, or
// by the beginning of its id. It returns INVALID_ARGS for the beginning of several ids,
// NOT_FOUND and READ_FAILED.
func (k Kind) FindByBeginning(reach artifact.Reach, home, workdir, name string) (file string, err error) {
	file, err = k.Find(reach, home, workdir, name)
	if tidegate.CodeOf(err) != tidegate.FileNotFound || !IsID(name) || home == "" {
		return file, err
	}
	var ids, all []string
	if listed := k.Each(reach, home, func(_ *artifact.Folder, id string) {
		dated := len(id) == len("2006-01-02-")+len(name) && strings.HasSuffix(id, "-"+name) // named by what tells a day's apart
		if all = append(all, id); strings.HasPrefix(id, name) || len(name) == 6 && dated {
			ids = append(ids, id)
		}
	}); listed != nil {
		return "", listed
	}
	switch len(ids) {
	case 0:
		return "", k.orNearest(err, name, all)
	case 1:
		return filepath.Join(home, ids[0], k.File), nil
	}
	return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(k.Noun, name, k.Noun+"s", ids[:min(len(ids), 10)]),
		"%d %ss begin with %q: %s; type more of the id", len(ids), k.Noun, tidegate.Cut(name), tidegate.Cut(strings.Join(ids, ", ")))
}

// orNearest adds to an error the id that a misspelt name probably stands for.
func (k Kind) orNearest(err error, name string, ids []string) error {
	near := codec.Nearest(name, ids)
	if near == "" {
		return err
	}
	e := tidegate.AsError(err)
	return tidegate.Errorf(e.Code, e.Details, "%s; did you mean %s?", e.Message, near)
}

// Each visits the folders in home that hold the file, in byte order. A home that does not
// exist has none. It returns READ_FAILED.
func (k Kind) Each(reach artifact.Reach, home string, visit func(folder *artifact.Folder, id string)) error {
	folder, err := reach.Open("home", home)
	if err != nil {
		return artifact.UnlessMissing(err)
	}
	defer folder.Close()
	entries, err := folder.List(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !IsID(e.Name()) {
			continue
		}
		if there, err := folder.Exists(e.Name() + "/" + k.File); err == nil && there {
			visit(folder, e.Name())
		}
	}
	return nil
}
