package run

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/report"
)

// VerifyResult is the result of [Verify].
type VerifyResult struct {
	OK       codec.True `json:"ok"`
	RunID    string     `json:"run_id"`
	Root     string     `json:"root"`
	Pass     bool       `json:"pass"` // nothing of level error was found
	Checked  []string   `json:"checked"`
	Findings []Finding  `json:"findings"`
	Log      LogState   `json:"log"`
	Limits   string     `json:"limits"` // what none of this can show
}

// Finding is one thing that is not as the run's own record says.
type Finding struct {
	Level   string `json:"level"` // error, warning or note
	Rule    string `json:"rule"`
	File    string `json:"file"` // relative to the run
	Line    int    `json:"line,omitzero"`
	Message string `json:"message"`
}

// LogState is what the chain of the audit log shows.
type LogState struct {
	Lines     int    `json:"lines"`
	Unchained int    `json:"unchained"` // lines that another program wrote
	Broken    int    `json:"broken"`
	Torn      bool   `json:"torn"`
	Head      string `json:"head"` // digest of the last line; kept elsewhere, it shows a log rewritten as a whole
}

const verifyLimits = "A chain cannot show that the log was rewritten as a whole or cut at its end; compare log.head with a copy kept elsewhere."

// Verify checks a run against itself: the schemas of its documents, the chain of
// its audit log, the revisions and digests that the log records against the
// files that are there, and what the gates judged against what is there by now.
// It writes nothing itself and takes no lock; what [Open] finishes is finished
// first, and a run that changes while it is looked at is looked at again.
//
// It returns the errors of [Open] and READ_FAILED. What it finds is no error.
func Verify(ctx context.Context, manifestPath string) (VerifyResult, error) {
	const attempts = 5
	var out VerifyResult
	for range attempts {
		before := fingerprint(ctx, manifestPath)
		v, err := newVerifier(ctx, manifestPath)
		if err != nil {
			return VerifyResult{}, err
		}
		out, err = v.verify()
		v.run.Close()
		if err != nil {
			return VerifyResult{}, err
		}
		if out.Pass || before == fingerprint(ctx, manifestPath) {
			break
		}
	}
	return out, nil
}

// fingerprint changes with every write of the run.
func fingerprint(ctx context.Context, manifestPath string) string {
	data, err := artifact.ReadFile(ctx, "manifest_path", manifestPath)
	if err != nil {
		return ""
	}
	print := codec.DigestBytes(data)
	if r, err := Open(ctx, manifestPath); err == nil {
		defer r.Close()
		if gates, err := r.Folder().Read(r.layout.Gates); err == nil {
			print += codec.DigestBytes(gates)
		}
		if log, err := fs.Stat(r.folder.FS(), AuditFile); err == nil {
			print += strconv.FormatInt(log.Size(), 10)
		}
	}
	return print
}

type verifier struct {
	run      *Run
	out      VerifyResult
	manifest *codec.Value // nil when it cannot be read
	gates    *codec.Value
	recorded record
}

// record is what the audit log says the documents should be.
type record struct {
	manifestRevision, gatesRevision int64
	digests                         map[string]string // of the files' bytes, by label
	perspectives                    map[string]string // absolute path → digest of the value
	files                           map[string]recordedFile
	lastForeign                     int // line that another program wrote
}

type recordedFile struct {
	digest string
	line   int
}

func newVerifier(ctx context.Context, manifestPath string) (*verifier, error) {
	r, err := Open(ctx, manifestPath)
	if err != nil {
		return nil, err
	}
	return &verifier{
		run:      r,
		out:      VerifyResult{RunID: r.ID(), Root: r.Root(), Checked: []string{}, Findings: []Finding{}, Limits: verifyLimits},
		recorded: record{digests: map[string]string{}, perspectives: map[string]string{}, files: map[string]recordedFile{}},
	}, nil
}

func (v *verifier) find(level, rule, file string, line int, format string, args ...any) {
	v.out.Findings = append(v.out.Findings, Finding{level, rule, file, line, fmt.Sprintf(format, args...)})
}

