package research

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Result is how a command that drives or watches a run ended.
type Result struct {
	OK         codec.True     `json:"ok"`
	RunID      string         `json:"run_id"`
	Root       string         `json:"root"`
	Stage      run.Stage      `json:"stage"`
	Status     run.Status     `json:"status"`
	Passed     bool           `json:"passed"`    // completed, every gate passed by its judge on a record that matched, and at most three sentences accepted by a person
	Accepted   []string       `json:"accepted"`  // gates that a person let pass, at any time
	Decisions  []run.Decided  `json:"decisions"` // what people decided in the life of the run
	Sentences  int            `json:"accepted_sentences"`
	Trust      string         `json:"trust"`       // how the sentences of the report were checked, "" before there is one
	WaitingFor engine.Waiting `json:"waiting_for"` // agents, where it was interrupted
	Reason     string         `json:"reason"`
	Spent      job.Spent      `json:"spent"`
	Estimate   *run.Estimate  `json:"estimate,omitzero"` // when it began, absent where nobody estimated
	Report     *string        `json:"report_path"`       // the text of the report, null where there is none yet
	Next       []Next         `json:"next"`
	// Compared is how the report differs from that of the run whose question was asked again, or that it builds on.
	Compared *library.Compared `json:"compared,omitzero"`

	asAsked  bool           // it stopped where the person asked it to
	disputed step.ClaimList // the sentences that need a person
}

// Next is what a person may type.
type Next struct {
	Command string `json:"command"`
	About   string `json:"about"`
}

// Exit statuses beyond 0.
const (
	exitNotPassed   = 1
	exitNeedsPerson = 4
	exitInterrupted = 130
)

// exit is the exit status that goes with the result.
func (r Result) exit() error {
	switch {
	case r.Passed || r.asAsked:
		return nil
	case r.Status.Final():
		return cli.Exit(exitNotPassed)
	case r.WaitingFor == engine.ForPerson:
		return cli.Exit(exitNeedsPerson)
	}
	return cli.Exit(exitInterrupted)
}

// resultOf says how a run stands, and what to type next. Help is what a person
// types to let an agent work, where that is the reason; again is what must be typed again to
// go on.
func (e *Env) resultOf(board *job.Board, waiting engine.Waiting, reason, help, again string) (Result, error) {
	r := board.Run()
	m := r.Manifest()
	if m.Status() == run.Failed && reason == engine.Why(m) {
		reason = failureWords(board) // as the page says it
	}
	out := Result{RunID: r.ID(), Root: r.Root(), Stage: m.Stage(), Status: m.Status(), Accepted: []string{}, WaitingFor: waiting, Reason: reason, Spent: board.Spent(), Estimate: board.Policy().Estimate}
	there, err := r.Folder().Exists(r.Layout().Synthesis())
	if err != nil {
		return Result{}, err
	}
	trust, err := step.ReadTrust(r)
	if err != nil {
		return Result{}, err
	}
	out.Trust, out.Sentences = trust.Line, trust.Accepted
	if there {
		path := r.Path(r.Layout().Synthesis())
		out.Report = &path
	}
	if out.Decisions, err = r.Decisions(); err != nil {
		return Result{}, err
	}
	if m.Status() == run.Completed {
		if out.Accepted, err = acceptedGates(r, out.Decisions); err != nil {
			return Result{}, err
		}
		out.Passed = len(out.Accepted) == 0 && !slices.ContainsFunc(out.Decisions, run.Decided.Overrides) && out.Sentences <= step.MaxAccepted
	}
	if m.Status() == run.Failed && trust.Claims != nil {
		list, err := step.ReadClaimList(r)
		if err != nil {
			return Result{}, err
		}
		out.disputed = list.Disputed()
	}
	out.Next = nextFor{far: e.Far, name: e.called(r), board: board, help: help, again: again}.list(waiting)
	return out, nil
}

// acceptedGates are the gates that a person accepted, by the log or by their own word.
func acceptedGates(r *run.Run, decisions []run.Decided) ([]string, error) {
	gates, err := r.Gates()
	if err != nil {
		return nil, err
	}
	accepted := []string{}
	for _, row := range run.GateTable {
		state, err := r.GateState(gates, row.ID)
		if err != nil {
			return nil, err
		}
		if state.Accepted != nil || slices.ContainsFunc(decisions, func(d run.Decided) bool { return d.What == run.AcceptedGate && d.About == row.ID }) {
			accepted = append(accepted, row.ID)
		}
	}
	return accepted, nil
}

