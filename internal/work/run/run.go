package run

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Run is an opened run: its manifest as it was when it was opened, and its
// folder. [Run.Update] reads again under the lock.
type Run struct {
	desk     Desk
	path     string // of the manifest, as given
	name     string // of the manifest in folder
	uses     []string
	manifest Manifest
	digest   string // of the manifest's bytes
	layout   Layout
	folder   *artifact.Folder
	digests  *artifact.Digests
	ends     logEnds // of the log, as it was when the run was opened
	found    int64   // revision before an interrupted write was finished
	finished bool    // there was one

	// How many lines the log had after the last transaction through this Run, and up
	// to which of them others may have written. Both are known under the run's lock.
	wrote, others int64

	eventsMu sync.Mutex
	events   map[string]*readEvents      // by what was asked for
	gates    atomic.Pointer[parsedGates] // as they were last read
}

// Open opens the run of the manifest at an absolute path, to work on it at desk. Reading is tolerant:
// it demands schema_version, run_id and the fields in uses (written as
// [codec.Shape.Using] takes them: "limits.max_summary_kb"); every other known
// field must have the right type where it is present.
//
// The run's root is the folder that holds the manifest, whatever artifacts.root
// says: a run that was copied, moved or renamed is a run of its own. Where the
// folder has a manifest.json, no other file of it is the manifest.
//
// It returns INVALID_ARGS, NOT_FOUND, READ_FAILED and INVALID_JSON with
// manifest_path in their details, and SCHEMA_VALIDATION_FAILED with the path of
// the field.
//
// A write that was committed and not finished is finished first, and one that
// failed and was not taken back is taken back, so that a caller who
// inspects a run neither repeats nor skips a step.
func Open(ctx context.Context, desk Desk, manifestPath string, uses ...string) (*Run, error) {
	if err := CheckPath("manifest_path", manifestPath); err != nil {
		return nil, err
	}
	data, err := desk.Reach.ReadDocument("manifest_path", manifestPath)
	if err != nil {
		return nil, err
	}
	r := &Run{desk: desk, path: manifestPath, uses: append([]string{"schema_version", "run_id"}, uses...), events: map[string]*readEvents{}}
	if err := r.takeManifest(data); err != nil {
		return nil, err
	}
	root := filepath.Dir(manifestPath)
	if r.folder, err = desk.Reach.Open("manifest_path", root); err != nil {
		return nil, err
	}
	r.digests = r.folder.Digests()
	r.name = filepath.Base(manifestPath)
	if err := r.isItsManifest(); err != nil {
		r.Close()
		return nil, err
	}
	r.found = r.manifest.Revision()
	if r.finished = r.folder.Settle(ctx); r.finished {
		if data, err = desk.Reach.ReadDocument("manifest_path", manifestPath); err == nil {
			err = r.takeManifest(data)
		}
		if err != nil {
			r.Close()
			return nil, err
		}
	}
	r.layout = layoutOf(root, r.manifest.doc.Get("artifacts").Get("paths"))
	if r.ends, err = r.readEnds(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// OwnGates returns PATH_NOT_ALLOWED unless path is the run's own gates file: a
// run must not be moved by gates that lie elsewhere.
func (r *Run) OwnGates(path string) error {
	if r.folder.NameOf(path) == r.layout.Gates {
		return nil
	}
	return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("gates_path", path, "expected", r.Path(r.layout.Gates)),
		"gates_path is not the gates file of the run: %s", path)
}

// isItsManifest returns INVALID_ARGS for another file beside the manifest of a
// run: a copy with other limits must not steer the run that it lies in.
func (r *Run) isItsManifest() error {
	if r.name == ManifestFile {
		return nil
	}
	there, err := r.folder.Exists(ManifestFile)
	if err != nil || !there {
		return err
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("manifest_path", tidegate.Cut(r.path)),
		"manifest_path must be %s, the manifest of this folder", r.Path(ManifestFile))
}

func (r *Run) takeManifest(data []byte) (err error) {
	r.digest = codec.DigestBytes(data)
	r.manifest, err = r.parseManifest(data)
	return err
}

func (r *Run) parseManifest(data []byte) (Manifest, error) {
	doc, err := codec.ParseFile("manifest_path", r.path, data)
	if err != nil {
		return Manifest{}, err
	}
	return Manifest{doc}, ManifestShape.Using(r.uses...).Check(doc)
}

// Close closes the run's folder.
func (r *Run) Close() error { return r.folder.Close() }

// Desk is the one that the run was opened at.
func (r *Run) Desk() Desk { return r.desk }

// ManifestPath is the path by which the run was opened.
func (r *Run) ManifestPath() string { return r.path }

// Manifest is the manifest as it was read when the run was opened.
func (r *Run) Manifest() Manifest { return r.manifest }

// ID is the run's id.
func (r *Run) ID() string { return r.manifest.ID() }

// Root is the absolute path of the run's folder.
func (r *Run) Root() string { return r.folder.Path() }

// Folder is the run's folder. Use it to read files; write them with [Run.Update].
func (r *Run) Folder() *artifact.Folder { return r.folder }

// Layout is where the run keeps things.
func (r *Run) Layout() Layout { return r.layout }

// Path is the absolute path of a name in the run's folder.
func (r *Run) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.folder.Path(), filepath.FromSlash(name))
}

