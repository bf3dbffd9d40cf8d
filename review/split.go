package review

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Part is as much of a diff as one prompt holds.
type Part struct {
	Text  string
	Files []string // whose changes it shows, wholly or in part
}

// Split is the diff of files as text, in parts of at most limit bytes: files stay
// together where they fit, otherwise their hunks, otherwise the lines of one.
// Every line stands in exactly one part. A line that does not fit by itself is a
// part of its own. With functions, a change is shown with all of the function around it.
func Split(files []File, limit int, functions bool) []Part {
	s := splitter{limit: limit, functions: functions}
	for _, f := range files {
		s.file(f)
	}
	s.flush()
	return s.parts
}

// splitter fills one part after the other.
type splitter struct {
	limit     int
	functions bool
	parts     []Part
	text      strings.Builder
	files     []string
}

func (s *splitter) flush() {
	if s.text.Len() > 0 {
		s.parts = append(s.parts, Part{s.text.String(), s.files})
		s.text.Reset()
		s.files = nil
	}
}

func (s *splitter) fits(n int) bool { return s.text.Len()+n <= s.limit }

func (s *splitter) file(f File) {
	var hunks []string
	size := len(f.heading())
	after := splitLines(f.After)
	for _, hunk := range f.hunks(s.functions) {
		hunks = append(hunks, hunkText(hunk, after))
		size += len(hunks[len(hunks)-1])
	}
	if !s.fits(size) {
		s.flush()
	}
	s.open(f)
	for _, hunk := range hunks {
		if !s.fits(len(hunk)) && len(f.heading())+len(hunk) <= s.limit {
			s.open(f)
		}
		if s.fits(len(hunk)) {
			s.text.WriteString(hunk)
			continue
		}
		for line := range strings.Lines(hunk) {
			if !s.fits(len(line)) {
				s.open(f)
			}
			s.text.WriteString(line)
		}
	}
}

// open begins the lines of a file, in a new part where the current one already
// shows lines of the file.
func (s *splitter) open(f File) {
	if n := len(s.files); n > 0 && s.files[n-1] == f.Name {
		s.flush()
	}
	s.text.WriteString(f.heading())
	s.files = append(s.files, f.Name)
}

// hunkText is a hunk below the name of the function that it begins in.
func hunkText(hunk Hunk, after []string) string {
	var b strings.Builder
	name := ""
	if at := slices.IndexFunc(hunk, func(l Line) bool { return l.Number > 0 }); at >= 0 {
		name = " " + cutBytes(markdown.Show(function(after, hunk[at].Number)))
	}
	b.WriteString(strings.TrimRight("@@"+name, " ") + "\n")
	for _, line := range hunk {
		line.write(&b)
	}
	return b.String()
}
