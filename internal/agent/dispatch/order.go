package dispatch

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// Order is what a person asked of a run, with what it names read, ready to begin.
type Order struct {
	brief.Brief
	Contracts *codec.Value // perspectives that the person named, nil where a planner names them
	Documents sourcing.Documents
	Before    string               // the folder of the run with whose report the new one is compared; "" for none
	Kept      map[string]run.Agent // the agents of that run, by role
	Team      *Team                // who does the work
}

// hasWeb reports whether researchers of a run have tools for the web.
func hasWeb(sensitivity string, frozen run.Frozen) bool {
	return frozen.IsZero() && sensitivity != "restricted" && sensitivity != "no_web"
}

func (o Order) hasWeb() bool { return hasWeb(o.Sensitivity, o.Frozen) }

// Read reads what an order names: the run whose archive answers, the run that it builds on, and
// the documents of its folder. It returns INVALID_ARGS where that does not go with the rest,
// NOT_FOUND, INVALID_STATE for a run that is not finished, and the errors of reading.
func (e *Env) Read(ctx context.Context, o *Order) (err error) {
	if o.Frozen, err = e.frozenRun(ctx, *o, o.Archive); err != nil {
		return err
	}
	if o.Base != "" {
		manifest, err := run.Find(e.OwnDesk(), e.Home, e.Dir, o.Base)
		if err == nil {
			err = e.buildOn(ctx, o, manifest, nil)
		}
		if err != nil {
			return err
		}
	}
	return e.ReadDocuments(o)
}

// ReadDocuments reads the documents in the folder that an order names.
func (e *Env) ReadDocuments(o *Order) (err error) {
	if o.Files != "" {
		o.Documents, err = sourcing.ReadDocuments(e.OwnDesk(), o.Files)
	}
	return err
}

// frozenRun is the finished run whose archive is to answer.
func (e *Env) frozenRun(ctx context.Context, o Order, name string) (run.Frozen, error) {
	switch {
	case name == "":
		return run.Frozen{}, nil
	case o.Sensitivity == "no_web":
		return run.Frozen{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sources", tidegate.Cut(name)), "--sources answers searches and fetches, and a no_web run has none")
	case o.Search != nil:
		return run.Frozen{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sources", tidegate.Cut(name), "search", o.Search), "give --sources or --search: a run that is answered by a finished one asks no service")
	case e.Workers != nil:
		return run.Frozen{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sources", tidegate.Cut(name)), "--sources is for agents on this machine: those on %s cannot reach the archive", e.Workers.Where)
	}
	manifest, err := run.Find(e.OwnDesk(), e.Home, e.Dir, name)
	if err != nil {
		return run.Frozen{}, err
	}
	r, err := run.OpenFinished(ctx, e.OwnDesk(), manifest)
	if err != nil {
		return run.Frozen{}, err
	}
	defer r.Close()
	return run.Frozen{RunID: r.ID(), Root: r.Root()}, nil
}

// buildOn makes an order build on a completed run, after an update of it where there is one.
// It returns INVALID_ARGS where the order would reach further than that run, and the errors
// of [library.EarlierOf].
func (e *Env) buildOn(ctx context.Context, o *Order, manifest string, updated *library.Updated) error {
	var was string
	var err error
	if o.Earlier, o.From, was, err = library.EarlierOf(ctx, e.OwnDesk(), manifest, updated); err != nil {
		return err
	}
	o.Before = o.From.Root
	if reach := []string{"no_web", "restricted", "normal"}; slices.Index(reach, o.Sensitivity) > slices.Index(reach, was) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("from", o.From.RunID, "sensitivity", o.Sensitivity), "the sensitivity of run %q is %s, and what builds on it may not reach further: give --sensitivity %s", o.From.RunID, was, was)
	}
	return nil
}

// ReadPerspectives reads a file of perspectives, which needs no run_id and no
// created_at, and checks it by the rules of the job.
func ReadPerspectives(path string) (*codec.Value, error) {
	doc, err := artifact.Everywhere.ReadJSON("perspectives", path)
	if err != nil {
		return nil, err
	}
	if doc.Kind() == codec.Object {
		doc = doc.Clone()
		doc.Set("run_id", codec.Of("filled in"))
		doc.Set("created_at", codec.Of("filled in"))
	}
	return doc, CheckPerspectives(doc, path)
}

// CheckPerspectives returns SCHEMA_VALIDATION_FAILED for perspectives that break a
// rule of the job. A person may name any number of them.
func CheckPerspectives(doc *codec.Value, path string) error {
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

// EditPerspectives are the perspectives with what a person filled in of each, by its number and
// of one more: title, words, sources and sections. It returns INVALID_ARGS.
func EditPerspectives(doc *codec.Value, filled func(name string) string) (*codec.Value, error) {
	doc = doc.Clone()
	all := doc.Get("perspectives").Elems()
	var kept []*codec.Value
	for i := range len(all) + 1 {
		n := strconv.Itoa(i)
		title := strings.TrimSpace(filled("title" + n))
		if title == "" {
			continue
		}
		one := all[0].Clone()
		if i < len(all) {
			one = all[i].Clone()
		} else {
			one.Set("id", codec.Of(freeID(title, all)))
			one.Set("track", codec.Of("standard"))
		}
		one.Set("title", codec.Of(title))
		contract := one.Get("prompt_contract").Clone()
		for _, c := range []struct{ field, key string }{{"words", "max_words"}, {"sources", "max_sources"}} {
			given := filled(c.field + n)
			number, err := strconv.Atoi(strings.TrimSpace(given))
			if err != nil {
				return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(c.key, tidegate.Cut(given)),
					"the most %s of %q must be a whole number, got %q", c.field, tidegate.Cut(title), tidegate.Cut(given))
			}
			contract.Set(c.key, codec.Of(number))
		}
		var sections []string
		for line := range strings.Lines(filled("sections" + n)) {
			if line = strings.TrimSpace(line); line != "" {
				sections = append(sections, line)
			}
		}
		contract.Set("must_include_sections", codec.Of(sections))
		one.Set("prompt_contract", contract)
		kept = append(kept, one)
	}
	if len(kept) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, nil, "a plan needs at least one perspective")
	}
	doc.Set("perspectives", codec.Of(kept))
	return doc, nil
}

