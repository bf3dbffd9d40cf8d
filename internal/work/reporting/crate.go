package reporting

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
)

// CrateFile is the name that readers of RO-Crates look for.
const CrateFile = "ro-crate-metadata.json"

// What a crate conforms to. A source must not pass for it.
const (
	crateFormat  = "https://w3id.org/ro/crate/1.1"
	crateProfile = "https://w3id.org/ro/wfrun/process/0.5"
)

// Crate describes exported pages of a run as a Process Run Crate (RO-Crate 1.1, profile 0.5): the
// files, and the work that made the report of the sources. It says what was done and with
// what, and nothing about whether it is true. Document names the file of the report.
func Crate(r *run.Run, records []source.Record, files []string, document, version string) ([]byte, error) {
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
	m := r.Manifest()
	program, action := "#tidegate", "#run"
	var graph []*codec.Value
	add := func(pairs ...any) { graph = append(graph, codec.Of(tidegate.Pairs(pairs...))) }
	var sources []string
	titles := map[string]string{}
	for _, r := range records {
		page := identifier(webOnly(r.URLOriginal))
		if _, twice := titles[page]; !twice && page != "" && !slices.Contains([]string{crateFormat, crateProfile, actionStatus(m.Status())}, page) {
			sources, titles[page] = append(sources, page), strings.TrimSpace(r.Title)
		}
	}
	add("@id", CrateFile, "@type", "CreativeWork", "conformsTo", id(crateFormat), "about", id("./"))
	add("@id", "./", "@type", "Dataset", "name", m.Query(), "description", "Pages of run "+r.ID()+": how its report came about, and what its sentences stand on.",
		"datePublished", m.Doc().Get("updated_at"), "conformsTo", id(crateProfile), "hasPart", ids(at), "mentions", id(action))
	add("@id", crateProfile, "@type", "CreativeWork", "name", "Process Run Crate", "version", "0.5")
	add("@id", program, "@type", "SoftwareApplication", "name", "tidegate", "softwareVersion", version, "url", "https://github.com/tidegate/tidegate")
	add("@id", action, "@type", "CreateAction", "name", "Research of run "+r.ID(), "instrument", id(program), "startTime", m.Doc().Get("created_at"), "endTime", m.Doc().Get("updated_at"),
		"actionStatus", id(actionStatus(m.Status())), "object", ids(sources), "result", id(document))
	for i, file := range files {
		add("@id", at[i], "@type", "File", "name", file, "encodingFormat", formats[path.Ext(file)])
	}
	for _, page := range sources {
		add("@id", page, "@type", "WebPage", "name", titles[page])
	}
	return codec.MarshalFile(codec.Of(tidegate.Pairs(
		"@context", []string{"https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"}, "@graph", graph)))
}

// webOnly is an address of the web, "" for another.
func webOnly(address string) string {
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return address
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
