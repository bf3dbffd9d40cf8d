package audit

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/scholar"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Input are the arguments of [Make].
type Input struct {
	ReportPath string `json:"report_path,omitzero" path:"absolute" jsonschema:"absolute path of the report: Markdown, HTML, docx, PDF or text; either this or report"`
	Report     string `json:"report,omitzero" jsonschema:"the report itself, in Markdown or HTML; either this or report_path"`
	NoFetch    bool   `json:"no_fetch,omitzero" jsonschema:"fetch nothing, and judge only how the report cites"`
	FailOn     string `json:"fail_on,omitzero" jsonschema:"what makes the report fail, with commas between: missing, weak, dead, uncited, unchecked, unread (default missing,dead; with no_fetch uncited)"`
	Pages      string `json:"pages,omitzero" path:"absolute" jsonschema:"a folder of saved pages to use instead of the web; its index.json maps each URL to a file, else the pages say their addresses"`
	Offline    string `json:"offline,omitzero" jsonschema:"an earlier audit whose archive is used instead of the web, by its id or folder"`
	URL        string `json:"url,omitzero" jsonschema:"the address of the report, in the place of a file"`
	Compare    string `json:"compare,omitzero" jsonschema:"an earlier audit, by its id or folder: what changed since, in the report and in its sources"`
	Demo       bool   `json:"demo,omitzero" jsonschema:"audit a sample report with lies in it, offline"`
	Explain    bool   `json:"explain,omitzero" jsonschema:"show what was recognised, and what each sentence cites"`
	Verifier   string `json:"verifier,omitzero" jsonschema:"an agent that reads each sentence against its passages, and is tested by pairs of a sentence and one that contradicts it: none, claude, codex, opencode, gemini, api:SERVICE, model:URL, exec:COMMAND, acp:COMMAND or recorded:FOLDER"`

	MaxCost   float64 `json:"max_cost,omitzero" jsonschema:"most USD that the agent may cost; what it did not read is counted"`
	MaxTokens float64 `json:"max_tokens,omitzero" jsonschema:"most tokens, in and out, that the agent may take"`

	// Dir is the working folder, in which an agent may name a report, and Home the
	// folder of audits.
	Dir, Home string `json:"-"`
	// Name is what a report is called that is handed over as text.
	Name string `json:"-"`
	// Read is the agent of Verifier.
	Read Reader `json:"-"`
	// Offer asks a person whether an agent may read so many sentences, where nobody named one;
	// nil where nobody can be asked. It returns "" where none reads.
	Offer func(ctx context.Context, sentences int) (verifier string, read Reader, err error) `json:"-"`
}

// Reader has an agent read the parts of a report. It returns why not all of them were read; ""
// where they were.
type Reader func(ctx context.Context, parts *Parts) (why string, err error)

// The events of the log of an audit.
const (
	eventFetched = "fetched"
	eventRead    = "read"
	eventJudged  = "judged"
)

// Make audits a report: it reads it, fetches what it cites into an archive, judges it,
// and keeps all of that in a folder of its own under in.Home.
//
// It returns INVALID_ARGS, NOT_FOUND and READ_FAILED for the report, the errors of
// [foreign.Read], INVALID_STATE where there are sources and not one could be reached,
// and WRITE_FAILED. What is wrong with the report is a result.
func Make(ctx context.Context, desk run.Desk, fetch sourcing.Fetch, in Input) (foreign.Result, error) {
	var none foreign.Result
	options, err := in.options()
	if err != nil {
		return none, err
	}
	name, body, err := in.report(ctx, desk, fetch)
	if err != nil {
		return none, err
	}
	document, err := foreign.Read(name, body)
	if err != nil {
		return none, err
	}
	fetch, from, done, err := in.pages(ctx, desk, fetch, document.Sources())
	if err != nil {
		return none, err
	}
	defer done()
	if in.Offer != nil && in.Verifier == "" && !in.NoFetch {
		if in.Verifier, in.Read, err = in.Offer(ctx, document.Borne()); err != nil {
			return none, err
		}
		options.Verifier = agentName(in.Verifier)
	}
	old, err := in.earlier(ctx, desk)
	if err != nil {
		return none, err
	}
	a, err := in.begin(ctx, desk, name, body, document.Format, from, options)
	if err != nil {
		return none, err
	}
	defer a.Close()
	if !options.NoFetch {
		if err := a.fetch(ctx, desk, fetch, document); err != nil {
			return none, err
		}
	}
	result, err := foreign.Judge(ctx, name, body, document, options, a.evidence())
	if err != nil {
		return none, err
	}
	if options.Verifier != "" {
		if err := a.have(ctx, desk, in.Read, result); err != nil {
			return none, err
		}
	}
	result.AuditID, result.AuditPath = a.AuditID, a.folder.Path()
	result.Explain = in.Explain
	if in.ReportPath != "" {
		result.File = in.ReportPath
	}
	if in.Compare != "" {
		result.Compare(&old)
	}
	return *result, a.finish(ctx, desk, result)
}

