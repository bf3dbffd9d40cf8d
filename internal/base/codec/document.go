package codec

import (
	"path/filepath"

	"github.com/tidegate/tidegate"
)

// ParseFile is [Parse] for the document of the file at path. It returns
// INVALID_JSON, whose details hold the path under arg.
func ParseFile(arg, path string, data []byte) (*Value, error) {
	doc, err := Parse(data)
	if err != nil {
		return nil, NotJSON(tidegate.Pairs(arg, path), path, err)
	}
	return doc, nil
}

// NotJSON is INVALID_JSON for the file at path; syntax says where and why it is
// not JSON. The message names the file without its folders: a long path before the
// position would push it out of the message.
func NotJSON(details tidegate.Details, path string, syntax error) error {
	return tidegate.Errorf(tidegate.InvalidJSON, details, "%s is not JSON: %w", filepath.Base(path), syntax)
}