// mostDisputed is how many sentences the end of a run shows with their passages.
const mostDisputed = 10

// called is how a person names a run: by its id where that is enough.
func (e *Env) called(r *run.Run) string {
	if e.Home != "" && r.Root() == filepath.Join(e.Home, r.ID()) {
		return report.ShellWord(r.ID())
	}
	return report.ShellWord(r.Root())
}

// nextFor finds what a person may type.
type nextFor struct {
	far   *Far   // where agents work; nil: on this machine
	name  string // of the run, as typed
	board *job.Board
	help  string
	again string
}

func (n nextFor) list(waiting engine.Waiting) []Next {
	m := n.board.Run().Manifest()
	resume := n.step("run continue", n.again, "resumes it from where it stands")
	partial := n.step("report", " --partial", "shows what there is")
	cancel := n.step("run cancel", "", "ends the run")
	switch {
	case m.Status() == run.Completed:
		return []Next{
			n.step("report", "", "prints the report"),
			n.step("report", " --format html --output report.html", "for a browser: each citation opens its passage"),
			n.step("run log", "", "shows everything that happened"),
			n.step("run verify", "", "holds every file against the log"),
		}
	case m.Status() == run.Cancelled:
		return []Next{partial, n.step("run log", "", "shows everything that happened")}
	case strings.HasPrefix(n.help, "--"):
		flag, _, _ := strings.Cut(n.help, " ")
		return []Next{n.step("run continue", without(n.again, flag)+" "+n.help, "resumes it with another one"), partial, cancel}
	case n.help != "":
		return []Next{{n.help, "lets the agent work"}, resume}
	case m.Status() == run.Failed:
		return append(n.failed(m), partial, cancel)
	case m.Status() == run.Paused:
		return []Next{resume, cancel}
	case waiting == engine.ForPerson:
		return []Next{
			n.step("run continue", n.again, "is the yes to the plan"),
			n.step("perspectives write", " FILE", "takes other perspectives"),
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

func (n nextFor) step(command, more, about string) Next {
	if n.far != nil && command == "run continue" {
		return Next{n.far.Program + " " + command + " " + n.name + more + n.far.Flags(), about}
	}
	return Next{"tidegate " + command + " " + n.name + more, about}
}

// failed are the decisions that remove the reason why a run stopped.
func (n nextFor) failed(m run.Manifest) []Next {
	resume := n.step("run continue", n.again, "then resumes the run")
	failures := m.Failures()
	if len(failures) == 0 {
		return []Next{n.step("run resume", " --accept --reason TEXT", "lets it resume"), resume}
	}
	last := failures[len(failures)-1]
	code, id := tidegate.Code(last.Get("code").Str()), last.Get("gate_id").Str()
	switch {
	case code == tidegate.BudgetExhausted:
		return n.budget()
	case last.Get("jobs").Len() > 0:
		name := last.Get("jobs").Elems()[0].Get("job_id").Str()
		list := []Next{
			n.step("job show", " "+report.ShellWord(name), "shows what was answered and why it was refused"),
			n.step("job retry", " "+report.ShellWord(name)+" --note TEXT", "gives it its tries again, with a note for the agent"),
		}
		if strings.HasPrefix(name, "verify.") {
			list = append(list,
				n.step("job prompt", " "+report.ShellWord(name), "prints the sentences with their passages, for you to be the reader"),
				n.step("job answer", " "+report.ShellWord(name)+" FILE", "takes your verdicts"))
		}
		return append(list, resume)
	case id == "C":
		return []Next{
			n.step("citations list", "", "shows what each source is worth"),
			n.step("citations replace", " CID URL", "takes another page in the place of one that cannot be used"),
			n.step("citations attach", " CID FILE", "takes a file in its place"),
			n.step("gate c", " --accept --reason TEXT", "lets the gate pass as it is"),
			resume,
		}
	case id == "E":
		return []Next{
			n.step("claim show", "", "shows the sentences that do not stand, with their passages"),
			n.step("claim accept", " ID --reason TEXT", "lets one stand by your decision"),
			n.step("gate e", " --accept --reason TEXT", "lets the report pass as it is"),
			n.step("run resume", " --accept --reason TEXT", "gives the writer another round"),
			resume,
		}
	case id != "":
		return []Next{
			n.step("gate "+strings.ToLower(id), "", "shows what the judge found"),
			n.step("gate "+strings.ToLower(id), " --accept --reason TEXT", "lets the gate pass as it is"),
			resume,
		}
	}
	return []Next{n.step("run resume", " --accept --reason TEXT", "lets it resume"), resume}
}

// budget names a budget that lets the run resume.
func (n nextFor) budget() []Next {
	name, more := n.board.Raised()
	if name == "" {
		return []Next{n.step("run continue", n.again, "resumes the run")}
	}
	value := strconv.FormatFloat(more, 'f', -1, 64)
	flags := map[string]string{"max_minutes": "max-minutes", "max_tokens": "max-tokens", "max_cost_usd": "max-cost"}
	if flag := flags[name]; flag != "" {
		return []Next{n.step("run continue", " --"+flag+" "+value+n.again, "resumes with a larger budget")}
	}
	return []Next{n.step("run limit", " "+name+" "+value, "sets a larger budget"), n.step("run continue", n.again, "then resumes the run")}
}

// report shows the result to a person.
func (r Result) report() report.Report {
	out := report.Report{Name: "research", Title: "run " + r.RunID}
	switch {
	case r.Passed:
		out.Status, out.Summary = report.Pass, "completed: every gate passed by its judge"
	case r.Status == run.Completed:
		out.Status, out.Summary = report.Warn, "completed: a person accepted "+r.overridden()
	case r.Status == run.Cancelled:
		out.Status, out.Summary = report.Fail, "cancelled"
	case r.asAsked:
		out.Summary = r.Reason
	case r.WaitingFor == engine.ForPerson:
		out.Status, out.Summary = report.Fail, "waits for a person: "+r.Reason
	default:
		out.Status, out.Summary = report.Warn, "interrupted: nothing is lost, and what was accepted is not asked for again"
	}
	fields := report.Fields{{Name: "folder", Value: r.Root}, {Name: "spent", Value: spentText(r.Spent)}}
	if r.Estimate != nil {
		fields = append(fields, report.Field{Name: "estimated", Value: estimateText(*r.Estimate)})
	}
	if r.Report != nil {
		fields = append(fields, report.Field{Name: "text", Value: *r.Report})
	}
	out.Add(fields)
	if r.Trust != "" {
		out.Add(report.Paragraph(r.Trust))
	}
	if r.Compared != nil {
		compared := r.Compared.Report()
		out.Add(report.Heading("Since " + r.Compared.A.ID))
		out.Add(report.Paragraph(compared.Summary))
		out.Add(compared.Blocks...)
	}
	if all := r.disputed.Sentences; len(all) > 0 {
		out.Add(report.Heading("Sentences that do not stand"))
		r.disputed.Sentences = all[:min(len(all), mostDisputed)]
		out.Add(r.disputed.Report().Blocks...)
		if more := len(all) - mostDisputed; more > 0 {
			out.Add(report.Paragraph(fmt.Sprintf("%s more: `tidegate claim show` lists all.", report.Counted(more, "sentence"))))
		}
	}
	if len(r.Next) > 0 {
		var lines []string
		for _, n := range r.Next {
			lines = append(lines, n.Command, "    "+n.About)
		}
		out.Add(report.Heading("What to type next"), report.Preformatted(strings.Join(lines, "\n")))
	}
	return out
}

// overridden names what a person accepted in the place of judges.
func (r Result) overridden() string {
	var what []string
	if slices.ContainsFunc(r.Decisions, func(d run.Decided) bool { return d.What == run.AcceptedRecord }) {
		what = append(what, "a record that did not match")
	}
	if len(r.Accepted) > 0 {
		what = append(what, "gate "+strings.Join(r.Accepted, ", "))
	}
	if r.Sentences > step.MaxAccepted {
		what = append(what, fmt.Sprintf("%d sentences", r.Sentences))
	}
	return strings.Join(what, ", ")
}

func spentText(s job.Spent) string {
	return fmt.Sprintf("%.1f minutes, %s tokens, %.2f USD", s.Minutes, grouped(s.Tokens), s.CostUSD)
}

// estimateText is what was expected when the run began, in the form of what was spent.
func estimateText(e run.Estimate) string {
	text := fmt.Sprintf("%s minutes, %s tokens", grouped(e.Minutes), grouped(e.Tokens))
	if e.CostUSD != nil {
		text += fmt.Sprintf(", %.2f USD", *e.CostUSD)
	}
	return text + ", when it began"
}

// grouped is a whole number with its thousands separated.
func grouped(f float64) string {
	digits := strconv.FormatFloat(math.Round(f), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
