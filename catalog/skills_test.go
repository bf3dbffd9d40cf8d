package catalog_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/skills"
	"github.com/tidegate/tidegate/tool"
)

// manifests are the files by which clients and the registry know of the skills and the
// server, by their paths in the repository.
func manifests() map[string]any {
	const (
		version     = "0.1.0" // a release writes its own into server.json and bundles
		description = "Research with checked sources, audits of reports, and code reviews that can be trusted"
		repository  = "https://github.com/tidegate/tidegate"
	)
	type object = map[string]any
	var folders []string
	for _, name := range slices.Sorted(maps.Keys(skills.All())) {
		folders = append(folders, "./"+name)
	}
	// Clients start servers of plugins in the folder in which they were started.
	servers := object{"tidegate": object{"command": "tidegate", "args": []string{"mcp", "--root", ".", "--project", "."}}}
	owner := object{"name": "tidegate", "url": repository}
	plugin := object{
		"name": "tidegate", "version": version, "description": description, "author": owner, "homepage": repository, "repository": repository,
		"license": "Apache-2.0", "keywords": []string{"research", "citations", "audit", "review"}, "skills": folders, "mcpServers": servers,
	}
	return map[string]any{
		"skills/.claude-plugin/plugin.json": plugin,
		"skills/.codex-plugin/plugin.json":  plugin,
		".claude-plugin/marketplace.json": object{
			"name": "tidegate", "owner": owner, "metadata": object{"description": description},
			"plugins": []object{{"name": "tidegate", "source": "./skills", "description": description, "license": "Apache-2.0", "category": "research"}},
		},
		".agents/plugins/marketplace.json": object{
			"name": "tidegate", "interface": object{"displayName": "tidegate"},
			"plugins": []object{{
				"name": "tidegate", "source": object{"source": "local", "path": "./skills"}, "category": "Productivity",
				"policy": object{"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
			}},
		},
		"gemini-extension.json": object{"name": "tidegate", "version": version, "description": description, "mcpServers": servers},
		"server.json": object{
			"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
			"name":    "io.github.tidegate/tidegate", "title": "tidegate", "description": description, "version": version,
			"repository": object{"url": repository, "source": "github"},
			"packages": []object{{
				"registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org", "identifier": "tidegate", "version": version, "runtimeHint": "npx",
				"transport":        object{"type": "stdio"},
				"packageArguments": []object{{"type": "positional", "value": "mcp"}, {"type": "named", "name": "--root", "value": "."}, {"type": "named", "name": "--project", "value": "."}},
			}},
		},
	}
}

// TestManifests compares what is committed with the skills.
func TestManifests(t *testing.T) {
	for name, manifest := range manifests() {
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetIndent("", "  ")
		must.Do(t, encoder.Encode(manifest))
		compareDocument(t, name, func(string) string { return want.String() })
	}
}

// TestSkillsNameWhatIsThere holds each skill to the form that clients read, and to the tools
// that a client is offered: whatever looks like a tool, an argument or a field of a result
// is one.
func TestSkillsNameWhatIsThere(t *testing.T) {
	front := regexp.MustCompile(`^---\nname: ([a-z-]+)\ndescription: ([^\n]+)\n---\n\n# `)
	key := regexp.MustCompile(`"([a-z_0-9]+)":`)
	quoted := regexp.MustCompile("`([a-z][a-z0-9_]*(?:_[a-z0-9]+)+|ask)`")
	offered := must.Get(mcp.Narrow(tool.ForAgents(catalog.Tools(&catalog.Env{})), mcp.Narrowing{}))(t)
	known := map[string]bool{}
	for _, each := range offered {
		known[each.Name] = true
	}
	if len(skills.All()) != 3 {
		t.Errorf("%d skills", len(skills.All()))
	}
	for name, text := range skills.All() {
		head := front.FindSubmatch(text)
		if head == nil || string(head[1]) != name || len(head[2]) > 1024 {
			t.Errorf("%s begins with %.200q", name, text)
			continue
		}
		words := map[string]bool{}
		named := 0
		for _, each := range offered {
			if strings.Contains(string(text), "`"+each.Name+"`") {
				named++
				for _, schema := range []*codec.Value{each.InputSchema(), each.OutputSchema()} {
					data := must.Get(codec.MarshalLine(schema))(t)
					for _, word := range key.FindAllSubmatch(data, -1) {
						words[string(word[1])] = true
					}
				}
			}
		}
		if named < 1 {
			t.Errorf("%s names no tool", name)
		}
		for _, word := range quoted.FindAllSubmatch(text, -1) {
			if w := string(word[1]); !known[w] && !words[w] {
				t.Errorf("%s names %s, which no tool that it uses has", name, w)
			}
		}
		if size := len(text); size > 5000 {
			t.Errorf("%s has %d bytes, which every conversation that uses it pays for", name, size)
		}
	}
}
