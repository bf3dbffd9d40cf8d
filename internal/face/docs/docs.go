// Package docs writes the documents that derive from declarations:
// docs/tools.md, docs/errors.md, the tables of tools in the README and of keys in
// docs/configuration.md. A test fails when a document no longer says what the
// program does.
package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/tool"
)

// Tools is docs/tools.md.
func Tools(tools []*tool.Tool) string {
	var b strings.Builder
	b.WriteString("# Tools\n\nGenerated from the declarations in `catalog/`; `go test ./catalog -update` writes it anew.\n\n")
	b.WriteString(ToolTable(tools))
	for _, t := range tools {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", t.Name, t.Summary)
		fmt.Fprintf(&b, "- effect: %s\n- toolset: %s\n", t.Effect, t.Set)
		if t.Command != nil {
			fmt.Fprintf(&b, "- command: `tidegate %s`\n", t.Command.Path)
		}
		b.WriteString("\n")
		arguments(&b, t.InputSchema())
		fields(&b, t.OutputSchema())
		if t.Command != nil {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", strings.TrimSpace(t.Command.Example))
		}
	}
	return b.String()
}

// ToolTable lists the tools in one table.
func ToolTable(tools []*tool.Tool) string {
	var b strings.Builder
	b.WriteString("| tool | command | effect |\n|---|---|---|\n")
	for _, t := range tools {
		command := ""
		if t.Command != nil {
			command = "`" + t.Command.Path + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Name, command, t.Effect)
	}
	return b.String()
}

func arguments(b *strings.Builder, schema *codec.Value) {
	properties := schema.Get("properties").Members()
	if len(properties) == 0 {
		b.WriteString("It takes no arguments.\n")
		return
	}
	required := map[string]bool{}
	for _, name := range schema.Get("required").Elems() {
		required[name.Str()] = true
	}
	b.WriteString("| argument | type | required | |\n|---|---|:---:|---|\n")
	for _, p := range properties {
		mark := ""
		if required[p.Key] {
			mark = "yes"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Key, typeOf(p.Value), mark, cell(p.Value))
	}
}

func fields(b *strings.Builder, schema *codec.Value) {
	b.WriteString("\n| result | type | |\n|---|---|---|\n")
	for _, p := range schema.Get("properties").Members() {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", p.Key, typeOf(p.Value), cell(p.Value))
	}
}

func typeOf(schema *codec.Value) string {
	kind := schema.Get("type").Str()
	switch {
	case schema.Get("anyOf") != nil:
		var words []string
		for _, branch := range schema.Get("anyOf").Elems() {
			words = append(words, typeOf(branch))
		}
		slices.Reverse(words) // a schema names null first, a reader wants it last
		return strings.Join(words, " or ")
	case kind == "array" && schema.Get("items").Get("type") != nil:
		return "array of " + typeOf(schema.Get("items"))
	case kind == "":
		return "any"
	}
	return kind
}

// cell is the description with the limits of the schema, fit for a table.
func cell(schema *codec.Value) string {
	parts := []string{}
	if about := schema.Get("description").Str(); about != "" {
		parts = append(parts, about)
	}
	if enum := schema.Get("enum"); enum.Len() > 0 {
		parts = append(parts, "one of "+literal(enum))
	}
	for _, limit := range []struct{ key, word string }{{"minimum", "at least"}, {"maximum", "at most"}, {"default", "default"}} {
		if v := schema.Get(limit.key); v != nil {
			parts = append(parts, limit.word+" "+literal(v))
		}
	}
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.Join(parts, "; "))
}

func literal(v *codec.Value) string {
	data, err := codec.MarshalLine(v)
	if err != nil {
		return ""
	}
	return "`" + string(data) + "`"
}

// Errors is docs/errors.md.
func Errors(status func(tidegate.Class) int) string {
	var b strings.Builder
	b.WriteString(`# Errors

Generated from the table in ` + "`code.go`" + `; ` + "`go test ./catalog -update`" + ` writes it anew. ` + "`tidegate explain CODE`" + ` prints one row.

A judgement that goes against what was judged is a result, not an error: ` + "`{\"ok\":true,\"pass\":false,…}`" + `, exit status 1 of the named
commands. An error is a failure to produce a judgement: ` + "`{\"ok\":false,\"error\":{\"code\",\"message\",\"details\"}}`" + `. The tools that
judge a single thing report what they refuse as an error of the class *not met*.

Every code belongs to one class, and faces map classes, never codes. Over MCP an error is a result with ` + "`isError`" + ` true and one
text block that holds the envelope.

| class | exit status |
|---|---|
`)
	last := tidegate.Class(0)
	for _, e := range tidegate.Explanations {
		if e.Class != last {
			fmt.Fprintf(&b, "| %s | %d |\n", e.Class, status(e.Class))
			last = e.Class
		}
	}
	last = 0
	for _, e := range tidegate.Explanations {
		if e.Class != last {
			fmt.Fprintf(&b, "\n## %s (exit status %d)\n\n| code | meaning | to fix it |\n|---|---|---|\n", e.Class, status(e.Class))
			last = e.Class
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Code, e.Meaning, e.Fix)
	}
	return b.String()
}

// Keys is the table of docs/configuration.md.
func Keys() string {
	var b strings.Builder
	b.WriteString("| key | type | what it decides | default | goes before it | waits because |\n|---|---|---|---|---|---|\n")
	for _, k := range config.Keys {
		fmt.Fprintf(&b, "| `%s` | %s | %s; for example `%s` | %s | %s | %s |\n", k.Name, k.Type, k.About, k.Example, k.Default, k.Over, k.Waits)
	}
	return b.String()
}