// Name is the name of an absolute path in the run's folder, or
// PATH_NOT_ALLOWED, whose details hold the path under arg and the run root.
func (r *Run) Name(arg, path string) (string, error) {
	if name := r.folder.NameOf(path); name != "" {
		return name, nil
	}
	return "", tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs(arg, path, "run_root", r.Root()),
		"%s lies outside the run's folder %s: %s", arg, r.Root(), path)
}

// Policy reads the run's policy. It returns READ_FAILED and PATH_NOT_ALLOWED;
// bad content is never an error.
func (r *Run) Policy() (Policy, error) {
	data, err := r.folder.ReadIfThere(PolicyFile)
	if data == nil || err != nil {
		return Policy{Source: PolicyMissing, Budget: budgetOf(nil)}, err
	}
	return parsePolicy(data), nil
}

// Gates reads and checks the run's gates. It returns NOT_FOUND, INVALID_JSON
// and SCHEMA_VALIDATION_FAILED, and INVALID_STATE when they are another run's.
func (r *Run) Gates() (Gates, error) {
	gates, err := r.readGates()
	if err != nil {
		return gates, err
	}
	if id := gates.RunID(); id != r.ID() {
		return gates, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("manifest_run_id", r.ID(), "gates_run_id", id),
			"the gates belong to run %q, the manifest to run %q", id, r.ID())
	}
	return gates, nil
}

// readGates reads the gates. Every transaction does, so the same bytes are parsed and
// checked once.
func (r *Run) readGates() (Gates, error) {
	path := filepath.Join(r.folder.Path(), filepath.FromSlash(r.layout.Gates))
	data, err := r.folder.ReadDocument(r.layout.Gates)
	if err != nil {
		return Gates{}, tidegate.WithDetails(err, tidegate.Pairs("gates_path", path))
	}
	if last := r.gates.Load(); last != nil && bytes.Equal(last.data, data) {
		return last.gates, nil
	}
	doc, err := codec.ParseFile("gates_path", path, data)
	if err != nil {
		return Gates{}, err
	}
	gates := Gates{doc}
	if err := CheckGates(doc); err != nil {
		return gates, err
	}
	r.gates.Store(&parsedGates{data, gates})
	return gates, nil
}

// parsedGates are gates with the bytes that they were read from.
type parsedGates struct {
	data  []byte
	gates Gates
}

// CheckPath returns INVALID_ARGS unless path is absolute.
func CheckPath(arg, path string) error {
	switch {
	case strings.TrimSpace(path) == "":
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(arg, path), "%s must not be blank", arg)
	case !filepath.IsAbs(path):
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(arg, tidegate.Cut(path)), "%s must be absolute", arg)
	}
	return nil
}

