package codec

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// LinesOf finds the lines, counted from 1, on which the values of some paths begin
// in a document, such as $.perspectives[2].title. A path that leads to nothing has
// the line of the last value on its way. The document must be JSON.
func LinesOf(data []byte, paths []string) []int {
	if len(paths) == 0 {
		return nil
	}
	root := &place{}
	ends := make([]*place, len(paths))
	for i, path := range paths {
		ends[i] = root.to(path)
	}
	data = bytes.TrimPrefix(data, bom)
	f := &finder{data: data, dec: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true))}
	f.walk(root)
	lines := make([]int, len(paths))
	for i, end := range ends {
		for end.line == 0 && end.parent != nil {
			end = end.parent
		}
		lines[i] = max(end.line, 1)
	}
	return lines
}

// place is a value that somebody looks for, or that leads to one.
type place struct {
	parent   *place
	children map[string]*place // by key, or by index in brackets
	line     int               // 0 until it is found
}

// to is the place of a path, made where it is not there yet.
func (p *place) to(path string) *place {
	path = strings.TrimPrefix(path, "$")
	for path != "" {
		step := path
		if end := strings.IndexAny(path[1:], ".["); end >= 0 {
			step = path[:end+1]
		}
		path = path[len(step):]
		name := strings.TrimPrefix(step, ".")
		if p.children == nil {
			p.children = map[string]*place{}
		}
		if p.children[name] == nil {
			p.children[name] = &place{parent: p}
		}
		p = p.children[name]
	}
	return p
}

// finder walks a document, and only into what leads somewhere.
type finder struct {
	data []byte
	dec  *jsontext.Decoder
	from int64 // up to where lines are counted
	line int   // how many end before that
}

// walk notes where the next value begins and looks for what is asked for in it. It
// returns false at the end of what can be read.
func (f *finder) walk(p *place) bool {
	if p == nil {
		return f.dec.SkipValue() == nil
	}
	p.line = f.next()
	kind := f.dec.PeekKind()
	if len(p.children) == 0 || kind != '{' && kind != '[' {
		return f.dec.SkipValue() == nil
	}
	if _, err := f.dec.ReadToken(); err != nil {
		return false
	}
	for i := 0; f.dec.PeekKind() != '}' && f.dec.PeekKind() != ']'; i++ {
		name := "[" + strconv.Itoa(i) + "]"
		if kind == '{' {
			key, err := f.dec.ReadToken()
			if err != nil {
				return false
			}
			name = key.String()
		}
		if !f.walk(p.children[name]) {
			return false
		}
	}
	_, err := f.dec.ReadToken()
	return err == nil
}

// next is the line on which the next value begins.
func (f *finder) next() int {
	at := f.dec.InputOffset()
	at += int64(len(f.data[at:]) - len(bytes.TrimLeft(f.data[at:], " \t\r\n,:")))
	f.line += bytes.Count(f.data[f.from:at], []byte("\n"))
	f.from = at
	return f.line + 1
}
