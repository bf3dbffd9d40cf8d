// Package report holds a neutral report and the writers that turn it into text
// for a terminal, markdown, SARIF, JUnit XML, GitHub annotations and rdjson.
//
// A result of a domain package says once how it is reported by building a
// [Report]; a face picks a writer by name with [Lookup] and needs to know
// neither the domain nor the format. People read the report's Blocks, in order;
// programs read its Cases and their findings.
//
// Everything in a report may come from a hostile file. Each writer quotes what
// it is given: no text in a report can create structure, run a command, move a
// cursor or hide itself in any format. The same report gives the same bytes.
//
// The package knows nothing of domains, tools, clocks or file systems, and it
// never changes the report it is given.
package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Report is what one call has to say, for people and for programs.
type Report struct {
	Name    string // what was judged, as a machine calls it: "wave_review"; names the JUnit suite
	Title   string // heading, one line
	Summary string // the outcome in one line
	Status  Status // None when nothing was judged
	// OutcomeFirst has text begin with the outcome, which else ends it: for a report that is
	// longer than a screen.
	OutcomeFirst bool
	Blocks       []Block    // for people, in order; text and markdown show these and nothing else of the body
	Cases        []Case     // for programs, one per judged thing; people see them where a Findings block stands
	Rules        []Rule     // explains the rules that findings name; a finding may name one that is not here
	Properties   []Property // facts about the whole that have no other place; SARIF and JUnit carry them
}

// Add appends blocks.
func (r *Report) Add(blocks ...Block) { r.Blocks = append(r.Blocks, blocks...) }

// AddCase appends one judged thing.
func (r *Report) AddCase(c Case) { r.Cases = append(r.Cases, c) }

// Case is one judged thing.
type Case struct {
	Name     string // the id of the thing
	File     string // the file it lives in; findings without a file are found here
	Status   Status
	Note     string // one line: why, where no finding says it
	Findings []Finding
}

// Finding is one thing that a reader has to know about a case.
type Finding struct {
	Rule       string // id of the rule, such as "MISSING_REQUIRED_SECTION"
	Level      Level  // "" is LevelError
	Title      string // optional, one line
	Message    string // what is the matter; may have several lines
	Help       string // what to do about it
	Category   string
	File       string // "" means the file of the case
	Line       int    // 1-based; below 1 means the file as a whole
	EndLine    int    // the last one that it is about; below Line means Line
	Fix        string // what could stand in the place of these lines, "" for nothing known; Help says it, too
	ID         string // stable across runs; "" derives one from case, rule, file and title
	Properties []Property
}

// Rule explains what findings with its id have in common.
type Rule struct {
	ID    string
	Short string // one line
	Help  string // what to do; may have several lines
}

// Property is a named fact.
type Property struct {
	Name, Value string
}

// Level says how much a finding matters.
type Level string

// The levels.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelNote    Level = "note"
)

// levelShownAs says how a level is shown in text, in GitHub's workflow commands and
// in rdjson.
var levelShownAs = map[Level]struct{ color, github, rdjson string }{
	LevelError:   {red, "error", "ERROR"},
	LevelWarning: {yellow, "warning", "WARNING"},
	LevelNote:    {dim, "notice", "INFO"},
}

// known maps everything but the two lesser levels to LevelError, so that a
// misspelt level is never played down.
func (l Level) known() Level {
	if l == LevelWarning || l == LevelNote {
		return l
	}
	return LevelError
}

// Status is the outcome of a report, a case or a row.
type Status int

// The statuses. None has no mark: nothing was judged.
const (
	None Status = iota
	Pass
	Fail
	Warn
	Skip
)

// PassIf is Pass when ok holds, otherwise Fail.
func PassIf(ok bool) Status {
	if ok {
		return Pass
	}
	return Fail
}

// shownAs says how a status is shown. The marks are one character each and all
// different, so that a reader without colours sees the outcome at a glance.
var shownAs = map[Status]struct{ word, mark, color string }{
	Pass: {"pass", "✓", green},
	Fail: {"fail", "✗", red},
	Warn: {"warn", "!", yellow},
	Skip: {"skip", "-", dim},
}

// String is the word for the status, "" for None.
func (s Status) String() string { return shownAs[s].word }

// label is mark and word, "" for None.
func (s Status) label() string { return joinNonEmpty(" ", shownAs[s].mark, s.String()) }

