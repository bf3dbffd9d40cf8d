package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Violation is one thing in a payload that is not as the data model demands.
type Violation struct {
	Path    string `json:"path"` // such as $.issues[2].severity
	Message string `json:"message"`
}

// ChangeIDRule says in words what a change id is; [ValidChangeID] checks it.
const ChangeIDRule = "1 to 128 of the characters A-Z a-z 0-9 . _ -, beginning with a letter or digit"

var changeID = pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// ValidChangeID reports whether id can name a change folder.
func ValidChangeID(id string) bool { return changeID().MatchString(id) }

// Parse turns a submitted document into a payload. What the data model allows but
// a careful reader would question gives a warning; in strict mode it is a
// violation. Keys that the model does not name are such a thing, except
// project_path, which is the caller's business.
//
// It returns INVALID_ARGS with the first violation in the message and all of
// them, in the order of the data model, in details.violations.
func Parse(v *codec.Value, strict bool) (Payload, []string, error) {
	c := &checker{strict: strict, warnings: []string{}}
	p := c.payload(v)
	if len(c.violations) > 0 {
		return Payload{}, nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("violations", c.violations),
			"validation failed: %s", c.violations[0].Message)
	}
	return p, c.warnings, nil
}

// checker collects, in the order of the data model, what a payload violates and
// what is questionable in it.
type checker struct {
	strict     bool
	violations []Violation
	warnings   []string
}

// A field is a place in the payload, by its path without the leading "$.".
func (c *checker) violate(field, format string, args ...any) {
	path, name := "$."+field, field
	switch {
	case field == "":
		path, name = "$", "payload"
	case field[0] == '[':
		path = "$" + field
	}
	c.violations = append(c.violations, Violation{path, name + " " + fmt.Sprintf(format, args...)})
}

func (c *checker) question(field, format string, args ...any) {
	if c.strict {
		c.violate(field, format, args...)
		return
	}
	c.warnings = append(c.warnings, field+" "+fmt.Sprintf(format, args...))
}

var (
	payloadKeys = []string{"change_id", "verdict", "summary", "test_results", "issues"}
	testKeys    = []string{"passed", "failed", "total"}
	issueKeys   = []string{"title", "severity", "category", "file", "line", "description", "recommendation"}
)

func (c *checker) payload(v *codec.Value) Payload {
	var p Payload
	if v.Kind() != codec.Object {
		c.violate("", "must be an object, got %s", describe(v))
		return p
	}
	if id, ok := c.text("change_id", v.Get("change_id")); ok {
		p.ChangeID = id
		if !ValidChangeID(id) {
			c.violate("change_id", "must be %s, got %s", ChangeIDRule, describe(v.Get("change_id")))
		}
	}
	p.Verdict = Verdict(c.oneOf("verdict", v.Get("verdict"), Verdicts))
	p.Summary = c.notBlank("summary", v.Get("summary"))
	p.TestResults = c.tests(v.Get("test_results"), p.Verdict)
	p.Issues = c.issues(v.Get("issues"), p.Verdict)
	c.unknownKeys("", v, append(slices.Clone(payloadKeys), "project_path"))
	return p
}

func (c *checker) issues(v *codec.Value, verdict Verdict) []Issue {
	if !given(v) {
		v = codec.Of([]string{})
	}
	if v.Kind() != codec.Array {
		c.violate("issues", "must be an array, got %s", describe(v))
		return nil
	}
	if v.Len() == 0 && (verdict == NeedsFix || verdict == MajorIssues) {
		c.question("issues", "is empty, but the verdict is %s", verdict)
	}
	high := slices.ContainsFunc(v.Elems(), func(issue *codec.Value) bool { return issue.Get("severity").Str() == string(High) })
	if v.Len() > 0 && !high && verdict == MajorIssues {
		c.question("issues", "has no issue of severity High, but the verdict is MAJOR_ISSUES")
	}
	var issues []Issue
	for i, elem := range v.Elems() {
		issues = append(issues, c.issue("issues["+strconv.Itoa(i)+"]", elem, verdict))
	}
	return issues
}

