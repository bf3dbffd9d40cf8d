package tool

import "strings"

// Text is what is said about a tool, a command or a word, in a file beside its declaration.
type Text struct{ Summary, Short, Long, Example string }

// Texts are the chapters of files, by their names. A chapter is one thing:
//
//	# deep_research_wave_review
//
//	The summary, for models. The first sentence says when to use it.
//
//	## What the command does, one line for lists of commands
//
//	What the command is for, for people.
//
//	    tidegate wave review an example
//
// What has no summary begins with its second heading; a tool without a command ends with its
// summary.
func Texts(files ...string) map[string]Text {
	found := map[string]Text{}
	for _, file := range files {
		for chapter := range strings.SplitSeq(strings.TrimPrefix(file, "# "), "\n# ") {
			if name, body, ok := strings.Cut(chapter, "\n"); ok {
				found[name] = readText(body)
			}
		}
	}
	return found
}

func readText(body string) Text {
	summary, command, _ := strings.Cut(body, "\n## ")
	short, command, _ := strings.Cut(command, "\n")
	long, example, _ := strings.Cut(command, "\n    ")
	return Text{
		Summary: strings.ReplaceAll(strings.TrimSpace(summary), "\n", " "),
		Short:   short,
		Long:    strings.TrimSpace(long),
		Example: strings.ReplaceAll(strings.TrimSpace(example), "\n    ", "\n"),
	}
}
