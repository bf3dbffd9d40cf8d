package run

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/wave"
)

// VerifyInput are the arguments of [Verify].
type VerifyInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Head         string `json:"head,omitzero" jsonschema:"a head of the log that was noted elsewhere, to compare with"`
	SignersPath  string `json:"signers,omitzero" path:"absolute" jsonschema:"absolute path of an OpenSSH allowed_signers file that says whose signatures count, instead of the run's own list"`
	// Follows is the table of moves: whether to may follow from. Nil allows every move.
	Follows func(from, to Stage) bool `json:"-"`
}

// VerifyResult is the result of [Verify].
type VerifyResult struct {
	OK       codec.True `json:"ok"`
	RunID    string     `json:"run_id"`
	Root     string     `json:"root"`
	Pass     bool       `json:"pass"` // nothing of level error was found
	Checked  []string   `json:"checked"`
	Findings []Finding  `json:"findings"`
	// Decisions are what people decided in the life of the run.
	Decisions []Decided `json:"decisions" jsonschema:"what people decided in the life of the run, oldest first"`
	// Confinements are how its agents were kept.
	Confinements []Confinement `json:"confinement" jsonschema:"how the agents of the run were kept, oldest first; empty where none was started here"`
	Log          LogState      `json:"log"`
	Limits       string        `json:"limits"` // what these checks cannot show
}

// Finding is one thing that differs from the run's own record.
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

const verifyLimits = "A chain cannot show that the log was rewritten as a whole together with every digest in it; compare log.head with a copy kept elsewhere (--head)."

// Verify checks a run against itself. It replays the log: the chain of its
// lines, the revisions and digests that they record, and every move against the
// table. Then it compares the end with the files that are there: the schemas of
// the documents, the digest of every recorded file, and what the gates judged.
// It writes nothing itself and takes no lock. What [Open] finishes is finished
// first, and a run that changes while it is checked is checked again.
//
// It returns the errors of [Open] and READ_FAILED. What it finds is a result.
func Verify(ctx context.Context, desk Desk, in VerifyInput) (VerifyResult, error) {
	const attempts = 5
	var out VerifyResult
	for range attempts {
		before := fingerprint(ctx, desk, in.ManifestPath)
		r, err := Open(ctx, desk, in.ManifestPath)
		if err != nil {
			return VerifyResult{}, err
		}
		v := newVerifier(r)
		if v.head = in.Head; in.Follows != nil {
			v.follows = in.Follows
		}
		if err = v.readSigners(in.SignersPath); err == nil {
			err = v.verify()
		}
		r.Close()
		if err != nil {
			return VerifyResult{}, err
		}
		out = v.out
		if out.Pass || before == fingerprint(ctx, desk, in.ManifestPath) {
			break
		}
	}
	return out, nil
}

// fingerprint changes with every write of the run.
func fingerprint(ctx context.Context, desk Desk, manifestPath string) string {
	data, err := desk.Reach.ReadDocument("manifest_path", manifestPath)
	if err != nil {
		return ""
	}
	print := codec.DigestBytes(data)
	if r, err := Open(ctx, desk, manifestPath); err == nil {
		defer r.Close()
		if gates, err := r.folder.Digest(r.layout.Gates); err == nil {
			print += gates
		}
		if log, err := fs.Stat(r.folder.FS(), LogFile); err == nil {
			print += strconv.FormatInt(log.Size(), 10)
		}
	}
	return print
}

type verifier struct {
	run      *Run
	follows  func(from, to Stage) bool
	head     string        // that was noted elsewhere
	signers  *seal.Signers // whose signatures count, nil where decisions need none
	out      VerifyResult
	recorded recorded
}

func newVerifier(r *Run) *verifier {
	return &verifier{
		run:      r,
		follows:  func(Stage, Stage) bool { return true },
		out:      VerifyResult{RunID: r.ID(), Root: r.Root(), Checked: []string{}, Findings: []Finding{}, Decisions: []Decided{}, Confinements: []Confinement{}, Limits: verifyLimits},
		recorded: recorded{stage: Init, files: map[string]recordedFile{}, digests: map[string]bool{}, decided: map[string]string{}},
	}
}

