package codec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

var boat = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version("boat.v1")},
	codec.Field{Name: "name", Shape: codec.NotBlank(), About: "painted on the stern"},
	codec.Field{Name: "rig", Shape: codec.OneOf("sloop", "ketch"), Optional: true},
	codec.Field{Name: "crew", Shape: codec.List(codec.Table(
		codec.Field{Name: "age", Shape: codec.IntegerFrom(16)},
		codec.Field{Name: "notes", Shape: codec.MapOf(codec.NumberFrom(0)), Optional: true},
	), 1)},
	codec.Field{Name: "ports", Shape: codec.List(codec.NotBlank(), 0), Optional: true},
	codec.Field{Name: "owner", Shape: codec.Text().OrNull(), Optional: true},
)

func TestCheckNamesTheFirstViolation(t *testing.T) {
	for _, tt := range []struct{ name, document, path, message string }{
		{"no object", `[]`, "$", "must be an object"},
		{"missing before wrong", `{"name":3}`, "$.schema_version", "is missing"},
		{"table order, not document order", `{"crew":3,"name":"","schema_version":"boat.v1"}`, "$.name", "must not be blank"},
		{"later version", `{"schema_version":"boat.v2"}`, "$.schema_version", "later version"},
		{"other schema", `{"schema_version":"car.v2"}`, "$.schema_version", `must be "boat.v1"`},
		{"the same version spelt otherwise", `{"schema_version":"boat.v01"}`, "$.schema_version", `must be "boat.v1"`},
		{"enumeration", `{"schema_version":"boat.v1","name":"x","rig":"raft","crew":[]}`, "$.rig", "one of sloop, ketch"},
		{"too few", `{"schema_version":"boat.v1","name":"x","crew":[]}`, "$.crew", "1 or more entries"},
		{"element", `{"schema_version":"boat.v1","name":"x","crew":[{"age":20},{"age":15}]}`, "$.crew[1].age", "at least 16"},
		{"fraction", `{"schema_version":"boat.v1","name":"x","crew":[{"age":20.5}]}`, "$.crew[0].age", "an integer"},
		{"infinite", `{"schema_version":"boat.v1","name":"x","crew":[{"age":1e999}]}`, "$.crew[0].age", "finite"},
		{"map member", `{"schema_version":"boat.v1","name":"x","crew":[{"age":20,"notes":{"k":-1}}]}`, "$.crew[0].notes.k", "at least 0"},
		{"null where not allowed", `{"schema_version":"boat.v1","name":null}`, "$.name", "got null"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := must.Get(codec.Parse([]byte(tt.document)))(t)
			e := tidegate.AsError(boat.Check(v))
			if e == nil || e.Code != tidegate.SchemaValidationFailed {
				t.Fatalf("got %v", e)
			}
			if path, _ := e.Details.Get("path"); path != tt.path || !strings.Contains(e.Message, tt.message) {
				t.Errorf("got path %v and message %q", path, e.Message)
			}
		})
	}
}

func TestCheckFieldsNamesAViolationOfEachField(t *testing.T) {
	for _, tt := range []struct {
		name, document string
		want           []string
	}{
		{"none", `{"schema_version":"boat.v1","name":"x","crew":[{"age":20}],"owner":null}`, nil},
		{"no object", `[]`, []string{"$"}},
		{"missing and wrong", `{"name":3,"crew":[{"age":15},{"age":14}],"ports":[" "]}`, []string{"$.schema_version", "$.name", "$.crew[0].age", "$.ports[0]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := must.Get(codec.Parse([]byte(tt.document)))(t)
			var got []string
			for _, err := range boat.CheckFields("$", v) {
				path, _ := tidegate.AsError(err).Details.Get("path")
				got = append(got, path.(string))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUsingDemandsTheUsedFieldsAndTheTypesOfOthers(t *testing.T) {
	reader := boat.Using("schema_version", "crew[].age", "ports")
	for _, tt := range []struct{ name, document, path string }{
		{"unused may be absent", `{"schema_version":"boat.v1","crew":[{"age":20}]}`, ""},
		{"unused may break its rule", `{"schema_version":"boat.v1","name":"","rig":"raft","crew":[{"age":20,"notes":{"k":-1}}]}`, ""},
		{"unused of the wrong type", `{"schema_version":"boat.v1","name":3,"crew":[{"age":20}]}`, "$.name"},
		{"used is required", `{"schema_version":"boat.v1","crew":[{}]}`, "$.crew[0].age"},
		{"what leads to it is required", `{"schema_version":"boat.v1"}`, "$.crew"},
		{"used keeps its rule", `{"schema_version":"boat.v1","crew":[{"age":3}]}`, "$.crew[0].age"},
		{"what lies below it keeps its rule", `{"schema_version":"boat.v1","crew":[{"age":20}],"ports":["a",""]}`, "$.ports[1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := must.Get(codec.Parse([]byte(tt.document)))(t)
			path := ""
			if e := tidegate.AsError(reader.Check(v)); e != nil {
				value, _ := e.Details.Get("path")
				path = value.(string)
			}
			if diff := cmp.Diff(tt.path, path); diff != "" {
				t.Error(diff)
			}
		})
	}
}
