package sourcing

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

func normalizedList(sources []source.Source) []byte {
	normalized := make([]string, len(sources))
	for i := range sources {
		normalized[i] = sources[i].Normalized
	}
	return source.URLList(normalized)
}

// CitationsInput are the arguments of [ValidateCitations].
type CitationsInput struct {
	ManifestPath  string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	CitationsPath string `json:"citations_path,omitzero" path:"absolute" jsonschema:"absolute path of the records to write, which is the run's own"`
	DryRun        bool   `json:"online_dry_run,omitzero" jsonschema:"fetch nothing, and judge by what the archive has"`
	Reason        string `json:"reason" jsonschema:"why, for the audit log"`
}

// CitationsResult is the result of [ValidateCitations].
type CitationsResult struct {
	OK            codec.True   `json:"ok"`
	RunID         string       `json:"run_id"`
	CitationsPath string       `json:"citations_path"`
	Mode          string       `json:"mode" jsonschema:"online, dry_run, or offline for a run of sensitivity no_web"`
	ModeSource    string       `json:"mode_source"`
	OnlineDryRun  *bool        `json:"online_dry_run" jsonschema:"null in mode offline"`
	Validated     int          `json:"validated" jsonschema:"records written, whatever their status"`
	Statuses      statusCounts `json:"statuses" jsonschema:"how many records have each status"`
	Fetched       int          `json:"fetched" jsonschema:"sources fetched in this call"`
	InputsDigest  string       `json:"inputs_digest"`
	IndexPath     string       `json:"index_path"`
	BlockedPath   string       `json:"blocked_urls_path"`
	QueuePath     *string      `json:"blocked_urls_queue_path" jsonschema:"null when nothing is blocked"`
	BlockedCount  int          `json:"blocked_urls_count"`

	records []source.Record
}

type statusCounts struct {
	Valid     int `json:"valid"`
	Paywalled int `json:"paywalled"`
	Blocked   int `json:"blocked"`
	Mismatch  int `json:"mismatch"`
	Invalid   int `json:"invalid"`
}

func (c *statusCounts) add(status source.Status) {
	switch status {
	case source.Valid:
		c.Valid++
	case source.Paywalled:
		c.Paywalled++
	case source.Blocked:
		c.Blocked++
	case source.Mismatch:
		c.Mismatch++
	default:
		c.Invalid++
	}
}

// ValidateCitations is the tool deep_research_citations_validate: it fetches the
// sources of a run that its archive does not have yet, unless the run's
// sensitivity or the caller forbids it, judges all of them from the archive, and
// writes citations.jsonl and what is made from it. The same archive gives the
// same records. A source that the archive does not have is blocked, not checked.
//
// It returns the errors of [run.Open], [FetchSources] and [run.Run.Update],
// and PATH_NOT_ALLOWED for a file other than the run's.
func ValidateCitations(ctx context.Context, desk run.Desk, fetch Fetch, in CitationsInput) (CitationsResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *CitationsResult) error {
		files := citationFilesOf(r)
		if err := step.OwnFile(r, "citations_path", in.CitationsPath, files.records); err != nil {
			return err
		}
		*out = CitationsResult{RunID: r.ID(), CitationsPath: r.Path(files.records), ModeSource: "manifest.query.sensitivity", IndexPath: r.Path(IndexFile), BlockedPath: r.Path(files.blocked)}
		out.setMode(r, in.DryRun)
		c, err := citedInRun(r)
		if err != nil {
			return err
		}
		e, err := openArchived(ctx, r)
		if err != nil {
			return err
		}
		if out.Mode == "online" {
			urls, err := e.toFetch(ctx, c.sources, false)
			if err != nil {
				return err
			}
			if err := e.fetch(ctx, fetch, urls, c.sources, func(batch []*archive.Packed) { out.Fetched += len(batch) }); err != nil {
				return err
			}
			if out.records, err = e.lookUp(ctx, fetch, c.sources, func([]*archive.Packed) {}); err != nil {
				return err
			}
		} else if out.records, err = e.judge(ctx, c.sources); err != nil {
			return err
		}
		out.Validated = len(out.records)
		for i := range out.records {
			out.Statuses.add(out.records[i].Status)
		}
		made, err := e.makeDocuments(ctx, c, out.records, tidegate.Pairs("schema", "citations_validate.inputs.v1", "run_id", r.ID(), "mode", out.Mode,
			"mode_source", out.ModeSource, "fixture_digest", nil))
		if err != nil {
			return err
		}
		out.InputsDigest = made.inputsDigest
		_, err = r.Update(ctx, run.Unfinished(func(u *run.Update) error {
			blocked := source.NewBlockedFile(r.ID(), u.Now(), out.records)
			if out.BlockedCount = len(blocked.Items); out.BlockedCount > 0 {
				queue := r.Path(files.queue)
				out.QueuePath = &queue
			}
			u.Log(run.EventSources, "citations_validate", tidegate.Pairs("reason", run.Note(in.Reason), "mode", out.Mode, "citations_path", r.InRecord(out.CitationsPath),
				"validated", out.Validated, "statuses", out.Statuses, "inputs_digest", out.InputsDigest, "blocked_urls", out.BlockedCount, "args", tidegate.Pairs()))
			return made.write(u, files, blocked)
		}))
		return err
	})
}