// readSigners finds out whose signatures count. A list from elsewhere takes
// precedence over the one in the run, which may have been rewritten.
func (v *verifier) readSigners(path string) (err error) {
	needed, err := v.run.needsSignature()
	if err != nil || !needed && path == "" {
		return err
	}
	if path != "" {
		if v.signers, err = seal.ReadSigners(v.run.desk.Reach, "signers", path); err != nil {
			return err
		}
		given, err := v.run.desk.Reach.ReadFile("signers", path)
		if err != nil {
			return err
		}
		if own, err := v.run.folder.Read(SignersFile); err != nil || string(own) != string(given) {
			v.find("warning", "signers-differ", SignersFile, 0, "the run's own list of signers is another one")
		}
		return nil
	}
	if v.signers, err = v.run.signers(); err != nil {
		v.find("error", "signers-differ", SignersFile, 0, "%s", tidegate.AsError(err).Message)
		v.signers, err = nil, nil
	}
	return err
}

func (v *verifier) find(level, rule, file string, line int, format string, args ...any) {
	v.out.Findings = append(v.out.Findings, Finding{level, rule, file, line, fmt.Sprintf(format, args...)})
}

func (v *verifier) verify() error {
	if err := v.readLog(); err != nil {
		return err
	}
	l := v.run.layout
	manifest := v.document(v.run.name, ManifestShape.Check)
	gates := v.document(l.Gates, CheckGates)
	v.document(ScopeFile, ScopeShape.Check)
	v.document(PolicyFile, checkPolicy)
	v.document(l.Perspectives, wave.CheckPerspectives)
	v.files()
	v.keptRecords()
	if err := v.unrecorded(); err != nil {
		return err
	}
	v.revision("manifest", v.run.name, manifest, v.recorded.manifestRevision)
	v.revision("gates", l.Gates, gates, v.recorded.gatesRevision)
	if manifest != nil {
		v.history(Manifest{manifest})
	}
	if err := v.checkRecord(); err != nil {
		return err
	}
	var err error
	if v.out.Decisions, err = v.run.decisions(v.signers); err != nil {
		return err
	}
	if v.out.Confinements, err = v.run.Confinements(); err != nil {
		return err
	}
	if err := v.bindings(gates); err != nil {
		return err
	}
	v.forgive()
	v.out.Pass = !slices.ContainsFunc(v.out.Findings, func(f Finding) bool { return f.Level == "error" })
	return nil
}

func checkPolicy(doc *codec.Value) error {
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(PolicyVersion)},
	).Check(doc)
}

// document reads and checks one document. Manifest and gates must be there.
// Whether it matches the log is checked by files.
func (v *verifier) document(name string, check func(*codec.Value) error) *codec.Value {
	data, err := v.run.folder.ReadDocument(name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		if _, recorded := v.recorded.files[name]; !recorded && (name == v.run.name || name == v.run.layout.Gates) {
			v.find("error", "file-missing", name, 0, "%s is not there", name)
		}
		return nil
	}
	v.out.Checked = append(v.out.Checked, name)
	if err != nil {
		v.find("error", "file-unreadable", name, 0, "%s", tidegate.AsError(err).Message)
		return nil
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
	chain, err := v.run.folder.VerifyLog(LogFile)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return err
	}
	if there, err := v.run.folder.Exists(LogFile); err == nil && !there {
		level := "note"
		if begun, err := v.run.HasFolder(JobsDir); err != nil {
			return err
		} else if begun {
			level = "error" // another program keeps no jobs
		}
		v.find(level, "log-missing", LogFile, 0, "there is no audit log, so nothing can be compared with it")
	}
	if err != nil {
		v.out.Log.Head = artifact.FirstPrev
		return nil
	}
	v.out.Checked = append(v.out.Checked, LogFile)
	v.out.Log = LogState{chain.Lines, chain.Unchained, chain.Broken, chain.Torn, chain.Head}
	for _, b := range chain.Breaks {
		v.find("error", "chain-broken", LogFile, b.Line, "line %d does not follow the line before it: a line was changed, removed, inserted or moved", b.Line)
	}
	if more := chain.Broken - len(chain.Breaks); more > 0 {
		v.find("error", "chain-broken", LogFile, 0, "the chain is broken at %d more lines", more)
	}
	if chain.Torn {
		v.find("warning", "line-torn", LogFile, chain.Lines+1, "the last line is cut short")
	}
	if err := v.run.eachParsed(nil, v.collect); err != nil {
		return err
	}
	if v.head != "" && !v.recorded.sawHead {
		v.find("error", "head-unknown", LogFile, 0, "no line of the log has the digest %s: the log is another one, or was rewritten", tidegate.Cut(v.head))
	}
	v.foreignLines(chain)
	v.checkHead(chain)
	return nil
}