// freeID is the id of a perspective: the first word of its title that none has.
func freeID(title string, all []*codec.Value) string {
	taken := map[string]bool{}
	for _, p := range all {
		taken[p.Get("id").Str()] = true
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if len(word) > 3 && len(word) < 40 && !taken[word] {
			return word
		}
	}
	for i := 1; ; i++ {
		if id := "perspective-" + strconv.Itoa(i); !taken[id] {
			return id
		}
	}
}

// nameOf is the id of a run for a question: the words before a colon, or its first
// words. Of a long first word, as in a script without blanks, it is the beginning.
func nameOf(question string) string {
	const most = 5 // words
	inWords := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	}
	words := inWords(question)
	if label, _, found := strings.Cut(question, ":"); found {
		if named := inWords(label); len(named) > 0 && len(named) <= most {
			words = named
		}
	}
	name := ""
	for i, word := range words {
		if i == 0 {
			word = page.CutBytes(word, 63)
		}
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

// AskAgain fills in an order from a finished run: its question, perspectives and settings.
// Agents, budget, documents and who may read the report are those of the order. It returns
// INVALID_ARGS where the run had documents and none are named, NOT_FOUND, INVALID_STATE for a
// run that is not finished, and the errors of reading it.
func (e *Env) AskAgain(ctx context.Context, o Order, name string) (Order, error) {
	manifest, err := run.Find(e.OwnDesk(), e.Home, e.Dir, name)
	if err != nil {
		return Order{}, err
	}
	o, r, err := e.orderOfRun(ctx, o, manifest)
	if err != nil {
		return Order{}, err
	}
	defer r.Close()
	if o.Earlier, err = r.Earlier(); err != nil {
		return Order{}, err
	}
	o.Before = r.Root()
	o.Contracts, err = ReadPerspectives(r.Path(r.Layout().Perspectives))
	return o, err
}

// Rewrite fills in an order that builds on the updated run, for the sentences that no longer
// stand: with its question and settings, and perspectives that a planner names. It returns
// INVALID_ARGS for an audit, which has no question, and the errors of AskAgain.
func (e *Env) Rewrite(ctx context.Context, o Order, name string, updated library.Updated) (Order, error) {
	if updated.Of.Kind != library.Run {
		return Order{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("rewrite", updated.Of.ID), "%s is an audit: only the report of a run can be written anew", updated.Of.ID)
	}
	manifest, err := run.Find(e.OwnDesk(), e.Home, e.Dir, name)
	if err != nil {
		return Order{}, err
	}
	o, r, err := e.orderOfRun(ctx, o, manifest)
	if err != nil {
		return Order{}, err
	}
	r.Close()
	o.Frozen = run.Frozen{} // what changed is on the web
	return o, e.buildOn(ctx, &o, manifest, &updated)
}

// orderOfRun fills in an order from a finished run, which the caller closes.
func (e *Env) orderOfRun(ctx context.Context, o Order, manifest string) (Order, *run.Run, error) {
	r, err := run.OpenFinished(ctx, e.OwnDesk(), manifest)
	if err != nil {
		return Order{}, nil, err
	}
	if err = o.settingsOf(r); err == nil && o.Files == "" {
		var own []sourcing.Document
		if own, err = sourcing.AttachedDocuments(r); err == nil && len(own) > 0 {
			err = tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("files", nil), "run %q had documents of your own: name their folder with --files", r.ID())
		}
	}
	if err != nil {
		r.Close()
		return Order{}, nil, err
	}
	return o, r, nil
}

// settingsOf fills in what a run keeps of what a person asked.
func (o *Order) settingsOf(r *run.Run) error {
	kept, err := r.Policy()
	if err != nil {
		return err
	}
	o.Query, o.Sensitivity, o.Kept = r.Manifest().Query(), r.Manifest().Sensitivity(), kept.Agents
	kept.Repeat(&o.InitInput)
	o.Shape, err = r.Shape()
	return err
}
