// Package perspective reads, checks and writes perspectives.v1, the document
// that lists the perspectives of a run and the contract of each.
//
// Reading is tolerant and writing is strict: [Read] demands the fields that its
// caller uses and the right type of every other known field; [Check] demands
// the whole table. The package judges no output.
package perspective

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Perspective is one perspective, with what its readers use.
type Perspective struct {
	ID             string
	Title          string // "" when the document has none
	Contract       Contract
	ToolBudget     []ToolLimit // in byte order of the tools
	SourceArtifact string      // run-root-relative path of the wave output; "" for the usual place
}

// ToolLimit is how often an agent may call one tool.
type ToolLimit struct {
	Tool  string
	Calls float64
}

// Contract is what an output must meet.
type Contract struct {
	MaxWords   float64
	MaxSources float64
	Sections   []string // required titles, trimmed, each once
}

// Document is a perspectives.v1 document.
type Document struct {
	RunID        string // "" when the document has none
	Perspectives []Perspective
	byID         map[string]int
}

// Use says what a reader uses of each perspective, besides schema_version and id.
type Use int

// The uses.
const (
	Contracts Use = iota // max_words, max_sources, must_include_sections
	Artifacts            // source_artifact
)

var used = map[Use][]string{
	Contracts: {"schema_version", "perspectives[].id", "perspectives[].prompt_contract.max_words",
		"perspectives[].prompt_contract.max_sources", "perspectives[].prompt_contract.must_include_sections"},
	Artifacts: {"schema_version", "perspectives[].id", "perspectives[].source_artifact"},
}

// Read reads and checks the document at path, once. Perspectives are in byte
// order of their ids. It returns NOT_FOUND, READ_FAILED, INVALID_JSON or
// SCHEMA_VALIDATION_FAILED; arg is the argument that named the path.
func Read(ctx context.Context, arg, path string, use Use) (*Document, error) {
	data, err := artifact.ReadDocument(ctx, arg, path)
	if err != nil {
		return nil, err
	}
	doc, err := Parse(data, use)
	if syntax := (*codec.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, codec.NotJSON(tidegate.D(arg, path), path, syntax)
	}
	return doc, err
}

// Parse is [Read] for a document in memory. A document that is not strict JSON
// gives the *[codec.SyntaxError] itself.
func Parse(data []byte, use Use) (*Document, error) {
	top, err := codec.Parse(data)
	if err != nil {
		return nil, err
	}
	return Of(top, use)
}

// Of is [Parse] for a document that was parsed already, which is left as it is.
func Of(top *codec.Value, use Use) (*Document, error) {
	shape := Shape().Using(used[use]...)
	entry := shape.Elem("perspectives")
	rest, list := without(top)
	if err := shape.Check(rest); err != nil {
		return nil, err
	}
	doc := &Document{RunID: top.Get("run_id").Str(), Perspectives: make([]Perspective, len(list)), byID: make(map[string]int, len(list))}
	for i, elem := range list {
		if err := entry.CheckAt("$.perspectives["+strconv.Itoa(i)+"]", elem); err != nil {
			return nil, err
		}
		p := read(elem)
		if first, ok := doc.byID[p.ID]; ok {
			return nil, repeatedID(i, first, p.ID)
		}
		doc.byID[p.ID], doc.Perspectives[i] = i, p
	}
	slices.SortFunc(doc.Perspectives, func(a, b Perspective) int { return strings.Compare(a.ID, b.ID) })
	for i, p := range doc.Perspectives {
		doc.byID[p.ID] = i
	}
	return doc, nil
}

// without is a document without its perspectives, and the perspectives.
func without(top *codec.Value) (rest *codec.Value, list []*codec.Value) {
	if top.Get("perspectives").Kind() != codec.Array {
		return top, nil
	}
	rest = codec.NewObject()
	for _, m := range top.Members() {
		if m.Key == "perspectives" {
			list, m.Value = m.Value.Elems(), codec.Of([]any{})
		}
		rest.Set(m.Key, m.Value)
	}
	return rest, list
}

// Find is the perspective with that id.
func (d *Document) Find(id string) (*Perspective, bool) {
	i, ok := d.byID[id]
	if !ok {
		return nil, false
	}
	return &d.Perspectives[i], true
}

func read(v *codec.Value) Perspective {
	p := Perspective{ID: v.Get("id").Str(), Title: v.Get("title").Str(), SourceArtifact: v.Get("source_artifact").Str()}
	p.Contract = ContractOf(v)
	for _, m := range v.Get("prompt_contract").Get("tool_budget").Members() {
		calls, _ := m.Value.Float()
		p.ToolBudget = append(p.ToolBudget, ToolLimit{m.Key, calls})
	}
	slices.SortFunc(p.ToolBudget, func(a, b ToolLimit) int { return strings.Compare(a.Tool, b.Tool) })
	return p
}

// ContractOf is the contract of one perspective of a document that was checked.
func ContractOf(v *codec.Value) Contract {
	contract := v.Get("prompt_contract")
	var c Contract
	c.MaxWords, _ = contract.Get("max_words").Float()
	c.MaxSources, _ = contract.Get("max_sources").Float()
	titles := contract.Get("must_include_sections").Elems()
	seen := make(map[string]bool, len(titles))
	for _, s := range titles {
		if title := strings.TrimSpace(s.Str()); !seen[title] {
			seen[title] = true
			c.Sections = append(c.Sections, title)
		}
	}
	return c
}

// Check demands the whole table of perspectives.v1, unique ids included. It
// returns SCHEMA_VALIDATION_FAILED.
func Check(v *codec.Value) error {
	if err := Shape().Check(v); err != nil {
		return err
	}
	seen := map[string]int{}
	for i, p := range v.Get("perspectives").Elems() {
		id := p.Get("id").Str()
		if first, ok := seen[id]; ok {
			return repeatedID(i, first, id)
		}
		seen[id] = i
	}
	return nil
}

// repeatedID is the violation of the i-th perspective, whose id an earlier one has.
func repeatedID(i, first int, id string) error {
	path := "$.perspectives[" + strconv.Itoa(i) + "].id"
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", path),
		"%s repeats the id of perspectives[%d]: %q", path, first, id)
}

const maxID = 128

// IDFault says what is wrong with an id that becomes a file name, or "".
func IDFault(id string) string {
	switch {
	case id == "":
		return "must not be empty"
	case len(id) > maxID:
		return "must have at most " + strconv.Itoa(maxID) + " bytes, got " + strconv.Itoa(len(id))
	case !utf8.ValidString(id):
		return "must be UTF-8"
	case strings.ContainsAny(id, `/\`):
		return `must not contain / or \: it becomes a file name`
	case strings.HasPrefix(id, "."):
		return "must not begin with a dot: it becomes a file name"
	case strings.TrimSpace(id) != id:
		return "must not begin or end with white space"
	case strings.ContainsFunc(id, unicode.IsControl):
		return "must not contain control characters"
	}
	return ""
}