func (v *verifier) verify() (VerifyResult, error) {
	if err := v.readLog(); err != nil {
		return VerifyResult{}, err
	}
	l := v.run.layout
	manifestName := v.run.name
	if manifestName == "" {
		v.find("error", "manifest-elsewhere", ManifestFile, 0, "the manifest lies outside the run's folder %s: it is a copy, or the run was moved", v.run.Root())
		manifestName = ManifestFile
	}
	v.manifest = v.document("manifest", manifestName, ManifestShape.Check)
	v.gates = v.document("gates", l.Gates, CheckGates)
	v.document("scope", ScopeFile, ScopeShape.Check)
	v.document("policy", PolicyFile, checkPolicy)
	if doc := v.document("perspectives", l.Perspectives, perspective.Check); doc != nil {
		_, byFile := v.recorded.files[l.Perspectives]
		if want := v.recorded.perspectives[v.run.Path(l.Perspectives)]; !byFile && want != "" && want != codec.Digest(doc) {
			v.find("error", "digest-mismatch", l.Perspectives, 0, "the perspectives are not those that the log says were written")
		}
	}
	v.files()
	v.revisions()
	v.history()
	if err := v.bindings(); err != nil {
		return VerifyResult{}, err
	}
	v.out.Pass = !slices.ContainsFunc(v.out.Findings, func(f Finding) bool { return f.Level == "error" })
	return v.out, nil
}

func checkPolicy(doc *codec.Value) error {
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(PolicyVersion)},
		codec.Field{Name: requireBoundGates, Shape: codec.Truth(), Optional: true},
	).Check(doc)
}

// document reads and checks one document, and compares it with the digest in
// the log. Manifest and gates must be there.
func (v *verifier) document(label, name string, check func(*codec.Value) error) *codec.Value {
	data, err := v.run.folder.Read(name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		switch {
		case label == "manifest" || label == "gates" || v.recorded.digests[label] != "":
			v.find("error", "file-missing", name, 0, "%s is not there", name)
		}
		return nil
	}
	v.out.Checked = append(v.out.Checked, name)
	if err != nil {
		v.find("error", "file-unreadable", name, 0, "%s", tidegate.AsError(err).Message)
		return nil
	}
	if want := v.recorded.digests[label]; want != "" && want != codec.DigestBytes(data) {
		v.find("error", "digest-mismatch", name, 0, "%s was changed after the last write that the log records", name)
	}
	doc, err := codec.Parse(data)
	if err != nil {
		v.find("error", "not-json", name, 0, "%s is not JSON: %v", name, err)
		return nil
	}
	if err := check(doc); err != nil {
		v.find("error", "schema-violation", name, 0, "%s", tidegate.AsError(err).Message)
	}
	if id := doc.Get("run_id"); id != nil && id.Str() != v.run.ID() {
		v.find("error", "run-id-mismatch", name, 0, "%s belongs to run %q", name, tidegate.Cut(id.Str()))
	}
	return doc
}

// readLog follows the chain and collects what the lines record.
func (v *verifier) readLog() error {
	file, err := v.run.folder.Open(AuditFile)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		v.find("note", "log-missing", AuditFile, 0, "there is no audit log, so nothing can be compared with it")
		v.out.Log.Head = artifact.FirstPrev
		return nil
	} else if err != nil {
		return err
	}
	chain, err := artifact.VerifyLog(file)
	file.Close()
	if err != nil {
		return err
	}
	v.out.Checked = append(v.out.Checked, AuditFile)
	v.out.Log = LogState{chain.Lines, chain.Unchained, chain.Broken, chain.Torn, chain.Head}
	for _, b := range chain.Breaks {
		v.find("error", "chain-broken", AuditFile, b.Line, "line %d does not follow the line before it: a line was changed, removed, inserted or moved", b.Line)
	}
	if more := chain.Broken - len(chain.Breaks); more > 0 {
		v.find("error", "chain-broken", AuditFile, 0, "the chain is broken at %d more lines", more)
	}
	if chain.Unchained > 0 {
		v.find("note", "line-unchained", AuditFile, chain.Foreign[0], "%s written by another program and not chained", report.Counted(chain.Unchained, "line"))
	}
	if chain.Torn {
		v.find("warning", "line-torn", AuditFile, chain.Lines+1, "the last line is cut short")
	}
	return v.run.eachLine(v.collect)
}