// CheckText returns INVALID_ARGS when text is blank.
func CheckText(arg, text string) error {
	if strings.TrimSpace(text) == "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(arg, text), "%s must not be blank", arg)
	}
	return nil
}

// With opens a run, hands it to do with the result to fill in, and closes it. It
// returns the errors of [Open] and those of do, and no result beside an error.
func With[T any](ctx context.Context, desk Desk, manifestPath string, do func(r *Run, out *T) error, uses ...string) (T, error) {
	var out, none T
	r, err := Open(ctx, desk, manifestPath, uses...)
	if err != nil {
		return none, err
	}
	defer r.Close()
	if err := do(r, &out); err != nil {
		return none, err
	}
	return out, nil
}

// Unfinished is a change that a run which is final refuses, with INVALID_STATE.
func Unfinished(change func(*Update) error) func(*Update) error {
	return func(u *Update) error {
		if err := u.NotFinal(); err != nil {
			return err
		}
		return change(u)
	}
}

// Outputs lists the outputs in a folder of the run, in byte order, as names in
// the run: regular files <id>.md whose id is in asked, or all where asked is
// empty. Plans, sidecars, notes, folders and hidden files are left out. A folder
// that does not exist has none. It returns PATH_NOT_ALLOWED and READ_FAILED.
func (r *Run) Outputs(dir string, asked map[string]bool) ([]string, error) {
	entries, err := r.folder.List(dir)
	if err != nil {
		return nil, err
	}
	var outputs []string
	for _, e := range entries {
		id, markdown := strings.CutSuffix(e.Name(), ".md")
		if e.Type().IsRegular() && markdown && !strings.HasPrefix(id, ".") && (len(asked) == 0 || asked[id]) {
			outputs = append(outputs, dir+"/"+e.Name())
		}
	}
	return outputs, nil
}

// PerspectiveIDs are the ids in a document of contracts of the run, none when it
// does not exist or is not JSON: callers that need all of it report why. It returns
// READ_FAILED and PATH_NOT_ALLOWED.
func (r *Run) PerspectiveIDs(name string) (map[string]bool, error) {
	ids := map[string]bool{}
	data, err := r.folder.ReadIfThere(name)
	if data == nil || err != nil {
		return ids, err
	}
	doc, err := codec.Parse(data)
	if err != nil {
		return ids, nil
	}
	for _, p := range doc.Get("perspectives").Elems() {
		if id := p.Get("id").Str(); id != "" {
			ids[id] = true
		}
	}
	return ids, nil
}

// HasFolder reports whether the run has a folder of that name.
func (r *Run) HasFolder(name string) (bool, error) {
	entries, err := r.folder.List(name)
	return entries != nil, err
}

// Output is the name in the run of the output of a perspective of a wave, Wave1
// or Wave2. Nothing else forms that name.
func (r *Run) Output(wave Stage, perspectiveID string) string {
	return r.WaveDir(wave) + "/" + perspectiveID + ".md"
}

// Sidecar is the name of the file beside an output that records what its agent
// used.
func Sidecar(output string) string { return strings.TrimSuffix(output, ".md") + ".meta.json" }

// Accepted is the name of the copy that the run keeps of an output as it was
// taken.
func Accepted(output string) string { return path.Dir(output) + "/.accepted/" + path.Base(output) }

// WaveDir is the folder of a wave.
func (r *Run) WaveDir(wave Stage) string {
	if wave == Wave2 {
		return r.layout.Wave2Dir
	}
	return r.layout.Wave1Dir
}

// ContractsOf is the name of the contracts of a wave.
func (r *Run) ContractsOf(wave Stage) string {
	if wave == Wave2 {
		return r.layout.Wave2Perspectives()
	}
	return r.layout.Perspectives
}

// Summary is where the summary of a perspective lies.
func (r *Run) Summary(perspectiveID string) string {
	return path.Join(r.layout.SummariesDir, perspectiveID+".md")
}

