// Package corpus runs the committed calls of every tool, for the tests that
// compare their results byte for byte.
//
// A file of the corpus is a txtar archive: input files, then calls in order, each a
// section "call NAME" with the arguments and a section "want" with the envelope.
// $WORK stands for the folder of the files. Where results contain digests of
// absolute paths, the comment says "digests masked".
package corpus

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// Now is the time at which all calls happen.
var Now = time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)

// Script is one file of the corpus.
type Script struct {
	Name    string
	path    string
	archive *txtar.Archive
	masked  bool
}

// Call makes one call and returns its envelope without the final newline.
type Call func(tool string, args []byte) []byte

// Load reads all scripts in a folder. It is an error if there is none: a corpus
// that went missing must not pass.
func Load(dir string) ([]Script, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no script in %s", dir)
	}
	var scripts []Script
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, Script{
			Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path, archive: archive,
			masked: bytes.Contains(archive.Comment, []byte("digests masked")),
		})
	}
	return scripts, nil
}

// Outcome is one call of a script, with its result.
type Outcome struct {
	Tool      string
	Raw       string // the envelope as it came
	Got, Want string // with $WORK and, in a masked script, without digests
	section   int
}

// Fails reports whether a call fails that did not before: what was wanted of it was a result,
// or nothing yet.
func (o Outcome) Fails() bool {
	const failed = "{\n  \"ok\": false"
	return strings.HasPrefix(o.Got, failed) && !strings.HasPrefix(o.Want, failed)
}

var digest = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// Run lays out the files in work, which must not exist or be empty, and makes
// the calls.
func (s Script) Run(work string, call Call) ([]Outcome, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	var outcomes []Outcome
	for i, section := range s.archive.Files {
		name, isCall := strings.CutPrefix(section.Name, "call ")
		switch {
		case isCall:
			if i+1 == len(s.archive.Files) || s.archive.Files[i+1].Name != "want" {
				return nil, fmt.Errorf("%s: call %s has no want after it", s.Name, name)
			}
			args := strings.ReplaceAll(strings.TrimSuffix(string(section.Data), "\n"), "$WORK", work)
			raw := string(call(name, []byte(args)))
			got := strings.ReplaceAll(raw, work, "$WORK") + "\n"
			if s.masked {
				got = digest.ReplaceAllString(got, "sha256:*")
			}
			outcomes = append(outcomes, Outcome{Tool: name, Raw: raw, Got: got, Want: string(s.archive.Files[i+1].Data), section: i + 1})
		case section.Name != "want":
			path := filepath.Join(work, filepath.FromSlash(section.Name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(path, bytes.ReplaceAll(section.Data, []byte("$WORK"), []byte(work)), 0o644); err != nil {
				return nil, err
			}
		}
	}
	if len(outcomes) == 0 {
		return nil, fmt.Errorf("%s has no call", s.Name)
	}
	return outcomes, nil
}

// Update writes the results as what is wanted.
func (s Script) Update(outcomes []Outcome) error {
	for _, o := range outcomes {
		s.archive.Files[o.section].Data = []byte(o.Got)
	}
	return os.WriteFile(s.path, txtar.Format(s.archive), 0o644)
}
