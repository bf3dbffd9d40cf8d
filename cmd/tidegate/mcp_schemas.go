package main

import (
	"context"

	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/internal/mcpserver"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/summary"
)

// schemaResources are the schemas of the documents that tools read and write.
func schemaResources() []mcpserver.Resource {
	var resources []mcpserver.Resource
	for _, s := range []struct {
		name, about string
		shape       codec.Shape
	}{
		{"perspectives.v1", "the contracts by which outputs are judged", perspective.Shape()},
		{"manifest.v1", "what a run is and where it stands", run.ManifestShape},
		{"gates.v1", "the gates of a run", run.GatesShape},
		{"scope.v1", "what a run is to answer", run.ScopeShape},
		{"pivot_decision.v1", "the decision about a second wave", pivot.Shape()},
		{"citation.v1", "one line of the pool of citations", summary.CitationShape()},
		{"summary_pack.v1", "the summaries of a run, for synthesis", summary.PackShape()},
	} {
		resources = append(resources, mcpserver.Resource{
			URI: schemaURI + s.name, Name: s.name, Description: "JSON Schema: " + s.about, MIMEType: "application/schema+json",
			Read: func(context.Context) ([]byte, error) { return codec.Marshal(s.shape.Schema(s.name)) },
		})
	}
	return resources
}
