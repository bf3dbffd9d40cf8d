package main

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

// schema is one JSON Schema that the program publishes.
type schema struct {
	name, about string
	print       func() *codec.Value
}

// documentSchemas are the schemas of the documents that tools read and write.
func documentSchemas() []schema {
	var list []schema
	for _, s := range []struct {
		name, about string
		shape       func() codec.Shape
	}{
		{"perspectives.v1", "the contracts by which outputs are judged", wave.PerspectivesShape},
		{"manifest.v1", "what a run is and where it stands", func() codec.Shape { return run.ManifestShape }},
		{"gates.v1", "the gates of a run", func() codec.Shape { return run.GatesShape }},
		{"scope.v1", "what a run is to answer", func() codec.Shape { return run.ScopeShape }},
		{"pivot_decision.v1", "the decision about a second wave", pivot.Shape},
		{"citation.v1", "one line of the pool of citations", source.Shape},
		{"summary_pack.v1", "the summaries of a run, for synthesis", synthesis.PackShape},
		{"kept_review.v1", "what a review of a change was about", change.KeptReviewShape},
	} {
		list = append(list, schema{s.name, s.about, func() *codec.Value { return s.shape().Schema(s.name) }})
	}
	return list
}

// schemas are the schemas of the documents and of the results of all tools.
func schemas(tools []*tool.Tool) []schema {
	list := documentSchemas()
	for _, t := range tools {
		list = append(list, schema{t.Name, "the result of the tool", func() *codec.Value {
			out := codec.NewObject()
			out.Set("$schema", codec.Of("https://json-schema.org/draft/2020-12/schema"))
			out.Set("title", codec.Of("result of "+t.Name))
			for _, m := range t.OutputSchema().Members() {
				out.Set(m.Key, m.Value)
			}
			return out
		}})
	}
	return list
}

func schemaCommand(tools []*tool.Tool) cli.Command {
	list := schemas(tools)
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.name
	}
	return cli.Command{
		Path:     "schema",
		Operands: []tool.Operand{{Name: "NAME", About: "the schema; all are listed when absent", Optional: true}},
		Complete: names,
		Run: func(_ context.Context, call cli.Invocation) error {
			if len(call.Args) == 0 {
				return listSchemas(call, list)
			}
			name := call.Args[0]
			i := slices.Index(names, name)
			if i < 0 {
				hint := codec.DidYouMean(name, names, "`tidegate schema` lists them")
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("name", tidegate.Cut(name)), "there is no schema %q; %s", tidegate.Cut(name), hint)
			}
			return call.JSON(list[i].print())
		},
	}
}

func listSchemas(call cli.Invocation, list []schema) error {
	table := report.NewTable("Name", "What it describes")
	for _, s := range list {
		table.Row(report.None, s.name, s.about)
	}
	r := report.Report{Name: "schemas", Title: "Schemas"}
	r.Add(table)
	return call.Render(r)
}
