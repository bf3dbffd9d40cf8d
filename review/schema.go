package review

import "github.com/tidegate/tidegate/internal/base/codec"

// Schema is the data model of the payload as JSON Schema. It allows further keys;
// [Parse] checks more than a schema can say.
func Schema() *codec.Value {
	integer := func(about string) *codec.Value { return property("integer", about) }
	tests := object(nil,
		"passed", integer("how many tests passed"),
		"failed", integer("how many tests failed"),
		"total", integer("how many tests ran"),
	)
	tests.Set("description", codec.Of("the tests that the reviewer ran"))
	severity := property("string", "how much the issue matters")
	severity.Set("enum", codec.Of(Severities))
	issue := object([]string{"title", "severity", "category", "description"},
		"title", property("string", "the issue in one line"),
		"severity", severity,
		"category", property("string", "Bug, Security, Performance or Style; any other word is accepted"),
		"file", property("string", "the file that the issue is in, relative to the project"),
		"line", integer("the line in that file, counted from 1"),
		"description", property("string", "what is the matter"),
		"recommendation", property("string", "what to do about it"),
	)
	issues := property("array", "what the reviewer found")
	issues.Set("items", issue)
	verdict := property("string", "APPROVED: ready to complete; NEEDS_FIX: another round of fixes; MAJOR_ISSUES: a person has to look")
	verdict.Set("enum", codec.Of(Verdicts))
	return object([]string{"change_id", "verdict", "summary"},
		"change_id", property("string", "the change under review: "+ChangeIDRule),
		"verdict", verdict,
		"summary", property("string", "what was reviewed and how it was found"),
		"test_results", tests,
		"issues", issues,
	)
}

func property(kind, about string) *codec.Value {
	v := codec.NewObject()
	v.Set("type", codec.Of(kind))
	v.Set("description", codec.Of(about))
	return v
}

// object is the schema of an object with alternating names and schemas.
func object(required []string, pairs ...any) *codec.Value {
	v := codec.NewObject()
	v.Set("type", codec.Of("object"))
	properties := codec.NewObject()
	for i := 0; i < len(pairs); i += 2 {
		properties.Set(pairs[i].(string), pairs[i+1].(*codec.Value))
	}
	v.Set("properties", properties)
	if len(required) > 0 {
		v.Set("required", codec.Of(required))
	}
	return v
}

var findingID = pattern(`^[0-9a-f]{12}(-[0-9]{1,6})?$`)

// IDShape is the id of a finding, and of what else is settled like one.
func IDShape() codec.Shape {
	return codec.Matching("the id of a finding", findingID().MatchString)
}

// FindingShape is what readers of a document may rely on in its findings; more is what the
// document says of each besides.
func FindingShape(more ...codec.Field) codec.Shape {
	return codec.Table(append([]codec.Field{
		{Name: "id", Shape: IDShape()},
		{Name: "title", Shape: codec.NotBlank()},
		{Name: "severity", Shape: codec.OneOf(Severities...)},
		{Name: "category", Shape: codec.NotBlank()},
		{Name: "file", Shape: codec.Text(), Optional: true},
		{Name: "line", Shape: codec.AnyNumber(), Optional: true},
		{Name: "description", Shape: codec.NotBlank()},
		{Name: "recommendation", Shape: codec.Text(), Optional: true},
		{Name: "confidence", Shape: codec.Text(), Optional: true, About: "in the word of the reviewer"},
		{Name: "quote", Shape: codec.Text(), Optional: true, About: "the lines that the issue is about"},
		{Name: "suggestion", Shape: codec.Text(), Optional: true, About: "what could stand in the place of the quoted lines"},
		{Name: "reply", Shape: codec.Text(), Optional: true, About: "to what the author said about the issue"},
		{Name: "found_by", Shape: codec.List(codec.Text(), 0), Optional: true},
		{Name: "checked", Shape: codec.Text(), Optional: true, About: "what a verifier said of it"},
		{Name: "decision", Shape: codec.Text(), Optional: true, About: "dismissed or refuted"},
		{Name: "reason", Shape: codec.Text(), Optional: true, About: "of the decision"},
	}, more...)...)
}
