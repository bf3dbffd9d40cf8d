package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// LedgerFile lists the runs that were made in a home, one line each. It lies
// beside the runs.
const LedgerFile = "runs-ledger.jsonl"

// Folders are those that a new run has.
var Folders = []string{"wave-1", "wave-2", "citations", "summaries", "synthesis", "logs", "operator", "run-config"}

// Create is the tool deep_research_run_init: it makes the folder of a run under
// home, or under root_override. The folder appears whole or not at all, and only
// one of two callers with the same id makes it. Called with the arguments of an
// existing run, it answers created false and leaves that run as it is.
//
// It returns INVALID_ARGS, PATH_TRAVERSAL, PATH_NOT_ALLOWED,
// ALREADY_EXISTS_CONFLICT and WRITE_FAILED; nothing is left behind then.
func Create(ctx context.Context, desk Desk, home string, in InitInput) (InitResult, error) {
	atHome := in.RootOverride == ""
	if err := in.check(desk, home); err != nil {
		return InitResult{}, err
	}
	root, now := filepath.Join(in.RootOverride, in.RunID), desk.Stamp()
	if holder := HolderOf(desk, root); !holder.Free() {
		return InitResult{}, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("root", root),
			"a run cannot be made inside another run or a folder of changes: %s", cmp.Or(holder.Run, holder.Changes))
	}
	if _, inside := artifact.Inside(home, root); !inside && tidegate.ActorOf(ctx).Kind == tidegate.Agent {
		if err := CheckOutside(ctx, desk, "root_override", root); err != nil {
			return InitResult{}, err
		}
	}
	entered := ledgerSize(desk, filepath.Dir(root))
	out := in.result(root)
	if atHome {
		out.called = in.RunID
	}
	signers, err := in.readSigners(desk)
	if err != nil {
		return InitResult{}, err
	}
	err = desk.Reach.CreateFolder("root", root, func(d *artifact.Draft) error { return in.fill(d, desk, tidegate.ActorOf(ctx), root, now, signers) })
	switch {
	case err == nil:
		out.Created = true
	case errors.Is(err, fs.ErrExist):
		if now, err = in.sameAs(ctx, desk, root); err != nil {
			return InitResult{}, err
		}
		entered = 0
	default:
		return InitResult{}, err
	}
	if err := in.enterInLedger(ctx, desk, root, now, entered); err != nil {
		out.Ledger.Error = tidegate.AsError(err).Message
	} else {
		out.Ledger.Written = true
	}
	return out, nil
}

// readSigners reads the list of signers for the run; nil for none.
func (in *InitInput) readSigners(desk Desk) ([]byte, error) {
	if in.SignersPath == "" {
		return nil, nil
	}
	if _, err := seal.ReadSigners(desk.Reach, "signers", in.SignersPath); err != nil {
		return nil, err
	}
	return desk.Reach.ReadFile("signers", in.SignersPath)
}

// writeDocuments writes the documents of a new run. It returns their digests as
// fields of a log line and by the names of their files.
func writeDocuments(d *artifact.Draft, documents []document) (tidegate.Details, map[string]string, error) {
	fields, state := tidegate.Details{}, map[string]string{}
	for _, doc := range documents {
		if doc.check != nil {
			if err := doc.check(doc.doc); err != nil {
				return nil, nil, err
			}
		}
		data, err := codec.MarshalFile(doc.doc)
		if err != nil {
			return nil, nil, err
		}
		if err := d.Write(doc.name, data); err != nil {
			return nil, nil, err
		}
		state[doc.name] = codec.DigestBytes(data)
		fields = append(fields, tidegate.Detail{Key: doc.label + "_digest", Value: state[doc.name]})
	}
	return fields, state, nil
}

func (in *InitInput) fill(d *artifact.Draft, desk Desk, actor tidegate.Actor, root, now string, signers []byte) error {
	digests, state, err := writeDocuments(d, in.documents(root, now))
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	if signers != nil {
		files[SignersFile] = signers
	}
	if evidence.IsOutline(in.Template) {
		files[TemplateFile] = []byte(in.Template)
	}
	if in.Earlier != nil {
		data, err := codec.MarshalFile(in.Earlier)
		if err != nil {
			return err
		}
		files[EarlierFile] = data
	}
	var written tidegate.Details
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := d.Write(name, files[name]); err != nil {
			return err
		}
		state[name] = codec.DigestBytes(files[name])
		written = append(written, tidegate.Detail{Key: name, Value: state[name]})
	}
	if written != nil {
		digests = append(digests, tidegate.Detail{Key: "files", Value: written})
	}
	for _, name := range Folders {
		if err := d.MakeFolder(name); err != nil {
			return err
		}
	}
	fields := append(tidegate.Pairs("log", logVersion, "manifest_revision", 1, "gates_revision", 1), digests...)
	if desk.Program != "" {
		fields = append(fields, tidegate.Detail{Key: "program", Value: desk.Program})
	}
	line := Line{EventCreated, kindInit, append(fields, tidegate.Detail{Key: argsKey, Value: in.args()})}
	return d.Record(LogFile, line.details(desk, now, in.RunID, actor, 1, 1, stateOf(state)))
}

// kindInit is the kind of the first line of a run.
const kindInit = "run_init"

