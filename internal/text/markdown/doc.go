// Package markdown turns the bytes of a Markdown file into facts: its words, its
// top-level ATX headings, the lines of the sections they start, and its paragraphs
// and list items ([Scanner]); and, for a text in memory, what a reader of the page
// sees ([Document]), also by GitHub's flavour, which has tables. It also writes text
// so that nobody takes it for more ([Quote]). It knows nothing of perspectives,
// sources, gaps or summaries; it is handed bytes and judges none of them.
//
// # What is exact
//
// Block structure follows CommonMark 0.31.2: a heading counts only outside
// fenced and indented code, HTML blocks of all seven kinds, block quotes and
// list items, with lazy continuation lines, setext underlines, link reference
// definitions, tab stops, and line ends of all three kinds. So does what is
// inside blocks: code spans, links, emphasis, raw HTML, escapes and character
// references. Any sequence of bytes is a document.
//
// # Limits
//
// A [Scanner] reads in one pass and holds a bounded part of the file, whatever the
// size of the file or of a line; a [Document] takes memory in proportion to its
// text. Structure is exact for lines of up to [MaxLine] bytes and [MaxDepth] open
// containers. In a longer line the first MaxLine bytes decide what it starts, and
// where they leave a choice, the one that hides a heading below is taken: such a
// line closes no fence, is not blank, and opens an HTML block when its tag has not
// ended yet. Marks of containers beyond MaxDepth are text, and so are the bars of a
// table of more than [MaxCells] cells. Nothing that lies
// beyond a limit is ever read as a heading; the lines after it are judged by what
// it was taken for.
package markdown

const (
	// MaxLine is the length in bytes, line end not counted, up to which a line
	// is seen whole.
	MaxLine = 1 << 20
	// MaxDepth is the number of block quotes and list items that can be open
	// one inside the other.
	MaxDepth = 1000
)
