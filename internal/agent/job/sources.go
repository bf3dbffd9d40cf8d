package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
)

// sources are the sources of a run.
type sources struct {
	list   source.Citables // in byte order of their cids
	name   string          // of the file that they were read from
	digest string
}

// sources are the sources that can be cited: those that gate C judged, with ids that are
// the same in every prompt of the run.
func (r *research) sources() (*sources, error) { return r.citable.get(r.readSources) }

func (r *research) readSources() (*sources, error) {
	s := &sources{name: r.Layout().Citations}
	data, err := r.Folder().Read(s.name)
	if err != nil {
		return nil, tidegate.WithDetails(err, tidegate.Pairs("citations_path", r.Path(s.name)))
	}
	s.digest = codec.DigestBytes(data)
	records, err := source.ParseRecords(r.Path(s.name), data)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(a, b source.Record) int { return strings.Compare(a.CID, b.CID) })
	quotes, err := r.quotations()
	for i := range records {
		if one := &records[i]; one.Usable() {
			s.list = append(s.list, source.Citable{ID: fmt.Sprintf("s%d", len(s.list)+1), CID: one.CID, Title: markdown.OneLine(one.Title), URL: one.URL,
				Status: string(one.Status), Quotes: quotes[one.CID], Silent: one.Snippet == ""})
		}
	}
	return s, err
}

// sourced reports whether the run has a source that can be cited.
func (r *research) sourced() (bool, error) {
	all, err := r.sources()
	return err == nil && len(all.list) > 0, err
}

// maxQuotes is how many quotations of one source a prompt shows.
const maxQuotes = 5

// quotations are what the outputs of both waves quote, by cid.
func (r *research) quotations() (map[string][]string, error) {
	outputs, err := r.outputs()
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, o := range outputs {
		text, err := r.Folder().Read(r.Output(o.wave, o.perspective))
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		for said, url := range source.Quoted(text) {
			normalized, err := link.Normalize(strings.TrimRight(string(url), ".,;:"))
			if err != nil {
				continue
			}
			cid := source.CID(normalized)
			if words := markdown.OneLine(string(said)); len(found[cid]) < maxQuotes && !slices.Contains(found[cid], words) {
				found[cid] = append(found[cid], words)
			}
		}
	}
	return found, nil
}