// args are the arguments of [Create] as the log keeps them. What the manifest holds for
// good is not repeated, and the run keeps an outline as a file.
func (in *InitInput) args() *codec.Value {
	kept := *in
	kept.RunID, kept.RootOverride = "", ""
	if evidence.IsOutline(kept.Template) {
		kept.Template = evidence.OwnTemplate
	}
	args := codec.Of(kept)
	if len(in.Query) > maxArgs {
		args.Delete("query")
	}
	return args
}

// First is a document that a run began with.
type First struct {
	Name   string
	Data   []byte // as it is made again
	Digest string // as the first line of the log has it
}

// FirstDocuments makes the documents of a run again as it began with them, from
// the first line of its log. It returns INVALID_STATE for a line that does not say
// how.
func (r *Run) FirstDocuments(created *codec.Value) ([]First, error) {
	var in InitInput
	text, err := codec.MarshalLine(created.Get(argsKey))
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "the log does not say how the run was created: %w", err)
	}
	root := r.manifest.doc.Get("artifacts").Get("root").Str()
	in.Query, in.RunID, in.RootOverride = cmp.Or(in.Query, r.manifest.Query()), r.ID(), filepath.Dir(root)
	var list []First
	for _, doc := range in.documents(root, created.Get("ts").Str()) {
		data, err := codec.MarshalFile(doc.doc)
		if err != nil {
			return nil, err
		}
		list = append(list, First{doc.name, data, created.Get(doc.label + "_digest").Str()})
	}
	return list, nil
}

// sameAs compares the arguments with the run that is there already and returns
// when it was made, or ALREADY_EXISTS_CONFLICT with what differs.
func (in *InitInput) sameAs(ctx context.Context, desk Desk, root string) (created string, err error) {
	conflict := func(problem string, differs ...string) error {
		details := tidegate.Pairs("run_id", in.RunID, "root", root)
		if len(differs) > 0 {
			details = append(details, tidegate.Detail{Key: "differs", Value: differs})
		}
		return tidegate.Errorf(tidegate.AlreadyExistsConflict, details, "%s already exists and %s", root, problem)
	}
	r, err := Open(ctx, desk, filepath.Join(root, ManifestFile), "mode", "query.text", "created_at")
	if err != nil {
		return "", conflict("is not a run that can be opened: " + tidegate.AsError(err).Message)
	}
	defer r.Close()
	if _, err := r.Gates(); err != nil {
		return "", conflict("has no usable gates: " + tidegate.AsError(err).Message)
	}
	var differs []string
	note := func(same bool, name string) {
		if !same {
			differs = append(differs, name)
		}
	}
	m := r.Manifest()
	note(m.ID() == in.RunID, "run_id")
	note(m.Query() == in.Query, "query")
	note(m.Mode() == in.Mode, "mode")
	note(m.Sensitivity() == in.Sensitivity, "sensitivity")
	for _, l := range in.Limits.table() {
		has, _ := m.Limit(l.name)
		note(l.given == nil || has == float64(*l.given), "limits."+l.name)
	}
	kept, err := r.Policy()
	if err != nil {
		return "", err
	}
	note(codec.Digest(kept.Sources) == codec.Digest(in.Policy), "sources")
	shape, err := r.Shape()
	if err != nil {
		return "", err
	}
	note(shape == in.Shape, "report")
	note(kept.Origins == in.Origins, "origins")
	note(slices.Equal(kept.Search, in.Search) && (kept.Search == nil) == (in.Search == nil), "search")
	signed, err := r.folder.Exists(SignersFile)
	if err != nil {
		return "", err
	}
	note(signed == (in.SignersPath != ""), "signers")
	if len(differs) > 0 {
		return "", conflict("was created with other arguments", differs...)
	}
	return m.doc.Get("created_at").Str(), nil
}

// enterInLedger adds the run's line to the ledger of its home unless it is
// there: another process may find the run before its maker has entered it, and
// a maker that was killed in between left that to the next. The line of this run
// can only stand after the byte from.
func (in *InitInput) enterInLedger(ctx context.Context, desk Desk, root, now string, from int64) error {
	home, err := desk.Reach.Open("home", filepath.Dir(root))
	if err != nil {
		return err
	}
	defer home.Close()
	lock, err := home.Lock(ctx, desk.Now)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if entered, err := inLedger(home, in.RunID, from); err != nil || entered {
		return err
	}
	line := tidegate.Pairs("ts", now, "run_id", in.RunID, "root", root, "session_id", nil,
		"query", in.Query, "mode", in.Mode, "sensitivity", in.Sensitivity)
	if desk.Pinned {
		line = append(line, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	tx := lock.Begin()
	tx.Log(LedgerFile, line)
	if err := tx.Commit(); err != nil {
		return err
	}
	return tx.LogError()
}

func ledgerSize(desk Desk, home string) int64 {
	file, err := desk.Reach.OpenFile("home", filepath.Join(home, LedgerFile))
	if err != nil {
		return 0
	}
	defer file.Close()
	size, _ := file.Seek(0, io.SeekEnd)
	return size
}

func inLedger(home *artifact.Folder, runID string, from int64) (bool, error) {
	file, err := home.Open(LedgerFile)
	if err != nil {
		return false, artifact.UnlessMissing(err)
	}
	defer file.Close()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return false, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", file.Name()), "cannot read the ledger: %w", err)
	}
	for line, err := range artifact.ReadLog(file) {
		if err != nil {
			return false, err
		}
		if doc, err := codec.Parse(line.Text); err == nil && doc.Get("run_id").Str() == runID {
			return true, nil
		}
	}
	return false, nil
}
