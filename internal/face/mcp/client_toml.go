package mcp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// table is the TOML table of a server.
func table(section string, s Entry) string {
	args := make([]string, len(s.Args))
	for i, arg := range s.Args {
		args[i] = tomlString(arg)
	}
	return fmt.Sprintf("[%s.%s]\ncommand = %s\nargs = [%s]\n", section, s.Name, tomlString(s.Command), strings.Join(args, ", "))
}

// tomlString is a basic string: the escapes of JSON are among those of TOML.
func tomlString(s string) string {
	return strings.ReplaceAll(string(compact(s)), "\x7f", `\u007f`)
}

// mergeTOML appends the table of the server when nothing in the text defines it.
func mergeTOML(existing []byte, section string, s Entry) ([]byte, bool, error) {
	text := string(existing)
	all, err := statements(text)
	if err != nil {
		return nil, false, err
	}
	var current []string
	for i, each := range all {
		path := append(slices.Clone(current), each.key...)
		if each.header {
			path, current = each.key, each.key
		}
		if path[0] != section {
			continue
		}
		switch {
		case each.array, !each.header && len(current) == 0:
			return nil, false, fmt.Errorf("%s is not written as tables, so none can be added", section)
		case len(path) < 2 || path[1] != s.Name:
		case each.header && len(path) == 2 && sameTable(text, all[i:], table(section, s)):
			return existing, false, nil
		default:
			return nil, false, fmt.Errorf("%s has another entry %q already", section, s.Name)
		}
	}
	block := "\n" + table(section, s)
	if !strings.HasSuffix(text, "\n") {
		block = "\n" + block
	}
	if strings.Contains(text, "\r\n") {
		block = strings.ReplaceAll(block, "\n", "\r\n")
	}
	return append(slices.Clone(existing), block...), true, nil
}

// sameTable reports whether the table that begins with the first statement is want,
// up to the statement that begins another table.
func sameTable(text string, from []statement, want string) bool {
	end := len(text)
	if next := slices.IndexFunc(from[1:], func(s statement) bool { return s.header }); next >= 0 {
		end = from[1+next].offset
	}
	got := strings.ReplaceAll(text[from[0].offset:end], "\r\n", "\n")
	return strings.TrimSpace(got) == strings.TrimSpace(want)
}

// statement is a table header, or a key with its value.
type statement struct {
	offset int
	header bool
	array  bool // [[…]]
	key    []string
}

var errTOML = errors.New("the file is not TOML that can be understood")

// statements lists what a TOML text consists of. It reads keys exactly and
// values only as far as is needed to find their ends.
func statements(text string) ([]statement, error) {
	var list []statement
	r := &tomlReader{text: text}
	for {
		r.skip(" \t\r\n")
		if r.comment() {
			continue
		}
		if r.at == len(text) {
			return list, nil
		}
		s := statement{offset: r.at}
		if s.header = r.take("["); s.header {
			s.array = r.take("[")
		}
		key, ok := r.key()
		switch {
		case !ok:
			return nil, errTOML
		case s.array:
			ok = r.take("]]")
		case s.header:
			ok = r.take("]")
		default:
			ok = r.take("=") && r.value()
		}
		if s.key = key; !ok || !r.lineEnd() {
			return nil, errTOML
		}
		list = append(list, s)
	}
}

type tomlReader struct {
	text string
	at   int
}

func (r *tomlReader) skip(set string) {
	for r.at < len(r.text) && strings.IndexByte(set, r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *tomlReader) take(prefix string) bool {
	if !strings.HasPrefix(r.text[r.at:], prefix) {
		return false
	}
	r.at += len(prefix)
	return true
}

// comment skips a comment up to the end of its line.
func (r *tomlReader) comment() bool {
	if !r.take("#") {
		return false
	}
	for r.at < len(r.text) && r.text[r.at] != '\n' {
		r.at++
	}
	return true
}

func (r *tomlReader) lineEnd() bool {
	r.skip(" \t\r")
	r.comment()
	return r.at == len(r.text) || r.text[r.at] == '\n'
}

// key reads a dotted key and the blanks around it.
func (r *tomlReader) key() ([]string, bool) {
	var parts []string
	for {
		r.skip(" \t")
		start := r.at
		switch {
		case r.at < len(r.text) && (r.text[r.at] == '"' || r.text[r.at] == '\''):
			if !r.str() || strings.ContainsAny(r.text[start:r.at], "\\\n") { // an escape could spell any name
				return nil, false
			}
			parts = append(parts, r.text[start+1:r.at-1])
		default:
			r.skip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
			if r.at == start {
				return nil, false
			}
			parts = append(parts, r.text[start:r.at])
		}
		r.skip(" \t")
		if !r.take(".") {
			return parts, true
		}
	}
}

// str reads a string of any of the four kinds.
func (r *tomlReader) str() bool {
	quote := r.text[r.at : r.at+1]
	long := strings.Repeat(quote, 3)
	if !r.take(long) {
		long = ""
		r.at++
	}
	for r.at < len(r.text) {
		switch {
		case quote == `"` && r.text[r.at] == '\\':
			r.at += 2
		case long != "" && r.take(long):
			for r.take(quote) { // up to two more belong to the content
			}
			return true
		case long == "" && r.take(quote):
			return true
		case long == "" && r.text[r.at] == '\n':
			return false
		default:
			r.at++
		}
	}
	return false
}

// value reads up to the end of a value: arrays and inline tables may span lines and
// have comments.
func (r *tomlReader) value() bool {
	depth := 0
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"' || c == '\'':
			if !r.str() {
				return false
			}
		case c == '#' || c == '\n':
			if depth == 0 {
				return true
			}
			if !r.comment() {
				r.at++
			}
		case c == '[' || c == '{':
			depth++
			r.at++
		case c == ']' || c == '}':
			if depth--; depth < 0 {
				return false
			}
			r.at++
		default:
			r.at++
		}
	}
	return depth == 0
}