// occurrence is a finding completed with what its surroundings supply.
type occurrence struct {
	Finding
	Case  string
	Place Place // file relative to the root
}

// occurrences lists all findings in the order of the report, with nothing left
// to default: rule, level, message, place and a unique id.
func (r Report) occurrences(root string) []occurrence {
	var all []occurrence
	taken := make(map[string]int)
	for _, c := range r.Cases {
		for _, f := range c.Findings {
			f.Level = f.Level.known()
			f.Rule = f.ruleID()
			if strings.TrimSpace(f.Message) == "" {
				f.Message = firstOf(f.Title, f.Rule)
			}
			f.File = relative(root, cmp.Or(f.File, c.File))
			if f.ID == "" {
				f.ID = codec.Digest([]string{c.Name, f.Rule, f.File, f.Title})
			}
			taken[f.ID]++
			if n := taken[f.ID]; n > 1 {
				f.ID += "/" + strconv.Itoa(n)
			}
			all = append(all, occurrence{Finding: f, Case: c.Name, Place: Place{f.File, f.Line}})
		}
	}
	return all
}

// ruleID is the rule, or a general name where none is given: formats for
// programs need one.
func (f Finding) ruleID() string { return firstOf(f.Rule, "finding") }

// explanation is title, message and help as plain text of several lines.
func (f Finding) explanation() string {
	var parts []string
	for _, part := range []string{f.Title, f.Message} {
		if strings.TrimSpace(part) != "" && (len(parts) == 0 || parts[0] != part) {
			parts = append(parts, part)
		}
	}
	if strings.TrimSpace(f.Help) != "" {
		parts = append(parts, "What to do: "+f.Help)
	}
	return strings.Join(parts, "\n")
}

// prose is everything about a finding except rule, level and place, for formats
// that have room for only one text.
func (f Finding) prose() string {
	lines := []string{f.explanation()}
	if f.Category != "" {
		lines = append(lines, "Category: "+f.Category)
	}
	for _, p := range f.Properties {
		lines = append(lines, p.Name+": "+p.Value)
	}
	return strings.Join(lines, "\n")
}

// headline is the finding in one line.
func (f Finding) headline() string {
	message, _, _ := strings.Cut(strings.TrimSpace(lineEnds.Replace(f.Message)), "\n")
	return firstOf(f.Title, message, f.ruleID())
}

// firstOf is the first text that is not blank.
func firstOf(texts ...string) string {
	if i := slices.IndexFunc(texts, func(text string) bool { return strings.TrimSpace(text) != "" }); i >= 0 {
		return texts[i]
	}
	return ""
}

// matters says for people how much a finding matters: in the words of who found it, where
// those are known.
func (f Finding) matters() string {
	for _, p := range f.Properties {
		if p.Name == SeverityProperty {
			return p.Value
		}
	}
	return string(f.Level.known())
}

// SeverityProperty is the property with the severity in the words of who found it.
const SeverityProperty = "severity"

// facts are the other properties in one line.
func (f Finding) facts() string {
	var parts []string
	for _, p := range f.Properties {
		if p.Name != SeverityProperty {
			parts = append(parts, OneLine(p.Name)+": "+OneLine(p.Value))
		}
	}
	return strings.Join(parts, "; ")
}

// last is the last line that a finding is about.
func (f Finding) last() int { return max(f.Line, f.EndLine) }

// Block is one part of what people read: [Heading], [Paragraph], [Fields],
// [*Table], [Bullets], [Preformatted] or [Findings].
type Block interface{ block() }

// Heading opens a group of blocks. One line.
type Heading string

// Paragraph is running text. Line ends are kept.
type Paragraph string

// Fields are names with values, one per line.
type Fields []Field

// Field is one line of [Fields]. A Mark other than None is shown before the value.
type Field struct {
	Name  string
	Value string
	Mark  Status
}

// Bullets is a list of items, one line each.
type Bullets []string

// Preformatted is text whose line ends and blanks matter, such as a command to
// copy.
type Preformatted string

// Findings stands where people see the report's cases: every finding, and every
// case that did not pass and has no finding.
type Findings struct{}

// Table has columns and rows. When any row has a status, the table shows it in
// a first column of its own.
type Table struct {
	Columns []Column
	Rows    []Row
}

// Column is the head of a column.
type Column struct {
	Name  string
	Right bool // numbers: aligned right
}

