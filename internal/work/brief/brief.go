// Package brief declares what a person asks of a run, once: each [Option] with its name, its
// help, what it may be and where its value goes. The flags of commands, the form of the page,
// the arguments of the API and what is read from each derive from [Options].
package brief

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// Brief is what a person asks of a run, as they wrote it.
type Brief struct {
	run.InitInput
	Files    string // a folder with documents of their own
	Archive  string // the finished run whose archive alone answers, by its id or folder
	Base     string // the finished run that this one builds on, by its id or folder
	Parallel int    // most agents at once; 0 for what the budget says
	Shaped   bool   // they said how the report is to be
}

// Option is one thing that a person may ask of a run.
type Option struct {
	Name     string // to the API and in forms
	Flag     string // of commands, where it is not the name with dashes; "-" for none
	About    string // what the help says of its flag
	Must     string // what it must be, in the words of an error; "" where another rule says it
	Default  string
	Enum     []string // all that it may be; nil for other texts
	Complete []string // what a shell offers of those
	Again    bool     // it may be asked of a run whose question is asked again
	Page     *Field   // how a page and the API ask for it; nil where they do not
	value
}

// Field is how an option is asked for on a page, and by the API.
type Field struct {
	Label, About string
	API          string            // what the API says of it
	Said         string            // what an error calls it
	Must         string            // what it must be here, where that is not what a flag must be
	Only         []string          // all that it may be here; nil for other texts
	holds        func(*Brief) bool // what must hold with it; nil for nothing
	Choices      []Choice          // what a form offers; nil for a text
	Lines        int               // of a text of several lines
	Number, More bool              // More: it is optional, and folded away
}

// Choice is one of the texts that a field takes.
type Choice struct{ Value, Words string }

// value is what an option holds. Set takes what was given, and reports whether it may be that.
type value struct {
	Kind  tool.FlagKind
	List  bool
	Limit string // of the budget, by its name in the policy; "" for other options
	set   func(b *Brief, given []string) bool
}

func word(at func(*Brief) *string) value {
	return value{set: func(b *Brief, given []string) bool { *at(b) = given[0]; return true }}
}

func path(at func(*Brief) *string) value {
	v := word(at)
	v.Kind = tool.PathFlag
	return v
}

func list(at func(*Brief) *[]string) value {
	return value{List: true, set: func(b *Brief, given []string) bool { *at(b) = given; return true }}
}

func yes(at func(*Brief) *bool) value {
	return value{Kind: tool.Switch, set: func(b *Brief, given []string) bool { *at(b) = given[0] == "true"; return true }}
}

// number is a whole number from 1 to 1000.
func number(at func(*Brief) *int) value {
	return value{set: func(b *Brief, given []string) bool {
		n, err := strconv.Atoi(given[0])
		*at(b) = n
		return err == nil && 1 <= n && n <= 1000
	}}
}

// most is a limit of the budget, by its name in the policy.
func most(name string) value {
	return value{Limit: name, set: func(b *Brief, given []string) bool {
		if b.Budget == nil {
			b.Budget = map[string]float64{}
		}
		f, err := strconv.ParseFloat(given[0], 64)
		b.Budget[name] = f
		return err == nil && f >= 0 && !math.IsInf(f, 0)
	}}
}

const (
	wholeNumber = "a whole number from 1 to 1000"
	notNegative = "a number that is not negative"
)

var reaches = []string{"normal", "restricted", "no_web"}

