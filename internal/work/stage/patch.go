package stage

import (
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ManifestWriteInput are the arguments of [ManifestWrite].
type ManifestWriteInput struct {
	ManifestPath     string       `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Patch            *codec.Value `json:"patch" holds:"object" jsonschema:"merge patch (RFC 7396) of the manifest"`
	ExpectedRevision *int64       `json:"expected_revision,omitzero" jsonschema:"the revision that the patch was made for" min:"1"`
	Reason           string       `json:"reason" jsonschema:"why, for the audit log"`
}

// ManifestWrite is the tool deep_research_manifest_write: it applies a merge
// patch (RFC 7396) to the manifest. The patch may set a created run running, and may
// change the two clock fields of stage, metrics except the retry counts, notes, and
// fields that the schema does not name. It may change nothing else.
//
// It returns INVALID_ARGS, NOT_FOUND, READ_FAILED, INVALID_JSON,
// SCHEMA_VALIDATION_FAILED, IMMUTABLE_FIELD, REVISION_MISMATCH, INVALID_STATE
// (a status that does not follow), PATH_NOT_ALLOWED, LOCK_HELD and WRITE_FAILED.
func ManifestWrite(ctx context.Context, desk run.Desk, in ManifestWriteInput) (run.WriteResult, error) {
	if in.Patch.Kind() != codec.Object {
		return run.WriteResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("patch", in.Patch), "patch must be an object")
	}
	if err := run.CheckText("reason", in.Reason); err != nil {
		return run.WriteResult{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *run.WriteResult) error {
		var next run.Manifest
		audit, err := r.Update(ctx, func(u *run.Update) error {
			m := u.Manifest()
			if err := checkPatch(m, in.Patch); err != nil {
				return err
			}
			if err := run.CheckRevision(in.ExpectedRevision, m.Revision()); err != nil {
				return err
			}
			if err := checkStatus(m, in.Patch); err != nil {
				return err
			}
			err := u.Patch(in.Patch, in.ExpectedRevision, run.Note(in.Reason))
			next = u.Manifest()
			return err
		})
		if err != nil {
			return err
		}
		*out = run.Written(next.Revision(), next.Doc().Get("updated_at").Str(), audit)
		return nil
	})
}

// field is the keys that lead to a value of the manifest. A key may contain a dot,
// so that two fields can have the same path for a person.
type field []string

func (f field) String() string { return "$." + strings.Join(f, ".") }

// in reports whether f is one of the fields, or below one.
func (f field) in(fields []field) bool {
	return slices.ContainsFunc(fields, func(of field) bool { return len(f) >= len(of) && slices.Equal(f[:len(of)], of) })
}

// touches reports whether f is one of the fields, below one, or above one.
func (f field) touches(fields []field) bool {
	return f.in(fields) || slices.ContainsFunc(fields, func(below field) bool { return below.in([]field{f}) })
}

// retries are the fields that count attempts at gates.
var retries = []field{{"metrics", "retry_counts"}, {"metrics", "retry_history"}}

// allowed are the fields of the schema that a patch may change. The status also needs checkStatus. A field that the schema does not name
// may be changed too.
var allowed = []field{{"status"}, {"stage", "started_at"}, {"stage", "last_progress_at"}, {"metrics"}, {"notes"}}

// checkPatch returns IMMUTABLE_FIELD with the paths that a patch must not
// change. A value that stays the same is not a fault.
func checkPatch(m run.Manifest, patch *codec.Value) error {
	paths := []string{}
	for _, leaf := range leaves(nil, patch) {
		if same(valueAt(m.Doc(), leaf.field), leaf.value) {
			continue
		}
		if !mayChange(leaf.field) {
			paths = append(paths, leaf.field.String())
		}
	}
	if len(paths) > 0 {
		return tidegate.Errorf(tidegate.ImmutableField, tidegate.Pairs("paths", paths, "commands", commandsFor(paths)),
			"a patch must not change %s%s", strings.Join(paths, ", "), inWords(commandsFor(paths)))
	}
	return nil
}

func same(a, b *codec.Value) bool { return a != nil && codec.Digest(a) == codec.Digest(b) }

// mayChange reports whether a patch may change a field.
func mayChange(f field) bool {
	return !f.touches(retries) && (f.in(allowed) || !run.IsManifestField(f[0]))
}

// commandsFor are the commands by which a person changes what a patch may not.
func commandsFor(paths []string) []string {
	commands := []string{}
	for _, p := range paths {
		command := ""
		switch {
		case strings.HasPrefix(p, "$.limits"):
			command = "tidegate " + limitRun.Command
		case p == "$.status" || strings.HasPrefix(p, "$.failures"):
			command = "tidegate " + resumeRun.Command
		case strings.HasPrefix(p, "$.stage"):
			command = "tidegate " + advanceRun.Command
		}
		if command != "" && !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	return commands
}

func inWords(commands []string) string {
	if len(commands) == 0 {
		return "; it was set when the run was created"
	}
	return "; a person does that with `" + strings.Join(commands, "`, `") + "`"
}

// leaf is a field at which a patch writes something.
type leaf struct {
	field field
	value *codec.Value
}

// valueAt is what a document has in a field.
func valueAt(doc *codec.Value, f field) *codec.Value {
	for _, key := range f {
		doc = doc.Get(key)
	}
	return doc
}

// leaves lists where a patch writes something: every value that is not an object,
// and every object without members.
func leaves(f field, v *codec.Value) []leaf {
	if len(f) > 0 && (v.Kind() != codec.Object || v.Len() == 0) {
		return []leaf{{f, v}}
	}
	var list []leaf
	for _, m := range v.Members() {
		list = append(list, leaves(append(slices.Clone(f), m.Key), m.Value)...)
	}
	return list
}

// checkStatus returns IMMUTABLE_FIELD for a status in a patch that only a person may
// set, and INVALID_STATE for one that no row of the table allows: a patch sets a
// created run running. The schema refuses what is not a status at all.
func checkStatus(m run.Manifest, patch *codec.Value) error {
	to := run.Status(patch.Get("status").Str())
	from := m.Status()
	if to == from || !slices.Contains(run.Statuses, to) {
		return nil
	}
	switch trigger := byPatch(from, to); trigger {
	case ByPatch:
		return nil
	case "":
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("from", from, "to", to, "allowed", statusesFrom(from)),
			"a patch cannot move a run from %s to %s%s", from, to, hint(from, to))
	default:
		return tidegate.Errorf(tidegate.ImmutableField, tidegate.Pairs("paths", []string{"$.status"}, "from", from, "to", to),
			"a person moves a run from %s to %s, with `tidegate run %s`", from, to, trigger)
	}
}

func hint(from, to run.Status) string {
	switch {
	case from == run.Completed || from == run.Cancelled:
		return ": " + string(from) + " is final"
	case from == run.Failed && to == run.Running:
		return ": a person decides that with `tidegate run resume --accept`"
	case to == run.Completed:
		return ": a run is completed by advancing to finalize"
	case to == run.Failed:
		return ": a run fails by its watchdog or its caps; to end it, cancel it"
	}
	return ""
}