// Row is one line of a [Table].
type Row struct {
	Status Status
	Cells  []Cell
}

// Cell is a text or a place in a file.
type Cell struct {
	Text  string
	Place Place // shown instead of Text when it names a file
}

// Place is a line in a file; a Line below 1 means the file as a whole. Writers
// show the file relative to [Options].Root.
type Place struct {
	File string
	Line int
}

func (Heading) block()      {}
func (Paragraph) block()    {}
func (Fields) block()       {}
func (Bullets) block()      {}
func (Preformatted) block() {}
func (Findings) block()     {}
func (*Table) block()       {}

// NewTable makes a table of left-aligned columns; a name that begins with ">"
// is a right-aligned one: NewTable("Perspective", ">Words").
func NewTable(names ...string) *Table {
	t := &Table{}
	for _, name := range names {
		c := Column{Name: name}
		if len(name) > 0 && name[0] == '>' {
			c = Column{Name: name[1:], Right: true}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// Row appends a row. A [Place] or a [Cell] is taken as it is; everything else is
// printed as fmt.Sprint does. A row may be shorter or longer than the head.
func (t *Table) Row(status Status, cells ...any) {
	row := Row{Status: status, Cells: make([]Cell, 0, len(cells))}
	for _, cell := range cells {
		switch c := cell.(type) {
		case Cell:
			row.Cells = append(row.Cells, c)
		case Place:
			row.Cells = append(row.Cells, Cell{Place: c})
		case string:
			row.Cells = append(row.Cells, Cell{Text: c})
		default:
			row.Cells = append(row.Cells, Cell{Text: fmt.Sprint(c)})
		}
	}
	t.Rows = append(t.Rows, row)
}

// Counted is a number with its noun: "1 output", "3 outputs". The noun takes a
// plural s.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// relative names file from root when it lies below it, otherwise as it is given.
// It looks at the names only.
func relative(root, file string) string {
	if root == "" || !filepath.IsAbs(file) {
		return file
	}
	rel, err := filepath.Rel(root, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return file
	}
	return filepath.ToSlash(rel)
}

// show is file:line, or the file alone where no line is known.
func (p Place) show(root string) string {
	file := relative(root, p.File)
	if p.Line < 1 || file == "" {
		return file
	}
	return file + ":" + strconv.Itoa(p.Line)
}

// fileURI is a file as a URI reference: relative for a relative name, with the
// scheme file for an absolute one.
func fileURI(file string) string {
	u := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		u.Path = "/" + strings.TrimLeft(u.Path, "/")
	}
	return u.String()
}

// show is the text of a cell on one line, not yet made visible.
func (c Cell) show(root string) string {
	if c.Place.File != "" {
		return c.Place.show(root)
	}
	return c.Text
}

// Options is what a face knows and a report does not.
type Options struct {
	Version string // of the program, for SARIF
	Root    string // absolute folder; files below it are shown relative to it
	Color   bool   // text: terminal colours
	Width   int    // text: columns to fit into; 0 means no limit, one table row per line
}

// Format is one way to write a report.
type Format struct {
	Name    string
	Carries string // what of a report the format holds, one sentence
	Write   func(w io.Writer, r Report, o Options) error
}

// Formats lists the formats in the order in which help shows them.
func Formats() []Format {
	return []Format{
		{"text", "title, all blocks and the summary, laid out for a terminal or a pipe", Text},
		{"markdown", "title, summary and blocks within the length of a pull request comment; says how much was left out", Markdown},
		{"sarif", "every finding with its rule, help, place and fingerprint as SARIF 2.1.0", SARIF},
		{"junit", "every case as a JUnit test case, with its findings as the text of its failure", JUnit},
		{"github", "findings as GitHub workflow commands, ten of a kind, and how many were left out", GitHub},
		{"rdjson", "every finding as a reviewdog diagnostic", RDJSON},
		{"gitlab", "every finding with a file as an entry of a GitLab code quality report", GitLab},
	}
}

// Lookup finds a format by its name.
func Lookup(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// program is the name under which the formats for programs list findings.
const program = "tidegate"

// deliver hands a finished document to w in one piece: a report that cannot be
// rendered has written nothing.
func deliver(w io.Writer, document []byte) error {
	if _, err := w.Write(document); err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, nil, "the report cannot be written: %w", err)
	}
	return nil
}