// otherState is what is wrong with a log whose last line does not fit the documents, each of
// which is as it was recorded.
const otherState = "the last line of the log stands for other documents than those that are there: the log was rewritten, or is another run's"

// checkRecord finds what keeps a run from moving and no single line shows: a last line
// that stands for other documents than those that are there. What else does not match
// is found file by file.
func (v *verifier) checkRecord() error {
	rec, err := v.run.readRecord()
	if err != nil && tidegate.CodeOf(err) != tidegate.ReadFailed {
		return nil // the manifest names what cannot be a document, which is found there
	}
	if err != nil {
		return err
	}
	if err = rec.check(); tidegate.CodeOf(err) != tidegate.Tampered {
		return err
	}
	if changed, _, err := rec.changed(); err != nil || len(changed) > 0 {
		return err
	}
	v.find("error", "state-mismatch", LogFile, 0, otherState)
	return nil
}

// checkHead compares the log with its head: only the head shows that lines were
// removed from the end.
func (v *verifier) checkHead(chain artifact.LogReport) {
	switch {
	case chain.Mismatch != "":
		v.find("error", "head-mismatch", HeadFile, 0, "the log is not the one that its head names: %s", chain.Mismatch)
	case !chain.Headed && v.run.ends.state != "":
		v.find("error", "file-missing", HeadFile, 0, "%s is not there", HeadFile)
	}
}

// CheckLog returns TAMPERED, with why, for a run whose log is damaged: a line was changed or
// taken away, and no person has accepted it since. What rests on the log is not shown then.
// It reads the whole log, but parses none of it as long as the chain holds.
func (r *Run) CheckLog() error {
	chain, err := r.folder.VerifyLog(LogFile)
	switch {
	case err == nil && chain.Mismatch == "" && chain.Broken == 0 && chain.Unchained == 0 && chain.Headed:
		return nil
	case err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound:
		return err
	}
	v := newVerifier(r)
	if err := v.readLog(); err != nil {
		return err
	}
	v.forgive()
	for _, f := range v.out.Findings {
		if f.Level == "error" && (f.File == LogFile || f.File == HeadFile) {
			return r.damaged(f.Message)
		}
	}
	return nil
}

func (r *Run) damaged(why string) error {
	return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("run_id", r.ID(), "why", why),
		"the log of run %q is damaged, and nothing that rests on it counts: %s", r.ID(), why)
}

// forgive makes warnings of what a person has accepted since: it stays visible, and is no
// longer an error.
func (v *verifier) forgive() {
	for i, f := range v.out.Findings {
		if f.File == LogFile && f.Line > 0 && f.Line < v.recorded.accepted && f.Level == "error" {
			v.out.Findings[i].Level = "warning"
		}
	}
}

// foreignLines judges the lines that are not in the chain: those before the first
// chained one belong to the program that began the log.
func (v *verifier) foreignLines(chain artifact.LogReport) {
	after := 0
	for _, number := range chain.Foreign {
		if v.recorded.chained > 0 && number > v.recorded.chained {
			after = number
			break
		}
	}
	switch {
	case chain.Unchained == 0:
	case after == 0:
		v.find("note", "line-unchained", LogFile, chain.Foreign[0], "%s written by another program and not chained", report.Counted(chain.Unchained, "line"))
	default:
		v.find("error", "line-unchained", LogFile, after, "line %d is not chained: this program did not write it", after)
	}
}

