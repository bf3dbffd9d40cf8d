package demo

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

// rules/<kind>/<ID>.txtar holds one violation of a rule and its fix. The
// text before the first section is a header of "key: value" lines:
//
//	meaning, fix   what the rule says and how to meet it; for a code, code.go says that
//	why            why the rule exists
//	base           an archive of rules/base whose sections come first
//	unplanted      why the violation cannot be planted; the examples are then only texts
//
// A section is one step, in order: "file NAME", "link NAME" (the data is the
// target), "folder NAME", "remove NAME", "append NAME", "tear NAME" (append
// without the line end), "replace NAME" (the first line becomes the second),
// "call TOOL" (must succeed), "judge TOOL" (the call that must find the
// violation). "failing" or "fixed" before it confines a step to that variant.
// "answer" is what the judging call says about the failing variant, and "failing
// text" and "fixed text" are examples that are only shown. $DIR is the folder in
// which the archive is played.
//
// <ID>~<name>.txtar is a further violation of the same rule.
//
//go:embed rules
var archives embed.FS

type archive struct {
	header   map[string]string
	sections []section
}

type section struct {
	variant string // "" for both
	verb    string
	name    string
	data    string
}

var verbs = []string{"file", "link", "folder", "remove", "append", "tear", "replace", "call", "judge", "answer", "text"}

const failing, fixed = "failing", "fixed"

func readArchive(name string) (archive, error) {
	data, err := archives.ReadFile(path.Join("rules", name))
	if err != nil {
		return archive{}, err
	}
	parsed := parseArchive(string(data))
	if err := parsed.check(); err != nil {
		return archive{}, fmt.Errorf("rules/%s: %w", name, err)
	}
	if base := parsed.header["base"]; base != "" {
		below, err := readArchive("base/" + base + ".txtar")
		if err != nil {
			return archive{}, err
		}
		parsed.sections = append(below.sections, parsed.sections...)
	}
	return parsed, nil
}

// check returns an error for a section that is no step: it would be played by nobody.
func (a archive) check() error {
	for _, s := range a.sections {
		if !slices.Contains(verbs, s.verb) {
			return fmt.Errorf("no section is called %q; expected one of %s", s.verb, strings.Join(verbs, ", "))
		}
	}
	return nil
}

func parseArchive(text string) archive {
	a := archive{header: map[string]string{}}
	var key string
	for line := range strings.Lines(text) {
		title, isTitle := sectionTitle(line)
		switch {
		case isTitle:
			a.sections = append(a.sections, newSection(title))
		case len(a.sections) > 0:
			a.sections[len(a.sections)-1].data += line
		case strings.HasPrefix(line, "  ") && key != "":
			a.header[key] += " " + strings.TrimSpace(line)
		default:
			var value string
			if key, value, isTitle = strings.Cut(strings.TrimSpace(line), ": "); isTitle {
				a.header[key] = value
			}
		}
	}
	return a
}

func sectionTitle(line string) (string, bool) {
	inner, opens := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
	inner, closes := strings.CutSuffix(inner, " --")
	return inner, opens && closes
}

func newSection(title string) section {
	s := section{}
	for _, variant := range []string{failing, fixed} {
		if rest, ok := strings.CutPrefix(title, variant+" "); ok {
			s.variant, title = variant, rest
		}
	}
	s.verb, s.name, _ = strings.Cut(title, " ")
	return s
}

// text is the data of the section with that title, "" when there is none.
func (a archive) text(variant, verb string) string {
	for _, s := range a.sections {
		if s.variant == variant && s.verb == verb {
			return s.data
		}
	}
	return ""
}
