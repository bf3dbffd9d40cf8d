package review

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// File is one file in two versions.
type File struct {
	Name   string // in the later version; of a file that was deleted, in the earlier
	From   string // its earlier name, where it was renamed
	Before []byte // nil where the file is new
	After  []byte // nil where the file was deleted
	Large  bool   // Before and After are only how the versions begin
	Ours   bool   // the repository's attributes say that it is no code of others, or not generated

	ModeBefore, ModeAfter string // as git writes them, "" where they are not known
}

// Status says in a few words what became of the file.
func (f File) Status() string {
	status := "changed"
	switch {
	case f.Before == nil:
		status = "added"
		if f.ModeAfter != "" && f.ModeAfter != plainMode {
			status += ", mode " + f.ModeAfter
		}
	case f.After == nil:
		return "deleted"
	case f.From != "":
		status = "renamed from " + markdown.Show(f.From)
	}
	if f.ModeBefore != "" && f.ModeAfter != "" && f.ModeBefore != f.ModeAfter {
		status += ", mode " + f.ModeBefore + " → " + f.ModeAfter
	}
	was, is := f.lineEnds()
	switch {
	case is == windows:
		status += ", every line ends in CR LF"
		if len(f.Before) > 0 && was != windows {
			status += " and did not before"
		}
	case was == windows && len(f.After) > 0:
		status += ", every line ended in CR LF and does not any more"
	}
	return status
}

// plainMode is the mode of a file that is no program.
const plainMode = "100644"

// Line is one line of a hunk.
type Line struct {
	Op     byte   // ' ' for a line of both versions, '+' for one that was added, '-' for one that was removed
	Number int    // in the later version; 0 for a line that was removed
	Text   string // without its end
}

// Hunk is a stretch of lines in which the versions differ, with lines of both
// around it.
type Hunk []Line

// around is how many lines of both versions stand before and after a change.
const around = 5

// Hunks are the places where the versions differ, in order.
func (f File) Hunks() []Hunk { return f.hunks(false) }

// hunks are the places where the versions differ, each with all of the function around it
// where that is wanted.
func (f File) hunks(functions bool) []Hunk {
	lines := f.edits()
	var hunks []Hunk
	end := 0 // of the last hunk
	for i := 0; i < len(lines); i++ {
		if lines[i].Op == ' ' {
			continue
		}
		begin := max(end, i-around)
		last := i
		for at := i; at < len(lines) && at <= last+2*around; at++ {
			if lines[at].Op != ' ' {
				last = at
			}
		}
		until := min(len(lines), last+around+1)
		if functions {
			begin, until = max(end, functionBegin(lines, begin)), functionEnd(lines, until)
		}
		end = until
		hunks = append(hunks, Hunk(slices.Clip(lines[begin:end])))
		i = end - 1
	}
	return hunks
}

// longestFunction is how many lines before and after a change are shown of the function
// around it.
const longestFunction = 200

// functionLine matches the first line of a function or type in the usual languages.
var functionLine = pattern(`^[ \t]*(?:(?:async|pub(?:\([a-z]+\))?|export|default|public|private|protected|internal|static|abstract|override|final|unsafe|const)[ \t]+)*` +
	`(?:func|fn|def|class|function|impl|interface|trait|struct|enum|type|module|namespace)\b.*|^[A-Za-z_$][^;=]*\)[^;]*\{$`)

// functionBegin is the first line of the function in which a line stands, or the line
// itself.
func functionBegin(lines []Line, at int) int {
	for n := at; n >= 0 && n > at-longestFunction; n-- {
		if n < len(lines) && functionLine().MatchString(lines[n].Text) {
			return n
		}
	}
	return at
}

// functionEnd is where the function ends in which the lines before at stand.
func functionEnd(lines []Line, at int) int {
	for n := at; n < len(lines) && n < at+longestFunction; n++ {
		indent, text := cutIndent(lines[n].Text)
		if indent == "" && (text == "}" || text == "end" || text == "};") {
			return n + 1
		}
		if functionLine().MatchString(lines[n].Text) && indent == "" {
			return n
		}
	}
	return at
}

// function is the first line of the function in which a line of the later version
// stands, "" where none is known.
func function(lines []string, number int) string {
	for n := min(number, len(lines)) - 1; n >= 0; n-- {
		if functionLine().MatchString(lines[n]) {
			return strings.TrimSpace(lines[n])
		}
	}
	return ""
}

// The ends of lines.
const (
	unix    = "\n"
	windows = "\r\n"
)

// lineEnd is what ends the lines of a text: CR LF where all of them end so.
func lineEnd(text []byte) string {
	if n := bytes.Count(text, []byte(unix)); n > 0 && n == bytes.Count(text, []byte(windows)) {
		return windows
	}
	return unix
}

