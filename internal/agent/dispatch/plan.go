package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/model"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Plan is what a person says yes to: which agents work on what, within which budget,
// and what is sent where.
type Plan struct {
	Event    string      `json:"event"` // plan
	RunID    string      `json:"run_id"`
	Question string      `json:"question"`
	Agents   []planAgent `json:"agents"`
	// Confinement is how they are kept; empty where no program is started here.
	Confinement  run.Confinement `json:"confinement"`
	Perspectives []contract      `json:"perspectives"` // empty before the planner has named them
	Jobs         int             `json:"jobs"`         // the known ones; a second wave and rounds of review add to them
	Budget       []budgetLine    `json:"budget"`
	Estimate     estimate        `json:"estimate"`
	Reading      reading         `json:"reading"` // what of it the second reader takes
	Sent         []string        `json:"sent"`
	Allowed      []string        `json:"allowed_sources,omitzero"` // what the person asks of sources
	Asked        []string        `json:"report,omitzero"`          // what the person asks of the report
	Earlier      []string        `json:"builds_on,omitzero"`       // the run that it builds on, and what that left open
	Digest       string          `json:"perspectives_digest"`      // of the bytes that the yes is for
}

type planAgent struct {
	Role   string `json:"role"`
	Driver string `json:"driver"`
	Model  string `json:"model"`
	// IdleMinutes is how long the agent may be silent; null for no limit.
	IdleMinutes *float64 `json:"idle_minutes"`
}

