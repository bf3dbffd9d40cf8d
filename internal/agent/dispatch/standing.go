package dispatch

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Standing is how a run stands for the person whose it is.
type Standing struct {
	Kind     Kind
	Sentence string // why, as research says it at its end; "" while agents are at work
	Asks     string // what the person has to decide, "" where the sentence says it
	Next     []Next // what a person may type, what helps first
	Plan     bool   // what it needs is a yes to its plan
}

// Kind is who has to act in a run.
type Kind string

// The kinds of standing.
const (
	StandsDone   Kind = "done"    // nobody: it is completed
	StandsEnded  Kind = "ended"   // nobody: it was cancelled
	StandsNeeds  Kind = "needs"   // the person
	StandsRests  Kind = "rests"   // the person, who paused it
	StandsAtWork Kind = "at work" // agents
	StandsAlone  Kind = "alone"   // somebody: nobody drives it
)

// Standing finds how a run stands. It returns READ_FAILED.
func (e *Env) Standing(board *job.Board) (Standing, error) {
	r := board.Run()
	m := r.Manifest()
	next := Commands{Workers: e.Workers, Name: e.Called(r), Board: board}
	stands := func(kind Kind, waiting engine.Waiting, sentence string) (Standing, error) {
		return Standing{Kind: kind, Sentence: sentence, Next: next.List(waiting)}, nil
	}
	switch m.Status() {
	case run.Completed:
		return stands(StandsDone, engine.ForNothing, "The run is completed.")
	case run.Cancelled:
		return stands(StandsEnded, engine.ForNothing, "The run was cancelled.")
	case run.Paused:
		return stands(StandsRests, engine.ForPerson, "A person paused the run.")
	case run.Failed:
		return Standing{Kind: StandsNeeds, Sentence: AsSentence(FailureWords(board)), Asks: asks(board), Next: next.List(engine.ForPerson)}, nil
	}
	if waits, err := PlanWaits(board); err != nil {
		return Standing{}, err
	} else if waits {
		return Standing{Kind: StandsNeeds, Sentence: AsSentence(engine.PlanWaits), Next: next.List(engine.ForPerson), Plan: true}, nil
	}
	_, driven, err := r.Folder().Claimed(run.HomeFile)
	switch {
	case err != nil:
		return Standing{}, err
	case driven || heldByHand(board):
		return stands(StandsAtWork, engine.ForAgents, "")
	}
	return stands(StandsAlone, engine.ForAgents, "Nobody drives the run. Nothing is lost, and what was accepted is not asked for again.")
}

// asks is the question that jobs whose tries are used up leave to a person.
func asks(board *job.Board) string {
	var stuck []string
	for _, j := range board.Jobs() {
		if j.State == job.Exhausted {
			stuck = append(stuck, j.Title)
		}
	}
	switch len(stuck) {
	case 0:
		return ""
	case 1:
		return "“" + stuck[0] + "” is stuck: how shall it go on?"
	}
	return strconv.Itoa(len(stuck)) + " jobs are stuck: how shall they go on?"
}

// FailureWords say why a run has stopped: jobs by their titles, and of a budget what was used
// of what is allowed.
func FailureWords(board *job.Board) string {
	m := board.Run().Manifest()
	why := engine.Why(m)
	failures := m.Failures()
	if len(failures) == 0 {
		return why
	}
	last := failures[len(failures)-1]
	if name, spent := board.Limit(); name != "" && tidegate.Code(last.Get("code").Str()) == tidegate.BudgetExhausted {
		used := map[string]float64{"max_minutes": spent.Minutes, "max_tokens": spent.Tokens, "max_cost_usd": spent.CostUSD, "max_mb": spent.MB}[name]
		units := map[string]string{"max_minutes": "minutes", "max_tokens": "tokens", "max_cost_usd": "USD", "max_mb": "MB"}
		return "the budget is used up: " + amount(used) + " of " + amount(board.Policy().Budget.Of(name)) + " " + units[name]
	}
	titles := map[string]string{}
	for _, j := range board.Jobs() {
		titles[j.ID] = j.Title
	}
	var names []string
	for _, failed := range last.Get("jobs").Elems() {
		id := failed.Get("job_id").Str()
		if !strings.Contains(why, id) || titles[id] == "" {
			return why
		}
		names = append(names, "“"+titles[id]+"”")
	}
	if len(names) == 0 {
		return why
	}
	return "all tries are used up for " + strings.Join(names, " and for ")
}

// amount is a figure of a budget, with cents where it is small.
func amount(f float64) string {
	if f < 100 && f != math.Trunc(f) {
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	return Grouped(f)
}

// PlanWaits reports whether the perspectives are there and wait for a person's yes.
func PlanWaits(board *job.Board) (bool, error) {
	r := board.Run()
	work := board.Work()
	if !board.Policy().ConfirmPlan || run.Perspectives.Before(r.Manifest().Stage()) || work[job.Open]+work[job.Leased] > 0 {
		return false, nil
	}
	written, err := r.Folder().Exists(r.Layout().Perspectives)
	if err != nil || !written {
		return false, err
	}
	planned, err := r.Folder().Exists(r.Layout().Wave1Plan())
	return !planned, err
}

// heldByHand reports whether somebody has a job whom no process of ours drives.
func heldByHand(board *job.Board) bool {
	for _, j := range board.Jobs() {
		if j.State != job.Leased {
			continue
		}
		if shown, err := board.Show(j.ID); err == nil && len(shown.Attempts) > 0 && shown.Attempts[len(shown.Attempts)-1].Driver == "" {
			return true
		}
	}
	return false
}

// AsSentence is a reason as a sentence of its own. It begins with a capital, unless it
// begins with the name of something.
func AsSentence(reason string) string {
	reason = strings.TrimSuffix(report.Visible(reason), ".")
	if first, _, _ := strings.Cut(reason, " "); strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") == "" && first != "" {
		reason = strings.ToUpper(first[:1]) + reason[1:]
	}
	return reason + "."
}

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
