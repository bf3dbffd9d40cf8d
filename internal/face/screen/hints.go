package screen

import (
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/internal/work/run"
)

// moment is the state of a run, as far as a person's decisions depend on it.
type moment struct {
	workers  *dispatch.Workers // where agents work; nil: on this machine
	name     string            // of the run, as typed
	status   run.Status
	stage    run.Stage
	driven   bool // by a running process
	jobs     []Job
	unusable int     // sources that cannot be cited
	meters   []Meter // in the order of brief.Limits, and others without a limit
}

// nearLimit is the share of a budget from which a person is shown how to raise it.
const nearLimit = 0.8

// hints are the decisions that a person may want to take at the moment.
func (m moment) hints() []dispatch.Next {
	n := dispatch.Commands{Workers: m.workers, Name: m.name}
	var list []dispatch.Next
	add := func(next dispatch.Next) { list = append(list, next) }
	for _, j := range m.jobs {
		if j.Mark == Failed {
			add(n.Type("job retry", " "+report.ShellWord(j.ID)+" --note TEXT", "gives it its tries again"))
			break
		}
	}
	if m.unusable > 0 && m.stage == run.Citations {
		add(n.Type("citations list", "", "shows the sources that cannot be used"))
		add(n.Type("citations replace", " CID URL", "takes another page"))
		add(n.Type("citations attach", " CID FILE", "takes a file"))
	}
	for i, meter := range m.meters {
		if meter.Used >= nearLimit*meter.Limit {
			add(n.Type("run limit", " "+brief.Limits()[i].Limit+" "+dispatch.Number(max(1, 2*meter.Limit)), "raises the budget"))
		}
	}
	if m.status != run.Created && m.status != run.Running {
		return list
	}
	if !m.driven {
		add(n.Type("run continue", "", "resumes it: nobody drives the run"))
		return list
	}
	add(n.Type("run pause", "", "lets agents rest; so does Ctrl-C"))
	add(n.Type("run cancel", "", "ends the run"))
	return list
}
