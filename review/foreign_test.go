package review_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

var shop = []string{"/src/shop"}

func readForeign(t *testing.T, name string, data []byte) (review.Foreign, error) {
	t.Helper()
	doc := must.Get(codec.Parse(data))(t)
	return review.ReadForeign(name, doc, shop)
}

func foreignFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/foreign/*json")
	sarif, _ := filepath.Glob("testdata/foreign/*.sarif")
	if files = append(files, sarif...); err != nil || len(files) < 4 {
		t.Fatalf("%d files in testdata/foreign (error %v)", len(files), err)
	}
	return files
}

// TestForeignGolden makes a REVIEW.md of what each tool writes.
func TestForeignGolden(t *testing.T) {
	for _, file := range foreignFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data := must.Get(os.ReadFile(file))(t)
			f := must.Get(readForeign(t, file, data))(t)
			p := f.Payload()
			p.ChangeID = "imported"
			got := review.Format(p, f.LeftOut)
			golden.Check(t, strings.TrimSuffix(file, filepath.Ext(file))+".md", got)
			if reading := review.Read(got); !reading.Complete {
				t.Errorf("the review is not read completely: %q", reading.Problems)
			}
		})
	}
}

// TestForeignSamplesFollowTheirSchemas keeps the samples honest: a tool that
// keeps to the format could have written them.
func TestForeignSamplesFollowTheirSchemas(t *testing.T) {
	for _, file := range foreignFiles(t) {
		name := map[string]string{".sarif": "sarif-schema-2.1.0.json", ".rdjson": "rdjson-DiagnosticResult.json"}[filepath.Ext(file)]
		if _, err := os.Stat(filepath.Join(schemas, name)); err != nil {
			t.Skipf("%s is absent", name)
		}
		schema := must.Get(jsonschema.NewCompiler().Compile(filepath.Join(schemas, name)))(t)
		data := must.Get(os.Open(file))(t)
		document, err := jsonschema.UnmarshalJSON(data)
		data.Close()
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func rdjsonOf(t *testing.T, file string) []byte {
	t.Helper()
	document := must.Get(codec.Marshal(map[string]any{"diagnostics": []any{map[string]any{
		"message": "m", "location": map[string]any{"path": file},
	}}}))(t)
	return document
}

func TestForeignFilesStayInTheProject(t *testing.T) {
	t.Parallel()
	const outside = ""
	for _, tt := range []struct{ file, want string }{
		{"a.go", "a.go"},
		{"./a/../b.go", "b.go"},
		{`a\b.go`, "a/b.go"},
		{"/src/shop/a.go", "a.go"},
		{"/src/shop/x/../a.go", "a.go"},
		{"file:///src/shop/a%20b.go", "a b.go"},
		{"file://localhost/src/shop/a.go", "a.go"},
		{"..", outside},
		{".", outside},
		{"../a.go", outside},
		{"a/../../b.go", outside},
		{`..\..\a.go`, outside},
		{"/src/shopping/a.go", outside},
		{"/src/shop/../other/a.go", outside},
		{"/src/shop", outside},
		{"/etc/passwd", outside},
		{"file:///etc/passwd", outside},
		{"file:///src/shop/%2e%2e/other/a.go", outside},
		{"file://server/src/shop/a.go", outside},
		{`C:\work\shop\a.go`, outside},
		{"https://example.com/a.go", outside},
		{"a\u202e.go", outside},
		{"a\n.go", outside},
	} {
		f := must.Get(readForeign(t, "f", rdjsonOf(t, tt.file)))(t)
		switch {
		case tt.want == outside:
			if len(f.Issues) != 0 || len(f.LeftOut) != 1 {
				t.Errorf("%q: %+v, left out %q; want it left out", tt.file, f.Issues, f.LeftOut)
			}
		case len(f.Issues) != 1 || f.Issues[0].File != tt.want:
			t.Errorf("%q: %+v, want the file %q", tt.file, f.Issues, tt.want)
		}
	}
}

func TestForeignRefusesOtherDocuments(t *testing.T) {
	t.Parallel()
	for _, document := range []string{`{}`, `[]`, `"runs"`, `{"runs":{}}`, `{"version":"2.0.0","runs":[]}`, `{"diagnostics":1}`} {
		if _, err := readForeign(t, "lint.json", []byte(document)); tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
			t.Errorf("%s: %v, want SCHEMA_VALIDATION_FAILED", document, err)
		}
	}
}

// TestForeignIsBounded hands in more, and longer, than a review takes: the
// gravest issues stay.
func TestForeignIsBounded(t *testing.T) {
	t.Parallel()
	var list []any
	for i := range 1200 {
		severity, message := "INFO", fmt.Sprint(i)
		if i >= 1150 {
			severity, message = "ERROR", message+strings.Repeat("é", 4000)
		}
		list = append(list, map[string]any{"message": message, "severity": severity})
	}
	document := must.Get(codec.Marshal(map[string]any{"diagnostics": list}))(t)
	f := must.Get(readForeign(t, "f", document))(t)
	if len(f.Issues) != 1000 || f.Issues[49].Severity != review.High || f.Issues[50].Severity != review.Low {
		t.Errorf("%d issues, want the gravest 1000", len(f.Issues))
	}
	if diff := cmp.Diff([]string{"200 results beyond the gravest 1000"}, f.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	for _, issue := range f.Issues {
		if len(issue.Description) > 5000 || len([]rune(issue.Title)) > tidegate.MaxText {
			t.Fatalf("a description of %d bytes and a title of %d", len(issue.Description), len(issue.Title))
		}
	}
}

// FuzzForeign reads arbitrary documents: what is taken is a valid review whose
// files lie in the project.
func FuzzForeign(f *testing.F) {
	files, _ := filepath.Glob("testdata/foreign/*")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(data)
		}
	}
	f.Add([]byte(`{"version":"2.1.0","runs":[{"originalUriBaseIds":{"A":{"uri":"x/","uriBaseId":"A"}},"results":[{"ruleIndex":-1,"message":{"text":"{9}[a](b"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"y","uriBaseId":"A","index":-1}}}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := codec.Parse(data)
		if err != nil {
			t.Skip("not JSON")
		}
		got, err := review.ReadForeign("f", doc, shop)
		if err != nil {
			t.Skip("another kind of document")
		}
		for _, issue := range got.Issues {
			if issue.File != "" && (!filepath.IsLocal(issue.File) || path.Clean(issue.File) != issue.File) {
				t.Errorf("the file %q", issue.File)
			}
		}
		p := got.Payload()
		p.ChangeID = "c"
		must.Both(review.Parse(codec.Of(p), false))(t)
		if p.Summary != "" {
			checkRoundTrip(t, p, got.LeftOut)
		}
	})
}
