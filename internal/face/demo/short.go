package demo

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
)

// WholeFile has, in the folder of a story of which a terminal is shown a part, all of it.
const WholeFile = "demo.txt"

// shownLines is how many lines a terminal is shown from the beginning of what a command
// prints, and how many from its end, where it prints more than wholeLines.
const shownLines, wholeLines = 8, 40

// shortened shows the beginning and the end of what is written to it.
type shortened struct {
	out, whole io.Writer
	begun      []byte   // of a line that has not ended
	shown      int      // lines of the beginning
	last       [][]byte // lines that may be those of the end
	left       int      // lines between
}

var colors = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })

func (s *shortened) Write(data []byte) (int, error) {
	s.begun = append(s.begun, data...)
	for {
		n := bytes.IndexByte(s.begun, '\n') + 1
		if n == 0 {
			return len(data), nil
		}
		line := bytes.Clone(s.begun[:n])
		s.begun = s.begun[n:]
		if _, err := s.whole.Write(colors().ReplaceAll(line, nil)); err != nil {
			return 0, err
		}
		if s.shown < shownLines {
			s.shown++
			if _, err := s.out.Write(line); err != nil {
				return 0, err
			}
			continue
		}
		if s.last = append(s.last, line); len(s.last) > wholeLines-shownLines {
			s.last = s.last[1:]
			s.left++
		}
	}
}

// end shows the end.
func (s *shortened) end() {
	if s.left > 0 {
		s.left += len(s.last) - shownLines
		s.last = s.last[len(s.last)-shownLines:]
		fmt.Fprintf(s.out, "… %d lines that %s has …\n", s.left, WholeFile)
	}
	for _, line := range append(s.last, s.begun) {
		_, _ = s.out.Write(line) // where the output is gone, there is nobody to tell
	}
}