// Waves lists the waves that the run has had contracts for: the second one as soon
// as it was planned.
func (r *Run) Waves() ([]Stage, error) {
	there, err := r.folder.Exists(r.layout.Wave2Perspectives())
	if err != nil || !there {
		return []Stage{Wave1}, err
	}
	return []Stage{Wave1, Wave2}, nil
}

// RecoverResult is the result of [Recover].
type RecoverResult struct {
	OK               codec.True `json:"ok"`
	RunID            string     `json:"run_id"`
	Root             string     `json:"root"`
	Interrupted      bool       `json:"interrupted"` // a write had been cut short
	RevisionBefore   int64      `json:"revision_before"`
	ManifestRevision int64      `json:"manifest_revision"`
}

// Recover ends what a killed process left undone: a write whose record was whole
// is finished, any other is undone and cleared away. Every tool does the same
// before it writes; this is for a person who wants it done now. It returns the
// errors of [Open], LOCK_HELD and CANCELLED.
func Recover(ctx context.Context, desk Desk, manifestPath string) (RecoverResult, error) {
	r, err := Open(ctx, desk, manifestPath)
	if err != nil {
		return RecoverResult{}, err
	}
	defer r.Close()
	out := RecoverResult{RunID: r.ID(), Root: r.Root(), RevisionBefore: r.found, Interrupted: r.finished || r.folder.Interrupted()}
	lock, err := r.folder.Lock(ctx, desk.Now)
	if err != nil {
		return RecoverResult{}, err
	}
	defer lock.Unlock()
	data, err := desk.Reach.ReadDocument("manifest_path", r.path)
	if err == nil {
		err = r.takeManifest(data)
	}
	out.ManifestRevision = r.manifest.Revision()
	return out, err
}

// Report shows the result to a person.
func (r RecoverResult) Report() report.Report {
	out := report.Report{Name: "run_recover", Title: "run " + r.RunID, Summary: "nothing was interrupted"}
	switch {
	case r.Interrupted && r.ManifestRevision > r.RevisionBefore:
		out.Summary = "an interrupted write was finished"
	case r.Interrupted:
		out.Summary = "an interrupted write was cleared away"
	}
	out.Add(report.Fields{{Name: "folder", Value: r.Root}})
	return out
}

// Desk is what work on runs and code changes has at hand, whoever does it: the
// time, what it may touch, and how a person signs. Faces set it up.
type Desk struct {
	Now       func() time.Time
	Pinned    bool           // Now was fixed by the caller; log lines written under it carry "clock":"pinned"
	Program   string         // the program that writes, by name and version; the first line of a run keeps it
	Reach     artifact.Reach // which files it may touch by their paths
	Sign      seal.Sign      // signs a person's decision; nil where no key was named
	Changes   string         // the folder of a project that holds its code changes, with slashes; "" for the usual one
	Sharing   Sharing        // finds out which pages runs share; nil where they share none
	Rehearsal *Rehearsal     // takes what would have been written; nil where it is written
	Memory    *store.Memory  // of the call; nil where nothing is kept
}

// Stamp is the present time as it stands in artifacts: UTC, milliseconds, Z.
func (d Desk) Stamp() string { return tidegate.Stamp(d.Now()) }

// Writer is who writes the folders that are beside runs.
func (d Desk) Writer() store.Writer {
	return store.Writer{Reach: d.Reach, Now: d.Now, Pinned: d.Pinned, Program: d.Program}
}

// defaultChanges is what Agentd reads.
const defaultChanges = "agentd"

// ChangesFolder is the folder of a project that holds its code changes, in
// changes/<id>.
func (d Desk) ChangesFolder() string { return cmp.Or(d.Changes, defaultChanges) }

func notTime(s string) string {
	if _, ok := tidegate.ParseTime(s); ok {
		return ""
	}
	return "must be a time such as 2026-02-14T12:00:00.000Z"
}