// files compares the files that the log says were written with what is there.
func (v *verifier) files() {
	documents := v.out.Checked
	for _, name := range slices.Sorted(maps.Keys(v.recorded.files)) {
		recorded := v.recorded.files[name]
		switch digest, err := v.run.folder.Digest(name); {
		case err != nil:
			v.find("error", "file-unreadable", name, 0, "%s", tidegate.AsError(err).Message)
		case recorded.digest == digest:
		case digest == "":
			v.find("error", "file-missing", name, 0, "%s was written by line %d of the log and is not there", name, recorded.line)
		case recorded.digest == "":
			v.find("error", "digest-mismatch", name, 0, "%s was removed by line %d of the log and is there", name, recorded.line)
		default:
			v.find("error", "digest-mismatch", name, 0, "%s was changed after the last write that the log records", name)
		}
		if !slices.Contains(documents, name) {
			v.out.Checked = append(v.out.Checked, name)
		}
	}
}

// unrecorded names the files of which no line of the log speaks.
func (v *verifier) unrecorded() error {
	if !v.run.ends.judgedByUs() {
		return nil // another program made them
	}
	left, err := seal.Unrecorded(v.run.folder, v.named())
	for _, name := range left {
		if name != ArchiveFile { // of which keptRecords speaks
			v.find("note", "file-unrecorded", name, 0, "no line of the log speaks of %s: it is neither sealed nor exported", name)
		}
	}
	return err
}

// revision compares the last revision in the log with a document's.
func (v *verifier) revision(label, name string, doc *codec.Value, recorded int64) {
	has := integer(doc.Get("revision"))
	switch {
	case doc == nil || recorded == has:
	case recorded == 0 && has <= 1:
		// The earlier system writes no line when it makes a run.
	case recorded == 0 && !v.run.ends.judgedByUs():
		v.find("note", "revision-unrecorded", name, 0, "the %s is at revision %d, of which the log has no line", label, has)
	case recorded == 0:
		v.find("error", "revision-unrecorded", name, 0, "the %s is at revision %d, of which the log has no line", label, has)
	default:
		v.find("error", "revision-mismatch", name, 0, "the %s is at revision %d, the log ends at %d", label, has, recorded)
	}
}

// history checks that the moves in the manifest follow each other and the
// table, and lead to the present stage.
func (v *verifier) history(m Manifest) {
	at := Init
	for i, h := range m.History() {
		from, to := Stage(h.Get("from").Str()), Stage(h.Get("to").Str())
		if from != at {
			v.find("error", "history-broken", v.run.name, 0, "stage.history[%d] leaves %q, but the run was in %q", i, from, at)
		} else if !v.follows(from, to) {
			v.find("error", "move-illegal", v.run.name, 0, "stage.history[%d] goes from %q to %q, which the table does not allow", i, from, to)
		}
		at = to
	}
	if at != m.Stage() {
		v.find("error", "history-broken", v.run.name, 0, "the run is in stage %q, but its history leads to %q", m.Stage(), at)
	}
	if logged := v.recorded.stage; v.recorded.moves > 0 && logged != m.Stage() {
		v.find("error", "history-broken", v.run.name, 0, "the run is in stage %q, but the log leads to %q", m.Stage(), logged)
	}
}

// bindings compares what the gates judged with what is there. A run on its way judges
// its gates again; one that is completed says that they pass.
func (v *verifier) bindings(gates *codec.Value) error {
	stale := "warning"
	if v.run.Manifest().Status() == Completed {
		stale = "error"
	}
	for _, m := range gates.Get("gates").Members() {
		state, err := gateStateOf(v.run.folder, m.Value)
		if err != nil {
			return err
		}
		for _, name := range state.Changed {
			v.find(stale, "gate-stale", name, 0, "gate %s judged another %s: it no longer counts", m.Key, name)
		}
		if state.Accepted != nil && state.Status == GatePass {
			v.find("note", "gate-accepted", v.run.layout.Gates, 0, "gate %s was accepted by a person: %s", m.Key, tidegate.Cut(state.Accepted.Get("reason").Str()))
			if !slices.ContainsFunc(v.out.Decisions, func(d Decided) bool { return d.What == AcceptedGate && d.About == m.Key }) {
				v.find("error", "decision-missing", v.run.layout.Gates, 0, "gate %s says that a person accepted it, and no line of the log does", m.Key)
			}
		}
	}
	return nil
}

