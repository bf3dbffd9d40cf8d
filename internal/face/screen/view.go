package screen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/report"
)

// View is a run at a moment: what there is to see. Only [View.Lines], which lays it
// out for a size, decides how it looks. Its texts may come from anybody: characters that would
// act on a terminal are made visible.
type View struct {
	Name     string // of the run
	Question string
	Status   string // in a word or two
	Stages   []Stage
	Jobs     []Job
	Meters   []Meter
	Events   []Event // the last one last
	Hints    []dispatch.Next
	// Top is the first job that is shown; below 0 the jobs at work are followed.
	Top int
}

// Mark is how a stage or a job stands.
type Mark int

// The marks.
const (
	Ahead Mark = iota
	Working
	Done
	Failed
	Skipped
)

var marks = map[Mark]struct{ sign, color string }{
	Ahead: {"○", dim}, Working: {"●", yellow}, Done: {"✓", green}, Failed: {"✗", red}, Skipped: {"–", dim},
}

// Stage is one stage of the run.
type Stage struct {
	Name string
	Mark Mark
}

// Job is one line of the list.
type Job struct {
	ID      string
	Mark    Mark
	State   string
	Agent   string
	Minutes float64 // of work on it; below 0 for none
	Attempt int     // 0 before the first
	Tries   int     // that are allowed
	Tool    string  // that its agent used last
}

// Meter is what was used of something.
type Meter struct {
	Name  string
	Used  float64
	Limit float64 // positive infinity for none
	Text  string  // how Used is shown
	Most  string  // how Limit is shown
}

// Event is one thing that happened.
type Event struct {
	Time, Job, Text string
	Mark            Mark
}

// The colours. Each repeats what a sign or a word already says.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// Size is the size of a terminal, and whether it shows colours.
type Size struct {
	Columns, Rows int
	Color         bool
}

// The smallest size with a layout. On a smaller terminal, lines are cut.
const (
	leastColumns = 40
	leastJobs    = 3
	usualJobs    = 10 // jobs that are shown before more than a few events are
	mostEvents   = 6
	leastEvents  = 3
)

// Lines lays the view out: at most as many lines as there are rows, none wider
// than the columns.
func (v View) Lines(size Size) []string {
	p := painter{columns: max(size.Columns, leastColumns), color: size.Color}
	head := append(p.head(v), "")
	head = append(head, p.rail(v.Stages)...)
	meters := p.meters(v.Meters)
	hints := p.hints(v.Hints)
	// Where there is little room, the least needed parts are left out first.
	room := func(events, hints int) int {
		return size.Rows - len(head) - 2 - len(meters) - 1 - block(events) - block(hints)
	}
	events := min(mostEvents, len(v.Events))
	want := min(len(v.Jobs), usualJobs)
	for events > leastEvents && room(events, len(hints)) < want {
		events--
	}
	if room(events, len(hints)) < leastJobs {
		hints = nil
	}
	for events > 0 && room(events, len(hints)) < leastJobs {
		events--
	}
	lines := append(head, "")
	lines = append(lines, p.jobs(v, max(1, room(events, len(hints))))...)
	lines = append(lines, "")
	lines = append(lines, meters...)
	if events > 0 {
		lines = append(lines, "")
		lines = append(lines, p.events(v.Events[len(v.Events)-events:])...)
	}
	if len(hints) > 0 {
		lines = append(lines, "")
		lines = append(lines, hints...)
	}
	return lines[:min(len(lines), size.Rows)]
}

// block is how many rows a part takes, with the empty row before it.
func block(n int) int {
	if n == 0 {
		return 0
	}
	return n + 1
}

// rail is the stages of a run and what it used, for the end.
func (v View) rail(size Size) []string {
	p := painter{columns: max(size.Columns, leastColumns), color: size.Color}
	return append(append(p.rail(v.Stages), ""), p.meters(v.Meters)...)
}

// firstShown is the first job that is shown on a terminal of that size while the
// jobs at work are followed.
func (v View) firstShown(size Size) int {
	return max(0, min(follow(v.Jobs, size.Rows/2), len(v.Jobs)-1))
}