// silence is how long an agent may be silent; nil for no limit. Usual is what the
// run says: a program that exec starts has no words until it ends.
func silence(agent engine.Agent, usual float64) *float64 {
	switch {
	case agent.Idle > 0:
		return &agent.Idle
	case Scheme(agent.Driver) == "exec":
		return nil
	}
	return &usual
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

// reading is what the second reader will probably take.
type reading struct {
	Jobs    int      `json:"jobs"`
	Tokens  float64  `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"` // null where the price of a model is not known
}

// estimate is what a run will probably take.
type estimate struct {
	Tokens  float64  `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"` // null where the price of a model is not known
	Minutes float64  `json:"minutes"`
	Basis   string   `json:"basis"`
	Prices  string   `json:"prices"` // where the cost comes from, "" where that is part of Basis
}

// planOf describes what is about to happen. Perspectives are nil before the
// planner has named them.
func (e *Env) planOf(ctx context.Context, o Order, runID string, budget run.Budget, perspectives []byte) (Plan, error) {
	p := Plan{Event: "plan", RunID: runID, Question: o.Query, Agents: []planAgent{}, Perspectives: []contract{}, Sent: o.Team.sends(o), Allowed: append(o.Frozen.Lines(""), o.Policy.Lines("")...), Asked: o.Shape.Lines(), Earlier: o.Earlier.Lines()}
	if n := utf8.RuneCountInString(o.Query); n > longQuestion {
		p.Sent = append(p.Sent, fmt.Sprintf("The question has %s characters, all of which stand in every prompt.", Grouped(float64(n))))
	}
	for _, role := range job.Roles() {
		agent := o.Team.Agents[role]
		p.Agents = append(p.Agents, planAgent{role, agent.Driver, agent.Model, silence(agent, budget.IdleMinutes)})
	}
	var err error
	if p.Confinement, err = o.Team.confinement(o.hasWeb()); err != nil {
		return Plan{}, err
	}
	most := budget.MaxParallel
	if o.Parallel > 0 {
		most = min(most, float64(o.Parallel))
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
	n := o.Perspectives
	if perspectives != nil {
		doc, err := codec.Parse(perspectives)
		if err != nil {
			return Plan{}, err
		}
		p.Digest = codec.DigestBytes(perspectives)
		for _, v := range doc.Get("perspectives").Elems() {
			p.Perspectives = append(p.Perspectives, contractOf(v))
			if _, _, unlisted := step.Platforms(v.Get("expected_platforms").Strs(), o.Team.searchNames()); len(unlisted) > 0 {
				p.Sent = append(p.Sent, "The perspective "+v.Get("id").Str()+" expects "+strings.Join(unlisted, ", ")+", which this run does not ask: it is ignored.")
			}
		}
		n = len(p.Perspectives)
	}
	if n == 0 {
		n = UsualPerspectives
	}
	p.Jobs = 2*n + 2 // an output and a summary each, the synthesis, its review
	if !o.Evidence.NoReader && !o.Evidence.NoGrounding {
		p.Reading.Jobs = max(2, o.Shape.Words()/wordsRead) // a report of usual length is read in two parts
		p.Jobs += p.Reading.Jobs
	}
	if template, err := o.Shape.Sections(); err == nil && o.Shape.InParts() {
		p.Jobs += 1 + len(template.Titles(func(s evidence.Section) bool { return !s.Summary })) // the outline, and the sections
		p.Asked = append(p.Asked, "It is written by parts: an outline, its sections side by side, and what joins them.")
	}
	if perspectives == nil {
		p.Jobs++ // the planner
	}
	p.Estimate = e.estimateOf(ctx, o.Team, p.Jobs, n, most)
	p.Reading = p.Reading.of(p.Estimate)
	return p, err
}

// FirstPlan is the plan of an order before its perspectives are named.
func (e *Env) FirstPlan(ctx context.Context, o Order) (Plan, error) {
	return e.planOf(ctx, o, "", run.DefaultBudget(o.Budget), nil)
}

// CurrentPlan is the plan of a run with its current perspectives, and their bytes.
func (e *Env) CurrentPlan(ctx context.Context, manifest string, o Order) (Plan, []byte, error) {
	r, err := run.Open(ctx, e.OwnDesk(), manifest)
	if err != nil {
		return Plan{}, nil, err
	}
	defer r.Close()
	policy, err := r.Policy()
	if err != nil {
		return Plan{}, nil, err
	}
	data, err := r.Folder().Read(r.Layout().Perspectives)
	if err != nil {
		return Plan{}, nil, err
	}
	p, err := e.planOf(ctx, o, r.ID(), policy.Budget, data)
	return p, data, err
}

// of is the part of an estimate that the second reader takes: a job of it is no larger
// than another that is no research.
func (r reading) of(e estimate) reading {
	r.Tokens = min(float64(r.Jobs)*otherTokens, e.Tokens)
	if e.CostUSD != nil {
		r.CostUSD = new(float64)
		if e.Tokens > 0 {
			*r.CostUSD = *e.CostUSD * r.Tokens / e.Tokens
		}
	}
	return r
}

// words say what the second reader takes.
func (r reading) words() string {
	if r.Jobs == 0 {
		return "none"
	}
	words := fmt.Sprintf("%d of these jobs, %s tokens", r.Jobs, about(r.Tokens, Grouped(r.Tokens), "no"))
	if r.CostUSD != nil && *r.CostUSD > 0 {
		words += fmt.Sprintf(", about %.2f USD", *r.CostUSD)
	}
	return words
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
	UsualPerspectives = 5
	longQuestion      = 2000    // characters, from which on the plan says what they cost
	waveTokens        = 120_000 // of one researcher: it reads pages, and each step reads all of it again
	otherTokens       = 20_000
	WaveMinutes       = 5
	OtherMinutes      = 2
	tokenPrice        = 3.0 // USD per million
	lookedAt          = 20  // runs at home
	wordsRead         = 350 // of a report, by a second reader in one job
)

// estimateOf estimates what the jobs will take, from the completed runs at home with
// the same agents, or as a guess. Recorded answers take nothing.
func (e *Env) estimateOf(ctx context.Context, t *Team, jobs, waves int, parallel float64) estimate {
	var sum job.Spent
	done, runs := 0, 0
	perMillion, prices := t.pays()
	costs := func(usd float64) *float64 {
		if perMillion < 0 {
			return nil
		}
		return &usd
	}
	if listed, err := run.List(ctx, e.OwnDesk(), e.Home, run.ListInput{}); err == nil {
		for _, r := range slices.Backward(listed.Runs) {
			if runs == lookedAt {
				break
			}
			if r.Status != run.Completed {
				continue
			}
			spent, reservation, ok := e.spentIn(ctx, r.Root, t)
			if !ok {
				continue
			}
			runs++
			done += reservation
			sum.Tokens += spent.Tokens
			sum.CostUSD += spent.CostUSD
			sum.Minutes += spent.Minutes
		}
	}
	if done > 0 {
		scale := float64(jobs) / float64(done)
		return estimate{sum.Tokens * scale, costs(sum.CostUSD * scale), sum.Minutes * scale, "from " + report.Counted(runs, "completed run") + " of these agents at home", prices}
	}
	if t.recorded() {
		return estimate{CostUSD: new(float64), Basis: "the answers are recorded: no model is asked, and nothing is paid"}
	}
	guess := estimate{Tokens: float64(waves*waveTokens + (jobs-waves)*otherTokens), Basis: "a guess: no completed run of these agents is at home", Prices: prices}
	guess.CostUSD = costs(guess.Tokens / 1e6 * perMillion)
	rounds := func(n int) float64 { return math.Ceil(float64(n) / parallel) }
	guess.Minutes = rounds(waves)*WaveMinutes + rounds(waves)*OtherMinutes + float64(jobs-2*waves)*OtherMinutes
	return guess
}

// expected is what a run is expected to take as it begins, for its record; nil where recorded
// agents work, which take nothing.
func (e *Env) expected(ctx context.Context, o Order) (*run.Estimate, error) {
	if o.Team.recorded() {
		return nil, nil
	}
	var perspectives []byte
	if o.Contracts != nil {
		var err error
		if perspectives, err = codec.MarshalFile(o.Contracts); err != nil {
			return nil, err
		}
	}
	p, err := e.planOf(ctx, o, "", run.DefaultBudget(o.Budget), perspectives)
	if err != nil {
		return nil, err
	}
	out := run.Estimate{Tokens: math.Round(p.Estimate.Tokens), Minutes: math.Ceil(p.Estimate.Minutes)}
	if usd := p.Estimate.CostUSD; usd != nil {
		out.CostUSD = new(math.Round(*usd*100) / 100)
	}
	return &out, nil
}

// outputShare is the part of a run's tokens that models write; the rest they read.
const outputShare = 0.1

// pays is what a million tokens of the team will probably cost, by the price of the
// researchers' model, and how that is known. It is negative where a price is not known.
func (t *Team) pays() (perMillion float64, how string) {
	if why := t.free(); why != "" {
		return 0, why
	}
	unknown := ""
	for _, role := range t.roles {
		agent := t.Agents[role]
		if place, endpoint := model.PlaceOf(t.Drivers[role], agent.Model); endpoint && agent.Price == nil && place.Price == nil && !place.Local && !place.Reports && unknown == "" {
			unknown = cmp.Or(agent.Model, agent.Driver) + " is not among the prices of " + place.Day
		}
	}
	if unknown != "" {
		return -1, unknown
	}
	const researcher = "researcher"
	price, how := t.Agents[researcher].Price, "by the price in "+config.FileName
	if price == nil {
		place, _ := model.PlaceOf(t.Drivers[researcher], t.Agents[researcher].Model)
		price, how = place.Price, "by the prices of "+place.Day
	}
	if price != nil {
		return (1-outputShare)*price.Input + outputShare*price.Output, how
	}
	return tokenPrice, ""
}

// spentIn is what a run with the same agents took, and for how many jobs.
func (e *Env) spentIn(ctx context.Context, root string, t *Team) (job.Spent, int, bool) {
	manifest, err := run.Find(e.OwnDesk(), e.Home, e.Dir, root)
	if err != nil {
		return job.Spent{}, 0, false
	}
	board, err := job.OpenBoard(ctx, e.OwnDesk(), manifest)
	if err != nil {
		return job.Spent{}, 0, false
	}
	defer board.Close()
	for role, was := range t.names() {
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
func (t *Team) sends(o Order) []string {
	if t.named == DemoAgents {
		return []string{"Nothing leaves this machine: the answers and the pages are recorded."}
	}
	var lines []string
	for _, role := range job.Roles() {
		name, rest, _ := strings.Cut(t.Agents[role].Driver, ":")
		line := ""
		switch name {
		case "recorded":
			line = "Nothing is sent to a model: the answers are recorded."
		case "exec", "acp":
			line = "The question and all prompts go to the program " + rest + " on " + t.workers.Place() + "."
			if named := client.FilesOf(t.Drivers[role]); len(named) > 0 && t.workers == nil && !t.Cells.Unconfined {
				line += " It may read what its arguments name: " + strings.Join(named, ", ") + "."
			}
		case "api", "model":
			place, _ := model.PlaceOf(t.Drivers[role], "")
			line = "The question and all prompts go to " + place.Title + " at " + place.URL + "."
		default:
			line = "The question and all prompts go to " + name + ", and by it to " + providers[name] + "."
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	switch verifier := t.Agents["verifier"].Driver; {
	case o.Evidence.NoReader || o.Evidence.NoGrounding:
		lines = append(lines, "No second agent reads the report.")
	case t.single():
		lines = append(lines, "The report's sentences, with passages of the pages that they cite, are read by the writer's own agent: there is no other, and the report says so.")
	default:
		lines = append(lines, "The report's sentences, with passages of the pages that they cite and nothing else, go to "+Scheme(verifier)+", who reads them a second time.")
	}
	if t.workers != nil {
		lines = append(lines, "Agents work on "+t.workers.Place()+", which get all prompts. How these keep their agents is their word.")
	}
	switch {
	case !o.Frozen.IsZero():
		lines = append(lines, "Agents get no web tools. Their searches, the pages that they cite and what registries say of papers come from the archive of the run "+o.Frozen.RunID+": tidegate opens no connection for them.")
	case o.Sensitivity == "restricted":
		lines = append(lines, "Agents get no web tools. The pages that they cite are fetched from this machine.")
	case o.Sensitivity == "no_web":
		lines = append(lines, "Agents get no web tools, and tidegate opens no connection for this run.")
	default:
		lines = append(lines, t.reads()+" The pages that they cite are fetched from this machine.")
	}
	if o.Earlier != nil {
		lines = append(lines, "Researchers, planner and writer are shown the sentences of the report of run "+o.From.RunID+" and what it left open.")
	}
	if o.Sensitivity != "no_web" && o.Frozen.IsZero() {
		lines = append(lines, "Papers and books that they cite by a DOI, an arXiv, PubMed or ISBN id are looked up by that id at Crossref, doi.org, arXiv, Europe PMC and Open Library.")
	}
	if o.Files != "" {
		lines = append(lines, o.filesShown()...)
	}
	return lines
}

// filesShown says what prompts show of the person's own documents.
func (o Order) filesShown() []string {
	files, size := report.Counted(len(o.Documents.List), "file")+" in "+o.Files, o.Documents.Size()
	lines := []string{"The texts of " + files + " stand in the prompts."}
	if size > sourcing.MaxWhole {
		lines = []string{fmt.Sprintf("Of %s (%d KiB of text) each researcher is shown an outline and the passages that fit its perspective, %d KiB at most; its prompt says how much that is.", files, size>>10, sourcing.MaxQuoted>>10)}
	}
	if n := len(o.Documents.Unread); n > 0 {
		lines = append(lines, report.Counted(n, "file")+" cannot be read and "+map[bool]string{true: "is", false: "are"}[n == 1]+" left out, such as "+report.OneLine(o.Documents.Unread[0].String())+".")
	}
	return lines
}

// reads says what researchers can do on the web.
func (t *Team) reads() string {
	may := "Agents may search and read the web."
	if IsEndpoint(t.Agents["researcher"].Driver) {
		may = "Agents may search, and open pages."
		if len(t.search) == 0 {
			return "Agents have no search: they open only pages whose addresses they know."
		}
	}
	if len(t.search) == 0 {
		return may
	}
	return may + " " + t.asks()
}

// asks says what is sent to which search services.
func (t *Team) asks() string {
	var asked, not []string
	for _, p := range t.search {
		if lacks := p.Lacks(); lacks != "" {
			not = append(not, lacks)
			continue
		}
		at := cmp.Or(p.Address, p.URL)
		if p.Key != "" {
			at += ", with the key in " + p.KeyEnv
		}
		asked = append(asked, p.Title+" ("+at+")")
	}
	words := "The words of each search that tidegate makes for them, and its language, go from this machine to "
	if len(asked) == 0 {
		words = "No search service can be asked"
	}
	words += strings.Join(asked, ", ")
	if len(asked) > 1 {
		words += ", to one after the other until one answers"
	}
	if len(not) > 0 {
		words += ". Not asked: " + strings.Join(not, "; ")
	}
	return words + untrusted(t.project, "service") + "."
}

// report shows the plan to a person. The perspectives come last, so that a small
// terminal still has them when the question comes.
func (p Plan) Report() report.Report {
	out := report.Report{Name: "plan", Title: "Plan: " + tidegate.Cut(p.Question)}
	agents := report.Fields{}
	named := func(a planAgent) string {
		if a.Model == "" {
			return a.Driver
		}
		return a.Driver + ", model " + a.Model
	}
	for _, line := range byRoles(p.Agents, named) {
		agents = append(agents, report.Field{Name: strings.Join(line.roles, ", "), Value: line.what})
	}
	out.Add(report.Heading("Agents"), agents)
	if kept := p.Confinement.String(); kept != "" {
		out.Add(report.Paragraph(kept))
	}
	budget := report.Fields{}
	for _, b := range p.Budget {
		value := "no limit"
		if b.Value != nil {
			value = Number(*b.Value)
		}
		if b.Name == "idle_minutes" {
			value = silenceWords(p.Agents)
		}
		budget = append(budget, report.Field{Name: budgetWords[b.Name], Value: value})
	}
	out.Add(report.Heading("Budget"), budget)
	out.Add(report.Heading("What it will probably take"), report.Fields{
		{Name: "jobs", Value: fmt.Sprintf("%d, and more with a second wave or another round of review", p.Jobs)},
		{Name: "tokens", Value: about(p.Estimate.Tokens, Grouped(p.Estimate.Tokens), "none to pay for; recorded answers count by their length")},
		{Name: "cost", Value: p.Estimate.cost()},
		{Name: "time", Value: about(p.Estimate.Minutes, report.Counted(int(math.Ceil(p.Estimate.Minutes)), "minute"), "a moment")},
		{Name: "reader", Value: p.Reading.words()},
		{Name: "known", Value: p.Estimate.Basis},
	})
	out.Add(report.Heading("What is sent where"), report.Bullets(p.Sent))
	for _, part := range []struct {
		title string
		lines []string
	}{{"The report", p.Asked}, {"The earlier run", p.Earlier}, {"Which sources are allowed", p.Allowed}} {
		if len(part.lines) > 0 {
			out.Add(report.Heading(part.title), report.Bullets(part.lines))
		}
	}
	if len(p.Perspectives) > 0 {
		table := report.NewTable("Perspective", "Track", ">Words", ">Sources", "What it looks at")
		sections := report.Fields{}
		for _, c := range p.Perspectives {
			table.Row(report.None, c.ID, c.Track, Number(c.MaxWords), Number(c.MaxSources), c.Title)
			sections = append(sections, report.Field{Name: c.ID, Value: strings.Join(c.Sections, ", ")})
		}
		if !slices.ContainsFunc(sections, func(f report.Field) bool { return f.Value != sections[0].Value }) {
			sections = report.Fields{{Name: "each", Value: sections[0].Value}}
		}
		out.Add(report.Heading("Sections that an output must have"), sections, report.Heading("Perspectives, with the most words and sources of each"), table)
	}
	return out
}

// cost is what the run will cost, in words.
func (e estimate) cost() string {
	switch {
	case e.CostUSD == nil:
		return "unknown: " + e.Prices
	case *e.CostUSD == 0 && e.Prices != "":
		return "none: " + e.Prices
	case *e.CostUSD == 0:
		return "none"
	}
	words := fmt.Sprintf("about %.2f USD", *e.CostUSD)
	if e.Prices != "" {
		words += ", " + e.Prices
	}
	return words
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
	"max_minutes": "minutes in all", "max_tokens": "tokens in all", "max_cost_usd": "USD in all", "max_answer_kb": "KiB of an answer", "max_mb": "MiB of the folder", "max_searches": "searches",
}

// agentRoles are the roles of which the same is said.
type agentRoles struct {
	what  string
	roles []string
}

// silenceWords says how long agents may be silent, for each role where that differs.
func silenceWords(agents []planAgent) string {
	groups := byRoles(agents, func(a planAgent) string {
		if a.IdleMinutes == nil {
			return "no limit of silence"
		}
		return Number(*a.IdleMinutes)
	})
	if len(groups) == 1 {
		return groups[0].what
	}
	var words []string
	for _, g := range groups {
		words = append(words, g.what+" ("+strings.Join(g.roles, ", ")+")")
	}
	return strings.Join(words, "; ")
}

// byRoles groups the roles of which the same is said.
func byRoles(agents []planAgent, said func(planAgent) string) []agentRoles {
	var groups []agentRoles
	for _, a := range agents {
		what := said(a)
		i := slices.IndexFunc(groups, func(g agentRoles) bool { return g.what == what })
		if i < 0 {
			groups = append(groups, agentRoles{what: what})
			i = len(groups) - 1
		}
		groups[i].roles = append(groups[i].roles, a.Role)
	}
	return groups
}

// Number is a figure in digits.
func Number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Grouped is a whole number with its thousands separated.
func Grouped(f float64) string {
	digits := strconv.FormatFloat(math.Round(f), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// SpentText is what was spent, in words.
func SpentText(s job.Spent) string {
	return fmt.Sprintf("%.1f minutes, %s tokens, %.2f USD", s.Minutes, Grouped(s.Tokens), s.CostUSD)
}
