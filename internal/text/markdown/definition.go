package markdown

// definitions follows the text of a paragraph as it comes and reports whether all
// of it is link reference definitions. That changes block structure in one way: a
// paragraph of nothing else has no text that an underline could turn into a setext
// heading.
//
// A definition that fails after the line of its destination was complete leaves
// that line a definition and makes the rest text; one that fails earlier makes all
// of it text. Either way there is text from then on, so nothing has to be read
// twice.
type definitions struct {
	state   defState
	closer  byte // what ends the title
	parens  int  // open ones in the destination
	chars   int  // in the label
	filled  bool // the label has a character that is not white space
	escaped bool // the byte before was a backslash that may escape this one
}

type defState uint8

const (
	defText        defState = iota // there is text that is not a definition: final
	defStart                       // a label must come
	defLabel                       // inside the brackets
	defColon                       // a colon must come
	defDestination                 // a destination must come, on this line or the next
	defNextLine                    // likewise, and this is the next line
	defPointy                      // inside <…>
	defBare                        // inside a destination without brackets
	defAfterPointy                 // a blank or the end of the line must come
	defTitleHere                   // a title or the end of the line must come
	defTitleBelow                  // complete, but a title may come on this line
	defTitle                       // inside the title
	defAfterTitle                  // the end of the line must come
	defDone                        // complete: another label must come
)

const maxLabel = 999

// start begins a paragraph whose first byte is c.
func (d *definitions) start(c byte) {
	d.state = defText
	if c == '[' {
		d.state = defStart
	}
}

// stop declares the paragraph to be text.
func (d *definitions) stop() { d.state = defText }

// only reports whether the lines so far, at least one, are definitions and
// nothing else.
func (d *definitions) only() bool { return d.state == defTitleBelow || d.state == defDone }

// write takes a line, or a part of it, without the white space before it.
func (d *definitions) write(b []byte) {
	for i := 0; i < len(b) && d.state != defText; i++ {
		d.put(b[i])
	}
}

func (d *definitions) put(c byte) {
	escaped := d.escaped
	d.escaped = false
	switch d.state {
	case defStart, defDone:
		d.label(c)
	case defLabel:
		d.inLabel(c, escaped)
	case defColon:
		d.state = defText
		if c == ':' {
			d.state = defDestination
		}
	case defDestination, defNextLine:
		d.destination(c)
	case defPointy:
		d.inPointy(c, escaped)
	case defBare:
		d.inBare(c, escaped)
	case defAfterPointy:
		d.state = defText
		if isBlank(c) {
			d.state = defTitleHere
		}
	case defTitleHere:
		if !isBlank(c) {
			d.title(c)
		}
	case defTitleBelow:
		if c == '[' {
			d.label(c)
		} else {
			d.title(c)
		}
	case defTitle:
		d.inTitle(c, escaped)
	case defAfterTitle:
		if !isBlank(c) {
			d.state = defText
		}
	}
}

func (d *definitions) endLine() {
	escaped := d.escaped
	d.escaped = false
	switch d.state {
	case defLabel:
		d.inLabel('\n', escaped)
	case defDestination:
		d.state = defNextLine
	case defBare:
		d.state = defText
		if d.parens == 0 {
			d.state = defTitleBelow
		}
	case defAfterPointy, defTitleHere:
		d.state = defTitleBelow
	case defAfterTitle:
		d.state = defDone
	case defTitle, defTitleBelow, defDone:
	default:
		d.state = defText
	}
}

func (d *definitions) label(c byte) {
	d.state = defText
	if c == '[' {
		*d = definitions{state: defLabel}
	}
}

func (d *definitions) inLabel(c byte, escaped bool) {
	switch {
	case c == ']' && !escaped:
		d.state = defText
		if d.filled && d.chars <= maxLabel {
			d.state = defColon
		}
		return
	case c == '[' && !escaped:
		d.state = defText
		return
	case c == '\\' && !escaped:
		d.escaped = true
	}
	if c&0xC0 != 0x80 { // the first byte of a character
		d.chars++
	}
	d.filled = d.filled || c != ' ' && c != '\t' && c != '\n'
}

func (d *definitions) destination(c byte) {
	switch {
	case isBlank(c):
	case c == '<':
		d.state = defPointy
	default:
		d.state, d.parens = defBare, 0
		d.inBare(c, false)
	}
}

func (d *definitions) inPointy(c byte, escaped bool) {
	switch {
	case escaped:
	case c == '\\':
		d.escaped = true
	case c == '>':
		d.state = defAfterPointy
	case c == '<':
		d.state = defText
	}
}

func (d *definitions) inBare(c byte, escaped bool) {
	switch {
	case isBlank(c):
		d.state = defText
		if d.parens == 0 {
			d.state = defTitleHere
		}
	case c < ' ' && c != 0 || c == 0x7F: // NUL stands for U+FFFD, which is not a control character
		d.state = defText
	case escaped: // also where the backslash escapes nothing, as then c means nothing
	case c == '\\':
		d.escaped = true
	case c == '(':
		d.parens++
	case c == ')':
		d.parens--
		if d.parens < 0 {
			d.state = defText
		}
	}
}

func (d *definitions) title(c byte) {
	d.state = defTitle
	switch c {
	case '"', '\'':
		d.closer = c
	case '(':
		d.closer = ')'
	default:
		d.state = defText
	}
}

func (d *definitions) inTitle(c byte, escaped bool) {
	switch {
	case escaped:
	case c == '\\':
		d.escaped = true
	case c == d.closer:
		d.state = defAfterTitle
	case c == '(' && d.closer == ')':
		d.state = defText
	}
}
