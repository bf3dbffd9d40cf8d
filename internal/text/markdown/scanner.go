package markdown

import "io"

// Heading is an ATX heading at the top level of the document. Its section runs
// to the next Heading of any level, or to the end.
type Heading struct {
	Level int // 1 to 6
	Line  int // 1-based
	// Text is the raw text after the marks, without the closing marks, trimmed
	// of Unicode white space. It is valid during the call only. The text of a
	// line longer than [MaxLine] is its first part, closing marks and trailing
	// white space included, so that it cannot pass for a shorter title.
	Text []byte
}

// Line is a line of a section, or a piece of one. A line of up to [MaxLine]
// bytes comes whole, with First and Last both true. A longer line comes in
// pieces of any size, the first of them of MaxLine bytes.
type Line struct {
	Number int    // 1-based
	Text   []byte // without the line end; valid during the call only
	In     Place
	First  bool
	Last   bool
}

// Place says whether a line belongs to a block whose content is not Markdown,
// at any depth of containers. The lines that open and close such a block belong
// to it, except that a line that begins a list item is InText, whatever the
// item holds.
type Place uint8

const (
	InText    Place = iota
	InFence         // fenced code
	InComment       // an HTML block that is a comment
	InHTML          // an HTML block of any other kind
)

// Events are the functions that [Scanner.Scan] calls in document order. A nil
// function costs nothing.
type Events struct {
	// Heading says whether the lines of the section are wanted.
	Heading func(Heading) bool
	// Line is called for the lines of wanted sections, heading lines excepted.
	Line func(Line)
	// Passage is called for every list item and paragraph.
	Passage func(Passage)
}

// Scanner finds the facts of one document after the other. The zero value is
// ready. It keeps its buffers from one document to the next, and must not be
// used by two goroutines at once.
type Scanner struct {
	on     Events
	in     input
	words  wordCounter
	blocks blocks
	number int  // of the current line
	wanted bool // the lines of the current section are reported
}

// Scan reads r to its end, reports what on asks for, and returns the number of
// words: the tokens between Unicode white space, markup included. Bytes that are
// not UTF-8 are not white space, and a byte-order mark at the start is not text.
// The only errors are those of r, returned as they are.
func (s *Scanner) Scan(r io.Reader, on Events) (words int, err error) {
	s.on, s.number, s.wanted = on, 0, false
	s.in.reset(r)
	s.words.reset()
	s.blocks.reset(on.Passage)
	err = s.scan()
	s.on = Events{}
	s.in.release()
	s.blocks.reset(nil)
	if err != nil {
		return 0, err
	}
	return s.words.total(), nil
}

func (s *Scanner) scan() error {
	if err := s.in.start(); err != nil {
		return err
	}
	for {
		s.words.write(s.in.fresh)
		for {
			line, cut, ok := s.in.line()
			if !ok {
				break
			}
			if err := s.line(line, cut); err != nil {
				return err
			}
		}
		if s.in.eof {
			s.blocks.end()
			return nil
		}
		if err := s.in.fill(); err != nil {
			return err
		}
	}
}

// line takes the next line. Of one that is cut it reads the rest.
func (s *Scanner) line(line []byte, cut bool) error {
	s.number++
	place, level := s.blocks.line(line, cut, s.number)
	report := s.wanted
	if level > 0 {
		report = false
		s.wanted = s.on.Heading != nil &&
			s.on.Heading(Heading{Level: level, Line: s.number, Text: s.blocks.title}) &&
			s.on.Line != nil
	}
	if report {
		s.on.Line(Line{Number: s.number, Text: line, In: place, First: true, Last: !cut})
	}
	for last := !cut; !last; {
		var piece []byte
		piece, last = s.in.piece()
		s.blocks.more(piece, last)
		if report {
			s.on.Line(Line{Number: s.number, Text: piece, In: place, Last: last})
		}
		if !last {
			if err := s.in.fill(); err != nil {
				return err
			}
			s.words.write(s.in.fresh)
		}
	}
	return nil
}