// earlier is the audit that a person compares with.
func (in *Input) earlier(ctx context.Context, desk run.Desk) (foreign.Result, error) {
	if in.Compare == "" {
		return foreign.Result{}, nil
	}
	path, err := Find(desk, in.Home, in.Dir, in.Compare)
	if err != nil {
		return foreign.Result{}, err
	}
	return Show(ctx, desk, path)
}

// options checks what makes the report fail.
func (in *Input) options() (foreign.Options, error) {
	o := foreign.Options{NoFetch: in.NoFetch, FailOn: []string{foreign.FailMissing, foreign.FailDead}, Verifier: agentName(in.Verifier)}
	if in.NoFetch {
		o.FailOn = []string{foreign.FailUncited}
	}
	if in.NoFetch && in.Verifier != "" {
		return o, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("verifier", in.Verifier), "without fetching there is nothing that a second reader could read")
	}
	if in.FailOn == "" {
		return o, nil
	}
	o.FailOn = []string{}
	for kind := range strings.SplitSeq(in.FailOn, ",") {
		kind = strings.TrimSpace(kind)
		if !slices.Contains(foreign.Kinds, kind) {
			return o, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("fail_on", in.FailOn), "fail_on names %s, got %q", strings.Join(foreign.Kinds, ", "), tidegate.Cut(kind))
		}
		if in.NoFetch && kind != foreign.FailUncited {
			return o, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("fail_on", in.FailOn), "without fetching nothing is known to be %s: only uncited can be named", kind)
		}
		if !slices.Contains(o.FailOn, kind) {
			o.FailOn = append(o.FailOn, kind)
		}
	}
	slices.Sort(o.FailOn)
	return o, nil
}

// agentName is the part of the name of an agent that is kept: not its command or address.
func agentName(named string) string {
	if scheme, _, found := strings.Cut(named, ":"); found && scheme != "api" {
		return scheme
	}
	return named
}

// report reads the report and says what it is called.
func (in *Input) report(ctx context.Context, desk run.Desk, fetch sourcing.Fetch) (name string, body []byte, err error) {
	given := 0
	for _, text := range []string{in.ReportPath, in.Report, in.URL} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return "", nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("report_path", in.ReportPath), "give exactly one of report_path and report")
	}
	switch {
	case in.Report != "":
		if in.Name == "" {
			in.Name = "report.md"
		}
		return in.Name, []byte(in.Report), nil
	case in.URL != "":
		return in.fetchReport(ctx, fetch)
	}
	if err := run.CheckGiven(ctx, "report_path", in.ReportPath); err != nil {
		return "", nil, err
	}
	if _, inside := artifact.Inside(in.Dir, in.ReportPath); tidegate.ActorOf(ctx).Kind == tidegate.Agent && !desk.Reach.Confined() && (in.Dir == "" || !inside) {
		return "", nil, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("report_path", in.ReportPath), "an agent can have a report audited that lies in the working folder")
	}
	file, err := desk.Reach.OpenFile("report_path", in.ReportPath)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	body, err = io.ReadAll(artifact.Until(ctx, io.LimitReader(file, foreign.MaxReport+1)))
	if err != nil {
		return "", nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("report_path", in.ReportPath), "the report cannot be read: %w", err)
	}
	return filepath.Base(in.ReportPath), body, nil
}