func (v *verifier) collect(line artifact.Line) {
	if line.Torn {
		return
	}
	entry, err := codec.Parse(line.Text)
	if err != nil {
		v.find("warning", "line-unreadable", AuditFile, line.Number, "line %d is not JSON", line.Number)
		return
	}
	if id := entry.Get("run_id"); id != nil && id.Str() != v.run.ID() {
		v.find("warning", "run-id-mismatch", AuditFile, line.Number, "line %d is about run %q", line.Number, tidegate.Cut(id.Str()))
		return
	}
	rec := &v.recorded
	if line.Prev == "" {
		rec.lastForeign = line.Number
	}
	switch entry.Get("kind").Str() {
	case "run_init":
		rec.manifestRevision, rec.gatesRevision = integer(entry.Get("manifest_revision")), integer(entry.Get("gates_revision"))
		for _, label := range []string{"manifest", "gates", "scope", "policy"} {
			rec.digests[label] = entry.Get(label + "_digest").Str()
		}
	case "manifest_write":
		v.follow("manifest", &rec.manifestRevision, line.Number, entry)
	case "gates_write":
		v.follow("gates", &rec.gatesRevision, line.Number, entry)
	case "perspectives_write":
		path := entry.Get("path").Str()
		rec.perspectives[path] = entry.Get("value_digest").Str()
		delete(rec.files, nameIn(v.run.Root(), path))
	case kindFiles:
		for _, f := range entry.Get("files").Members() {
			if f.Value.Kind() == codec.String {
				rec.files[f.Key] = recordedFile{f.Value.Str(), line.Number}
			} else {
				delete(rec.files, f.Key)
			}
		}
	}
}

// follow checks that a line continues the revisions of its document.
func (v *verifier) follow(label string, revision *int64, number int, entry *codec.Value) {
	prev, next := integer(entry.Get("prev_revision")), integer(entry.Get("new_revision"))
	if *revision != 0 && prev != *revision || next != prev+1 {
		v.find("error", "revision-gap", AuditFile, number, "line %d takes the %s from revision %d to %d, but it was at %d", number, label, prev, next, *revision)
	}
	*revision = next
	v.recorded.digests[label] = entry.Get(label + "_digest").Str()
}

// files compares the files that the log says were written with what is there.
// Where another program has written to the log since, the change may be its own.
func (v *verifier) files() {
	documents := v.out.Checked
	for _, name := range slices.Sorted(maps.Keys(v.recorded.files)) {
		recorded := v.recorded.files[name]
		level := "error"
		if v.recorded.lastForeign > recorded.line {
			level = "warning"
		}
		switch digest, err := digestOf(v.run.folder, name); {
		case err != nil:
			v.find("error", "file-unreadable", name, 0, "%s", tidegate.AsError(err).Message)
		case digest == "":
			v.find(level, "file-missing", name, 0, "%s was written by line %d of the log and is not there", name, recorded.line)
		case digest != recorded.digest:
			v.find(level, "digest-mismatch", name, 0, "%s was changed after the last write that the log records", name)
		}
		if !slices.Contains(documents, name) {
			v.out.Checked = append(v.out.Checked, name)
		}
	}
}

// revisions compares the last revisions in the log with the documents.
func (v *verifier) revisions() {
	for _, d := range []struct {
		label, name string
		doc         *codec.Value
		recorded    int64
	}{
		{"manifest", v.run.name, v.manifest, v.recorded.manifestRevision},
		{"gates", v.run.layout.Gates, v.gates, v.recorded.gatesRevision},
	} {
		has := integer(d.doc.Get("revision"))
		switch {
		case d.doc == nil || d.recorded == has:
		case d.recorded == 0 && has <= 1:
			// The earlier system writes no line when it makes a run.
		case d.recorded == 0:
			v.find("error", "revision-unrecorded", d.name, 0, "the %s is at revision %d, of which the log has no line", d.label, has)
		default:
			v.find("error", "revision-mismatch", d.name, 0, "the %s is at revision %d, the log ends at %d", d.label, has, d.recorded)
		}
	}
}

// history checks that the moves in the manifest follow each other and lead to
// the present stage.
func (v *verifier) history() {
	if v.manifest == nil {
		return
	}
	m := Manifest{v.manifest}
	at := Init
	for i, h := range m.History() {
		if from := Stage(h.Get("from").Str()); from != at {
			v.find("error", "history-broken", v.run.name, 0, "stage.history[%d] leaves %q, but the run was in %q", i, from, at)
		}
		at = Stage(h.Get("to").Str())
	}
	if at != m.Stage() {
		v.find("error", "history-broken", v.run.name, 0, "the run is in stage %q, but its history leads to %q", m.Stage(), at)
	}
}

// bindings compares what the gates judged with what is there.
func (v *verifier) bindings() error {
	for _, m := range v.gates.Get("gates").Members() {
		state, err := gateState(v.run.folder, m.Value)
		if err != nil {
			return err
		}
		for _, name := range state.Changed {
			v.find("warning", "gate-stale", name, 0, "gate %s judged another %s: it no longer counts", m.Key, name)
		}
	}
	return nil
}