// Options are all that a person may ask of a run.
var Options = []Option{
	{Name: "question", Flag: "-", value: word(func(b *Brief) *string { return &b.Query }),
		Page: &Field{Label: "Your question", About: "One question, in your own words. What you write goes into every prompt.", API: "what is to be researched", Lines: 4}},
	{Name: "most_usd", Flag: "max-cost", Must: notNegative, Again: true, value: most("max_cost_usd"), About: "most USD that the whole run may cost",
		Page: &Field{Label: "May cost at most, in USD", API: "the most that it may cost, in USD",
			Said: "the most that it may cost", Must: "a number of USD above 0", Number: true, holds: func(b *Brief) bool { return b.Budget["max_cost_usd"] > 0 }}},
	{Name: "perspectives", Must: wholeNumber, value: number(func(b *Brief) *int { return &b.Perspectives }),
		About: "a `file` of perspectives, or how many the planner is to name",
		Page:  &Field{Label: "Perspectives", About: "how many the planner is to name", API: "how many perspectives the planner is asked for", Said: "the number of perspectives", Number: true, More: true}},
	{Name: "length", value: word(func(b *Brief) *string { return &b.Length }), Complete: evidence.LengthNames(),
		About: "how long the report is: brief (400 words), standard (1,500), long (5,000) or a number of `words`, give or take a fifth",
		Page:  &Field{Label: "Length", About: "brief is 400 words, standard 1,500, long 5,000", API: "of the report", Choices: choices("standard", evidence.LengthNames()), More: true}},
	{Name: "template", value: word(func(b *Brief) *string { return &b.Template }), Complete: evidence.TemplateNames(),
		About: "the sections of the report: " + strings.Join(evidence.TemplateNames(), ", ") + ", or a `file` with an outline of your own in Markdown (default briefing)",
		Page: &Field{Label: "Sections", About: "which sections the report has", API: "of the report", Said: "the template", Must: "one of " + strings.Join(evidence.TemplateNames(), ", "), Only: evidence.TemplateNames(),
			Choices: choices("briefing", evidence.TemplateNames()), More: true}},
	{Name: "language", value: word(func(b *Brief) *string { return &b.Language }), Complete: evidence.Languages(),
		About: "the `language` of the report: " + strings.Join(evidence.Languages(), ", ") + " (default that of the question)",
		Page:  &Field{Label: "Language", About: "of the report", API: "of the report", Choices: choices("that of the question", evidence.Languages()), More: true}},
	{Name: "audience", Flag: "for", value: word(func(b *Brief) *string { return &b.Audience }), About: "whom the report is for, such as \"the board of a port\"",
		Page: &Field{Label: "For whom", About: "such as the board of a port", API: "whom the report is for", More: true}},
	{Name: "sensitivity", value: word(func(b *Brief) *string { return &b.Sensitivity }), Default: "normal", Enum: reaches,
		About: "how far the run may reach out",
		Page: &Field{Label: "Reach", About: "how far the run may reach out", API: "as tidegate research has it", Said: "the reach", Must: "normal, restricted or no_web", Only: reaches, More: true,
			Choices: []Choice{{"", "agents search and read the web"}, {"restricted", "agents have no web; cited pages are fetched"}, {"no_web", "nothing is fetched"}}}},
	{Name: "files", Again: true, value: path(func(b *Brief) *string { return &b.Files }),
		About: "a `folder` with documents of your own that agents read and may cite: docx, xlsx, pptx, odt, epub, csv, eml, html, md, txt, pdf"},
	{Name: "signers", Again: true, value: path(func(b *Brief) *string { return &b.SignersPath }),
		About: "an OpenSSH allowed_signers `file`: your decisions about the run must be signed by one of them"},
	{Name: "mcp", value: list(func(b *Brief) *[]string { return &b.Servers }), Enum: []string{"tidegate"},
		About: "let researchers judge their output before they hand it in, by an MCP server of this `name`: tidegate"},
	{Name: "search", value: list(func(b *Brief) *[]string { return &b.Search }), Complete: search.Names(),
		About: "search services that may be asked, in this order: " + strings.Join(search.Names(), ", ") + " (default as tidegate.toml says, else " + strings.Join(search.Free(), ", ") + ")"},
	{Name: "sources", value: word(func(b *Brief) *string { return &b.Archive }),
		About: "answer searches and fetches from the archive of this finished `RUN` alone, by its id or folder"},
	{Name: "from", value: word(func(b *Brief) *string { return &b.Base }),
		About: "build on this finished `RUN`, by its id or folder: its pages are at hand, what it left open is offered to the planner, and the report says what changed"},
	{Name: "origins", value: word(func(b *Brief) *string { return &b.Origins }), Default: run.OriginsShown, Enum: []string{run.OriginsShown, run.OriginsRequired},
		About: "whether the report says where each source comes from; required refuses one that comes from nowhere"},
	{Name: "no_second_reader", Again: true, value: yes(func(b *Brief) *bool { return &b.Evidence.NoReader }),
		About: "let no second agent read the report's sentences against their pages, which the report says"},
	{Name: "grounding", Again: true, Default: "require", Enum: []string{"require", "off"},
		value: value{set: func(b *Brief, given []string) bool { b.Evidence.NoGrounding = given[0] == "off"; return true }},
		About: "whether what is not on the cited pages is refused; off leaves out the second reader, too, and the report says so"},
	{Name: "one_agent", Again: true, value: yes(func(b *Brief) *bool { return &b.Evidence.OneAgent }),
		About: "let the agent that wrote the report read and review it, which the report says"},
	{Name: "adapt", Again: true, value: yes(func(b *Brief) *bool { return &b.Evidence.Adapt }),
		About: "let recorded agents answer another question, contract or documents than they were given, which the report says"},
	{Name: "allow_domains", value: list(func(b *Brief) *[]string { return &b.AllowDomains }), About: "use only sources of these `domains` and those below them"},
	{Name: "deny_domains", value: list(func(b *Brief) *[]string { return &b.DenyDomains }), About: "use no sources of these `domains` and those below them"},
	{Name: "since", value: word(func(b *Brief) *string { return &b.Since }),
		About: "use only sources of this `day` or later, such as 2023-01-01; a page without a date is kept and marked"},
	{Name: "dated", value: yes(func(b *Brief) *bool { return &b.Dated }), About: "refuse pages without a date"},
	{Name: "source_language", value: list(func(b *Brief) *[]string { return &b.Languages }), About: "use only sources in these `languages`, such as en or de, as far as that shows"},
	{Name: "source_class", value: list(func(b *Brief) *[]string { return &b.Classes }), Complete: policy.ClassNames,
		About: "use only sources of these `classes`: primary, scholarly, official, news, reference, company, forum, other, by the table of citations rules --classes"},
	{Name: "parallel", Must: wholeNumber, Again: true, value: number(func(b *Brief) *int { return &b.Parallel }), About: "most agents at once (default as the run's budget says: 4)"},
	{Name: "max_minutes", Must: notNegative, Again: true, value: most("max_minutes"), About: "most minutes in which agents work (default 240)"},
	{Name: "max_tokens", Must: notNegative, Again: true, value: most("max_tokens"), About: "most tokens, in and out"},
}

