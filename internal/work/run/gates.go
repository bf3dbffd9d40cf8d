package run

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
)

// gatesVersion is the schema_version of a gates document.
const gatesVersion = "gates.v1"

// The statuses of a gate.
const (
	GateNotRun = "not_run"
	GatePass   = "pass"
	GateFail   = "fail"
	GateWarn   = "warn"
)

var gateShape = codec.Table(
	codec.Field{Name: "id", Shape: codec.NotBlank()},
	codec.Field{Name: "name", Shape: codec.NotBlank()},
	codec.Field{Name: "class", Shape: codec.OneOf("hard", "soft")},
	codec.Field{Name: "status", Shape: codec.OneOf(GateNotRun, GatePass, GateFail, GateWarn), About: "warn only in a soft gate"},
	codec.Field{Name: "checked_at", Shape: codec.NotBlank().OrNull(), About: "null only while not_run"},
	codec.Field{Name: "metrics", Shape: codec.Table(), About: "bound: the digests of what the gate judged; accepted: that a person let it pass, and why"},
	codec.Field{Name: "artifacts", Shape: codec.List(codec.Text(), 0), About: "files and folders that the gate judged, relative to the run root"},
	codec.Field{Name: "warnings", Shape: codec.List(codec.Text(), 0)},
	codec.Field{Name: "notes", Shape: codec.Text()},
)

// GatesShape is the schema of gates.v1. Further gates beside those of [GateTable] are
// allowed and have the same shape; [CheckGates] looks at them too.
var GatesShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(gatesVersion)},
	codec.Field{Name: "run_id", Shape: codec.NotBlank()},
	codec.Field{Name: "revision", Shape: codec.IntegerFrom(1), About: "one more with every write"},
	codec.Field{Name: "updated_at", Shape: codec.NotBlank()},
	codec.Field{Name: "inputs_digest", Shape: codec.NotBlank(), About: "of the latest write; metrics.bound is per gate"},
	codec.Field{Name: "gates", Shape: codec.Table(gateFields()...)},
)

func gateFields() []codec.Field {
	fields := make([]codec.Field, 0, len(GateTable))
	for _, row := range GateTable {
		fields = append(fields, codec.Field{Name: row.ID, Shape: gateShape, About: row.Name})
	}
	return fields
}

// CheckGates checks a whole gates document: its shape, that every gate stands under
// its own id, that only a soft gate warns, and that a gate that was run says when.
// It returns SCHEMA_VALIDATION_FAILED.
func CheckGates(doc *codec.Value) error {
	if err := GatesShape.Check(doc); err != nil {
		return err
	}
	for _, m := range doc.Get("gates").Members() {
		path := "$.gates." + m.Key
		if err := gateShape.CheckAt(path, m.Value); err != nil {
			return err
		}
		status := m.Value.Get("status").Str()
		switch {
		case m.Value.Get("id").Str() != m.Key:
			return violation(path+".id", "must be %q, the key it stands under", m.Key)
		case status == GateWarn && m.Value.Get("class").Str() == "hard":
			return violation(path+".status", "must be one of not_run, pass, fail in a hard gate")
		case status != GateNotRun && m.Value.Get("checked_at").Kind() != codec.String:
			return violation(path+".checked_at", "must not be null once the gate has run")
		}
	}
	return nil
}

func violation(path, format string, args ...any) error {
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", path),
		"%s "+format, append([]any{path}, args...)...)
}

// Gates is a gates document as it was read.
type Gates struct{ doc *codec.Value }

// NewGates is the document of a run that has judged nothing yet.
func NewGates(runID, now string) *codec.Value {
	gates := codec.NewObject()
	for _, row := range GateTable {
		gates.Set(row.ID, codec.Of(tidegate.Pairs(
			"id", row.ID, "name", row.Name, "class", "hard", "status", GateNotRun, "checked_at", nil,
			"metrics", tidegate.Pairs(), "artifacts", []string{}, "warnings", []string{}, "notes", "")))
	}
	return codec.Of(tidegate.Pairs("schema_version", gatesVersion, "run_id", runID, "revision", 1,
		"updated_at", now, "inputs_digest", "sha256:0", "gates", gates))
}

// Doc is the document itself; it must not be changed.
func (g Gates) Doc() *codec.Value { return g.doc }

// RunID is the id of the run that the gates belong to.
func (g Gates) RunID() string { return g.doc.Get("run_id").Str() }

// Revision counts the writes.
func (g Gates) Revision() int64 { return integer(g.doc.Get("revision")) }

// Gate is one gate, nil when there is none of that id.
func (g Gates) Gate(id string) *codec.Value { return g.doc.Get("gates").Get(id) }

// Status is the written status of a gate, "" when there is none. [Gates.State] says
// whether it still counts.
func (g Gates) Status(id string) string { return g.Gate(id).Get("status").Str() }

