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
