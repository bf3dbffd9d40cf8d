package web

import (
	"fmt"
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

// What a crate conforms to. A source must not pass for it.
const (
	crateFormat  = "https://w3id.org/ro/crate/1.1"
	crateProfile = "https://w3id.org/ro/wfrun/process/0.5"
)

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
	titles := map[string]string{}
	for _, r := range l.records {
		page := identifier(webAddress(r.URLOriginal))
		if _, twice := titles[page]; !twice && page != "" && !slices.Contains([]string{crateFormat, crateProfile, actionStatus(m.Status())}, page) {
			sources, titles[page] = append(sources, page), strings.TrimSpace(r.Title)
		}
	}
	add("@id", crateFile, "@type", "CreativeWork", "conformsTo", id(crateFormat), "about", id("./"))
	add("@id", "./", "@type", "Dataset", "name", m.Query(), "description", "Pages of run "+l.run.ID()+": how its report came about, and what its sentences stand on.",
		"datePublished", m.Doc().Get("updated_at"), "conformsTo", id(crateProfile), "hasPart", ids(at), "mentions", id(action))
	add("@id", crateProfile, "@type", "CreativeWork", "name", "Process Run Crate", "version", "0.5")
	add("@id", program, "@type", "SoftwareApplication", "name", "tidegate", "softwareVersion", l.site.Version, "url", "https://github.com/tidegate/tidegate")
	add("@id", action, "@type", "CreateAction", "name", "Research of run "+l.run.ID(), "instrument", id(program), "startTime", m.Doc().Get("created_at"), "endTime", m.Doc().Get("updated_at"),
		"actionStatus", id(actionStatus(m.Status())), "object", ids(sources), "result", id(fileLink("document", l.run.ID())))
	for i, file := range files {
		add("@id", at[i], "@type", "File", "name", file, "encodingFormat", formats[path.Ext(file)])
	}
	for _, page := range sources {
		add("@id", page, "@type", "WebPage", "name", titles[page])
	}
	return codec.MarshalFile(codec.Of(tidegate.Pairs(
		"@context", []string{"https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"}, "@graph", graph)))
}

// identifier is an address with escapes for what must not stand in an identifier: programs
// write identifiers between angle brackets.
func identifier(address string) string {
	var out strings.Builder
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
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
