package page

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Entry is a line of a list of words or phrases.
type Entry struct {
	Language string // in two letters; "*" for what belongs to none
	Text     string
}

// List reads a list that people edit, which is part of the program: one entry to a
// line, under a line that names the language, as [de] or [*]. A line that begins with
// # is a comment. Each language stands once, and has each entry once. A list with
// another line panics with the name and the number of the line.
func List(files fs.FS, name string) []Entry {
	list, err := readList(files, name)
	if err != nil {
		panic(err)
	}
	return list
}

func readList(files fs.FS, name string) ([]Entry, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	var list []Entry
	seen := map[Entry]bool{}
	language, number := "", 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		heading := strings.TrimSuffix(strings.TrimPrefix(line, "["), "]")
		e := Entry{language, line}
		switch {
		case line == "" || line[0] == '#':
			continue
		case line == "["+heading+"]":
			e = Entry{heading, ""}
			if heading != "*" && !slices.Contains([]int{2, 3}, len(heading)) {
				return nil, fmt.Errorf("%s:%d: %q is no language", name, number, heading)
			}
			language = heading
		case language == "":
			return nil, fmt.Errorf("%s:%d: %q stands under no language", name, number, line)
		default:
			list = append(list, e)
		}
		if seen[e] {
			return nil, fmt.Errorf("%s:%d: %q stands there twice", name, number, line)
		}
		seen[e] = true
	}
	return list, nil
}
