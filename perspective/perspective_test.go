package perspective_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/perspective"
)

func document(perspectives string) string {
	return `{"schema_version":"perspectives.v1","perspectives":[` + perspectives + `]}`
}

const contract = `"prompt_contract":{"max_words":1,"max_sources":1,"must_include_sections":["A"]}`

func TestParseNamesTheFirstViolation(t *testing.T) {
	for _, tt := range []struct {
		name, document string
		use            perspective.Use
		path           string
	}{
		{"no object", `[]`, perspective.Contracts, "$"},
		{"no version", `{"perspectives":[]}`, perspective.Contracts, "$.schema_version"},
		{"no list", `{"schema_version":"perspectives.v1"}`, perspective.Contracts, "$.perspectives"},
		{"list of another type", `{"schema_version":"perspectives.v1","perspectives":{}}`, perspective.Contracts, "$.perspectives"},
		{"the version goes before the entries", `{"perspectives":[{"id":3}],"schema_version":"x"}`, perspective.Contracts, "$.schema_version"},
		{"unused field of the wrong type", `{"schema_version":"perspectives.v1","run_id":7,"perspectives":[]}`, perspective.Contracts, "$.run_id"},
		{"entry is not an object", document(`3`), perspective.Contracts, "$.perspectives[0]"},
		{"no id", document(`{` + contract + `}`), perspective.Contracts, "$.perspectives[0].id"},
		{"no contract where one is used", document(`{"id":"a"}`), perspective.Contracts, "$.perspectives[0].prompt_contract"},
		{"no contract where none is used", document(`{"id":"a"}`), perspective.Artifacts, ""},
		{"negative cap", document(`{"id":"a","prompt_contract":{"max_words":-1,"max_sources":1,"must_include_sections":[]}}`), perspective.Contracts, "$.perspectives[0].prompt_contract.max_words"},
		{"cap beyond every number", document(`{"id":"a","prompt_contract":{"max_words":1e999,"max_sources":1,"must_include_sections":[]}}`), perspective.Contracts, "$.perspectives[0].prompt_contract.max_words"},
		{"blank title", document(`{"id":"a","prompt_contract":{"max_words":1,"max_sources":1,"must_include_sections":["x"," "]}}`), perspective.Contracts, "$.perspectives[0].prompt_contract.must_include_sections[1]"},
		{"second entry", document(`{"id":"a",` + contract + `},{"id":"b","title":3,` + contract + `}`), perspective.Contracts, "$.perspectives[1].title"},
		{"repeated id", document(`{"id":"a",` + contract + `},{"id":"a",` + contract + `}`), perspective.Contracts, "$.perspectives[1].id"},
		{"fields in the order of the table", document(`{"id":"a","track":3,"agent_type":3,` + contract + `}`), perspective.Contracts, "$.perspectives[0].agent_type"},
		{"the contract in the order of the table", document(`{"id":"a","prompt_contract":{"tool_budget":3,"must_include_sections":3,"max_sources":1,"max_words":1}}`), perspective.Contracts, "$.perspectives[0].prompt_contract.must_include_sections"},
		{"unknown fields are allowed", document(`{"id":"a","colour":1,` + contract + `}`), perspective.Contracts, ""},
		{"unused track may be unknown", document(`{"id":"a","track":"scenic",` + contract + `}`), perspective.Contracts, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := perspective.Parse([]byte(tt.document), tt.use)
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
	_, err := perspective.Parse([]byte(`{"schema_version":"perspectives.v1","perspectives":[{"id":3}`), perspective.Contracts)
	if _, ok := err.(*codec.SyntaxError); !ok {
		t.Errorf("got %v", err)
	}
}

func TestReadTellsThePositionHoweverLongThePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 200))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "p.json")
	if err := os.WriteFile(path, []byte("{\n]"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := perspective.Read(t.Context(), "perspectives_path", path, perspective.Contracts)
	e := tidegate.AsError(err)
	if e == nil || e.Code != tidegate.InvalidJSON || !strings.HasPrefix(e.Message, "p.json is not JSON: line 2, column 1: ") {
		t.Errorf("got %v", err)
	}
	if named, _ := e.Details.Get("perspectives_path"); named != path {
		t.Errorf("details name %v", named)
	}
}

func TestIdsThatBecomeFileNames(t *testing.T) {
	for _, id := range []string{"p1", "P-1_x.y", "é", "a b", strings.Repeat("x", 128)} {
		if fault := perspective.IDFault(id); fault != "" {
			t.Errorf("%q: %s", id, fault)
		}
	}
	for _, id := range []string{"", ".", "..", ".hidden", "a/b", `a\b`, "../../etc/passwd", " a", "a\t", "a\x00b", "a\nb", "a\u0085b", "\xff", strings.Repeat("x", 129)} {
		if perspective.IDFault(id) == "" {
			t.Errorf("%q is accepted", id)
		}
	}
}

func TestContractsAreTrimmedAndOrdered(t *testing.T) {
	doc, err := perspective.Parse([]byte(document(
		`{"id":"b",`+contract+`},{"id":"B",`+contract+`},{"id":"a","prompt_contract":{"max_words":800.5,"max_sources":3,"must_include_sections":[" Sources ","A","Sources"]}}`)), perspective.Contracts)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range doc.Perspectives {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff([]string{"B", "a", "b"}, ids); diff != "" {
		t.Errorf("byte order (-want +got):\n%s", diff)
	}
	a, ok := doc.Find("a")
	want := perspective.Perspective{ID: "a", Contract: perspective.Contract{MaxWords: 800.5, MaxSources: 3, Sections: []string{"Sources", "A"}}}
	if diff := cmp.Diff(&want, a); !ok || diff != "" {
		t.Error(diff)
	}
	if _, ok := doc.Find("c"); ok {
		t.Error("found what is not there")
	}
}

func TestCheckDemandsTheWholeTable(t *testing.T) {
	whole := `{"schema_version":"perspectives.v1","run_id":"r","created_at":"t","perspectives":[{"id":"a","title":"T","track":"standard","agent_type":"x","prompt_contract":{"max_words":1,"max_sources":1,"tool_budget":{"search":2},"must_include_sections":[]}}]}`
	v, err := codec.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if err := perspective.Check(v); err != nil {
		t.Fatal(err)
	}
	for _, missing := range []string{`"run_id":"r",`, `"created_at":"t",`, `"title":"T",`, `"track":"standard",`, `"agent_type":"x",`, `"tool_budget":{"search":2},`} {
		v, err := codec.Parse([]byte(strings.Replace(whole, missing, "", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if tidegate.CodeOf(perspective.Check(v)) != tidegate.SchemaValidationFailed {
			t.Errorf("a document without %s is accepted", missing)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(document(`{"id":"a",` + contract + `}`)))
	f.Add([]byte(`{"perspectives":[{}],"schema_version":"perspectives.v1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := perspective.Parse(data, perspective.Contracts)
		if err != nil {
			return
		}
		for i, p := range doc.Perspectives {
			if fault := perspective.IDFault(p.ID); fault != "" {
				t.Fatalf("id %q: %s", p.ID, fault)
			}
			if i > 0 && doc.Perspectives[i-1].ID >= p.ID {
				t.Fatal("not in strict byte order")
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(`{"id":"p%06d","title":"T","track":"standard","agent_type":"x",%s}`, i, contract)
		}
		data := []byte(document(strings.Join(entries, ",")))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := perspective.Parse(data, perspective.Contracts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/perspective")
		})
	}
}
