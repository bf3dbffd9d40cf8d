package screen

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/golden"
)

// harbour is a run in the middle of its first wave.
func harbour() View {
	v := View{
		Name: "harbour", Question: "Harbour: should the port replace two of its four tugs with electric ones?", Status: "running", Top: -1,
		Stages: []Stage{{"plan", Done}, {"wave 1", Working}, {"pivot", Ahead}, {"wave 2", Ahead}, {"citations", Ahead}, {"summaries", Ahead}, {"synthesis", Ahead}, {"review", Ahead}, {"report", Ahead}},
		Jobs: []Job{
			{ID: "perspectives", Mark: Done, State: "accepted", Agent: "claude", Minutes: 1.2, Attempt: 1, Tries: 4},
			{ID: "wave1.economics", Mark: Done, State: "accepted", Agent: "claude", Minutes: 12.4, Attempt: 1, Tries: 4},
			{ID: "wave1.emissions", Mark: Working, State: "working", Agent: "claude", Minutes: 3.1, Attempt: 2, Tries: 4, Tool: "open a page"},
			{ID: "wave1.grid", Mark: Working, State: "working", Agent: "claude", Minutes: 7.5, Attempt: 1, Tries: 4, Tool: "search"},
			{ID: "wave1.operations", Mark: Failed, State: "exhausted", Agent: "claude", Minutes: 80, Attempt: 4, Tries: 4},
			{ID: "wave1.policy", Mark: Ahead, State: "open", Minutes: -1, Tries: 4},
			{ID: "wave1.skeptic", Mark: Ahead, State: "open", Minutes: -1, Tries: 4},
		},
		Meters: []Meter{
			{Name: "minutes", Used: 80.5, Limit: 240, Text: "80.5", Most: "240"},
			{Name: "tokens", Used: 1234567, Limit: math.Inf(1), Text: "1,234,567"},
			{Name: "USD", Used: 4.5, Limit: 5, Text: "4.50", Most: "5.00"},
		},
		Events: []Event{
			{Time: "09:00:00", Text: "the run was created"},
			{Time: "09:01:12", Job: "perspectives", Text: "attempt 1: accepted", Mark: Done},
			{Time: "09:01:13", Text: "init → wave1", Mark: Done},
			{Time: "09:20:00", Job: "wave1.emissions", Text: "attempt 1: refused, TOO_MANY_WORDS, SOURCE_NOT_USABLE, MISSING_REQUIRED_SECTION", Mark: Failed},
			{Time: "09:20:01", Job: "wave1.emissions", Text: "attempt 2 begins"},
		},
		Hints: []dispatch.Next{
			{Command: "tidegate job retry harbour wave1.operations --note TEXT", About: "gives it its tries again"},
			{Command: "tidegate run limit harbour max_cost_usd 10", About: "raises the budget"},
			{Command: "tidegate run pause harbour", About: "lets agents rest; Ctrl-C stops here"},
			{Command: "tidegate run cancel harbour", About: "ends the run"},
		},
	}
	return v
}

// many is a run with two hundred jobs.
func many() View {
	v := harbour()
	v.Jobs, v.Hints = nil, nil
	for i := range 200 {
		j := Job{ID: fmt.Sprintf("wave1.p%03d", i), Mark: Ahead, State: "open", Minutes: -1, Tries: 4}
		switch {
		case i < 120:
			j.Mark, j.State, j.Agent, j.Minutes, j.Attempt = Done, "accepted", "codex", 2, 1
		case i < 124:
			j.Mark, j.State, j.Agent, j.Minutes, j.Attempt = Working, "working", "codex", 1, 1
		}
		v.Jobs = append(v.Jobs, j)
	}
	return v
}

// hostile is a run whose texts would act on a terminal or break a layout.
func hostile() View {
	v := harbour()
	v.Name, v.Question = "a\x1b]2;title\a", "名前は何ですか？ "+strings.Repeat("長い質問", 20)+"\r\nsecond line \x1b[2J"
	v.Jobs[2].ID, v.Jobs[2].Agent, v.Jobs[2].Tool = "wave1."+strings.Repeat("x", 120), "\x1b[31mred", "\x1b[2Jtool\nwith\u202elines\a"
	v.Events[3].Text = "\x1b[2J\x1b[1;1H" + strings.Repeat("e\u0301", 200)
	v.Hints[0].Command = "tidegate job retry " + strings.Repeat("y", 200)
	return v
}

