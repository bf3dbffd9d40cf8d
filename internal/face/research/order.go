package research

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

// order is what a person asked for.
type order struct {
	question     string
	sensitivity  string
	perspectives *codec.Value // of --perspectives FILE, nil where a planner names them
	count        int          // of --perspectives N
	files        string
	documents    step.Documents
	parallel     int
	budget       map[string]float64 // by the names of the policy
	servers      []string           // MCP servers that agents may use, by name
	origins      string             // as the run's policy has it
	search       []string           // services that may be asked; nil: those of the home
	evidence     run.EvidenceChoice
	sources      policy.Policy // which sources are allowed
	frozen       run.Frozen    // the run whose archive answers in the place of the web
	from         run.Frozen    // the run that this one builds on
	earlier      *run.Earlier  // what it takes from it
	shape        evidence.Shape
	before       string               // the folder of the run with whose report the new one is compared; "" for none
	kept         map[string]run.Agent // the agents of that run, by role
	yes          bool
	planOnly     bool
}

// budgetFlags are the flags of the budget. Parallel bounds one home and is not part
// of the run's policy.
var budgetFlags = []cli.Flag{
	{Name: "parallel", About: "most agents at once (default as the run's budget says: 4)", Kind: tool.Word},
	{Name: "max-cost", About: "most USD that the whole run may cost", Kind: tool.Word},
	{Name: "max-minutes", About: "most minutes in which agents work (default 240)", Kind: tool.Word},
	{Name: "max-tokens", About: "most tokens, in and out", Kind: tool.Word},
}

// policyNames are the names in the policy of the flags of the budget, in the order
// of the policy.
var policyNames = []struct{ flag, name string }{{"max-minutes", "max_minutes"}, {"max-tokens", "max_tokens"}, {"max-cost", "max_cost_usd"}}

// budgetTyped reads the flags of the budget. It returns INVALID_ARGS.
func budgetTyped(call cli.Invocation) (parallel int, budget map[string]float64, err error) {
	if text := call.Flag("parallel"); text != "" {
		if parallel, err = strconv.Atoi(text); err != nil || parallel < 1 || parallel > 1000 {
			return 0, nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("parallel", tidegate.Cut(text)), "--parallel must be a whole number from 1 to 1000, got %q", tidegate.Cut(text))
		}
	}
	budget = map[string]float64{}
	for _, row := range policyNames {
		text := call.Flag(row.flag)
		if text == "" {
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
			return 0, nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(row.flag, tidegate.Cut(text)), "--%s must be a number that is not negative, got %q", row.flag, tidegate.Cut(text))
		}
		budget[row.name] = value
	}
	return parallel, budget, nil
}

// sourceFlags are the flags of the policy of sources.
var sourceFlags = []cli.Flag{
	{Name: "allow-domains", About: "use only sources of these `domains` and those below them", Kind: tool.Word, List: true},
	{Name: "deny-domains", About: "use no sources of these `domains` and those below them", Kind: tool.Word, List: true},
	{Name: "since", About: "use only sources of this `day` or later, such as 2023-01-01; a page without a date is kept and marked", Kind: tool.Word},
	{Name: "dated", About: "refuse pages without a date", Kind: tool.Switch},
	{Name: "source-language", About: "use only sources in these `languages`, such as en or de, as far as that shows", Kind: tool.Word, List: true},
	{Name: "source-class", About: "use only sources of these `classes`: primary, scholarly, official, news, reference, company, forum, other, by the table of citations rules --classes", Kind: tool.Word, List: true, Complete: policy.ClassNames},
}

// sourcesTyped reads the flags of the policy of sources. It returns INVALID_ARGS.
func sourcesTyped(call cli.Invocation) (policy.Policy, error) {
	return policy.Policy{AllowDomains: call.Flags["allow-domains"], DenyDomains: call.Flags["deny-domains"], Since: call.Flag("since"), Dated: call.Flag("dated") == "true",
		Languages: call.Flags["source-language"], Classes: call.Flags["source-class"]}.Checked()
}

