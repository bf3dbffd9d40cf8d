package main

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/mcp"
)

// schemaResources are the schemas of the documents that tools read and write.
// A client gets the schemas of tool results with each tool.
func schemaResources() []mcp.Resource {
	var resources []mcp.Resource
	for _, s := range documentSchemas() {
		resources = append(resources, mcp.Resource{
			URI: schemaURI + s.name, Name: s.name, Description: "JSON Schema: " + s.about, MIMEType: "application/schema+json",
			Read: func(context.Context) ([]byte, error) { return codec.Marshal(s.print()) },
		})
	}
	return resources
}
