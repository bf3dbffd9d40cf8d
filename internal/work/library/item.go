package library

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Subject names a run or an audit as it was: by its id and the head of its log.
type Subject struct {
	Kind  string `json:"kind" jsonschema:"run or audit"`
	ID    string `json:"id"`
	Head  string `json:"head" jsonschema:"the digest of the last line of its log"`
	Title string `json:"title" jsonschema:"the question, or what the report was called"`
}

// The kinds of subjects.
const (
	Run   = "run"
	Audit = "audit"
)

// Sentence is a sentence of a report.
type Sentence struct {
	ID       string // c12; "" in an audit
	Line     int
	Text     string
	Standing claim.Standing // "" for one that cites nothing
	CIDs     []string       // of the pages that it cites
}

// Source is a source of a report, with what its page was worth.
type Source struct {
	source.Source
	URL     string // of the page to fetch; "" for what nobody fetches
	Record  source.Record
	Capture *archive.Capture // nil where the archive has nothing
}

// Item is the report of a run or an audit, open for reading.
type Item struct {
	Subject
	Language  string
	Sentences []Sentence
	Recorded  string // the driver of a run whose agents were a recording that has a name, as recorded:demo

	noWeb  bool
	source func(ctx context.Context, cid string) (*Source, error) // nil for an id that it does not have
	all    []source.Record
	close  func()
}

// Close closes the item.
func (i *Item) Close() { i.close() }

// Sources are the sources of the report that its sentences cite, in their order. It
// returns the errors of reading the archive.
func (i *Item) Sources(ctx context.Context) ([]*Source, error) {
	var out []*Source
	seen := map[string]bool{}
	for k := range i.Sentences {
		for _, cid := range i.Sentences[k].CIDs {
			if seen[cid] {
				continue
			}
			seen[cid] = true
			s, err := i.source(ctx, cid)
			if err != nil {
				return nil, err
			}
			if s != nil {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// Open opens the run or audit that a person names: by its id, the beginning of it, or its
// folder. Runs is the home of runs. It returns NOT_FOUND, INVALID_ARGS for the beginning of
// several ids, INVALID_STATE for a report that is not finished or whose sentences were not
// checked, and the errors of reading it.
func Open(ctx context.Context, desk run.Desk, runs, workdir, name string) (*Item, error) {
	manifest, _, err := run.FindByBeginning(desk, runs, workdir, name)
	if err == nil && name != "" && filepath.Base(manifest) == run.ManifestFile {
		return openRun(ctx, desk, manifest)
	}
	path, other := audit.Find(desk, store.Audits.Home(runs), workdir, name)
	if other == nil {
		return openAudit(ctx, desk, path)
	}
	if err == nil {
		err = other
	}
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		_, meant, _ := strings.Cut(tidegate.AsError(err).Message, "; did you mean")
		if meant != "" {
			meant = "; did you mean" + meant
		}
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("run", name), "there is no run and no audit %q%s", tidegate.Cut(name), cmp.Or(meant, "; `tidegate run list` and `tidegate audit list` show what there is"))
	}
	return nil, err
}

// head is the digest of the last line of a log.
func head(folder *artifact.Folder) (string, error) {
	log, err := folder.VerifyLog(run.LogFile)
	return log.Head, err
}

func openRun(ctx context.Context, desk run.Desk, manifest string) (*Item, error) {
	r, err := run.Open(ctx, desk, manifest)
	if err != nil {
		return nil, err
	}
	item, err := readRun(ctx, r)
	if err != nil {
		r.Close()
		return nil, err
	}
	item.close = func() { r.Close() }
	return item, nil
}

func readRun(ctx context.Context, r *run.Run) (*Item, error) {
	m := r.Manifest()
	if m.Status() != run.Completed {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID(), "status", string(m.Status())), "run %q is not completed: it has no report yet that could be looked at again", r.ID())
	}
	list, err := sentences.ReadClaimList(r)
	if err != nil {
		return nil, err
	}
	kept, err := sourcing.OpenEvidence(ctx, r)
	if err != nil {
		return nil, err
	}
	item := &Item{Subject: Subject{Kind: Run, ID: r.ID(), Title: m.Query()}, noWeb: m.Sensitivity() == synthesis.NoWeb, all: kept.Records}
	if item.Head, err = head(r.Folder()); err != nil {
		return nil, err
	}
	policy, err := r.Policy()
	if err != nil {
		return nil, err
	}
	for _, agent := range policy.Agents {
		if strings.HasPrefix(agent.Driver, "recorded:") {
			item.Recorded = agent.Driver
		}
	}
	records := map[string]source.Record{}
	for _, record := range kept.Records {
		records[record.CID] = record
	}
	item.source = func(ctx context.Context, cid string) (*Source, error) {
		from, err := kept.Source(ctx, cid)
		if err != nil || from == nil {
			return nil, err
		}
		return &Source{from.Source, from.URL, records[cid], from.Capture}, nil
	}
	var text strings.Builder
	for i := range list.Sentences {
		s := &list.Sentences[i]
		text.WriteString(s.Text + "\n")
		sentence := Sentence{ID: s.ID, Line: s.Line, Text: s.Text, Standing: s.Standing}
		for _, cid := range s.CIDs {
			if cid != evidence.RunCID {
				sentence.CIDs = append(sentence.CIDs, cid)
			}
		}
		item.Sentences = append(item.Sentences, sentence)
	}
	item.Language = page.Language(text.String())
	return item, nil
}