// fetchReport fetches a report that has an address.
func (in *Input) fetchReport(ctx context.Context, fetch sourcing.Fetch) (name string, body []byte, err error) {
	var last archive.Capture
	err = fetch(ctx, []string{in.URL}, func(batch []*archive.Packed) error {
		last = batch[len(batch)-1].Capture()
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	page := sourcing.PageOf(last)
	if page.Status < 200 || page.Status > 299 {
		return "", nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("url", in.URL, "help", "save it from your browser, and audit the file"), "the report at %s cannot be fetched: %s", tidegate.Cut(in.URL), cmp.Or(last.Detail, string(last.Kind)))
	}
	name = filepath.Base(strings.TrimRight(strings.SplitN(in.URL, "?", 2)[0], "/"))
	if kind := page.ContentType; strings.HasPrefix(kind, "text/html") && !strings.HasSuffix(name, ".html") {
		name += ".html"
	} else if strings.HasPrefix(kind, "text/plain") && filepath.Ext(name) == "" {
		name += ".md"
	}
	return name, page.Body, nil
}

// heldBy is claimed by the process that makes an audit.
const heldBy = ".tidegate.audit"

// resumable is how old what was fetched may be when an interrupted audit goes on.
const resumable = 24 * time.Hour

// begin makes the folder of an audit. One of the same report with pages from the same place
// that was interrupted goes on where it stopped.
func (in *Input) begin(ctx context.Context, desk run.Desk, name string, body []byte, format, from string, options foreign.Options) (*Audit, error) {
	like := about{Report: kept{name, "report" + endings[format], codec.DigestBytes(body)}, From: from, Options: options}
	a, err := interrupted(ctx, desk, in.Home, like)
	if a != nil || err != nil {
		return a, err
	}
	return create(ctx, desk, in.Home, body, like)
}

// interrupted is an audit of the same report with the same options that nobody finished
// and nobody is making, nil where there is none.
func interrupted(ctx context.Context, desk run.Desk, home string, like about) (*Audit, error) {
	var ids []string
	now := desk.Now()
	err := store.Audits.Each(desk.Reach, home, func(folder *artifact.Folder, id string) {
		for _, day := range []time.Time{now, now.Add(-resumable)} {
			if done, err := folder.Exists(id + "/" + ResultFile); err == nil && !done && strings.HasPrefix(id, tidegate.Stamp(day)[:len("2006-01-02")]) {
				ids = append(ids, id)
				break
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		a, err := Open(ctx, desk, filepath.Join(home, id, File))
		if err != nil {
			continue // it cannot go on
		}
		begun, _ := time.Parse(time.RFC3339, a.CreatedAt)
		if a.at == "" && a.Report == like.Report && a.From == like.From && reflect.DeepEqual(a.Options, like.Options) && a.Program == desk.Program && now.Sub(begun) < resumable && a.hold() == nil {
			return a, nil
		}
		a.Close()
	}
	return nil, nil
}

// hold keeps other processes from going on with the audit. It returns LOCK_HELD.
func (a *Audit) hold() (err error) {
	a.held, err = a.folder.Claim(heldBy, nil)
	return err
}

// endings are those of the copies of reports.
var endings = map[string]string{"markdown": ".md", "html": ".html", "docx": ".docx", "pdf": ".pdf", "text": ".txt"}

// create makes the folder of an audit, with the report in it.
func create(ctx context.Context, desk run.Desk, home string, body []byte, of about) (*Audit, error) {
	if home == "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("home", home), "the home of audits is not known: set TIDEGATE_HOME to the folder in which they are to live")
	}
	path, err := desk.Writer().Create(home, of.Report.Digest, func(d *artifact.Draft, id, stamp string) (tidegate.Details, error) {
		of.SchemaVersion, of.AuditID, of.CreatedAt, of.Program = schema, id, stamp, desk.Program
		doc, err := codec.MarshalFile(of)
		if err != nil {
			return nil, err
		}
		d.Write(File, doc)
		return tidegate.Pairs(File, codec.DigestBytes(doc), of.Report.File, of.Report.Digest), d.Write(of.Report.File, body)
	}, nil)
	if err != nil {
		return nil, err
	}
	a, err := Open(ctx, desk, filepath.Join(path, File))
	if err != nil {
		return nil, err
	}
	return a, a.hold()
}

// fetch fetches the sources of a report into the archive, each once.
func (a *Audit) fetch(ctx context.Context, desk run.Desk, fetch sourcing.Fetch, document *foreign.Document) error {
	var urls []string
	sources := document.Sources()
	answered := 0
	for i := range sources {
		url, ok := sources[i].FetchURL()
		if !ok {
			continue
		}
		if entry, found := a.archive.Find(url); found && entry.Kind.Answered() {
			answered++ // before the audit was interrupted
			continue
		}
		urls = append(urls, url)
	}
	asked, why := 0, ""
	err := fetch(ctx, urls, func(batch []*archive.Packed) error {
		for _, packed := range batch {
			if packed.Entry().Kind != archive.Refused { // nobody was asked
				asked++
				why = cmp.Or(why, packed.Entry().Detail)
			}
			if packed.Entry().Kind.Answered() {
				answered++
			}
		}
		return a.keep(context.WithoutCancel(ctx), desk, batch)
	})
	if err == nil && asked > 0 && answered == 0 {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("sources", asked, "help", "see whether a host exists, and what `tidegate doctor` says of network and proxy; --pages takes saved pages"),
			"not one of %s could be reached: %s", report.Counted(asked, "source"), tidegate.Cut(why))
	}
	if err != nil {
		return err
	}
	return a.lookUp(ctx, desk, fetch, sources)
}

// lookUp asks the registries about the ids of papers and books. Each answer may lead to
// one more question.
func (a *Audit) lookUp(ctx context.Context, desk run.Desk, fetch sourcing.Fetch, sources []source.Source) error {
	for range scholar.MostQuestions {
		records, err := source.Judge(ctx, sources, a.evidence())
		if err != nil {
			return err
		}
		answered, failed := a.answers(ctx)
		urls := sourcing.Unanswered(records, answered)
		if *failed != nil || len(urls) == 0 {
			return *failed
		}
		if err := fetch(ctx, urls, func(batch []*archive.Packed) error { return a.keep(context.WithoutCancel(ctx), desk, batch) }); err != nil {
			return err
		}
	}
	return nil
}

// keep adds captures to the archive, and the lines by which they count to the log.
func (a *Audit) keep(ctx context.Context, desk run.Desk, batch []*archive.Packed) error {
	lock, err := a.folder.Lock(ctx, desk.Now)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	entries, err := a.archive.Append(ctx, lock, batch...)
	if err != nil {
		return err
	}
	var records []archive.Ref
	for _, entry := range entries {
		records = append(records, entry.Records...)
	}
	tx := lock.Begin()
	for part := range slices.Chunk(records, store.RecordsPerLine) {
		tx.Record(logFile, desk.Writer().Line(eventFetched, tidegate.Pairs("archive", run.ArchiveFile, "records", part)))
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, record := range records {
		a.log.Counts[record.Digest] = true
	}
	return nil
}

// finish keeps the result, and the line that says so, together.
func (a *Audit) finish(ctx context.Context, desk run.Desk, result *foreign.Result) error {
	data, err := result.Document()
	if err != nil {
		return err
	}
	return a.record(ctx, desk, func(tx *artifact.Tx) error {
		tx.Write(ResultFile, data)
		return tx.Record(logFile, desk.Writer().Line(eventJudged, tidegate.Pairs("outcome", string(result.Outcome), "files", tidegate.Pairs(ResultFile, codec.DigestBytes(data)))))
	})
}

// record writes into the folder, all or nothing.
func (a *Audit) record(ctx context.Context, desk run.Desk, do func(tx *artifact.Tx) error) error {
	lock, err := a.folder.Lock(ctx, desk.Now)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	tx := lock.Begin()
	if err := do(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}
