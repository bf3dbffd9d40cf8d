package wave

import (
	"io"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Validation is the result of [Validate] for an output that meets its contract.
type Validation struct {
	OK              codec.True `json:"ok"`
	PerspectiveID   string     `json:"perspective_id" jsonschema:"echo of the argument"`
	MarkdownPath    string     `json:"markdown_path" jsonschema:"echo of the argument"`
	Words           int        `json:"words" jsonschema:"tokens between white space, markup included"`
	Sources         int        `json:"sources" jsonschema:"lines of the Sources section; 0 when the contract does not require one"`
	MissingSections []string   `json:"missing_sections" jsonschema:"required titles without a heading; empty in a success"`

	contract Contract
}

// Validate judges one output, which messages call path. What does not meet the
// contract is an error of class [tidegate.NotMet]; beyond these it returns
// READ_FAILED, and what r returns with a code of its own.
func Validate(p Perspective, path string, r io.Reader) (Validation, error) {
	verdict, err := new(Judge).Judge(p.Contract, r)
	if err != nil {
		return Validation{}, Unreadable(tidegate.Pairs("markdown_path", path), path, err)
	}
	if failure := verdict.Failure(); failure != nil {
		return Validation{}, failure
	}
	return Validation{PerspectiveID: p.ID, MarkdownPath: path, Words: verdict.Words, Sources: verdict.Sources, contract: p.Contract}, nil
}

// Unreadable is READ_FAILED for an output that was opened and not read to its end,
// and an error that has a code as it is.
func Unreadable(details tidegate.Details, path string, err error) error {
	if tidegate.CodeOf(err) != tidegate.Internal {
		return err
	}
	return tidegate.Errorf(tidegate.ReadFailed, details, "%s cannot be read to its end: %w", path, err)
}
