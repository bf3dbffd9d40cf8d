package screen

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
)

// newFace is how the session shows a run.
func (s *Session) newFace() face {
	switch {
	case s.JSON:
		return jsonLines{s}
	case s.Call.Terminal.Size != nil:
		return newLive(s)
	}
	return textLines{s}
}

// textLines shows one line for each thing that happened, for pipes.
type textLines struct{ s *Session }

func (textLines) begin(context.Context, string) {}
func (textLines) rest()                         {}

func (t textLines) happened(e run.Entry) {
	h, ok := reporting.InWords(e)
	if !ok {
		return
	}
	line := fmt.Sprintf("%s  %-18s %s", e.Time.In(t.s.Now().Location()).Format("15:04:05"), h.Job, report.OneLine(h.Text))
	// Nothing can be done about a reader that is gone.
	fmt.Fprintln(t.s.Call.Stdout, strings.TrimRight(line, " "))
	t.s.plannedBy(e)
}

// plannedBy shows the plan where an entry says that the perspectives are there and
// nobody is asked about them.
func (s *Session) plannedBy(e run.Entry) {
	if e.Event == run.EventPerspectives && s.Planned != nil {
		// An error here comes up again where the run is driven.
		_ = s.Planned()
	}
}

// jsonLines shows the lines of the log as they are, for programs.
type jsonLines struct{ s *Session }

func (jsonLines) begin(context.Context, string) {}
func (jsonLines) rest()                         {}

func (j jsonLines) happened(e run.Entry) {
	// Nothing can be done about a reader that is gone.
	_ = j.s.Line(e.Entry)
	j.s.plannedBy(e)
}
