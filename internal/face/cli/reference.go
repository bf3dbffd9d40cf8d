package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/tool"
)

// reference is what `tools --markdown` prints: every tool with its arguments, its
// result and an example, from the declarations.
func reference(tools []*tool.Tool) string {
	var b strings.Builder
	b.WriteString("# Tools\n\n")
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
		parts = append(parts, "one of "+wireLiteral(enum))
	}
	for _, limit := range []struct{ key, word string }{{"minimum", "at least"}, {"maximum", "at most"}, {"default", "default"}} {
		if v := schema.Get(limit.key); v != nil {
			parts = append(parts, limit.word+" "+wireLiteral(v))
		}
	}
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.Join(parts, "; "))
}

func wireLiteral(v *codec.Value) string {
	data, err := codec.MarshalLine(v)
	if err != nil {
		return ""
	}
	return "`" + string(data) + "`"
}
