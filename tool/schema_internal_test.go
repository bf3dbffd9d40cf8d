package tool

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidegate/tidegate/codec"
)

// TestSchemasArePrintedAsTheirOwnMarshallerDoes compares every keyword that print
// knows, and demands that it refuses another one.
func TestSchemasArePrintedAsTheirOwnMarshallerDoes(t *testing.T) {
	t.Parallel()
	two, three, truth := 2.0, 3, any(true)
	schema := &jsonschema.Schema{
		Type: "object", Description: "all <of> it", Required: []string{"b", "a"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		PropertyOrder:        []string{"b", "missing", "a"},
		Properties: map[string]*jsonschema.Schema{
			"a": {Types: []string{"null", "array"}, Items: &jsonschema.Schema{Type: "string", Enum: []any{"x", "y"}}, MinItems: &three},
			"b": {Type: "number", Minimum: &two, Maximum: &two, Default: json.RawMessage("2.50")},
			"d": {},
			"c": {Const: &truth, Not: &jsonschema.Schema{Type: "string"}},
		},
	}
	want, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := codec.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = codec.MarshalLine(parsed); err != nil {
		t.Fatal(err)
	}
	got, err := codec.MarshalLine(value(schema))
	if err != nil || string(got) != string(want) {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a keyword that is not printed is taken")
		}
	}()
	value(&jsonschema.Schema{Type: "string", Pattern: "a"})
}