// Shared says which pages the runs of a home share.
type Shared struct {
	Runs  string         // the folder of runs; what is shared is noted beside it
	Reach artifact.Reach // for files that no caller names
	Like  string         // how pages are fetched: a run uses only what one fetched that fetches alike
	Fresh time.Duration  // how long ago a page may have been fetched
}

// Sharing finds out what a run shares at the time; nil for nothing.
type Sharing func(ctx context.Context) (*Shared, error)

// Holder is the run or folder of code changes that a path lies in.
type Holder struct {
	Run     string // the root of the nearest run, "" when the path lies in none
	Changes string // the nearest folder of code changes, "" when the path lies in none
}

// Free reports whether a path lies in neither, so that its owner decides what
// stands there.
func (h Holder) Free() bool { return h.Run == "" && h.Changes == "" }

// HolderOf finds out what a path lies in, links followed, from the contents of the
// folders above it. A folder with manifest.json and gates.json is a run; agentd/changes,
// or what stands in its place, and a folder with a STATE.yaml, hold code changes.
// Folders that the caller may not look into hold nothing of his.
func HolderOf(desk Desk, path string) Holder {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	// Folders that do not exist yet hold nothing, however many they are.
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
			break
		}
		parent := filepath.Dir(dir)
		switch {
		case isChanges(desk, dir):
			return Holder{Changes: dir}
		case dir == parent:
			return Holder{}
		}
		dir = parent
	}
	for ; ; dir = filepath.Dir(dir) {
		switch {
		case isChanges(desk, dir), holds(desk, dir, "STATE.yaml"):
			return Holder{Changes: dir}
		case holds(desk, dir, ManifestFile) && holds(desk, dir, layoutDefault("gates_file")):
			return Holder{Run: dir}
		case dir == filepath.Dir(dir):
			return Holder{}
		}
	}
}

// CheckOutside returns WRITE_FAILED for the path of a file or folder outside of all runs that a
// program could take orders from, links followed: by its own name, or, where an agent chose the
// path, by that of a folder above it. Folders above those that the caller may reach are the
// person's choice.
func CheckOutside(ctx context.Context, desk Desk, arg, given string) error {
	above := tidegate.ActorOf(ctx).Kind == tidegate.Agent
	for _, full := range []string{given, withoutLinks(given)} {
		for at := desk.Reach.Beyond(full); at != path.Dir(at); at = path.Dir(at) {
			if why := config.Obeyed(path.Base(at)); why != "" {
				return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs(arg, tidegate.Cut(given), "name", tidegate.Cut(path.Base(at)), "reason", why),
					"nothing is written to %s, because of %q: %s", tidegate.Cut(given), tidegate.Cut(path.Base(at)), why)
			}
			if !above {
				break
			}
		}
	}
	return nil
}

// withoutLinks is a path with the links in that part of it that exists followed.
func withoutLinks(full string) string {
	for at := full; at != filepath.Dir(at); at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			rest, _ := filepath.Rel(at, full)
			return filepath.Join(real, rest)
		}
	}
	return full
}

func isChanges(desk Desk, dir string) bool {
	path := filepath.ToSlash(dir)
	return strings.HasSuffix(path, "/"+defaultChanges+"/changes") || strings.HasSuffix(path, "/"+desk.ChangesFolder()+"/changes")
}

func holds(desk Desk, dir, name string) bool {
	path := filepath.Join(dir, name)
	file, err := desk.Reach.OpenFile("path", path)
	if tidegate.CodeOf(err) == tidegate.ReadFailed {
		_, err := filepath.EvalSymlinks(path)
		return err == nil // it is there and cannot be opened
	}
	if err != nil {
		return false
	}
	file.Close()
	return true
}

// ScopeVersion is the schema_version of a scope document.
const ScopeVersion = "scope.v1"