// ArchiveFile is where a run keeps the pages that were fetched for it.
const ArchiveFile = store.ArchiveFile

// keptRecords checks that the records of the archive are there as they were
// added, and that it holds nothing else. However many differ, each file is
// one finding.
func (v *verifier) keptRecords() {
	byFile := map[string][]store.Added{}
	var files []string
	if there, err := v.run.folder.Exists(ArchiveFile); err == nil && there {
		files, byFile[ArchiveFile] = []string{ArchiveFile}, []store.Added{} // also where no line names it
	}
	for _, k := range v.recorded.kept {
		if byFile[k.File] == nil {
			files = append(files, k.File)
		}
		byFile[k.File] = append(byFile[k.File], k)
	}
	for _, name := range files {
		records := byFile[name]
		v.out.Checked = append(v.out.Checked, name)
		lost, unnamed := v.compare(name, records)
		if len(lost) > 0 {
			v.find("error", "record-missing", name, 0, "of %s that the log names %d are not there as they were added, the first of line %d",
				report.Counted(len(records), "record"), len(lost), lost[0].Line)
		}
		if unnamed > 0 {
			v.find("warning", "record-unnamed", name, 0, "the log names all of the file but %s, which count for nothing", report.Counted(int(unnamed), "byte"))
		}
	}
}

// compare returns the records that a file lacks, and how many of its bytes belong
// to no record.
func (v *verifier) compare(name string, records []store.Added) (lost []store.Added, unnamed int64) {
	file, err := v.run.folder.Open(name)
	if err != nil {
		return records, 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return records, 0
	}
	unnamed = info.Size()
	for _, k := range records {
		unnamed -= k.Length
	}
	return store.Missing(file, records), unnamed
}

// Passed reports whether nothing was found that contradicts the record.
func (v VerifyResult) Passed() bool { return v.Pass }

// Report shows what was found to a person and to programs.
func (v VerifyResult) Report() report.Report {
	out := report.Report{Name: "run_verify", Title: "run " + v.RunID, Status: report.PassIf(v.Pass), Summary: "the run agrees with its record"}
	if !v.Pass {
		out.Summary = "the run does not agree with its record"
	}
	files := slices.Clone(v.Checked)
	for _, f := range v.Findings {
		if !slices.Contains(files, f.File) {
			files = append(files, f.File)
		}
	}
	for _, file := range files {
		out.AddCase(v.caseOf(file))
	}
	table := report.NewTable("File", ">Findings")
	for _, c := range out.Cases {
		table.Row(c.Status, c.Name, len(c.Findings))
	}
	out.Add(table, report.Findings{})
	out.Add(DecisionBullets(v.Decisions)...)
	for _, c := range v.Confinements {
		out.Add(report.Paragraph(c.String()))
	}
	out.Add(report.Fields{
		{Name: "log", Value: report.Counted(v.Log.Lines, "line") + ", " + report.Counted(v.Log.Broken, "break")},
		{Name: "log head", Value: v.Log.Head},
	}, report.Paragraph(v.Limits))
	return out
}

func (v VerifyResult) caseOf(file string) report.Case {
	c := report.Case{Name: file, File: v.Root + "/" + file, Status: report.Pass}
	for _, f := range v.Findings {
		if f.File != file {
			continue
		}
		c.Findings = append(c.Findings, report.Finding{Rule: f.Rule, Level: report.Level(f.Level), Message: f.Message, Line: f.Line})
		switch {
		case f.Level == "error":
			c.Status = report.Fail
		case f.Level == "warning" && c.Status == report.Pass:
			c.Status = report.Warn
		}
	}
	return c
}