// setMode decides whether the call may fetch.
func (c *CitationsResult) setMode(r *run.Run, dryRun bool) {
	switch {
	case r.Manifest().Sensitivity() == noWeb:
		c.Mode = "offline"
		return
	case dryRun:
		c.Mode = "dry_run"
	default:
		c.Mode = "online"
	}
	c.OnlineDryRun = &dryRun
}

// sourceDocuments are what a run keeps about its sources, made before its lock is
// taken.
type sourceDocuments struct {
	normalized, urlMap, index, rendered, records []byte
	inputsDigest                                 string
}

// makeDocuments makes the documents, and the digest of what they are made from,
// on all cores.
func (e *archived) makeDocuments(ctx context.Context, c cited, records []source.Record, inputs tidegate.Details) (sourceDocuments, error) {
	var made sourceDocuments
	id := e.run.ID()
	urlMap, index := source.NewURLMap(id, c.sources), e.index(c.sources)
	parts := []func() error{
		func() error {
			made.inputsDigest = codec.Digest(append(inputs, tidegate.Pairs("url_map", urlMap.Items, "evidence", index.Items)...))
			return nil
		},
		func() (err error) { made.records, err = source.MarshalRecords(records); return err },
		func() (err error) { made.index, err = codec.MarshalFile(index); return err },
		func() (err error) { made.urlMap, err = codec.MarshalFile(urlMap); return err },
		func() error { made.rendered = []byte(source.Render(id, records)); return nil },
		func() error { made.normalized = normalizedList(c.sources); return nil },
	}
	err := parallel.All(ctx, len(parts), func(i int) error { return parts[i]() })
	return made, err
}