// ScopeShape is the schema of scope.v1.
var ScopeShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(ScopeVersion)},
	codec.Field{Name: "run_id", Shape: codec.NotBlank()},
	codec.Field{Name: "updated_at", Shape: codec.Ruled("a time", notTime)},
	codec.Field{Name: "questions", Shape: codec.List(codec.NotBlank(), 1)},
	codec.Field{Name: "non_goals", Shape: codec.List(codec.Text(), 0)},
	codec.Field{Name: "deliverable", Shape: codec.NotBlank()},
	codec.Field{Name: "time_budget_minutes", Shape: codec.IntegerFrom(1)},
	codec.Field{Name: "depth", Shape: codec.OneOf(modes...)},
	codec.Field{Name: "citation_posture", Shape: codec.OneOf("follow_manifest")},
	codec.Field{Name: "notes", Shape: codec.Text(), Optional: true},
	codec.Field{Name: "assumptions", Shape: codec.List(codec.Text(), 0), Optional: true},
	codec.Field{Name: "length", Shape: codec.IntegerFrom(1), Optional: true},
	codec.Field{Name: "audience", Shape: codec.NotBlank(), Optional: true},
	codec.Field{Name: "template", Shape: codec.OneOf(append(evidence.TemplateNames(), evidence.OwnTemplate)...), Optional: true},
	codec.Field{Name: "language", Shape: codec.NotBlank(), Optional: true},
	codec.Field{Name: "from", Optional: true, Shape: codec.Table(
		codec.Field{Name: "run_id", Shape: codec.NotBlank()}, codec.Field{Name: "head", Shape: codec.NotBlank()})},
)

var timeBudgets = map[string]int{"quick": 15, "standard": 45, "deep": 120}

func newScope(runID, now, query, mode string, asked evidence.Shape, from Frozen) *codec.Value {
	fields := tidegate.Pairs("schema_version", ScopeVersion, "run_id", runID, "updated_at", now,
		"questions", []string{query}, "non_goals", []string{},
		"deliverable", "A report that answers the questions and cites a source for every claim.",
		"time_budget_minutes", timeBudgets[mode], "depth", mode, "citation_posture", "follow_manifest")
	if words := asked.Words(); words > 0 {
		fields = append(fields, tidegate.Detail{Key: "length", Value: words})
	}
	template := asked.Template
	if evidence.IsOutline(template) {
		template = evidence.OwnTemplate
	}
	for _, f := range []struct{ key, value string }{{"audience", asked.Audience}, {"template", template}, {"language", asked.Language}} {
		if f.value != "" {
			fields = append(fields, tidegate.Detail{Key: f.key, Value: f.value})
		}
	}
	if !from.IsZero() {
		fields = append(fields, tidegate.Detail{Key: "from", Value: tidegate.Pairs("run_id", from.RunID, "head", from.Head)})
	}
	return codec.Of(fields)
}

// Shape is what a person asks of the run's report. It returns READ_FAILED,
// INVALID_JSON, and INVALID_STATE where the outline is not the one that the run began
// with.
func (r *Run) Shape() (evidence.Shape, error) {
	data, err := r.folder.Read(ScopeFile)
	if err != nil {
		return evidence.Shape{}, artifact.UnlessMissing(err) // an earlier program made the run
	}
	doc, err := codec.ParseFile("scope_path", r.Path(ScopeFile), data)
	if err != nil {
		return evidence.Shape{}, err
	}
	shape := evidence.Shape{Audience: doc.Get("audience").Str(), Template: doc.Get("template").Str(), Language: doc.Get("language").Str()}
	if words, _ := doc.Get("length").Int(); words > 0 {
		shape.Length = strconv.FormatInt(words, 10)
	}
	if shape.Template == evidence.OwnTemplate {
		outline, err := r.folder.Read(TemplateFile)
		if err != nil {
			return evidence.Shape{}, err
		}
		shape.Template = string(outline)
	}
	if _, err := shape.Sections(); err != nil {
		return evidence.Shape{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", TemplateFile), "%s: %s", TemplateFile, tidegate.AsError(err).Message)
	}
	return shape, nil
}