func (c *checker) issue(field string, v *codec.Value, verdict Verdict) Issue {
	if v.Kind() != codec.Object {
		c.violate(field, "must be an object, got %s", describe(v))
		return Issue{}
	}
	issue := Issue{
		Title:    c.notBlank(field+".title", v.Get("title")),
		Severity: Severity(c.oneOf(field+".severity", v.Get("severity"), Severities)),
	}
	if issue.Severity == High && verdict == Approved {
		c.question(field+".severity", "is High, but the verdict is APPROVED")
	}
	issue.Category = c.notBlank(field+".category", v.Get("category"))
	issue.File = c.optionalText(field+".file", v.Get("file"))
	issue.Line = c.integer(field+".line", v.Get("line"))
	if issue.Line != nil && *issue.Line < 1 {
		c.question(field+".line", "is %d, but lines are counted from 1", *issue.Line)
	}
	if issue.Line != nil && cleanLine(issue.File) == "" {
		c.question(field+".line", "is %d, but no file is given", *issue.Line)
	}
	issue.Description = c.notBlank(field+".description", v.Get("description"))
	issue.Recommendation = c.optionalText(field+".recommendation", v.Get("recommendation"))
	c.unknownKeys(field, v, issueKeys)
	return issue
}

// given treats null as absent, as every optional value allows.
func given(v *codec.Value) bool { return v.Kind() != codec.Absent && v.Kind() != codec.Null }

// text is a required string.
func (c *checker) text(field string, v *codec.Value) (string, bool) {
	if v.Kind() == codec.Absent {
		c.violate(field, "is required")
		return "", false
	}
	if v.Kind() != codec.String {
		c.violate(field, "must be a string, got %s", describe(v))
		return "", false
	}
	return v.Str(), true
}

// notBlank is a required string that says something once it is cleaned.
func (c *checker) notBlank(field string, v *codec.Value) string {
	s, ok := c.text(field, v)
	if ok && cleanLine(s) == "" {
		c.violate(field, "must not be blank")
	}
	return s
}

func (c *checker) optionalText(field string, v *codec.Value) string {
	if !given(v) {
		return ""
	}
	s, _ := c.text(field, v)
	return s
}

func (c *checker) oneOf(field string, v *codec.Value, allowed []string) string {
	s, ok := c.text(field, v)
	if !ok || slices.Contains(allowed, s) {
		return s
	}
	hint := ""
	if meant := probablyMeant(s, allowed); meant != "" {
		hint = "; did you mean " + meant + "?"
	}
	c.violate(field, "must be one of %s, got %s%s", strings.Join(allowed, ", "), describe(v), hint)
	return ""
}

func (c *checker) integer(field string, v *codec.Value) *int64 {
	if !given(v) {
		return nil
	}
	n, ok := v.Int()
	if !ok {
		c.violate(field, "must be an integer, got %s", describe(v))
		return nil
	}
	return &n
}

var plainKey = pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)

// unknownKeys questions the keys of v that are not known, in document order.
func (c *checker) unknownKeys(parent string, v *codec.Value, known []string) {
	for _, m := range v.Members() {
		if slices.Contains(known, m.Key) {
			continue
		}
		field := parent + "[" + strconv.Quote(tidegate.Cut(m.Key)) + "]"
		if plainKey().MatchString(m.Key) && len(m.Key) <= tidegate.MaxText {
			field = strings.TrimPrefix(parent+"."+m.Key, ".")
		}
		hint := ""
		if meant := probablyMeant(m.Key, known); meant != "" {
			hint = "; did you mean " + meant + "?"
		}
		ignored := " and is ignored"
		if c.strict {
			ignored = ""
		}
		c.question(field, "is not a key of the data model%s%s", ignored, hint)
	}
}

// describe shows a value in a message.
func describe(v *codec.Value) string {
	switch v.Kind() {
	case codec.String:
		return strconv.Quote(tidegate.Cut(v.Str()))
	case codec.Array, codec.Object:
		return "an " + v.Kind().String()
	case codec.Absent:
		return "nothing"
	}
	data, err := codec.MarshalLine(v)
	if err != nil {
		return "a " + v.Kind().String()
	}
	return tidegate.Cut(string(data))
}

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
