package research

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// plan is what a person says yes to: which agents work on what, within which budget,
// and what is sent where.
type plan struct {
	Event        string       `json:"event"` // plan
	RunID        string       `json:"run_id"`
	Question     string       `json:"question"`
	Agents       []planAgent  `json:"agents"`
	Perspectives []contract   `json:"perspectives"` // empty before the planner has named them
	Jobs         int          `json:"jobs"`         // the known ones; a second wave and rounds of review add to them
	Budget       []budgetLine `json:"budget"`
	Estimate     estimate     `json:"estimate"`
	Sent         []string     `json:"sent"`
	Digest       string       `json:"perspectives_digest"` // of the bytes that the yes is for
}

type planAgent struct {
	Role   string `json:"role"`
	Driver string `json:"driver"`
	Model  string `json:"model"`
}

// contract is one perspective as the plan shows it.
type contract struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Track      string   `json:"track"`
	MaxWords   float64  `json:"max_words"`
	MaxSources float64  `json:"max_sources"`
	Sections   []string `json:"sections"`
}

type budgetLine struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value"` // null for no limit
}

// estimate is what a run will probably take.
type estimate struct {
	Tokens  float64 `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
	Minutes float64 `json:"minutes"`
	Basis   string  `json:"basis"`
}

// planOf describes what is about to happen. Perspectives are nil before the
// planner has named them.
func (e *Env) planOf(ctx context.Context, o order, c *crew, runID string, budget run.Budget, perspectives []byte) (plan, error) {
	p := plan{Event: "plan", RunID: runID, Question: o.question, Agents: []planAgent{}, Perspectives: []contract{}, Sent: c.sends(o)}
	for _, role := range job.Roles() {
		p.Agents = append(p.Agents, planAgent{role, c.agents[role].Driver, c.agents[role].Model})
	}
	most := budget.MaxParallel
	if o.parallel > 0 {
		most = min(most, float64(o.parallel))
	}
	for _, name := range run.BudgetNames() {
		value := budget.Of(name)
		if name == "max_parallel" {
			value = most
		}
		line := budgetLine{Name: name, Value: &value}
		if math.IsInf(value, 1) {
			line.Value = nil
		}
		p.Budget = append(p.Budget, line)
	}
	n := o.count
	if perspectives != nil {
		doc, err := codec.Parse(perspectives)
		if err != nil {
			return plan{}, err
		}
		p.Digest = codec.DigestBytes(perspectives)
		for _, v := range doc.Get("perspectives").Elems() {
			p.Perspectives = append(p.Perspectives, contractOf(v))
		}
		n = len(p.Perspectives)
	}
	if n == 0 {
		n = usualPerspectives
	}
	p.Jobs = 2*n + 2 // an output and a summary each, the synthesis, its review
	if perspectives == nil {
		p.Jobs++ // the planner
	}
	var err error
	p.Estimate, err = e.estimateOf(ctx, c, p.Jobs, n, most)
	return p, err
}

func contractOf(v *codec.Value) contract {
	terms := v.Get("prompt_contract")
	c := contract{ID: v.Get("id").Str(), Title: v.Get("title").Str(), Track: v.Get("track").Str(), Sections: []string{}}
	c.MaxWords, _ = terms.Get("max_words").Float()
	c.MaxSources, _ = terms.Get("max_sources").Float()
	for _, s := range terms.Get("must_include_sections").Elems() {
		c.Sections = append(c.Sections, s.Str())
	}
	return c
}

// Figures for a guess, where no run at home tells more.
const (
	usualPerspectives = 5
	waveTokens        = 120_000 // of one researcher: it reads pages, and each step reads all of it again
	otherTokens       = 20_000
	waveMinutes       = 5
	otherMinutes      = 2
	tokenPrice        = 3.0 // USD per million
	lookedAt          = 20  // runs at home
)

// estimateOf estimates what the jobs will take, from the completed runs at home with
// the same agents, or as a guess. Recorded answers take nothing.
func (e *Env) estimateOf(ctx context.Context, c *crew, jobs, waves int, parallel float64) (estimate, error) {
	var sum estimate
	done, runs := 0, 0
	if listed, err := run.List(ctx, e.desk(), e.Home); err == nil {
		for _, r := range slices.Backward(listed.Runs) {
			if runs == lookedAt {
				break
			}
			if r.Status != run.Completed {
				continue
			}
			spent, worked, ok := e.spentIn(ctx, r.Root, c)
			if !ok {
				continue
			}
			runs++
			done += worked
			sum.Tokens += spent.Tokens
			sum.CostUSD += spent.CostUSD
			sum.Minutes += spent.Minutes
		}
	}
	if done > 0 {
		scale := float64(jobs) / float64(done)
		return estimate{sum.Tokens * scale, sum.CostUSD * scale, sum.Minutes * scale, "from " + report.Counted(runs, "completed run") + " of these agents at home"}, nil
	}
	if c.recorded() {
		return estimate{Basis: "the answers are recorded: no model is asked, and nothing is paid"}, nil
	}
	guess := estimate{Tokens: float64(waves*waveTokens + (jobs-waves)*otherTokens), Basis: "a guess: no completed run of these agents is at home"}
	rounds := func(n int) float64 { return math.Ceil(float64(n) / parallel) }
	guess.Minutes = rounds(waves)*waveMinutes + rounds(waves)*otherMinutes + float64(jobs-2*waves)*otherMinutes
	if !c.free() {
		guess.CostUSD = guess.Tokens / 1e6 * tokenPrice
	}
	return guess, nil
}

// spentIn is what a run with the same agents took, and for how many jobs.
func (e *Env) spentIn(ctx context.Context, root string, c *crew) (job.Spent, int, bool) {
	manifest, err := run.Find(e.desk(), e.Home, e.Dir, root)
	if err != nil {
		return job.Spent{}, 0, false
	}
	board, err := job.OpenBoard(ctx, e.desk(), manifest)
	if err != nil {
		return job.Spent{}, 0, false
	}
	defer board.Close()
	for role, was := range c.names() {
		if board.Policy().Agents[role] != was {
			return job.Spent{}, 0, false
		}
	}
	jobs := len(board.Jobs())
	return board.Spent(), jobs, jobs > 0
}

// providers are where the clients send prompts unless they are configured
// otherwise.
var providers = map[string]string{"claude": "Anthropic", "codex": "OpenAI", "gemini": "Google", "opencode": "the provider that it is set up for"}

// sends says what leaves this machine, and to whom.
func (c *crew) sends(o order) []string {
	if c.named == demoAgents {
		return []string{"Nothing leaves this machine: the answers and the pages are recorded."}
	}
	var lines []string
	for _, role := range job.Roles() {
		driver := c.agents[role].Driver
		name, rest, _ := strings.Cut(driver, ":")
		line := ""
		switch name {
		case "recorded":
			line = "Nothing is sent to a model: the answers are recorded."
		case "exec", "acp":
			line = "The question and all prompts go to the program " + rest + " on " + c.where() + "."
		case "model":
			line = "The question and all prompts go to " + rest + "."
		default:
			line = "The question and all prompts go to " + name + ", and by it to " + providers[name] + "."
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if c.far != nil {
		lines = append(lines, "Agents work on "+c.where()+", which get all prompts.")
	}
	switch o.sensitivity {
	case "restricted":
		lines = append(lines, "Agents get no web tools. The pages that they cite are fetched from this machine.")
	case "no_web":
		lines = append(lines, "Agents get no web tools, and tidegate opens no connection for this run.")
	default:
		lines = append(lines, "Agents may search and read the web. The pages that they cite are fetched from this machine.")
	}
	if o.files != "" {
		lines = append(lines, "The texts of "+report.Counted(len(o.documents), "file")+" in "+o.files+" stand in the prompts.")
	}
	return lines
}

// report shows the plan to a person.
func (p plan) report() report.Report {
	out := report.Report{Name: "plan", Title: "Plan: " + p.Question}
	if len(p.Perspectives) > 0 {
		table := report.NewTable("Perspective", "Track", ">Words", ">Sources", "What it looks at")
		sections := report.Fields{}
		for _, c := range p.Perspectives {
			table.Row(report.None, c.ID, c.Track, number(c.MaxWords), number(c.MaxSources), c.Title)
			sections = append(sections, report.Field{Name: c.ID, Value: strings.Join(c.Sections, ", ")})
		}
		if !slices.ContainsFunc(sections, func(f report.Field) bool { return f.Value != sections[0].Value }) {
			sections = report.Fields{{Name: "each", Value: sections[0].Value}}
		}
		out.Add(report.Heading("Perspectives, with the most words and sources of each"), table, report.Heading("Sections that an output must have"), sections)
	}
	agents := report.Fields{}
	for _, line := range groupAgents(p.Agents) {
		agents = append(agents, report.Field{Name: strings.Join(line.roles, ", "), Value: line.agent})
	}
	out.Add(report.Heading("Agents"), agents)
	budget := report.Fields{}
	for _, b := range p.Budget {
		value := "no limit"
		if b.Value != nil {
			value = number(*b.Value)
		}
		budget = append(budget, report.Field{Name: budgetWords[b.Name], Value: value})
	}
	out.Add(report.Heading("Budget"), budget)
	out.Add(report.Heading("What it will probably take"), report.Fields{
		{Name: "jobs", Value: fmt.Sprintf("%d, and more with a second wave or another round of review", p.Jobs)},
		{Name: "tokens", Value: about(p.Estimate.Tokens, grouped(p.Estimate.Tokens), "none")},
		{Name: "cost", Value: about(p.Estimate.CostUSD, fmt.Sprintf("%.2f USD", p.Estimate.CostUSD), "none")},
		{Name: "time", Value: about(p.Estimate.Minutes, report.Counted(int(math.Ceil(p.Estimate.Minutes)), "minute"), "a moment")},
		{Name: "known", Value: p.Estimate.Basis},
	})
	out.Add(report.Heading("What is sent where"), report.Bullets(p.Sent))
	return out
}

// about is a part of an estimate in words; zero is the word for none.
func about(figure float64, words, zero string) string {
	if figure == 0 {
		return zero
	}
	return "about " + words
}

// budgetWords are the names of the budget as a person reads them.
var budgetWords = map[string]string{
	"max_parallel": "agents at once", "tries": "tries per job", "attempt_minutes": "minutes per try", "idle_minutes": "minutes without a word",
	"max_minutes": "minutes in all", "max_tokens": "tokens in all", "max_cost_usd": "USD in all", "max_answer_kb": "KiB of an answer", "max_mb": "MiB of the folder",
}

type agentRoles struct {
	agent string
	roles []string
}

// groupAgents groups the roles that have the same agent.
func groupAgents(agents []planAgent) []agentRoles {
	var lines []agentRoles
	for _, a := range agents {
		name := a.Driver
		if a.Model != "" {
			name += ", model " + a.Model
		}
		i := slices.IndexFunc(lines, func(l agentRoles) bool { return l.agent == name })
		if i < 0 {
			lines = append(lines, agentRoles{agent: name})
			i = len(lines) - 1
		}
		lines[i].roles = append(lines[i].roles, a.Role)
	}
	return lines
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