func openAudit(ctx context.Context, desk run.Desk, path string) (*Item, error) {
	a, err := audit.Open(ctx, desk, path)
	if err != nil {
		return nil, err
	}
	item, err := readAudit(ctx, a)
	if err != nil {
		a.Close()
		return nil, err
	}
	item.close = a.Close
	return item, nil
}

func readAudit(ctx context.Context, a *audit.Audit) (*Item, error) {
	result, err := a.Result(ctx)
	if err != nil {
		return nil, err
	}
	sources, records, err := a.Sources(ctx)
	if err != nil {
		return nil, err
	}
	item := &Item{Subject: Subject{Kind: Audit, ID: a.ID(), Title: a.ReportName()}, Language: result.Audited.Language, all: records}
	if item.Head, err = head(a.Folder()); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i := range sources {
		at[sources[i].CID] = i
	}
	item.source = func(ctx context.Context, cid string) (*Source, error) {
		i, found := at[cid]
		if !found {
			return nil, nil
		}
		s := &Source{Source: sources[i], Record: records[i]}
		url, ok := s.FetchURL()
		if !ok {
			return s, nil
		}
		var err error
		s.URL = url
		s.Capture, _, err = a.Capture(ctx, url)
		return s, err
	}
	for i := range result.Sentences {
		s := &result.Sentences[i]
		sentence := Sentence{Line: s.Line, Text: s.Text, Standing: s.Standing}
		for _, url := range s.URLs {
			if normalized, err := link.Normalize(foreign.PageURL(url)); err == nil {
				sentence.CIDs = append(sentence.CIDs, source.CID(normalized))
			}
		}
		item.Sentences = append(item.Sentences, sentence)
	}
	return item, nil
}

// Held is an answer or update that a home keeps: what [store.AboutFile] says of it, and what
// it is bound to.
type Held struct {
	SchemaVersion string    `json:"schema_version"`
	ID            string    `json:"id"`
	CreatedAt     string    `json:"created_at"`
	Program       string    `json:"program"`
	Question      string    `json:"question,omitzero"` // of an answer
	Of            []Subject `json:"of"`
}

// judged is the line that records a result.
func judged(desk run.Desk, result []byte, more tidegate.Details) tidegate.Details {
	return desk.Writer().Line("judged", tidegate.Pairs("files", append(more, tidegate.Detail{Key: store.ResultFile, Value: codec.DigestBytes(result)})))
}

// create makes a folder under home that is bound to runs and audits, with what more adds to
// it, which may be nil.
func create(desk run.Desk, home string, a Held, more func(d *artifact.Draft, path string) error) (Held, string, error) {
	seed := ""
	for _, s := range a.Of {
		seed += s.ID + s.Head
	}
	path, err := desk.Writer().Create(home, seed, func(d *artifact.Draft, id, stamp string) (tidegate.Details, error) {
		a.ID, a.CreatedAt, a.Program = id, stamp, desk.Program
		data, err := codec.MarshalFile(a)
		if err != nil {
			return nil, err
		}
		return tidegate.Pairs(store.AboutFile, codec.DigestBytes(data)), d.Write(store.AboutFile, data)
	}, more)
	return a, path, err
}

// ListKept lists the answers or updates of a folder that have a result, by id. They never
// change: those that the caller knows are not read again. What cannot be read is left out.
// It returns READ_FAILED for the folder.
func ListKept(desk run.Desk, home string, known map[string]Held) (map[string]Held, error) {
	there := map[string]Held{}
	err := store.Kind{File: store.ResultFile}.Each(desk.Reach, home, func(folder *artifact.Folder, id string) {
		held, ok := known[id]
		if !ok {
			data, err := folder.ReadDocument(id + "/" + store.AboutFile)
			ok = err == nil && json.Unmarshal(data, &held) == nil && held.ID == id
		}
		if ok {
			there[id] = held
		}
	})
	return there, err
}

// ReadAnswer reads an answer that the home of runs keeps. It returns NOT_FOUND,
// READ_FAILED and INVALID_JSON.
func ReadAnswer(desk run.Desk, runs, id string) (Answered, error) {
	return readKept[Answered](desk, store.Answers.Home(runs), "answer", id)
}

// ReadUpdate is [ReadAnswer] for an update.
func ReadUpdate(desk run.Desk, runs, id string) (Updated, error) {
	return readKept[Updated](desk, store.Updates.Home(runs), "update", id)
}

func readKept[T any](desk run.Desk, home, noun, id string) (out T, err error) {
	missing := tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs(noun, tidegate.Cut(id)), "there is no %s of that name", noun)
	if run.CheckID(id) != nil {
		return out, missing
	}
	folder, err := desk.Reach.Open(noun, filepath.Join(home, id))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return out, missing
	}
	if err != nil {
		return out, err
	}
	defer folder.Close()
	data, err := folder.ReadDocument(store.ResultFile)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, tidegate.Errorf(tidegate.InvalidJSON, tidegate.Pairs(noun, id), "the result of %s %s cannot be read: %w", noun, id, err)
	}
	return out, nil
}