// title is the view in one line, for the title of the terminal.
func (v View) title() string {
	stage, done := v.Status, 0
	for _, s := range v.Stages {
		if s.Mark == Working {
			stage = s.Name
		}
	}
	for _, j := range v.Jobs {
		if j.Mark == Done {
			done++
		}
	}
	return report.OneLine(fmt.Sprintf("tidegate %s: %s, %d of %d jobs", v.Name, stage, done, len(v.Jobs)))
}

// painter lays out parts of a view.
type painter struct {
	columns int
	color   bool
}

func (p painter) paint(color, text string) string {
	if !p.color || color == "" || text == "" {
		return text
	}
	return color + text + plain
}

func (p painter) mark(m Mark) string { return p.paint(marks[m].color, marks[m].sign) }

// head is the name with the status at the right, and the question.
func (p painter) head(v View) []string {
	status := fit(report.OneLine(v.Status), p.columns/2)
	name := fit("tidegate  "+report.OneLine(v.Name), p.columns-report.Columns(status)-2)
	gap := strings.Repeat(" ", p.columns-report.Columns(name)-report.Columns(status))
	return []string{p.paint(bold, name) + gap + p.paint(bold, status), fit(report.OneLine(v.Question), p.columns)}
}

// rail is the stages, on as many lines as they need.
func (p painter) rail(stages []Stage) []string {
	out := flow{columns: p.columns, gap: " "}
	for i, s := range stages {
		name := s.Name
		if s.Mark == Working {
			name = p.paint(bold, name)
		}
		part, takes := p.mark(s.Mark)+" "+name, 2+report.Columns(s.Name)
		if i < len(stages)-1 {
			part, takes = part+p.paint(dim, " ›"), takes+2
		}
		out.add(part, takes)
	}
	return out.lines
}

// flow lays parts beside each other, on as many lines as they need.
type flow struct {
	columns int
	gap     string
	lines   []string
	used    int // columns of the last line
}

func (f *flow) add(part string, takes int) {
	if len(f.lines) == 0 || f.used+len(f.gap)+takes > f.columns {
		f.lines, f.used = append(f.lines, part), takes
		return
	}
	f.lines[len(f.lines)-1] += f.gap + part
	f.used += len(f.gap) + takes
}

// table is the widths of the columns of jobs.
type table struct{ job, agent, tool int }

const (
	stateColumn   = 9 // the longest is exhausted
	minutesColumn = 5
	tryColumn     = 5
)

func (p painter) table(jobs []Job) table {
	rest := p.columns - 2 - stateColumn - minutesColumn - tryColumn - 5 // the mark, and a blank before each
	longest := func(of func(Job) string, least, most int) int {
		n := least
		for _, j := range jobs {
			n = max(n, report.Columns(report.OneLine(of(j))))
		}
		return min(n, max(least, most))
	}
	t := table{}
	t.agent = longest(func(j Job) string { return j.Agent }, len("Agent"), rest/4)
	t.job = longest(func(j Job) string { return j.ID }, len("Job"), rest-t.agent-len("Last tool")-1)
	t.tool = max(0, rest-t.job-t.agent)
	return t
}

// jobs is the list, in at most rows lines, without its heading.
func (p painter) jobs(v View, rows int) []string {
	t := p.table(v.Jobs)
	top := v.Top
	if top < 0 {
		top = follow(v.Jobs, rows)
	}
	top = max(0, min(top, len(v.Jobs)-rows))
	end := min(len(v.Jobs), top+rows)
	heading := "  " + pad("Job", t.job) + " " + pad("State", stateColumn) + " " + pad("Agent", t.agent) + " " + left("Min", minutesColumn) + " " + left("Try", tryColumn) + " "
	last := "Last tool"
	if end-top < len(v.Jobs) {
		last = fmt.Sprintf("%d–%d of %d ↑↓", top+1, end, len(v.Jobs))
	}
	lines := []string{p.paint(bold, strings.TrimRight(fit(heading+last, p.columns), " "))}
	for _, j := range v.Jobs[top:end] {
		minutes, try := "", ""
		if j.Minutes >= 0 {
			minutes = strconv.FormatFloat(j.Minutes, 'f', 1, 64)
		}
		if j.Attempt > 0 {
			try = fmt.Sprintf("%d/%d", j.Attempt, j.Tries)
		}
		color := ""
		if j.Mark == Ahead {
			color = dim
		}
		text := pad(fit(report.OneLine(j.ID), t.job), t.job) + " " + pad(j.State, stateColumn) + " " + pad(fit(report.OneLine(j.Agent), t.agent), t.agent) + " " +
			left(minutes, minutesColumn) + " " + left(try, tryColumn) + " " + fit(report.OneLine(j.Tool), t.tool)
		lines = append(lines, p.mark(j.Mark)+" "+p.paint(color, strings.TrimRight(text, " ")))
	}
	return lines
}

