package run

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
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
		files.Set(f.name, codec.OrNull(f.digest))
	}
	return codec.Of(tidegate.Pairs("digest", codec.Digest(files), "files", files))
}

// Names lists the files, in byte order.
func (b Binding) Names() []string {
	names := make([]string, len(b.files))
	for i, f := range b.files {
		names[i] = f.name
	}
	return names
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
// it, at every depth, whose names do not begin with a dot. Of the manifest, only
// the fields count that stay the same while a run goes on; otherwise every write of
// it would unbind the gate. The gates file and the audit log change with the very
// write that would bind them: a folder does not include them.
//
// It returns PATH_NOT_ALLOWED for a blank name and one outside the run,
// INVALID_ARGS for the gates file and the audit log, and READ_FAILED.
func Bind(folder *artifact.Folder, names []string) (Binding, error) {
	return BindPending(folder, names, nil)
}

// BindPending is [Bind] where some files are about to be written: pending has
// their digests by name, "" for one that is about to be removed.
func BindPending(folder *artifact.Folder, names []string, pending map[string]string) (Binding, error) {
	var b Binding
	for _, given := range names {
		name := strings.TrimSpace(given)
		if name != "" {
			name = folder.NameOf(name)
		}
		switch {
		case name == "":
			return Binding{}, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("artifact", given, "run_root", folder.Path()),
				"a gate can only name files in its run's folder, not %q", tidegate.Cut(given))
		case changesWithGates(name):
			return Binding{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("artifacts", given),
				"%s changes with every gate write, so no gate can be bound to it", given)
		}
		files, err := filesUnder(folder, name)
		if err != nil {
			return Binding{}, err
		}
		for _, file := range files {
			b.files = append(b.files, boundFile{name: file})
		}
	}
	slices.SortFunc(b.files, func(a, b boundFile) int { return strings.Compare(a.name, b.name) })
	b.files = slices.Compact(b.files)
	err := parallel.All(context.Background(), len(b.files), func(i int) (err error) {
		f := &b.files[i]
		digest, written := pending[f.name]
		if !written || f.name == ManifestFile {
			digest, err = boundDigest(folder, f.name)
		}
		f.digest = digest
		return err
	})
	if err != nil {
		return Binding{}, err
	}
	return b, nil
}

// changesWithGates reports whether every write of a gate changes the file.
func changesWithGates(name string) bool {
	return name == LogFile || name == HeadFile || name == layoutDefault("gates_file")
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
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", path.Join(folder.Path(), name)), "cannot read (%w): %s", err, name)
	}
	return files, nil
}

// boundDigest is the digest by which a gate is bound to a file: that of its bytes or, for
// the manifest, of what stays the same while a run goes on. It is "" for a file
// that does not exist. It returns READ_FAILED.
func boundDigest(folder *artifact.Folder, name string) (string, error) {
	if name == ManifestFile {
		return digestOfConstants(folder)
	}
	return folder.Digest(name)
}

// movingFields are what changes in a manifest while a run goes on, or may be written into
// it at any time.
var movingFields = []string{"updated_at", "revision", "status", "stage", "metrics", "failures", "notes"}

func digestOfConstants(folder *artifact.Folder) (string, error) {
	data, err := folder.Read(ManifestFile)
	if err != nil {
		return "", artifact.UnlessMissing(err)
	}
	doc, err := codec.ParseFile("path", ManifestFile, data)
	if err != nil {
		return "", err
	}
	for _, m := range slices.Clone(doc.Members()) {
		if slices.Contains(movingFields, m.Key) || !IsManifestField(m.Key) {
			doc.Delete(m.Key)
		}
	}
	return codec.Digest(doc), nil
}

// Apply lays each patch of update over its gate, binds the gate to the files it
// names, and raises the revision. A patch is an object with some of status,
// checked_at, metrics, artifacts, warnings and notes. Pending has the digests of
// files that are written together with the gates.
//
// It returns INVALID_STATE (what a judge read has changed since), MISSING_ARTIFACT,
// PATH_NOT_ALLOWED, READ_FAILED and SCHEMA_VALIDATION_FAILED.
func (g Gates) Apply(folder *artifact.Folder, pending map[string]string, update *codec.Value, inputsDigest string, now time.Time) (Gates, error) {
	doc := g.doc.Clone()
	for _, m := range update.Members() {
		if err := patchGate(folder, pending, m.Key, doc.Get("gates").Get(m.Key), m.Value); err != nil {
			return g, err
		}
	}
	doc.Set("revision", codec.Of(g.Revision()+1))
	doc.Set("updated_at", codec.Of(tidegate.Stamp(now)))
	doc.Set("inputs_digest", codec.Of(inputsDigest))
	return Gates{doc}, CheckGates(doc)
}

func patchGate(folder *artifact.Folder, pending map[string]string, id string, gate, patch *codec.Value) error {
	for _, m := range patch.Members() {
		gate.Set(m.Key, m.Value)
	}
	if gate.Get("status").Str() == GateNotRun {
		gate.Set("checked_at", codec.Of(nil))
		setBound(gate, nil)
		return nil
	}
	return bind(folder, pending, id, gate, patch)
}

// bind hashes what the gate names. If a patch brings its own binding, from a judge
// that hashed what it read, that must still be true.
func bind(folder *artifact.Folder, pending map[string]string, id string, gate, patch *codec.Value) error {
	if err := gateShape.CheckAt("$.gates."+id, gate); err != nil {
		return err
	}
	names := gate.Get("artifacts").Strs()
	binding, err := BindPending(folder, names, pending)
	if err != nil {
		return err
	}
	if gate.Get("status").Str() != GateFail {
		if missing := binding.Missing(); len(missing) > 0 {
			return tidegate.Errorf(tidegate.MissingArtifact, tidegate.Pairs("gate", id, "file", missing[0], "missing", missing),
				"gate %s cannot pass on a file that is not there: %s", id, missing[0])
		}
		if len(names) > 0 && len(binding.files) == 0 {
			return tidegate.Errorf(tidegate.MissingArtifact, tidegate.Pairs("gate", id, "dir", names[0]),
				"gate %s cannot pass on a folder without files: %s", id, names[0])
		}
	}
	now := binding.Value()
	if claimed := patch.Get("metrics").Get("bound"); claimed != nil {
		if changed := differences(claimed, now); len(changed) > 0 {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("gate", id, "changed", changed),
				"what gate %s judged has changed since it was judged: %s", id, strings.Join(changed, ", "))
		}
	}
	// Names inside the run are kept relative to it: a copy of the run is judged
	// by its own files.
	relative := make([]string, len(names))
	for i, name := range names {
		relative[i] = folder.NameOf(strings.TrimSpace(name))
	}
	gate.Set("artifacts", codec.Of(relative))
	if len(binding.files) == 0 {
		now = nil
	}
	setBound(gate, now)
	return nil
}

func setBound(gate, bound *codec.Value) {
	metrics := gate.Get("metrics")
	if metrics.Kind() != codec.Object {
		return // the schema check names it
	}
	metrics = metrics.Clone()
	metrics.Delete("bound")
	if bound != nil {
		metrics.Set("bound", bound)
	}
	gate.Set("metrics", metrics)
}
