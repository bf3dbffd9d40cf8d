package run

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
)

// Binding says what a gate judged: each file with the digest of its bytes, nil
// for one that was not there. A gate keeps it as metrics.bound and counts while
// the files still are as it says.
type Binding struct {
	files []boundFile // in byte order
}

type boundFile struct {
	name   string
	digest string // "" when the file was not there
}

// Value is the binding as it stands in metrics.bound: the digest of files, and
// files by name.
func (b Binding) Value() *codec.Value {
	files := codec.NewObject()
	for _, f := range b.files {
		if f.digest == "" {
			files.Set(f.name, codec.Of(nil))
		} else {
			files.Set(f.name, codec.Of(f.digest))
		}
	}
	return codec.Of(tidegate.D("digest", codec.Digest(files), "files", files))
}

// Missing lists the files that were not there.
func (b Binding) Missing() []string {
	var names []string
	for _, f := range b.files {
		if f.digest == "" {
			names = append(names, f.name)
		}
	}
	return names
}

// Bind hashes the files that a gate names: files and folders of the run,
// relative to its root or absolute inside it. A folder stands for the files in
// it, at every depth, whose names do not begin with a dot. The manifest enters
// by what does not move while a run goes on, or every write of it would unbind
// the gate. The gates file and the audit log change with the very write that
// would bind them: a folder stands for the others in it.
//
// It returns PATH_NOT_ALLOWED for a blank name and one outside the run,
// INVALID_ARGS for the gates file and the audit log, and READ_FAILED.
func Bind(folder *artifact.Folder, names []string) (Binding, error) {
	digests := map[string]string{}
	for _, given := range names {
		name := strings.TrimSpace(given)
		if name != "" {
			name = nameIn(folder.Path(), name)
		}
		switch {
		case name == "":
			return Binding{}, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D("artifact", given, "run_root", folder.Path()),
				"a gate can only name files in its run's folder, not %q", tidegate.Cut(given))
		case changesWithGates(name):
			return Binding{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("artifacts", given),
				"%s changes with every gate write, so no gate can be bound to it", given)
		}
		files, err := filesUnder(folder, name)
		if err != nil {
			return Binding{}, err
		}
		for _, file := range files {
			if digests[file], err = digestOf(folder, file); err != nil {
				return Binding{}, err
			}
		}
	}
	var b Binding
	for name, digest := range digests {
		b.files = append(b.files, boundFile{name, digest})
	}
	slices.SortFunc(b.files, func(a, b boundFile) int { return strings.Compare(a.name, b.name) })
	return b, nil
}

// changesWithGates holds for the files that every write of a gate changes.
func changesWithGates(name string) bool {
	return name == AuditFile || name == layoutDefault("gates_file")
}

// filesUnder lists the files that name stands for: itself, or what lies in it.
func filesUnder(folder *artifact.Folder, name string) ([]string, error) {
	info, err := fs.Stat(folder.FS(), name)
	if err != nil || !info.IsDir() {
		return []string{name}, nil
	}
	var files []string
	err = fs.WalkDir(folder.FS(), name, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file != name && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && !changesWithGates(file):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.D("path", path.Join(folder.Path(), name)), "cannot read (%w): %s", err, name)
	}
	return files, nil
}

// digestOf is the digest of a file's bytes, "" when there is none.
func digestOf(folder *artifact.Folder, name string) (string, error) {
	file, err := folder.Open(name)
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return "", nil
	case err != nil:
		return "", err
	}
	defer file.Close()
	if name == ManifestFile {
		return digestOfConstants(file)
	}
	digest, err := codec.DigestReader(file)
	if err != nil {
		return "", tidegate.Errorf(tidegate.ReadFailed, tidegate.D("path", file.Name()), "cannot read (%w): %s", errors.Unwrap(err), name)
	}
	return digest, nil
}

// movingFields are what changes in a manifest while a run goes on.
var movingFields = []string{"updated_at", "revision", "status", "stage", "metrics", "failures"}

func digestOfConstants(file io.Reader) (string, error) {
	data, err := io.ReadAll(file)
	if err != nil {
		return "", tidegate.Errorf(tidegate.ReadFailed, tidegate.D("path", ManifestFile), "cannot read the manifest: %w", err)
	}
	doc, err := codec.ParseFile("path", ManifestFile, data)
	if err != nil {
		return "", err
	}
	for _, field := range movingFields {
		doc.Delete(field)
	}
	return codec.Digest(doc), nil
}

// GateState is a gate as the rules see it.
type GateState struct {
	Status  string   // as written, "" when there is no such gate
	Bound   bool     // it says what it judged
	Judged  []string // what it says that it judged, in byte order
	Changed []string // what it judged and what is different by now, in byte order
}

// Counts is the status that the gate has by now: not_run when what it judged
// has changed since.
func (s GateState) Counts() string {
	if len(s.Changed) > 0 {
		return NotRun
	}
	return s.Status
}

// GateState compares a gate with the files that it judged. It returns
// READ_FAILED.
func (r *Run) GateState(gates Gates, id string) (GateState, error) {
	return gateState(r.folder, gates.Gate(id))
}

func gateState(folder *artifact.Folder, gate *codec.Value) (GateState, error) {
	state := GateState{Status: gate.Get("status").Str()}
	bound := gate.Get("metrics").Get("bound")
	if bound == nil || state.Status == NotRun {
		return state, nil
	}
	state.Bound = true
	for _, m := range bound.Get("files").Members() {
		state.Judged = append(state.Judged, m.Key)
	}
	slices.Sort(state.Judged)
	now, err := Bind(folder, textsOf(gate.Get("artifacts")))
	if err != nil && tidegate.CodeOf(err) == tidegate.ReadFailed {
		return state, err
	}
	state.Changed = differences(bound, now.Value())
	return state, nil
}

// differences names the files in which two bindings differ. A binding whose
// digest does not fit its files was tampered with and differs as a whole.
func differences(was, is *codec.Value) []string {
	changed := map[string]bool{}
	if was.Get("digest").Str() != codec.Digest(codec.Of(was.Get("files"))) {
		changed["metrics.bound"] = true
	}
	for _, pair := range [][2]*codec.Value{{was, is}, {is, was}} {
		for _, m := range pair[0].Get("files").Members() {
			other := pair[1].Get("files").Get(m.Key)
			if other == nil || other.Str() != m.Value.Str() {
				changed[m.Key] = true
			}
		}
	}
	var names []string
	for name := range changed {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func textsOf(list *codec.Value) []string {
	var out []string
	for _, e := range list.Elems() {
		out = append(out, e.Str())
	}
	return out
}