// write stages the documents, and what is blocked.
func (made *sourceDocuments) write(u *run.Update, files citationFiles, blocked source.BlockedFile) error {
	queue := func() error { return u.Remove(files.queue) }
	if len(blocked.Items) > 0 {
		queue = func() error { return u.Write(files.queue, []byte(blocked.Queue())) }
	}
	for _, write := range []func() error{
		func() error { return u.Write(files.normalized, made.normalized) },
		func() error { return u.Write(files.urlMap, made.urlMap) },
		func() error { return u.Write(IndexFile, made.index) },
		func() error { return u.WriteJSON(files.blocked, blocked) },
		queue,
		func() error { return u.Write(files.rendered, made.rendered) },
		func() error { return u.Write(files.records, made.records) },
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// Report shows every source and what it is worth.
func (c CitationsResult) Report() report.Report {
	s := c.Statuses
	r := report.Report{Name: "citations_check", Title: "Sources of run " + c.RunID, Status: passOrWarn(s.Valid+s.Paywalled == c.Validated),
		Summary: strconv.Itoa(s.Valid+s.Paywalled) + " of " + report.Counted(c.Validated, "source") + " can be cited"}
	r.Add(recordTable(c.records))
	return r
}

// passOrWarn is for what only gate C decides.
func passOrWarn(usable bool) report.Status {
	if usable {
		return report.Pass
	}
	return report.Warn
}

// recordTable lists records for people.
func recordTable(records []source.Record) *report.Table {
	table := report.NewTable("Source", "Status", "Why", "Id")
	for i := range records {
		record := &records[i]
		why := record.Notes
		if record.Origin != nil {
			why += "; origin: " + record.Origin.String()
		}
		if record.Undated {
			why += "; no date"
		}
		if record.SameAs != "" {
			why += "; the same page as " + record.SameAs
		}
		if record.ReplacedBy != "" {
			why += "; replaced by " + record.ReplacedBy
		}
		table.Row(report.PassIf(record.Usable()), record.NormalizedURL, string(record.Status), why, record.CID)
	}
	return table
}

// readRecords reads the records at a path inside the run; "" is for its own.
func readRecords(r *run.Run, path string) ([]source.Record, error) {
	name, err := step.NameOr(r, "citations_path", path, citationFilesOf(r).records)
	if err != nil {
		return nil, err
	}
	data, err := r.Folder().Read(name)
	if err != nil {
		return nil, tidegate.WithDetails(err, tidegate.Pairs("citations_path", r.Path(name)))
	}
	return source.ParseRecords(r.Path(name), data)
}

// CitationList is the result of [ListCitations].
type CitationList struct {
	OK      codec.True      `json:"ok"`
	RunID   string          `json:"run_id"`
	Records []source.Record `json:"records"`
}

// ListCitations lists the records of a run as they were judged last. It returns
// the errors of [run.Open], [run.Run.CheckLog] and [source.ParseRecords], and NOT_FOUND.
func ListCitations(ctx context.Context, desk run.Desk, manifestPath string) (CitationList, error) {
	return run.With(ctx, desk, manifestPath, func(r *run.Run, out *CitationList) error {
		if err := r.CheckLog(); err != nil {
			return err
		}
		records, err := readRecords(r, "")
		*out = CitationList{RunID: r.ID(), Records: records}
		return err
	})
}

// Export hands the sources that can be cited to reference managers.
func (c CitationList) Export(format string) (document []byte, ok bool, err error) {
	usable := slices.DeleteFunc(slices.Clone(c.Records), func(r source.Record) bool { return !r.Usable() })
	switch format {
	case "csl-json":
		document, err = source.CSLJSON(usable)
	case "bibtex":
		document = source.BibTeX(usable)
	case "ris":
		document = source.RIS(usable)
	default:
		return nil, false, nil
	}
	return document, true, err
}

// Report lists the records.
func (c CitationList) Report() report.Report {
	r := report.Report{Name: "citations_list", Title: "Sources of run " + c.RunID, Summary: report.Counted(len(c.Records), "source")}
	r.Add(recordTable(c.Records))
	return r
}

// RulesInput are the arguments of [RulesOfCitations].
type RulesInput struct {
	Classes bool `json:"classes,omitzero" jsonschema:"add the table of classes, by which the host of a source decides what kind of source it is"`
}

// CitationRules is the table by which sources are judged.
type CitationRules struct {
	OK      codec.True        `json:"ok"`
	Rules   []source.Rule     `json:"rules" jsonschema:"in order: the first that holds decides"`
	Classes []policy.ClassRow `json:"classes,omitzero" jsonschema:"the table of classes, where it was asked for"`
}

// RulesOfCitations is the table of rules, and where it is asked for that of classes.
func RulesOfCitations(in RulesInput) CitationRules {
	rules := CitationRules{Rules: source.Rules()}
	if in.Classes {
		rules.Classes = policy.Classes()
	}
	return rules
}

// Report prints the table that was asked for.
func (c CitationRules) Report() report.Report {
	if c.Classes != nil {
		r := report.Report{Name: "citations_classes", Title: "What kind of source a host is", Summary: report.Counted(len(c.Classes), "class") + ", by domain; of several that fit, the longest decides"}
		for _, class := range c.Classes {
			r.Add(report.Heading(class.Name), report.Paragraph(class.About+"."))
			if len(class.Domains) > 0 {
				r.Add(report.Paragraph(strings.Join(class.Domains, ", ")))
			}
		}
		return r
	}
	r := report.Report{Name: "citations_rules", Title: "How a source is judged", Summary: report.Counted(len(c.Rules), "rule") + ", of which the first that holds decides"}
	table := report.NewTable("Rule", "Status", "Reason", "When it holds")
	for _, rule := range c.Rules {
		table.Row(report.None, rule.Name, string(rule.Status), rule.Reason, rule.About)
	}
	r.Add(table)
	return r
}
