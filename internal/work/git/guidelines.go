package git

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/review"
)

// guidelineNames are where projects say how they want their code, at the root of the
// repository or in the folder of the project.
var guidelineNames = []string{"AGENTS.md", "CLAUDE.md", "REVIEW.md", ".github/copilot-instructions.md", ".github/REVIEW.md"}

// nestedNames are those of guidelines that a folder may have for what is in it.
var nestedNames = []string{"AGENTS.md", "CLAUDE.md", "REVIEW.md"}

// IsGuideline reports whether a file has one of the usual names of guidelines.
func (d *Diff) IsGuideline(name string) bool {
	return slices.Contains(nestedNames, path.Base(name)) || slices.Contains(guidelineNames, name) || d.prefix != "" &&
		slices.Contains(guidelineNames, strings.TrimPrefix(name, d.prefix))
}

// maxGuidelines is how many bytes of guidelines are shown.
const maxGuidelines = 64 << 10

// Guidelines are the texts of the base that say how the project wants its code: those
// that are named, as the repository names them, or else those under usual names, also in
// the folders of files that the change touches. A
// REVIEW.md that is a review is none. It returns INVALID_ARGS for a named one that the
// base does not have, and READ_FAILED.
func (d *Diff) Guidelines(ctx context.Context, named []string) ([]Document, error) {
	names := named
	if len(named) == 0 {
		for _, name := range guidelineNames {
			names = append(names, name)
			if d.prefix != "" {
				names = append(names, d.prefix+name)
			}
		}
		for _, f := range d.Files {
			for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
				for _, name := range nestedNames {
					if nested := dir + "/" + name; !slices.Contains(names, nested) {
						names = append(names, nested)
					}
				}
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool { o, there := d.earlier.files[name]; return !there || o.kind != "" })
	}
	for _, name := range names {
		if o, there := d.earlier.files[name]; !there || o.kind != "" {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("review.guidelines", tidegate.Cut(name)), "the base has no file %q, which [review] guidelines names", tidegate.Cut(name))
		}
	}
	texts, err := d.earlier.read(ctx, names)
	if err != nil {
		return nil, Unread(ctx, err)
	}
	var documents []Document
	room := maxGuidelines
	for _, name := range names {
		text := texts[name]
		if review.Read(text).Verdict != "" {
			continue
		}
		cut := ""
		if len(text) > room {
			text, cut = text[:room], "\n(cut)\n"
		}
		room -= len(text)
		documents = append(documents, Document{name, strings.ToValidUTF8(string(text), "\uFFFD") + cut})
	}
	return documents, nil
}

// Document is a text that says what a change is to do.
type Document struct {
	Name string // in the folder of the change
	Text string
}

// ShowDocuments are documents as a prompt quotes them.
func ShowDocuments(documents []Document) []string {
	var list []string
	for _, d := range documents {
		list = append(list, fmt.Sprintf("%s\n\n%s", d.Name, d.Text))
	}
	return list
}