// shapeFlags are the flags of what is asked of the report.
var shapeFlags = []cli.Flag{
	{Name: "length", About: "how long the report is: brief (400 words), standard (1,500), long (5,000) or a number of `words`, give or take a fifth", Kind: tool.Word, Complete: evidence.LengthNames()},
	{Name: "for", About: "whom the report is for, such as \"the board of a port\"", Kind: tool.Word},
	{Name: "template", About: "the sections of the report: " + strings.Join(evidence.TemplateNames(), ", ") + ", or a `file` with an outline of your own in Markdown (default briefing)", Kind: tool.Word, Complete: evidence.TemplateNames()},
	{Name: "language", About: "the `language` of the report: " + strings.Join(evidence.Languages(), ", ") + " (default that of the question)", Kind: tool.Word, Complete: evidence.Languages()},
}

// shapeTyped reads the flags of what is asked of the report. It returns INVALID_ARGS,
// and the errors of reading an outline.
func (e *Env) shapeTyped(call cli.Invocation, question string) (evidence.Shape, error) {
	template, err := catalog.ReadTemplate(artifact.Everywhere, e.Dir, call.Flag("template"))
	if err != nil {
		return evidence.Shape{}, err
	}
	return run.CheckShape(evidence.Shape{Length: call.Flag("length"), Audience: call.Flag("for"), Template: template, Language: call.Flag("language")}, question)
}

// hasWeb reports whether researchers have tools for the web.
func (o order) hasWeb() bool {
	return o.frozen.IsZero() && o.sensitivity != "restricted" && o.sensitivity != "no_web"
}