// choices are the texts with a name; none means what first says.
func choices(first string, names []string) []Choice {
	out := []Choice{{"", first}}
	for _, name := range names {
		out = append(out, Choice{name, name})
	}
	return out
}

// Typed is the name of the flag of an option, without its dashes; "" where it has none.
func (o Option) Typed() string {
	switch o.Flag {
	case "-":
		return ""
	case "":
		return strings.ReplaceAll(o.Name, "_", "-")
	}
	return o.Flag
}

// Limits are the options that limit the budget, in the order of the policy.
func Limits() []Option {
	limits := slices.DeleteFunc(slices.Clone(Options), func(o Option) bool { return o.Limit == "" })
	names := run.BudgetNames()
	slices.SortFunc(limits, func(a, b Option) int { return slices.Index(names, a.Limit) - slices.Index(names, b.Limit) })
	return limits
}

// Named are the options that are typed by these flags.
func Named(flags ...string) []Option {
	return slices.DeleteFunc(slices.Clone(Options), func(o Option) bool { return !slices.Contains(flags, o.Typed()) })
}

// Read takes what was typed for the flags of options. It returns INVALID_ARGS.
func Read(b *Brief, options []Option, typed map[string][]string) error {
	b.Budget = map[string]float64{}
	for _, o := range options {
		given := typed[o.Typed()]
		if len(given) == 0 {
			continue
		}
		if !o.List && strings.TrimSpace(given[0]) == "" {
			return invalid(o.Typed(), "--"+o.Typed(), "a value that is not blank", given[0])
		}
		if !o.set(b, given) {
			return invalid(o.Typed(), "--"+o.Typed(), o.Must, given[0])
		}
	}
	return nil
}

// OfPage is what a person asks for on a page or by the API. No field names a file: what a
// command would take for one is refused. It returns INVALID_ARGS.
func OfPage(texts map[string]string) (Brief, error) {
	var b Brief
	for _, o := range Options {
		f, given := o.Page, strings.TrimSpace(texts[o.Name])
		if given == "" {
			given = o.Default
		}
		switch {
		case f == nil || given == "" && f.More:
		case given == "" && f.Said == "":
			return b, NoQuestion()
		case f.Only != nil && !slices.Contains(f.Only, given) || !o.set(&b, []string{given}) || f.holds != nil && !f.holds(&b):
			return b, invalid(f.Said, f.Said, cmp.Or(f.Must, o.Must), given)
		}
	}
	return b, b.Check()
}

// Texts is a struct type that declares what a page and the API ask for: money as a number, how
// many as a whole number, all else as a text.
func Texts() reflect.Type {
	var fields []reflect.StructField
	for i, o := range Options {
		if f := o.Page; f != nil {
			name := o.Name
			if f.More {
				name += ",omitzero"
			}
			tag := fmt.Sprintf("json:%q jsonschema:%q", name, f.API)
			kind := reflect.TypeFor[string]()
			switch {
			case f.Number && o.Must == wholeNumber:
				kind = reflect.TypeFor[int]()
			case f.Number:
				kind = reflect.TypeFor[float64]()
			}
			fields = append(fields, reflect.StructField{Name: "Text" + strconv.Itoa(i), Type: kind, Tag: reflect.StructTag(tag)})
		}
	}
	return reflect.StructOf(fields)
}

// NoQuestion is the error of a brief without a question.
func NoQuestion() error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("QUESTION", nil), "QUESTION is missing: what do you want to know?")
}

// Check completes what is asked of sources and of the report. It returns INVALID_ARGS.
func (b *Brief) Check() (err error) {
	b.Shaped = b.Shape != evidence.Shape{}
	if b.Policy, err = b.Policy.Checked(); err == nil {
		b.Shape, err = run.CheckShape(b.Shape, b.Query)
	}
	return err
}

func invalid(name, said, must, given string) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, tidegate.Cut(given)), "%s must be %s, got %q", said, must, tidegate.Cut(given))
}
