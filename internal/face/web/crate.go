package web

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// crateFile is the name that readers of RO-Crates look for.
const crateFile = "ro-crate-metadata.json"

// crate describes exported pages as a Process Run Crate (RO-Crate 1.1, profile 0.5): the
// files, and the work that made the report of the sources. It says what was done and with
// what, and nothing about whether it is true.
func (l *visit) crate(files []string) ([]byte, error) {
	id := func(id string) *codec.Value { return codec.Of(tidegate.Pairs("@id", id)) }
	ids := func(all []string) []*codec.Value {
		out := make([]*codec.Value, len(all))
		for i, each := range all {
			out[i] = id(each)
		}
		return out
	}
	at := make([]string, len(files)) // as addresses
	for i, file := range files {
		at[i] = url.PathEscape(file)
	}
	m := l.run.Manifest()
	program, action := "#tidegate", "#run"
	var graph []*codec.Value
	add := func(pairs ...any) { graph = append(graph, codec.Of(tidegate.Pairs(pairs...))) }
	var sources []string
	for _, r := range l.records {
		if page := webAddress(r.URLOriginal); page != "" && !slices.Contains(sources, page) {
			sources = append(sources, page)
		}
	}
	add("@id", crateFile, "@type", "CreativeWork", "conformsTo", id("https://w3id.org/ro/crate/1.1"), "about", id("./"))
	add("@id", "./", "@type", "Dataset", "name", m.Query(), "description", "Pages of run "+l.run.ID()+": how its report came about, and what its sentences stand on.",
		"datePublished", m.Doc().Get("updated_at"), "conformsTo", id("https://w3id.org/ro/wfrun/process/0.5"), "hasPart", ids(at), "mentions", id(action))
	add("@id", "https://w3id.org/ro/wfrun/process/0.5", "@type", "CreativeWork", "name", "Process Run Crate", "version", "0.5")
	add("@id", program, "@type", "SoftwareApplication", "name", "tidegate", "softwareVersion", l.site.Version, "url", "https://github.com/tidegate/tidegate")
	add("@id", action, "@type", "CreateAction", "name", "Research of run "+l.run.ID(), "instrument", id(program), "startTime", m.Doc().Get("created_at"), "endTime", m.Doc().Get("updated_at"),
		"actionStatus", id(actionStatus(m.Status())), "object", ids(sources), "result", id(fileLink("document", l.run.ID())))
	for i, file := range files {
		add("@id", at[i], "@type", "File", "name", file, "encodingFormat", formats[path.Ext(file)])
	}
	named := map[string]bool{}
	for _, r := range l.records {
		if page := webAddress(r.URLOriginal); page != "" && !named[page] {
			named[page] = true
			add("@id", page, "@type", "WebPage", "name", strings.TrimSpace(r.Title))
		}
	}
	return codec.MarshalFile(codec.Of(tidegate.Pairs(
		"@context", []string{"https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"}, "@graph", graph)))
}

var formats = map[string]string{".html": "text/html", ".css": "text/css", ".txt": "text/plain"}

func actionStatus(s run.Status) string {
	switch s {
	case run.Completed:
		return "http://schema.org/CompletedActionStatus"
	case run.Failed, run.Cancelled:
		return "http://schema.org/FailedActionStatus"
	}
	return "http://schema.org/ActiveActionStatus"
}
