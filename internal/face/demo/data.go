package demo

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

//go:embed data further
var samples embed.FS

// unpack makes a folder and writes the sample data into it. It returns INVALID_ARGS
// when the folder already holds something, and WRITE_FAILED.
func unpack(folder string) error {
	if entries, err := os.ReadDir(folder); err == nil && len(entries) > 0 {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("folder", folder), "the folder %s is not empty; the demo needs one of its own", folder)
	}
	return unpackTo(folder, "data")
}

// unpackTo makes a folder and writes a part of the sample data into it.
func unpackTo(folder, root string) error {
	part, err := fs.Sub(samples, root)
	if err != nil {
		return err
	}
	return fs.WalkDir(part, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(folder, filepath.FromSlash(name))
		if entry.IsDir() {
			err = os.MkdirAll(target, 0o700)
		} else {
			var data []byte
			if data, err = fs.ReadFile(part, name); err == nil {
				err = os.WriteFile(target, data, 0o600)
			}
		}
		if err != nil {
			return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("folder", folder), "the sample data cannot be written: %w", err)
		}
		return nil
	})
}

// UnpackAgents writes the recorded answers into a temporary folder, which remove
// removes. It returns WRITE_FAILED.
func UnpackAgents() (folder string, remove func(), err error) { return unpackApart("data/agents") }

// UnpackFurther is UnpackAgents for the answers to [Further].
func UnpackFurther() (folder string, remove func(), err error) { return unpackApart("further") }

func unpackApart(root string) (folder string, remove func(), err error) {
	folder, remove, err = artifact.Scratch("tidegate-recorded-")
	if err != nil {
		return "", nil, err
	}
	if err := unpackTo(folder, root); err != nil {
		remove()
		return "", nil, err
	}
	return folder, remove, nil
}
