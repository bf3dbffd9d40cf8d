package wave

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
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

// Perspectives is a perspectives.v1 document.
type Perspectives struct {
	RunID string        // "" when the document has none
	List  []Perspective // in byte order of the ids
	byID  map[string]int
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

// ParsePerspectives reads a document and demands the fields that its reader uses,
// and the right type of every other known field. It returns
// SCHEMA_VALIDATION_FAILED, and the *[codec.SyntaxError] itself for what is not
// strict JSON.
func ParsePerspectives(data []byte, use Use) (*Perspectives, error) {
	top, err := codec.Parse(data)
	if err != nil {
		return nil, err
	}
	return PerspectivesOf(top, use)
}

// PerspectivesOf is [ParsePerspectives] for a document that was parsed already,
// which is left as it is.
func PerspectivesOf(top *codec.Value, use Use) (*Perspectives, error) {
	shape := PerspectivesShape().Using(used[use]...)
	entry := shape.Elem("perspectives")
	rest, list := without(top)
	if err := shape.Check(rest); err != nil {
		return nil, err
	}
	doc := &Perspectives{RunID: top.Get("run_id").Str(), List: make([]Perspective, len(list)), byID: make(map[string]int, len(list))}
	for i, elem := range list {
		if err := entry.CheckAt("$.perspectives["+strconv.Itoa(i)+"]", elem); err != nil {
			return nil, err
		}
		p := perspectiveOf(elem)
		if first, ok := doc.byID[p.ID]; ok {
			return nil, repeatedID(i, first, p.ID)
		}
		doc.byID[p.ID], doc.List[i] = i, p
	}
	slices.SortFunc(doc.List, func(a, b Perspective) int { return strings.Compare(a.ID, b.ID) })
	for i, p := range doc.List {
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
func (d *Perspectives) Find(id string) (*Perspective, bool) {
	i, ok := d.byID[id]
	if !ok {
		return nil, false
	}
	return &d.List[i], true
}

func perspectiveOf(v *codec.Value) Perspective {
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

// CheckPerspectives demands the whole table of perspectives.v1, unique ids
// included: reading is tolerant and writing is strict. It returns
// SCHEMA_VALIDATION_FAILED.
func CheckPerspectives(v *codec.Value) error {
	if err := PerspectivesShape().Check(v); err != nil {
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
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", path),
		"%s repeats the id of perspectives[%d]: %q", path, first, id)
}

const maxID = 128

// instructions are the names of files, without .md, from which agents' clients take
// instructions wherever they lie.
var instructions = []string{"agents", "agents.override", "claude", "claude.local", "copilot-instructions", "crush", "crush.local", "gemini", "qwen", "skill", "warp"}

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
	case slices.Contains(instructions, strings.ToLower(id)):
		return "must not be " + strconv.Quote(id) + ": agents take instructions from a file of that name"
	}
	return ""
}

// SidecarVersion is the schema_version of the file beside an output that
// records what the agent used.
const SidecarVersion = "wave-output-meta.v1"

// CheckToolUsage compares recorded use with a budget. Without a record nothing
// was used. It returns INVALID_TOOL_BUDGET, INVALID_TOOL_USAGE and, for the
// first tool in byte order, TOOL_BUDGET_EXCEEDED.
func CheckToolUsage(budget []ToolLimit, usage *codec.Value) error {
	for _, limit := range budget {
		if limit.Calls < 0 {
			return tidegate.Errorf(tidegate.InvalidToolBudget, tidegate.Pairs("tool", limit.Tool, "limit", limit.Calls), "the budget of %s must be at least 0", limit.Tool)
		}
	}
	if usage == nil {
		return nil
	}
	if usage.Kind() != codec.Object {
		return tidegate.Errorf(tidegate.InvalidToolUsage, tidegate.Pairs("tool_usage", usage.Kind().String()), "tool_usage must be an object of numbers")
	}
	for _, m := range usage.Members() {
		if n, ok := m.Value.Float(); !ok || n < 0 {
			return tidegate.Errorf(tidegate.InvalidToolUsage, tidegate.Pairs("tool", tidegate.Cut(m.Key), "recorded", m.Value), "the use of %q must be a number of at least 0", tidegate.Cut(m.Key))
		}
	}
	for _, limit := range budget {
		if n, _ := usage.Get(limit.Tool).Float(); n > limit.Calls {
			return tidegate.Errorf(tidegate.ToolBudgetExceeded, tidegate.Pairs("tool", limit.Tool, "limit", limit.Calls, "recorded", n),
				"%s was called %s times, the budget is %s", limit.Tool, strconv.FormatFloat(n, 'f', -1, 64), strconv.FormatFloat(limit.Calls, 'f', -1, 64))
		}
	}
	return nil
}

// PerspectivesVersion is the schema_version of a document of perspectives.
const PerspectivesVersion = "perspectives.v1"

// PerspectivesShape is the table of perspectives.v1.
func PerspectivesShape() codec.Shape {
	id := codec.Ruled("1 to 128 bytes of UTF-8, unique; no /, \\, control character, leading dot or white space at its ends", IDFault)
	contract := codec.Table(
		codec.Field{Name: "max_words", Shape: codec.NumberFrom(0), About: "most words an output may have; every token between white space counts"},
		codec.Field{Name: "max_sources", Shape: codec.NumberFrom(0), About: "most lines the Sources section may have"},
		codec.Field{Name: "must_include_sections", Shape: codec.List(codec.NotBlank(), 0), About: "titles that must occur as top-level headings"},
		codec.Field{Name: "tool_budget", Shape: codec.MapOf(codec.NumberFrom(0)), About: "most calls of each tool"},
	)
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(PerspectivesVersion)},
		codec.Field{Name: "run_id", Shape: codec.NotBlank()},
		codec.Field{Name: "created_at", Shape: codec.NotBlank()},
		codec.Field{Name: "perspectives", Shape: codec.List(codec.Table(
			codec.Field{Name: "id", Shape: id, About: "becomes the name of the output file"},
			codec.Field{Name: "title", Shape: codec.NotBlank()},
			codec.Field{Name: "agent_type", Shape: codec.NotBlank()},
			codec.Field{Name: "track", Shape: codec.OneOf("standard", "independent", "contrarian")},
			codec.Field{Name: "prompt_contract", Shape: contract, About: "what an output must meet"},
			codec.Field{Name: "expected_platforms", Shape: codec.List(codec.Text(), 0), Optional: true},
			codec.Field{Name: "platform_requirements", Optional: true, Shape: codec.List(codec.Table(
				codec.Field{Name: "name", Shape: codec.NotBlank()},
				codec.Field{Name: "reason", Shape: codec.NotBlank()},
			), 0)},
			codec.Field{Name: "tool_policy", Optional: true, Shape: codec.Table(
				codec.Field{Name: "primary", Shape: codec.List(codec.Text(), 0), Optional: true},
				codec.Field{Name: "secondary", Shape: codec.List(codec.Text(), 0), Optional: true},
				codec.Field{Name: "forbidden", Shape: codec.List(codec.Text(), 0), Optional: true},
			)},
			codec.Field{Name: "source_artifact", Shape: codec.NotBlank(), Optional: true, About: "run-root-relative path of the output; default wave-1/<id>.md"},
		), 0)},
	)
}

// Unassigned is the run_id of a document that belongs to no run yet.
const Unassigned = "unassigned"

// Draft is a document to start from: three perspectives on a question, one of each
// track, with a contract that the checks have nothing to say about.
func Draft(question, createdAt string) *codec.Value {
	one := func(id, track, title string) tidegate.Details {
		return tidegate.Pairs("id", id, "title", title, "track", track, "agent_type", "researcher", "prompt_contract", tidegate.Pairs(
			"max_words", 800, "max_sources", 10, "tool_budget", tidegate.Pairs("search_calls", 20, "fetch_calls", 40),
			"must_include_sections", []string{"Findings", "Gaps", "Sources"}))
	}
	return codec.Of(tidegate.Pairs("schema_version", PerspectivesVersion, "run_id", Unassigned, "created_at", createdAt, "perspectives", []tidegate.Details{
		one("overview", "standard", "What is known about it: "+question),
		one("evidence", "independent", "What primary sources say about it: "+question),
		one("doubts", "contrarian", "What speaks against the usual answer: "+question),
	}))
}
