package demo

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Explain shows one rule: what it means, why it exists, how to meet it, and an
// example that fails and one that passes. Status is the exit status of a class of
// codes. Command is the command of a tool that only a person may use, which is shown
// in place of the tool; "" for other tools.
func Explain(r Rule, status func(tidegate.Class) int, command func(tool string) string) report.Report {
	out := report.Report{Name: "explain", Title: r.ID}
	where := report.Fields{{Name: "named in", Value: r.Kind.Where}}
	if x, ok := tidegate.Explain(tidegate.Code(r.ID)); ok {
		where = append(where, report.Field{Name: "class", Value: fmt.Sprintf("%s, exit status %d", x.Class, status(x.Class))})
	}
	out.Add(report.Paragraph(r.Meaning), where,
		report.Heading("Why"), report.Paragraph(r.Why),
		report.Heading("To fix it"), report.Paragraph(r.Fix))
	first := r.plants[0].archive
	bad, good := "An example that fails", "The same, fixed"
	if r.Kind.Folder == "pivot" {
		bad, good = "An example to which it applies", "One to which it does not"
	}
	out.Add(report.Heading(bad), report.Preformatted(first.example(failing, command)))
	if said := strings.TrimSpace(first.text("", "answer")); said != "" {
		out.Add(report.Heading("What tidegate says"), report.Preformatted(shown(said)))
	}
	out.Add(report.Heading(good), report.Preformatted(first.example(fixed, command)))
	planted := "`tidegate canary` plants this example and demands that it is caught."
	if why := first.header["unplanted"]; why != "" {
		planted = "`tidegate canary` does not plant it: " + why + "."
	}
	out.Add(report.Paragraph(planted))
	return out
}

// example is what a variant shows: its words, its files, then the call that
// judges. A call that is the same in both variants is shown in the failing one.
func (a archive) example(variant string, command func(tool string) string) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if words := a.text(variant, "text"); words != "" {
		add("%s", strings.TrimSpace(words))
	}
	for _, s := range a.sections {
		data := strings.TrimRight(shown(s.data), "\n")
		switch {
		case s.verb == "judge" && (s.variant == variant || s.variant == "" && variant == failing),
			s.verb == "call" && s.variant == variant:
			if typed := command(s.name); typed == "" {
				add("tidegate call %s\n%s", s.name, indented(data))
			} else if !strings.Contains(a.text(variant, "text"), "tidegate ") {
				add("%s", typed)
			}
		case s.variant != variant:
		case s.verb == "file":
			add("%s:\n%s", s.name, indented(data))
		case s.verb == "append" || s.verb == "tear":
			add("at the end of %s:\n%s", s.name, indented(data))
		case s.verb == "link":
			add("%s, a symbolic link to %s", s.name, data)
		case s.verb == "remove" && a.text(variant, "text") == "":
			add("%s is missing", s.name)
		case s.verb == "replace":
			_, after, _ := strings.Cut(data, "\n")
			add("in %s:\n%s", s.name, indented(strings.TrimSpace(after)))
		}
	}
	return strings.Join(parts, "\n\n")
}

// shown replaces the scratch folder by a path that a reader recognises.
func shown(text string) string { return strings.ReplaceAll(text, "$DIR", "/path/to") }

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// Overview lists all rules by kind.
func Overview(rules []Rule) report.Report {
	out := report.Report{Name: "explain", Title: "Codes and rules", Summary: "tidegate explain CODE shows one of them with examples"}
	for _, kind := range kinds {
		table := report.NewTable("Name", "Meaning")
		for _, r := range rules {
			if r.Kind == kind {
				table.Row(report.None, r.ID, r.Meaning)
			}
		}
		out.Add(report.Heading(kind.Title+" ("+kind.Where+")"), table)
	}
	return out
}
