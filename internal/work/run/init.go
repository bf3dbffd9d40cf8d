package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/store"
)

// InitInput are the arguments of [Create].
type InitInput struct {
	Query        string  `json:"query" jsonschema:"the research question"`
	Mode         string  `json:"mode,omitzero" jsonschema:"how thorough the run is" enum:"quick,standard,deep" default:"standard"`
	Sensitivity  string  `json:"sensitivity,omitzero" jsonschema:"how far the run may reach out" enum:"normal,restricted,no_web" default:"normal"`
	RunID        string  `json:"run_id,omitzero" jsonschema:"the id, which becomes the folder's name; made up when absent"`
	RootOverride string  `json:"root_override,omitzero" path:"absolute" jsonschema:"absolute folder in which the run is made, instead of the home of runs"`
	Limits       *Limits `json:"limits,omitzero" jsonschema:"caps that differ from the defaults"`
	Asked
	policy.Policy  // which sources are allowed
	evidence.Shape // of the report
	// What follows is a person's: commands and pages ask for it, and no tool takes it.

	// Earlier is what the run takes from the one that it builds on.
	Earlier *Earlier `json:"-"`
	// SignersPath is an OpenSSH allowed_signers file: one of its signers must sign
	// a person's decisions; "" for none.
	SignersPath string `json:"-"`
	// Evidence is how the sentences of the report are checked, where a person chose.
	Evidence EvidenceChoice `json:"evidence,omitzero" person:"true"`
	// Budget has the values that differ from the defaults, by their names in the
	// policy.
	Budget map[string]float64 `json:"budget,omitzero" person:"true"`
}

// Limits are the caps of a run, nil for the default.
type Limits struct {
	MaxWave1Agents      *int64 `json:"max_wave1_agents,omitzero" jsonschema:"most perspectives in the first wave"`
	MaxWave2Agents      *int64 `json:"max_wave2_agents,omitzero" jsonschema:"most perspectives in the second wave"`
	MaxSummaryKB        *int64 `json:"max_summary_kb,omitzero" jsonschema:"most KiB of one summary"`
	MaxTotalSummaryKB   *int64 `json:"max_total_summary_kb,omitzero" jsonschema:"most KiB of all summaries"`
	MaxReviewIterations *int64 `json:"max_review_iterations,omitzero" jsonschema:"most review rounds"`
	MaxVerifyRounds     *int64 `json:"max_verify_rounds,omitzero" jsonschema:"most rounds that a second reader's verdicts ask for"`
}

// limit is one cap with its default and its range.
type limit struct {
	name           string
	given          *int64
	fallback       int64
	least, highest int64
}

const verifyRounds = "max_verify_rounds"

// DefaultVerifyRounds is how many rounds a second reader's verdicts may ask for.
const DefaultVerifyRounds = 4

func (l *Limits) table() []limit {
	if l == nil {
		l = &Limits{}
	}
	return []limit{
		{"max_wave1_agents", l.MaxWave1Agents, 6, 1, 1000},
		{"max_wave2_agents", l.MaxWave2Agents, 6, 1, 1000},
		{"max_summary_kb", l.MaxSummaryKB, 5, 1, 1000},
		{"max_total_summary_kb", l.MaxTotalSummaryKB, 60, 1, 100000},
		{"max_review_iterations", l.MaxReviewIterations, 4, 0, 50},
		{verifyRounds, l.MaxVerifyRounds, DefaultVerifyRounds, 0, 20},
	}
}

func (l limit) value() int64 {
	if l.given != nil {
		return *l.given
	}
	return l.fallback
}

// check completes the arguments and returns INVALID_ARGS or PATH_TRAVERSAL for
// the first that is wrong.
func (in *InitInput) check(desk Desk, home string) error {
	if err := CheckText("query", in.Query); err != nil {
		return err
	}
	in.Mode, in.Sensitivity = cmp.Or(in.Mode, "standard"), cmp.Or(in.Sensitivity, "normal")
	if err := checkEnum("mode", in.Mode, modes); err != nil {
		return err
	}
	if err := checkEnum("sensitivity", in.Sensitivity, sensitivities); err != nil {
		return err
	}
	if in.RunID == "" {
		in.RunID = newID(desk)
	}
	if err := CheckID(in.RunID); err != nil {
		return err
	}
	if strings.EqualFold(in.RunID, LedgerFile) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("run_id", in.RunID), "run_id must not be %s: the ledger of all runs has that name", LedgerFile)
	}
	if in.RootOverride == "" {
		if err := checkHome(home); err != nil {
			return err
		}
		in.RootOverride = home
	}
	if err := CheckPath("root_override", in.RootOverride); err != nil {
		return err
	}
	for _, l := range in.Limits.table() {
		if err := l.check(l.value()); err != nil {
			return err
		}
	}
	if in.Origins != "" {
		if err := checkEnum("origins", in.Origins, []string{OriginsShown, OriginsRequired}); err != nil {
			return err
		}
	}
	if err := CheckSearch(in.Search); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(in.Budget)) {
		if err := CheckBudget(name, in.Budget[name]); err != nil {
			return err
		}
	}
	var err error
	if in.Policy, err = in.Policy.Checked(); err != nil {
		return err
	}
	in.Shape, err = CheckShape(in.Shape, in.Query)
	return err
}