// frozenTyped is the finished run that --sources names. It returns INVALID_ARGS where that
// does not go with what else was typed, NOT_FOUND, and INVALID_STATE for a run that is not
// finished.
func (e *Env) frozenTyped(ctx context.Context, o order, name string) (run.Frozen, error) {
	switch {
	case name == "":
		return run.Frozen{}, nil
	case o.sensitivity == "no_web":
		return run.Frozen{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sources", tidegate.Cut(name)), "--sources answers searches and fetches, and a no_web run has none")
	case o.search != nil:
		return run.Frozen{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sources", tidegate.Cut(name), "search", o.search), "give --sources or --search: a run that is answered by a finished one asks no service")
	case e.Far != nil:
		return run.Frozen{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sources", tidegate.Cut(name)), "--sources is for agents on this machine: those on %s cannot reach the archive", e.Far.Where)
	}
	manifest, err := run.Find(e.desk(), e.Home, e.Dir, name)
	if err != nil {
		return run.Frozen{}, err
	}
	r, err := run.OpenFinished(ctx, e.desk(), manifest)
	if err != nil {
		return run.Frozen{}, err
	}
	defer r.Close()
	return run.Frozen{RunID: r.ID(), Root: r.Root()}, nil
}

// buildOn makes an order build on a completed run, after an update of it where there is one.
// It returns INVALID_ARGS where the order would reach further than that run, and the errors
// of [library.EarlierOf].
func (e *Env) buildOn(ctx context.Context, o *order, manifest string, updated *library.Updated) error {
	var was string
	var err error
	if o.earlier, o.from, was, err = library.EarlierOf(ctx, e.desk(), manifest, updated); err != nil {
		return err
	}
	o.before = o.from.Root
	if reach := []string{"no_web", "restricted", "normal"}; slices.Index(reach, o.sensitivity) > slices.Index(reach, was) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("from", o.from.RunID, "sensitivity", o.sensitivity), "the sensitivity of run %q is %s, and what builds on it may not reach further: give --sensitivity %s", o.from.RunID, was, was)
	}
	return nil
}

// orderOf reads what was typed, and what it names. It returns INVALID_ARGS, what is wrong
// with the file of perspectives, and the errors of frozenTyped.
func (e *Env) orderOf(ctx context.Context, call cli.Invocation) (order, error) {
	if call.Flag("again") != "" {
		return e.orderAgain(ctx, call)
	}
	if len(call.Args) == 0 || strings.TrimSpace(call.Args[0]) == "" {
		return order{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("QUESTION", nil), "QUESTION is missing: what do you want to know?")
	}
	o := order{question: strings.TrimSpace(call.Args[0]), sensitivity: call.Flag("sensitivity"), servers: call.Flags["mcp"], search: call.Flags["search"], origins: call.Flag("origins"), yes: call.Flag("yes") == "true", planOnly: call.Flag("plan-only") == "true"}
	o.evidence = run.EvidenceChoice{NoGrounding: call.Flag("grounding") == "off", NoReader: call.Flag("no-second-reader") == "true", OneAgent: call.Flag("one-agent") == "true", Adapt: call.Flag("adapt") == "true"}
	var err error
	if o.sources, err = sourcesTyped(call); err != nil {
		return order{}, err
	}
	if o.frozen, err = e.frozenTyped(ctx, o, call.Flag("sources")); err != nil {
		return order{}, err
	}
	if name := call.Flag("from"); name != "" {
		manifest, err := run.Find(e.desk(), e.Home, e.Dir, name)
		if err == nil {
			err = e.buildOn(ctx, &o, manifest, nil)
		}
		if err != nil {
			return order{}, err
		}
	}
	if o.shape, err = e.shapeTyped(call, o.question); err != nil {
		return order{}, err
	}
	if o.parallel, o.budget, err = budgetTyped(call); err != nil {
		return order{}, err
	}
	if text := call.Flag("perspectives"); text != "" {
		if n, err := strconv.Atoi(text); err == nil {
			if n < 1 || n > 1000 {
				return order{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("perspectives", n), "--perspectives must be a number from 1 to 1000, or a file; got %d", n)
			}
			o.count = n
		} else if o.perspectives, err = readPerspectives(absolute(e.Dir, text)); err != nil {
			return order{}, err
		}
	}
	if o.files = call.Flag("files"); o.files != "" {
		if o.documents, err = step.ReadDocuments(e.desk(), o.files); err != nil {
			return order{}, err
		}
	}
	return o, nil
}

// readPerspectives reads a file of perspectives, which needs no run_id and no
// created_at, and checks it by the rules of the job.
func readPerspectives(path string) (*codec.Value, error) {
	doc, err := artifact.Everywhere.ReadJSON("perspectives", path)
	if err != nil {
		return nil, err
	}
	if doc.Kind() == codec.Object {
		doc = doc.Clone()
		doc.Set("run_id", codec.Of("filled in"))
		doc.Set("created_at", codec.Of("filled in"))
	}
	return doc, checkPerspectives(doc, path)
}

// checkPerspectives returns SCHEMA_VALIDATION_FAILED for perspectives that break a
// rule of the job. A person may name any number of them.
func checkPerspectives(doc *codec.Value, path string) error {
	faults, _, err := job.CheckPerspectives(doc, math.MaxInt)
	if err != nil || len(faults) == 0 {
		return err
	}
	all := make([]string, len(faults))
	for i, f := range faults {
		all[i] = f.Code + ": " + f.ChangeNote
	}
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("perspectives", path, "faults", all), "%s: %s: %s", path, faults[0].Code, faults[0].Message)
}

// nameOf is the id of a run for a question: the words before a colon, or its first
// words.
func nameOf(question string) string {
	const most = 5 // words
	inWords := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	words := inWords(question)
	if label, _, found := strings.Cut(question, ":"); found {
		if named := inWords(label); len(named) > 0 && len(named) <= most {
			words = named
		}
	}
	name := ""
	for i, word := range words {
		if i == most || len(name)+1+len(word) > 64 {
			break
		}
		if name != "" {
			name += "-"
		}
		name += word
	}
	if name == "" {
		return "question"
	}
	return name
}
