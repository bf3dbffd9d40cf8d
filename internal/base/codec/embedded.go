package codec

import "strings"

// Embedded lists the JSON documents that stand in a text of which they are only a
// part: what is fenced or, where nothing is, the objects that no other object or
// list holds. An object without an end hides all others, which may be its parts.
// A text that is JSON as a whole has none.
func Embedded(text string) []string {
	if _, err := Parse([]byte(text)); err == nil {
		return nil
	}
	if fenced := fencedObjects(text); len(fenced) > 0 {
		return fenced
	}
	var objects []string
	for at := 0; at < len(text); at++ {
		if !beginsDocument(text[at:]) {
			continue
		}
		n := balanced(text[at:])
		if n == 0 {
			return nil
		}
		if text[at] == '{' {
			objects = append(objects, text[at:at+n])
		}
		at += n - 1
	}
	return objects
}

// beginsDocument tells an object, or a list of objects, from a bracket in prose.
func beginsDocument(text string) bool {
	first := text[0]
	if first != '{' && first != '[' {
		return false
	}
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	if rest == "" {
		return false
	}
	return first == '{' && (rest[0] == '"' || rest[0] == '}') || first == '[' && rest[0] == '{'
}

// balanced is the length of the object or list that text begins with, 0 when it has
// no end.
func balanced(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// fencedObjects are the contents of the fences that hold an object.
func fencedObjects(text string) []string {
	var found, inside []string
	open := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case open == "" && len(mark) >= 3:
			open, inside = mark, nil
		case open != "" && trimmed == mark && len(mark) >= len(open):
			if content := strings.TrimSpace(strings.Join(inside, "")); strings.HasPrefix(content, "{") {
				found = append(found, content+"\n")
			}
			open = ""
		default:
			inside = append(inside, line)
		}
	}
	return found
}
