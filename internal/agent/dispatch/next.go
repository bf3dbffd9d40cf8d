package dispatch

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Next is what a person may type.
type Next struct {
	Command string `json:"command"`
	About   string `json:"about"`
}

// Called is how a person names a run: by its id where that is enough.
func (e *Env) Called(r *run.Run) string {
	if e.Apart && r.Manifest().Status() != run.Completed {
		return report.ShellWord(r.Root())
	}
	if e.Home != "" && r.Root() == filepath.Join(e.Home, r.ID()) {
		return report.ShellWord(r.ID())
	}
	return report.ShellWord(r.Root())
}

// Commands are those that a person may type about a run.
type Commands struct {
	Workers *Workers // where agents work; nil: on this machine
	Name    string   // of the run, as typed
	Board   *job.Board
	Help    string // what lets an agent work, where that is the reason
	Again   string // what must be typed again to go on
}

// List are the commands that help while the run waits for somebody, what helps first.
func (n Commands) List(waiting engine.Waiting) []Next {
	m := n.Board.Run().Manifest()
	resume := n.Type("run continue", n.Again, "resumes it from where it stands")
	partial := n.Type("report", " --partial", "shows what there is")
	cancel := n.Type("run cancel", "", "ends the run")
	switch {
	case m.Status() == run.Completed:
		return []Next{
			n.Type("report", "", "prints the report"),
			n.Type("report", " --format html --output report.html", "for a browser: each citation opens its passage"),
			n.Type("run log", "", "shows everything that happened"),
			n.Type("run verify", "", "holds every file against the log"),
		}
	case m.Status() == run.Cancelled:
		return []Next{partial, n.Type("run log", "", "shows everything that happened")}
	case strings.HasPrefix(n.Help, "--"):
		flag, _, _ := strings.Cut(n.Help, " ")
		return []Next{n.Type("run continue", without(n.Again, flag)+" "+n.Help, "resumes it with another one"), partial, cancel}
	case n.Help != "":
		return []Next{{n.Help, "lets the agent work"}, resume}
	case m.Status() == run.Failed:
		return append(n.failed(m), partial, cancel)
	case m.Status() == run.Paused:
		return []Next{resume, cancel}
	case waiting == engine.ForPerson:
		return []Next{
			n.Type("run continue", n.Again, "is the yes to the plan"),
			n.Type("perspectives write", " FILE", "takes other perspectives"),
			cancel,
		}
	}
	return []Next{resume, partial, cancel}
}

// without is what must be typed again, but for one flag.
func without(again, flag string) string {
	before, rest, found := strings.Cut(again, " "+flag+" ")
	if !found {
		return again
	}
	if i := strings.Index(rest, " --"); i >= 0 {
		return before + rest[i:]
	}
	return before
}

// Type is a command about the run that a person may type, with more behind its name.
func (n Commands) Type(command, more, about string) Next {
	if n.Workers != nil && command == "run continue" {
		return Next{n.Workers.Program + " " + command + " " + n.Name + more + n.Workers.Flags(), about}
	}
	return Next{"tidegate " + command + " " + n.Name + more, about}
}

// failed are the decisions that remove the reason why a run stopped.
func (n Commands) failed(m run.Manifest) []Next {
	resume := n.Type("run continue", n.Again, "then resumes the run")
	failures := m.Failures()
	if len(failures) == 0 {
		return []Next{n.Type("run resume", " --accept --reason TEXT", "lets it resume"), resume}
	}
	last := failures[len(failures)-1]
	code, id := tidegate.Code(last.Get("code").Str()), last.Get("gate_id").Str()
	switch {
	case code == tidegate.BudgetExhausted:
		return n.budget()
	case last.Get("jobs").Len() > 0:
		name := last.Get("jobs").Elems()[0].Get("job_id").Str()
		list := []Next{
			n.Type("job show", " "+report.ShellWord(name), "shows what was answered and why it was refused"),
			n.Type("job retry", " "+report.ShellWord(name)+" --note TEXT", "gives it its tries again, with a note for the agent"),
		}
		if strings.HasPrefix(name, "verify.") {
			list = append(list,
				n.Type("job prompt", " "+report.ShellWord(name), "prints the sentences with their passages, for you to be the reader"),
				n.Type("job answer", " "+report.ShellWord(name)+" FILE", "takes your verdicts"))
		}
		return append(list, resume)
	case id == "C":
		return []Next{
			n.Type("citations list", "", "shows what each source is worth"),
			n.Type("citations replace", " CID URL", "takes another page in the place of one that cannot be used"),
			n.Type("citations attach", " CID FILE", "takes a file in its place"),
			n.Type("gate c", " --accept --reason TEXT", "lets the gate pass as it is"),
			resume,
		}
	case id == "E":
		return []Next{
			n.Type("claim show", "", "shows the sentences that do not stand, with their passages"),
			n.Type("claim accept", " ID --reason TEXT", "lets one stand by your decision"),
			n.Type("gate e", " --accept --reason TEXT", "lets the report pass as it is"),
			n.Type("run resume", " --accept --reason TEXT", "gives the writer another round"),
			resume,
		}
	case id != "":
		return []Next{
			n.Type("gate "+strings.ToLower(id), "", "shows what the judge found"),
			n.Type("gate "+strings.ToLower(id), " --accept --reason TEXT", "lets the gate pass as it is"),
			resume,
		}
	}
	return []Next{n.Type("run resume", " --accept --reason TEXT", "lets it resume"), resume}
}

// budget names a budget that lets the run resume.
func (n Commands) budget() []Next {
	name, more := n.Board.Raised()
	if name == "" {
		return []Next{n.Type("run continue", n.Again, "resumes the run")}
	}
	value := strconv.FormatFloat(more, 'f', -1, 64)
	flags := map[string]string{"max_minutes": "max-minutes", "max_tokens": "max-tokens", "max_cost_usd": "max-cost"}
	if flag := flags[name]; flag != "" {
		return []Next{n.Type("run continue", " --"+flag+" "+value+n.Again, "resumes with a larger budget")}
	}
	return []Next{n.Type("run limit", " "+name+" "+value, "sets a larger budget"), n.Type("run continue", n.Again, "then resumes the run")}
}