// follow is the first job to show in a list of rows lines, so that those at work are
// seen.
func follow(jobs []Job, rows int) int {
	for i, j := range jobs {
		if j.Mark == Working {
			return i - min(1, rows/4)
		}
	}
	for i, j := range jobs {
		if j.Mark == Ahead || j.Mark == Failed {
			return i - min(1, rows/4)
		}
	}
	return len(jobs) - rows
}

const barColumns = 10

// meters are what was used, each with a bar where there is a limit.
func (p painter) meters(meters []Meter) []string {
	out := flow{columns: p.columns, gap: "    "}
	for _, m := range meters {
		out.add(p.meter(m))
	}
	return out.lines
}

func (p painter) meter(m Meter) (part string, takes int) {
	if math.IsInf(m.Limit, 1) {
		part = m.Name + " " + m.Text
		return p.paint(dim, m.Name) + " " + m.Text, report.Columns(part)
	}
	share := 1.0
	if m.Limit > 0 {
		share = min(1, m.Used/m.Limit)
	}
	full := int(share * barColumns)
	color := green
	switch {
	case share >= 1:
		color = red
	case share >= 0.8:
		color = yellow
	}
	bar := p.paint(color, strings.Repeat("█", full)) + p.paint(dim, strings.Repeat("░", barColumns-full))
	text := m.Text + " of " + m.Most
	return p.paint(dim, m.Name) + " " + bar + " " + text, report.Columns(m.Name) + 1 + barColumns + 1 + report.Columns(text)
}

// events are the last things that happened.
func (p painter) events(events []Event) []string {
	longest := 0
	for _, e := range events {
		longest = max(longest, report.Columns(report.OneLine(e.Job)))
	}
	longest = min(longest, p.columns/3)
	var lines []string
	for _, e := range events {
		before := e.Time + "  "
		if longest > 0 {
			before += pad(fit(report.OneLine(e.Job), longest), longest) + "  "
		}
		color := ""
		if e.Mark == Done || e.Mark == Failed {
			color = marks[e.Mark].color
		}
		text := fit(report.OneLine(e.Text), max(8, p.columns-report.Columns(before)))
		lines = append(lines, p.paint(dim, before)+p.paint(color, text))
	}
	return lines
}

// hints are what a person can type.
func (p painter) hints(hints []dispatch.Next) []string {
	longest := 0
	for _, h := range hints {
		longest = max(longest, report.Columns(report.OneLine(h.Command)))
	}
	var lines []string
	for _, h := range hints {
		line := fit(report.OneLine(h.Command), p.columns)
		if room := p.columns - longest - 2; room >= report.Columns(report.OneLine(h.About)) {
			line = pad(line, longest) + "  " + p.paint(dim, report.OneLine(h.About))
		}
		lines = append(lines, line)
	}
	return lines
}

// fit cuts a text to some columns, and marks the cut with an ellipsis.
func fit(text string, columns int) string {
	if report.Columns(text) <= columns {
		return text
	}
	n := 0
	for i, r := range text {
		if n += report.RuneColumns(r); n > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// pad fills up a text with blanks at its end.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-report.Columns(text)))
}

// left fills up a text with blanks before it.
func left(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-report.Columns(text))) + text
}
