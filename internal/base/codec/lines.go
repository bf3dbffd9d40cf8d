package codec

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxLine is the length in bytes of the longest line that [EachLine] takes.
const MaxLine = 16 << 20

// LineMember is one member of the object on a line.
type LineMember struct {
	Kind Kind
	Text []byte // of a string; valid during the call only
}

// EachLine reads JSON lines: every line that is not blank holds one document,
// as strict as [Parse] demands. It calls each with the number of the line,
// counted from 1, and the top-level members with the given names, in the order of
// names. A member that is not there is Absent; so are all on a line without an
// object. Only the current line is in memory, and a line costs no allocation, so
// that a file of any length can be read.
//
// A line that is not JSON ends the reading with a *[SyntaxError] whose Line is the
// number of the line. Errors of r and of each are returned as they are.
func EachLine(r io.Reader, names []string, each func(number int, members []LineMember) error) error {
	l := lines{in: bufio.NewReaderSize(r, 64<<10), members: make([]LineMember, len(names))}
	l.dec = jsontext.NewDecoder(&l.buf)
	for _, name := range names {
		l.names = append(l.names, []byte(name))
	}
	return l.each(func(number int, text []byte) error {
		if err := l.parse(text); err != nil {
			return at(number, err)
		}
		return each(number, l.members)
	})
}

// EachDocument is [EachLine] for lines of which more is wanted than some strings: it
// hands over each document as a whole.
func EachDocument(r io.Reader, each func(number int, document *Value) error) error {
	l := lines{in: bufio.NewReaderSize(r, 64<<10)}
	return l.each(func(number int, text []byte) error {
		document, err := Parse(text)
		if err != nil {
			return at(number, err)
		}
		return each(number, document)
	})
}

// each visits the lines that are not blank.
func (l *lines) each(visit func(number int, text []byte) error) error {
	for number := 1; ; number++ {
		text, err := l.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return at(number, err)
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, bom)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err := visit(number, text); err != nil {
			return err
		}
	}
}

// at gives a syntax error the number of its line.
func at(number int, err error) error {
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		syntax.Line = number
	}
	return err
}

type lines struct {
	in      *bufio.Reader
	long    []byte // a line that does not fit into the reader's buffer
	buf     bytes.Buffer
	dec     *jsontext.Decoder
	names   [][]byte
	key     []byte
	text    []byte // the strings of the current line, one after the other
	members []LineMember
}

// next is the next line without its line end, valid until the next call.
func (l *lines) next() ([]byte, error) {
	text, err := l.nextRaw()
	return bytes.TrimSuffix(text, []byte("\n")), err
}

func (l *lines) nextRaw() ([]byte, error) {
	piece, err := l.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		if len(piece) > 0 && err == io.EOF {
			err = nil
		}
		return piece, err
	}
	l.long = l.long[:0]
	for {
		if len(l.long)+len(piece) > MaxLine {
			return nil, &SyntaxError{Column: MaxLine + 1, Reason: "the line is longer than 16 MiB"}
		}
		l.long = append(l.long, piece...)
		if err != bufio.ErrBufferFull {
			break
		}
		piece, err = l.in.ReadSlice('\n')
	}
	if err == io.EOF {
		err = nil
	}
	return l.long, err
}

func (l *lines) parse(text []byte) error {
	if err := l.document(text); err != nil {
		return syntaxError(text, l.dec.InputOffset(), err)
	}
	if rest := bytes.TrimLeft(text[l.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return syntaxErrorAt(text, len(text)-len(rest), "text after the end of the document")
	}
	return nil
}

// document reads the one document that begins text.
func (l *lines) document(text []byte) error {
	l.buf = *bytes.NewBuffer(text)
	l.dec.Reset(&l.buf)
	l.text = l.text[:0]
	clear(l.members)
	if l.dec.PeekKind() != jsontext.KindBeginObject {
		return l.dec.SkipValue()
	}
	if _, err := l.dec.ReadToken(); err != nil {
		return err
	}
	for l.dec.PeekKind() != jsontext.KindEndObject {
		name, err := l.dec.ReadValue()
		if err != nil {
			return err
		}
		if l.key, err = jsontext.AppendUnquote(l.key[:0], name); err != nil {
			return err
		}
		value, err := l.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := l.keep(value); err != nil {
			return err
		}
	}
	_, err := l.dec.ReadToken()
	return err
}

// keep notes the value of the member l.key when it is asked for.
func (l *lines) keep(value jsontext.Value) error {
	for i, name := range l.names {
		if !bytes.Equal(l.key, name) {
			continue
		}
		l.members[i] = LineMember{Kind: kindOfToken(value.Kind())}
		if l.members[i].Kind == String {
			start := len(l.text)
			var err error
			if l.text, err = jsontext.AppendUnquote(l.text, value); err != nil {
				return err
			}
			l.members[i].Text = l.text[start:]
		}
		return nil
	}
	return nil
}
