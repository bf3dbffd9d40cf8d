package wave

import (
	"context"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/perspective"
)

// Validation is the result of [Validate] for an output that meets its contract.
type Validation struct {
	OK              codec.True `json:"ok"`
	PerspectiveID   string     `json:"perspective_id" jsonschema:"echo of the argument"`
	MarkdownPath    string     `json:"markdown_path" jsonschema:"echo of the argument"`
	Words           int        `json:"words" jsonschema:"tokens between white space, markup included"`
	Sources         int        `json:"sources" jsonschema:"lines of the Sources section; 0 when the contract does not require one"`
	MissingSections []string   `json:"missing_sections" jsonschema:"required titles without a heading; empty in a success"`

	contract perspective.Contract
}

// ValidateInput are the arguments of [Validate].
type ValidateInput struct {
	PerspectivesPath string `json:"perspectives_path" path:"absolute" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	PerspectiveID    string `json:"perspective_id" jsonschema:"the perspective whose contract applies"`
	MarkdownPath     string `json:"markdown_path" path:"absolute" jsonschema:"absolute path of the output, a markdown file"`
}

// Validate judges one output by the contract of one perspective. What does not
// meet the contract is an error of class [tidegate.NotMet]; beyond these it
// returns NOT_FOUND, READ_FAILED, INVALID_JSON, SCHEMA_VALIDATION_FAILED,
// PERSPECTIVE_NOT_FOUND and CANCELLED.
func Validate(ctx context.Context, in ValidateInput) (Validation, error) {
	perspectivesPath, perspectiveID, markdownPath := in.PerspectivesPath, in.PerspectiveID, in.MarkdownPath
	doc, err := perspective.Read(ctx, "perspectives_path", perspectivesPath, perspective.Contracts)
	if err != nil {
		return Validation{}, err
	}
	p, ok := doc.Find(perspectiveID)
	if !ok {
		return Validation{}, perspectiveNotFound(doc, perspectiveID, perspectivesPath)
	}
	file, err := artifact.OpenFile(ctx, "markdown_path", markdownPath)
	if err != nil {
		return Validation{}, err
	}
	defer file.Close()
	verdict, err := new(Judge).Judge(ctx, p.Contract, file)
	if err != nil {
		return Validation{}, Unreadable(ctx, tidegate.D("markdown_path", markdownPath), markdownPath, err)
	}
	if failure := verdict.Failure(); failure != nil {
		return Validation{}, failure
	}
	return Validation{
		PerspectiveID: perspectiveID, MarkdownPath: markdownPath, Words: verdict.Words, Sources: verdict.Sources, contract: p.Contract,
	}, nil
}

// perspectiveNotFound names the ids that there are, where they are few enough to
// look through.
func perspectiveNotFound(doc *perspective.Document, id, path string) error {
	const few = 10
	listed := ""
	if n := len(doc.Perspectives); n > 0 && n <= few {
		ids := make([]string, n)
		for i, p := range doc.Perspectives {
			ids[i] = p.ID
		}
		listed = "; it lists " + strings.Join(ids, ", ")
	}
	return tidegate.Errorf(tidegate.PerspectiveNotFound, tidegate.D("perspective_id", id), "%s lists no perspective %q%s", path, tidegate.Cut(id), listed)
}

// Unreadable is the error of a file that was opened but not read to its end.
func Unreadable(ctx context.Context, details tidegate.Details, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return tidegate.Errorf(tidegate.ReadFailed, details, "%s cannot be read to its end: %w", path, err)
}