// GateRow is one gate of the table. Package step pairs it with its judge.
type GateRow struct {
	ID    string
	Name  string
	About string // what the judge looks at
}

// GateTable lists the gates of a run, in the order of their letters.
var GateTable = []GateRow{
	{"A", "Planning completeness", "scope, perspectives and the plan of the first wave"},
	{"B", "Wave output contract compliance", "every output of every planned wave"},
	{"C", "Citation validation integrity", "the sources that the outputs name, as they were archived"},
	{"D", "Summary pack boundedness", "the summaries and the pack made of them"},
	{"E", "Synthesis quality", "the synthesis and the sources that it cites"},
	{"F", "Rollout safety", "sensitivity, sources, signatures and budget of the whole run"},
}

// GateIDs are the ids of the table.
func GateIDs() []string {
	ids := make([]string, len(GateTable))
	for i, row := range GateTable {
		ids[i] = row.ID
	}
	return ids
}

// FindGate is the row of an id.
func FindGate(id string) (GateRow, bool) {
	for _, row := range GateTable {
		if row.ID == id {
			return row, true
		}
	}
	return GateRow{}, false
}

// GateState is a gate as the rules see it.
type GateState struct {
	Status   string       // as written, "" when there is no such gate
	Bound    bool         // it says what it judged
	Judged   []string     // what it says that it judged, in byte order
	Changed  []string     // what it judged and is different by now, in byte order
	Accepted *codec.Value // reason and time of a person's acceptance, nil when its judge passed it
}

// Counts is the status that the gate has now: not_run when what it judged has
// changed since.
func (s GateState) Counts() string {
	if len(s.Changed) > 0 {
		return GateNotRun
	}
	return s.Status
}

// Passed reports whether the gate counts as passed, by its judge or by a person.
func (s GateState) Passed() bool { return s.Counts() == GatePass }

// State compares a gate with the files that it judged. It returns READ_FAILED.
func (g Gates) State(folder *artifact.Folder, id string) (GateState, error) {
	return gateStateOf(folder, g.Gate(id))
}

// gateStateOf is [Gates.State] for one gate of a document.
func gateStateOf(folder *artifact.Folder, gate *codec.Value) (GateState, error) {
	state := GateState{Status: gate.Get("status").Str(), Accepted: gate.Get("metrics").Get("accepted")}
	bound := gate.Get("metrics").Get("bound")
	if bound == nil || state.Status == GateNotRun {
		return state, nil
	}
	state.Bound = true
	for _, m := range bound.Get("files").Members() {
		state.Judged = append(state.Judged, m.Key)
	}
	slices.Sort(state.Judged)
	now, err := Bind(folder, gate.Get("artifacts").Strs())
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
	return slices.Sorted(maps.Keys(changed))
}

// Judgement is what the judge of a gate found in the files of a run.
type Judgement struct {
	Gate         string
	Metrics      tidegate.Details // figures that the status follows from
	Warnings     []string         // why the gate fails, as codes; empty when it passes
	Remarks      []string         // what else a person should know, as codes; they fail nothing
	Notes        string
	Changes      []string // what to change so that the gate passes, one thing each
	InputsDigest string
	Bound        Binding // what the judge read
}

// Status is [GateFail] when there are warnings, otherwise [GatePass].
func (j Judgement) Status() string {
	if len(j.Warnings) > 0 {
		return GateFail
	}
	return GatePass
}

// Passed reports whether the judge passes the gate.
func (j Judgement) Passed() bool { return len(j.Warnings) == 0 }

// Said is all that the judge says, as the gate keeps it: why it fails, and what
// else a person should know.
func (j Judgement) Said() []string { return slices.Concat([]string{}, j.Warnings, j.Remarks) }

// Patch is the judgement in the form of an update of its gate. The binding in it
// makes the update fail when what was judged has changed since.
func (j Judgement) Patch(checkedAt string) *codec.Value {
	return codec.Of(tidegate.Pairs("status", j.Status(), "checked_at", checkedAt,
		"metrics", append(slices.Clone(j.Metrics), tidegate.Detail{Key: "bound", Value: j.Bound.Value()}),
		"artifacts", j.Bound.Names(), "warnings", j.Said(), "notes", j.Notes))
}

// Accept is the judgement when a person lets it pass: bound to the same files,
// with the reason and what the judge says.
func (j Judgement) Accept(checkedAt, reason string) *codec.Value {
	patch := j.Patch(checkedAt)
	metrics := patch.Get("metrics")
	metrics.Set("accepted", codec.Of(tidegate.Pairs("reason", reason, "at", checkedAt)))
	metrics.Set("judge", codec.Of(tidegate.Pairs("status", j.Status(), "warnings", j.Said())))
	patch.Set("status", codec.Of(GatePass))
	return patch
}

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