// CheckShape is what a person asks of the report about a question, with what follows from
// the question. It returns INVALID_ARGS.
func CheckShape(asked evidence.Shape, question string) (evidence.Shape, error) {
	asked, err := asked.Checked(question)
	if err != nil {
		return evidence.Shape{}, err
	}
	template, err := asked.Sections()
	if err != nil {
		return evidence.Shape{}, err
	}
	for _, title := range template.Titles(nil) {
		if synthesis.IsReserved(title) {
			return evidence.Shape{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("template", title), "the outline has the heading %q, which the report writes itself", title)
		}
	}
	return asked, nil
}

// CheckSearch returns INVALID_ARGS for a name that no search service has.
func CheckSearch(names []string) error {
	for _, name := range names {
		if _, known := search.Find(name); !known {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("search", tidegate.Cut(name)), "%q is not a search service; the services are %s", tidegate.Cut(name), strings.Join(search.Names(), ", "))
		}
	}
	return nil
}

// CheckLimit returns INVALID_ARGS for a name that is not a limit of a run, and
// for a value out of its range.
func CheckLimit(name string, value int64) error {
	names := []string{}
	for _, l := range (*Limits)(nil).table() {
		if l.name == name {
			return l.check(value)
		}
		names = append(names, l.name)
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("name", tidegate.Cut(name)), "%q is not a limit; the limits are %s", tidegate.Cut(name), strings.Join(names, ", "))
}

func (l limit) check(value int64) error {
	if value < l.least || value > l.highest {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("limits."+l.name, value),
			"limits.%s must be from %d to %d", l.name, l.least, l.highest)
	}
	return nil
}

func checkEnum(arg, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(arg, tidegate.Cut(value)),
		"%s must be one of %s, got %q", arg, strings.Join(allowed, ", "), tidegate.Cut(value))
}