func TestLayout(t *testing.T) {
	scrolled := many()
	scrolled.Top = 60
	for _, tt := range []struct {
		name string
		view View
		size Size
	}{
		{"80", harbour(), Size{80, 24, false}},
		{"80-colour", harbour(), Size{80, 24, true}},
		{"60", harbour(), Size{60, 24, false}},
		{"60-colour", harbour(), Size{60, 30, true}},
		{"low", harbour(), Size{100, 12, false}},
		{"many", many(), Size{80, 24, false}},
		{"many-scrolled", scrolled, Size{80, 24, false}},
		{"hostile", hostile(), Size{60, 30, false}},
		{"nothing", View{Name: "new", Status: "running", Stages: harbour().Stages, Top: -1}, Size{80, 24, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(tt.view.Lines(tt.size), "\n") + "\n"
			golden.Check(t, "testdata/screens/"+tt.name+".txt", []byte(got))
		})
	}
}

var color = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestEverySizeFits lays views out for every size: no line is wider than the
// terminal, there are no more lines than rows, nothing acts on the terminal, and
// colours change nothing but colours.
func TestEverySizeFits(t *testing.T) {
	for _, v := range []View{harbour(), many(), hostile()} {
		for columns := leastColumns; columns <= 130; columns += full.Stride(130-leastColumns, 15) {
			for rows := 1; rows <= 50; rows += full.Stride(50, 15) {
				plainLines := v.Lines(Size{columns, rows, false})
				colored := v.Lines(Size{columns, rows, true})
				if len(plainLines) > rows || len(colored) != len(plainLines) {
					t.Fatalf("%d×%d: %d and %d lines", columns, rows, len(plainLines), len(colored))
				}
				for i, line := range plainLines {
					if strings.ContainsAny(line, "\x1b\n\r\a") || report.Columns(line) > columns {
						t.Fatalf("%d×%d, line %d takes %d columns: %q", columns, rows, i, report.Columns(line), line)
					}
					if without := color.ReplaceAllString(colored[i], ""); without != line {
						t.Fatalf("%d×%d: in colour %q, without %q", columns, rows, without, line)
					}
				}
			}
		}
	}
}

// TestWhatMattersStaysInSight looks for the jobs at work on terminals of every
// height with room for more than the head.
func TestWhatMattersStaysInSight(t *testing.T) {
	for rows := 14; rows <= 60; rows++ {
		shown := strings.Join(many().Lines(Size{80, rows, false}), "\n")
		if !strings.Contains(shown, "wave1.p120") || !strings.Contains(shown, "of 200") {
			t.Fatalf("%d rows:\n%s", rows, shown)
		}
	}
}

func TestTitle(t *testing.T) {
	if got, want := harbour().title(), "tidegate harbour: wave 1, 2 of 7 jobs"; got != want {
		t.Errorf("the title is %q, want %q", got, want)
	}
	if got := hostile().title(); strings.ContainsAny(got, "\x1b\a") {
		t.Errorf("the title acts on the terminal: %q", got)
	}
}

// terminal is a terminal that understands what a Screen writes.
type terminal struct {
	rows    map[int]string
	writes  int
	entered bool
}

var position = regexp.MustCompile(`\x1b\[(\d+);1H\x1b\[K([^\x1b]*)`)

func (m *terminal) Write(data []byte) (int, error) {
	m.writes++
	text := string(data)
	if strings.Contains(text, enter) {
		m.entered = true
	}
	if strings.Contains(text, leave) {
		m.entered = false
	}
	if strings.Contains(text, "\x1b[2J") {
		m.rows = map[int]string{}
	}
	for _, found := range position.FindAllStringSubmatch(text, -1) {
		var row int
		fmt.Sscan(found[1], &row)
		m.rows[row] = found[2]
	}
	return len(data), nil
}

func (m *terminal) text(rows int) string {
	lines := make([]string, rows)
	for i := range lines {
		lines[i] = m.rows[i+1]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// TestDrawingShowsTheLinesAndWritesOnlyWhatChanged draws a run that moves, on a
// terminal whose size changes.
func TestDrawingShowsTheLinesAndWritesOnlyWhatChanged(t *testing.T) {
	m := &terminal{rows: map[int]string{}}
	s := NewScreen(m)
	v := harbour()
	for i, size := range []Size{{80, 24, false}, {80, 24, false}, {60, 30, false}, {100, 12, false}, {80, 24, false}} {
		v.Events[4].Text = fmt.Sprintf("attempt 2 begins, frame %d", i)
		lines := v.Lines(size)
		s.Draw(lines, v.title(), size)
		if got, want := m.text(size.Rows), strings.TrimRight(strings.Join(lines, "\n"), "\n"); got != want {
			t.Fatalf("frame %d shows\n%s\nwant\n%s", i, got, want)
		}
		if m.writes != i+1 || !m.entered {
			t.Fatalf("frame %d: %d writes, entered %v", i, m.writes, m.entered)
		}
	}
	before := m.writes
	s.Draw(v.Lines(Size{80, 24, false}), v.title(), Size{80, 24, false})
	if m.writes != before {
		t.Error("nothing has changed, and something was written")
	}
	s.Leave()
	if m.entered {
		t.Error("the terminal is not given back")
	}
}