// lineEnds are the ends of the lines of both versions. Where some lines of a version end
// otherwise than the rest of both, a carriage return counts as part of its line.
func (f File) lineEnds() (before, after string) {
	before, after = lineEnd(f.Before), lineEnd(f.After)
	if before != after && bytes.Contains(f.Before, []byte(windows)) && bytes.Contains(f.After, []byte(windows)) {
		return unix, unix
	}
	return before, after
}

// edits is the way from the lines of one version to those of the other, with every
// carriage return that is not part of how all lines end.
func (f File) edits() []Line {
	before, after := f.lineEnds()
	return edits(linesBy(before, f.Before), linesBy(after, f.After))
}

func linesBy(end string, text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), end), end)
}

// splitLines are the lines of a text without their ends, as a quotation has them: a
// carriage return before the end belongs to it.
func splitLines(text []byte) []string {
	lines := linesBy(unix, text)
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// CountLines is how many lines a text has, as editors count them.
func CountLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// longestLine is how many characters of a line stand beside each other.
const longestLine = 500

// write writes the line as a reviewer sees it: its number, what became of it,
// its text, with the tabs and blanks that it has. All of a long line is shown, below each other: what is left out of it
// would not be reviewed. What follows a carriage return stands below as well, because
// for some languages it is another line.
func (l Line) write(b *strings.Builder) {
	if l.Number > 0 {
		fmt.Fprintf(b, "%6d %c| ", l.Number, l.Op)
	} else {
		fmt.Fprintf(b, "%6s %c| ", "", l.Op)
	}
	for rest := []rune(l.Text); ; {
		n := min(len(rest), longestLine)
		if at := slices.Index(rest[:n], '\r'); at >= 0 {
			n = at + 1
		}
		b.WriteString(markdown.Code(string(rest[:n])) + "\n")
		if rest = rest[n:]; len(rest) == 0 {
			return
		}
		fmt.Fprintf(b, "%6s %c| ", "…", l.Op)
	}
}

// heading names the file above its lines.
func (f File) heading() string {
	return fmt.Sprintf("==== %s (%s)\n", markdown.Show(f.Name), f.Status())
}

// Touched are the lines of the later version that a diff shows, by file.
type Touched map[string]map[int]bool

// Touch collects what the diff of files shows.
func Touch(files []File) Touched {
	touched := Touched{}
	for _, f := range files {
		lines := map[int]bool{}
		for _, hunk := range f.Hunks() {
			for _, line := range hunk {
				if line.Number > 0 {
					lines[line.Number] = true
				}
			}
		}
		touched[f.Name] = lines
	}
	return touched
}

// Has reports whether the diff shows a line of a file; a line below 1 stands for
// the file as a whole.
func (t Touched) Has(file string, line int64) bool {
	lines, found := t[file]
	return found && (line < 1 || lines[int(line)])
}

// The limits of the search for renamed files.
const (
	mostPairs = 40_000 // of a file that is gone and one that is new
	alike     = 0.5    // how much of the larger file must stand in both
)

// JoinRenames makes one file of a deleted and an added one that have at least half
// of their text in common, so that a reviewer sees what was edited and not the whole
// text twice. The most similar go first. The files stay in order.
func JoinRenames(files []File) []File {
	var gone, added []int
	for i, f := range files {
		switch {
		case f.From != "" || len(f.Before)+len(f.After) == 0:
		case f.After == nil:
			gone = append(gone, i)
		case f.Before == nil:
			added = append(added, i)
		}
	}
	if len(gone)*len(added) > mostPairs {
		return files
	}
	lines := make([]map[string]int, len(gone))
	for i, from := range gone {
		lines[i] = countLines(files[from].Before)
	}
	type pair struct {
		from, to int
		score    float64
	}
	var pairs []pair
	for _, to := range added {
		for i, from := range gone {
			if score := similar(files[from].Before, files[to].After, lines[i]); score >= alike {
				pairs = append(pairs, pair{from, to, score})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.score, a.score) })
	joined := map[int]bool{}
	files = slices.Clone(files)
	for _, p := range pairs {
		if joined[p.from] || joined[p.to] {
			continue
		}
		joined[p.from], joined[p.to] = true, true
		f := &files[p.to]
		f.From, f.Before, f.ModeBefore = files[p.from].Name, files[p.from].Before, files[p.from].ModeBefore
	}
	kept := files[:0]
	for i, f := range files {
		if f.After != nil || !joined[i] {
			kept = append(kept, f)
		}
	}
	return kept
}

func countLines(text []byte) map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts[line]++
	}
	return counts
}

// similar is how much of the larger of two texts stands in both, from 0 to 1. Lines
// are those of before.
func similar(before, after []byte, lines map[string]int) float64 {
	largest := max(len(before), len(after))
	if float64(min(len(before), len(after))) < alike*float64(largest) {
		return 0
	}
	common, used := 0, map[string]int{}
	for line := range strings.Lines(string(after)) {
		if used[line] < lines[line] {
			used[line]++
			common += len(line)
		}
	}
	return float64(common) / float64(largest)
}

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