// CheckID returns PATH_TRAVERSAL for an id that would leave its folder, and
// INVALID_ARGS for another that breaks the rule of ids that become file names.
func CheckID(id string) error {
	fault := store.IDFault(id)
	if fault == "" {
		return nil
	}
	code := tidegate.InvalidArgs
	if strings.ContainsAny(id, `/\`) || id == "." || id == ".." {
		code = tidegate.PathTraversal
	}
	return tidegate.Errorf(code, tidegate.Pairs("run_id", tidegate.Cut(id)), "run_id %s", fault)
}

// newID is dr_, the time in UTC, and six random characters.
func newID(desk Desk) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	suffix := make([]byte, 6)
	for i := range suffix {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			panic(err) // crypto/rand does not fail on a working system
		}
		suffix[i] = alphabet[n.Int64()]
	}
	return "dr_" + desk.Now().UTC().Format("20060102150405") + "_" + string(suffix)
}

// documents are the files of a new run, in the order in which they are written.
func (in *InitInput) documents(root, now string) []document {
	return []document{
		{"scope", ScopeFile, ScopeShape.Check, newScope(in.RunID, now, in.Query, in.Mode, in.Shape, in.From)},
		{"manifest", ManifestFile, ManifestShape.Check, in.manifest(root, now)},
		{"gates", layoutDefault("gates_file"), CheckGates, NewGates(in.RunID, now)},
		{"policy", PolicyFile, nil, in.policy()},
	}
}

type document struct {
	label string
	name  string
	check func(*codec.Value) error
	doc   *codec.Value
}

func (in *InitInput) manifest(root, now string) *codec.Value {
	limits, paths := codec.NewObject(), codec.NewObject()
	for _, l := range in.Limits.table() {
		limits.Set(l.name, codec.Of(l.value()))
	}
	for _, p := range layoutPaths {
		if p.written {
			paths.Set(p.key, codec.Of(p.fallback))
		}
	}
	return codec.Of(tidegate.Pairs(
		"schema_version", ManifestVersion, "run_id", in.RunID, "created_at", now, "updated_at", now, "revision", 1,
		"query", tidegate.Pairs("text", in.Query, "constraints", in.constraints(), "sensitivity", in.Sensitivity),
		"mode", in.Mode, "status", Created,
		"stage", tidegate.Pairs("current", Init, "started_at", now, "last_progress_at", now, "history", []string{}),
		"limits", limits, "agents", tidegate.Pairs("policy", "existing-runtime-only"),
		"artifacts", tidegate.Pairs("root", root, "paths", paths),
		"metrics", tidegate.Pairs(), "failures", []string{}))
}

// constraints are the settings under the names by which the earlier system
// reads them.
func (in *InitInput) constraints() tidegate.Details {
	flags := tidegate.Pairs("PAI_DR_CLI_ENABLED", true, "PAI_DR_CLI_MODE_DEFAULT", "standard")
	for _, l := range in.Limits.table() {
		if l.name == verifyRounds { // the earlier system has no second reader
			continue
		}
		flags = append(flags, tidegate.Detail{Key: "PAI_DR_CLI_" + strings.ToUpper(l.name), Value: l.value()})
	}
	flags = append(flags, tidegate.Pairs(
		"PAI_DR_CLI_CITATION_VALIDATION_TIER", "standard",
		"PAI_DR_CLI_CITATIONS_BRIGHT_DATA_ENDPOINT", nil,
		"PAI_DR_CLI_CITATIONS_APIFY_ENDPOINT", nil,
		"PAI_DR_CLI_NO_WEB", in.Sensitivity == "no_web",
		"PAI_DR_CLI_RUNS_ROOT", filepath.Clean(in.RootOverride),
		"source", tidegate.Pairs("env", []string{}, "settings", []string{}))...)
	return tidegate.Pairs("scope_path", ScopeFile, "deep_research_cli", tidegate.Pairs("enabled", true), "deep_research_cli_flags", flags)
}

// InitResult is the result of [Create].
type InitResult struct {
	OK           codec.True  `json:"ok"`
	RunID        string      `json:"run_id"`
	Root         string      `json:"root"`
	Created      bool        `json:"created"`
	ManifestPath string      `json:"manifest_path"`
	GatesPath    string      `json:"gates_path"`
	PolicyPath   string      `json:"policy_path"`
	Ledger       Ledger      `json:"ledger"`
	Paths        InitFolders `json:"paths"`
	called       string      // what a person calls the run in a command
}

// Ledger says what became of the run's line in the ledger of its home.
type Ledger struct {
	Path    string `json:"path"`
	Written bool   `json:"written"`
	Error   string `json:"error,omitzero"`
}

// InitFolders are the absolute paths of what a new run is made of.
type InitFolders struct {
	Wave1Dir     string `json:"wave1_dir"`
	Wave2Dir     string `json:"wave2_dir"`
	CitationsDir string `json:"citations_dir"`
	SummariesDir string `json:"summaries_dir"`
	SynthesisDir string `json:"synthesis_dir"`
	LogsDir      string `json:"logs_dir"`
	OperatorDir  string `json:"operator_dir"`
	ScopeFile    string `json:"scope_file"`
}

func (in *InitInput) result(root string) InitResult {
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	return InitResult{
		RunID: in.RunID, Root: root, called: root, ManifestPath: at(ManifestFile), GatesPath: at(layoutDefault("gates_file")), PolicyPath: at(PolicyFile),
		Ledger: Ledger{Path: filepath.Join(filepath.Clean(in.RootOverride), LedgerFile)},
		Paths: InitFolders{
			Wave1Dir: at("wave-1"), Wave2Dir: at("wave-2"), CitationsDir: at("citations"), SummariesDir: at("summaries"),
			SynthesisDir: at("synthesis"), LogsDir: at("logs"), OperatorDir: at("operator"), ScopeFile: at(ScopeFile),
		},
	}
}

// Report shows a new run to a person.
func (i InitResult) Report() report.Report {
	out := report.Report{Name: "run_init", Title: "run " + i.RunID, Summary: "made " + i.Root, Status: report.Pass}
	if !i.Created {
		out.Summary = "the run is there already"
	}
	if !i.Ledger.Written {
		out.Status = report.Warn
		out.Add(report.Paragraph("The run could not be entered in " + i.Ledger.Path + ": " + i.Ledger.Error))
	}
	out.Add(report.Fields{{Name: "folder", Value: i.Root}, {Name: "manifest", Value: i.ManifestPath}, {Name: "gates", Value: i.GatesPath}},
		report.Heading("Next command"), report.Preformatted("tidegate run status "+report.ShellWord(i.called)))
	return out
}

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
		d.Write(doc.name, data)
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
		d.Write(name, files[name])
		state[name] = codec.DigestBytes(files[name])
		written = append(written, tidegate.Detail{Key: name, Value: state[name]})
	}
	if written != nil {
		digests = append(digests, tidegate.Detail{Key: "files", Value: written})
	}
	for _, name := range Folders {
		d.MakeFolder(name)
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
	if err := created.Get(argsKey).Decode(&in); err != nil {
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
