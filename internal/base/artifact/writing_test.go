package artifact_test

import (
	"testing"
)

// TestAFolderIsBeingWritten: a folder is being written while the record of a transaction stands,
// and not before and after.
func TestAFolderIsBeingWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir)
	if f.Writing() {
		t.Error("a new folder is being written")
	}
	put(t, dir, map[string]string{".tidegate-tx/record": "{}"})
	if !f.Writing() {
		t.Error("a folder with the record of a transaction is not being written")
	}
}
