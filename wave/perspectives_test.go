package wave_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/wave"
)

func document(perspectives string) string {
	return `{"schema_version":"perspectives.v1","perspectives":[` + perspectives + `]}`
}

const anyContract = `"prompt_contract":{"max_words":1,"max_sources":1,"must_include_sections":["A"]}`

func TestParseNamesTheFirstViolation(t *testing.T) {
	for _, tt := range []struct {
		name, document string
		use            wave.Use
		path           string
	}{
		{"no object", `[]`, wave.Contracts, "$"},
		{"no version", `{"perspectives":[]}`, wave.Contracts, "$.schema_version"},
		{"no list", `{"schema_version":"perspectives.v1"}`, wave.Contracts, "$.perspectives"},
		{"list of another type", `{"schema_version":"perspectives.v1","perspectives":{}}`, wave.Contracts, "$.perspectives"},
		{"the version goes before the entries", `{"perspectives":[{"id":3}],"schema_version":"x"}`, wave.Contracts, "$.schema_version"},
		{"unused field of the wrong type", `{"schema_version":"perspectives.v1","run_id":7,"perspectives":[]}`, wave.Contracts, "$.run_id"},
		{"entry is not an object", document(`3`), wave.Contracts, "$.perspectives[0]"},
		{"no id", document(`{` + anyContract + `}`), wave.Contracts, "$.perspectives[0].id"},
		{"no contract where one is used", document(`{"id":"a"}`), wave.Contracts, "$.perspectives[0].prompt_contract"},
		{"no contract where none is used", document(`{"id":"a"}`), wave.Artifacts, ""},
		{"negative cap", document(`{"id":"a","prompt_contract":{"max_words":-1,"max_sources":1,"must_include_sections":[]}}`), wave.Contracts, "$.perspectives[0].prompt_contract.max_words"},
		{"cap beyond every number", document(`{"id":"a","prompt_contract":{"max_words":1e999,"max_sources":1,"must_include_sections":[]}}`), wave.Contracts, "$.perspectives[0].prompt_contract.max_words"},
		{"blank title", document(`{"id":"a","prompt_contract":{"max_words":1,"max_sources":1,"must_include_sections":["x"," "]}}`), wave.Contracts, "$.perspectives[0].prompt_contract.must_include_sections[1]"},
		{"second entry", document(`{"id":"a",` + anyContract + `},{"id":"b","title":3,` + anyContract + `}`), wave.Contracts, "$.perspectives[1].title"},
		{"repeated id", document(`{"id":"a",` + anyContract + `},{"id":"a",` + anyContract + `}`), wave.Contracts, "$.perspectives[1].id"},
		{"fields in the order of the table", document(`{"id":"a","track":3,"agent_type":3,` + anyContract + `}`), wave.Contracts, "$.perspectives[0].agent_type"},
		{"the contract in the order of the table", document(`{"id":"a","prompt_contract":{"tool_budget":3,"must_include_sections":3,"max_sources":1,"max_words":1}}`), wave.Contracts, "$.perspectives[0].prompt_contract.must_include_sections"},
		{"unknown fields are allowed", document(`{"id":"a","colour":1,` + anyContract + `}`), wave.Contracts, ""},
		{"unused track may be unknown", document(`{"id":"a","track":"scenic",` + anyContract + `}`), wave.Contracts, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := wave.ParsePerspectives([]byte(tt.document), tt.use)
			path := ""
			if e := tidegate.AsError(err); e != nil {
				if e.Code != tidegate.SchemaValidationFailed {
					t.Fatalf("got %v", err)
				}
				value, _ := e.Details.Get("path")
				path = value.(string)
			}
			if diff := cmp.Diff(tt.path, path); diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestSyntaxErrorsWinOverViolations(t *testing.T) {
	_, err := wave.ParsePerspectives([]byte(`{"schema_version":"perspectives.v1","perspectives":[{"id":3}`), wave.Contracts)
	if _, ok := err.(*codec.SyntaxError); !ok {
		t.Errorf("got %v", err)
	}
}

func TestIdsThatBecomeFileNames(t *testing.T) {
	for _, id := range []string{"p1", "P-1_x.y", "é", "a b", strings.Repeat("x", 128)} {
		if fault := wave.IDFault(id); fault != "" {
			t.Errorf("%q: %s", id, fault)
		}
	}
	for _, id := range []string{"", ".", "..", ".hidden", "a/b", `a\b`, "../../etc/passwd", " a", "a\t", "a\x00b", "a\nb", "a\u0085b", "\xff", strings.Repeat("x", 129)} {
		if wave.IDFault(id) == "" {
			t.Errorf("%q is accepted", id)
		}
	}
}

func TestContractsAreTrimmedAndOrdered(t *testing.T) {
	doc := must.Get(wave.ParsePerspectives([]byte(document(
		`{"id":"b",`+anyContract+`},{"id":"B",`+anyContract+`},{"id":"a","prompt_contract":{"max_words":800.5,"max_sources":3,"must_include_sections":[" Sources ","A","Sources"]}}`)), wave.Contracts))(t)
	var ids []string
	for _, p := range doc.List {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff([]string{"B", "a", "b"}, ids); diff != "" {
		t.Errorf("byte order (-want +got):\n%s", diff)
	}
	a, ok := doc.Find("a")
	want := wave.Perspective{ID: "a", Contract: wave.Contract{MaxWords: 800.5, MaxSources: 3, Sections: []string{"Sources", "A"}}}
	if diff := cmp.Diff(&want, a); !ok || diff != "" {
		t.Error(diff)
	}
	if _, ok := doc.Find("c"); ok {
		t.Error("found what is not there")
	}
}

func TestCheckDemandsTheWholeTable(t *testing.T) {
	whole := `{"schema_version":"perspectives.v1","run_id":"r","created_at":"t","perspectives":[{"id":"a","title":"T","track":"standard","agent_type":"x","prompt_contract":{"max_words":1,"max_sources":1,"tool_budget":{"search":2},"must_include_sections":[]}}]}`
	v := must.Get(codec.Parse([]byte(whole)))(t)
	must.Do(t, wave.CheckPerspectives(v))
	for _, missing := range []string{`"run_id":"r",`, `"created_at":"t",`, `"title":"T",`, `"track":"standard",`, `"agent_type":"x",`, `"tool_budget":{"search":2},`} {
		v := must.Get(codec.Parse([]byte(strings.Replace(whole, missing, "", 1))))(t)
		if tidegate.CodeOf(wave.CheckPerspectives(v)) != tidegate.SchemaValidationFailed {
			t.Errorf("a document without %s is accepted", missing)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(document(`{"id":"a",` + anyContract + `}`)))
	f.Add([]byte(`{"perspectives":[{}],"schema_version":"perspectives.v1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := wave.ParsePerspectives(data, wave.Contracts)
		if err != nil {
			return
		}
		for i, p := range doc.List {
			if fault := wave.IDFault(p.ID); fault != "" {
				t.Fatalf("id %q: %s", p.ID, fault)
			}
			if i > 0 && doc.List[i-1].ID >= p.ID {
				t.Fatal("not in strict byte order")
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(`{"id":"p%06d","title":"T","track":"standard","agent_type":"x",%s}`, i, anyContract)
		}
		data := []byte(document(strings.Join(entries, ",")))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must.Get(wave.ParsePerspectives(data, wave.Contracts))(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/perspective")
		})
	}
}
