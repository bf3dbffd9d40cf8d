package sourcing

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
)

// The evidence of a run.
const (
	archiveFile = run.ArchiveFile
	IndexFile   = "evidence/index.json"
)

// citationFiles are the names of what a run keeps about its sources.
type citationFiles struct {
	normalized, urlMap, records, rendered, blocked, queue string
}

func citationFilesOf(r *run.Run) citationFiles {
	dir := r.Layout().CitationsDir
	return citationFiles{
		normalized: dir + "/normalized-urls.txt", urlMap: dir + "/url-map.json",
		records: r.Layout().Citations, rendered: dir + "/validated-citations.md", blocked: dir + "/blocked-urls.json", queue: r.Layout().BlockedQueue(),
	}
}

// cited is what the outputs of a run cite.
type cited struct {
	found   []source.Found
	sources []source.Source
	files   []string // the contracts and outputs that were read
}

// citedBy reads the outputs of some waves, each by the contracts that the run
// keeps for it. A missing output cites nothing; gate B asks for it.
func citedBy(r *run.Run, waves []run.Stage) (cited, error) {
	var c cited
	for i, wave := range waves {
		contracts := r.ContractsOf(wave)
		agents, err := agentTypes(r, contracts)
		if err != nil {
			return cited{}, err
		}
		ids := map[string]bool{}
		for id := range agents {
			ids[id] = true
		}
		outputs, err := r.Outputs(r.WaveDir(wave), ids)
		if err != nil {
			return cited{}, err
		}
		c.files = append(append(c.files, contracts), outputs...)
		urls := make([][]source.Cited, len(outputs))
		err = parallel.All(context.Background(), len(outputs), func(i int) error {
			text, err := r.Folder().Read(outputs[i])
			urls[i] = source.Extract(text)
			return err
		})
		if err != nil {
			return cited{}, err
		}
		for k, name := range outputs {
			id := strings.TrimSuffix(path.Base(name), ".md")
			for _, url := range urls[k] {
				c.found = append(c.found, source.Found{Cited: url, Wave: i + 1, Perspective: id, AgentType: cmp.Or(agents[id], "unknown"), ArtifactPath: name})
			}
		}
	}
	c.sources = source.Sources(c.found)
	return c, nil
}

// citedInRun is what the outputs of all waves cite.
func citedInRun(r *run.Run) (cited, error) {
	waves, err := r.Waves()
	if err != nil {
		return cited{}, err
	}
	return citedBy(r, waves)
}

// CountCited counts the sources that the outputs of a run cite, and those of them
// that can be fetched. It returns the errors of reading the outputs.
func CountCited(r *run.Run) (cited, fetchable int, err error) {
	c, err := citedInRun(r)
	for i := range c.sources {
		if _, ok := c.sources[i].FetchURL(); ok {
			fetchable++
		}
	}
	return len(c.sources), fetchable, err
}

// source finds a source by its cid. It returns NOT_FOUND.
func (c cited) source(cid string) (*source.Source, error) {
	for i := range c.sources {
		if c.sources[i].CID == cid {
			return &c.sources[i], nil
		}
	}
	return nil, notCited(cid)
}

// shortCID is how much of a cid a person must type.
const shortCID = len("cid_") + 8

// meant finds the source whose cid begins with what a person typed. It returns
// NOT_FOUND, and INVALID_ARGS when there are several.
func (c cited) meant(cid string) (*source.Source, error) {
	var found *source.Source
	for i := range c.sources {
		switch source := &c.sources[i]; {
		case source.CID == cid:
			return source, nil
		case len(cid) < shortCID || !strings.HasPrefix(source.CID, cid):
		case found != nil:
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("cid", cid), "the cids of several sources begin with %s; write more of it", cid)
		default:
			found = source
		}
	}
	if found == nil {
		return nil, notCited(cid)
	}
	return found, nil
}

func notCited(cid string) error {
	return tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("cid", tidegate.Cut(cid)), "no output of the run cites a source %q", tidegate.Cut(cid))
}

// agentTypes are the perspectives of a document of contracts, by id, with the agent_type
// of each: none when it does not exist or is not JSON. It returns READ_FAILED.
func agentTypes(r *run.Run, contracts string) (map[string]string, error) {
	types := map[string]string{}
	data, err := r.Folder().Read(contracts)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return nil, err
	}
	if doc, err := codec.Parse(data); err == nil {
		for _, p := range doc.Get("perspectives").Elems() {
			if id := p.Get("id").Str(); id != "" {
				types[id] = p.Get("agent_type").Str()
			}
		}
	}
	return types, nil
}

// ReadPool reads which sources the run may cite: those to which gate C is bound.
func ReadPool(ctx context.Context, r *run.Run) (*source.Pool, error) {
	name := r.Layout().Citations
	data, err := r.Folder().Read(name)
	if err != nil {
		return nil, tidegate.WithDetails(err, tidegate.Pairs("citations_path", r.Path(name)))
	}
	return source.ReadPool(ctx, bytes.NewReader(data), r.Path(name), nil)
}
