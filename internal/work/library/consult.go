package library

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/asking"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
)

// MostAsked is how many runs and audits one question may be about.
const MostAsked = 20

// AskInput are the arguments of [Consult].
type AskInput struct {
	Of       []string `json:"of" minitems:"1" jsonschema:"the finished runs or audits to ask, by their ids; 20 at most"`
	Question string   `json:"question" jsonschema:"the question"`
	Answer   string   `json:"answer,omitzero" jsonschema:"your answer by the rules of prompt_md, to be judged; leave it out to get prompt_md"`

	// Runs is the home of runs.
	Runs string `json:"-"`
}

// Consulted is a further question for an agent: first what may answer it, then how its
// answer stands.
type Consulted struct {
	OK       codec.True       `json:"ok"`
	Pass     bool             `json:"pass" jsonschema:"an answer was handed in, and every sentence of it stands by rule"`
	Of       []Subject        `json:"of"`
	PromptMD string           `json:"prompt_md" jsonschema:"passages and rules to answer by; empty once an answer was handed in, and where no passage is about the question"`
	Answer   string           `json:"answer" jsonschema:"the answer that stands, or the fixed sentence where the archived pages do not answer the question; empty where there is none yet"`
	Faults   []evidence.Fault `json:"faults" jsonschema:"everything for which the answer does not stand, each with what to change"`
	Trust    string           `json:"trust" jsonschema:"how the sentences of the answer were checked"`
	Sources  []AnsweredSource `json:"sources" jsonschema:"those that prompt_md shows, or that the answer cites"`
}

// Passed reports whether there is an answer that stands.
func (c Consulted) Passed() bool { return c.Pass }

// Consult puts a further question about finished reports to the caller itself: without an
// answer it returns the passages and the rules, with one it judges the answer by rule. No
// other agent is asked, nothing is fetched and nothing is kept. It returns INVALID_ARGS,
// PATH_TRAVERSAL for an id that is a path, the errors of [Open] and [AskOf], and CANCELLED.
func Consult(ctx context.Context, desk run.Desk, in AskInput) (Consulted, error) {
	out := Consulted{Faults: []evidence.Fault{}, Sources: []AnsweredSource{}}
	if len(in.Of) > MostAsked {
		return out, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("of", len(in.Of)), "of names at most %d runs and audits, got %d", MostAsked, len(in.Of))
	}
	var items []*Item
	for _, id := range in.Of {
		if err := run.CheckID(id); err != nil {
			return out, err
		}
		item, err := Open(ctx, desk, in.Runs, in.Runs, id)
		if err != nil {
			return out, err
		}
		defer item.Close()
		items = append(items, item)
	}
	asked, err := AskOf(ctx, in.Question, items...)
	if err != nil {
		return out, err
	}
	out.Of = asked.of
	if in.Answer == "" {
		return out, asked.show(ctx, &out)
	}
	answer, err := asked.Judge(ctx, in.Answer)
	if err != nil {
		return out, err
	}
	if answer.Refused {
		out.Answer = answer.Text
		return out, nil
	}
	out.Sources = asked.cited(&answer)
	out.Faults = append(append(out.Faults, answer.Faults...), asking.Refusals(answer.Claims.Judge(false))...)
	if len(out.Faults) == 0 {
		out.Pass, out.Answer, out.Trust = true, answer.Text, evidence.TrustLine(&answer.Claims, evidence.Readers{None: true})
	}
	return out, nil
}

// show hands out the passages that may answer the question, or the fixed sentence.
func (a *Asked) show(ctx context.Context, out *Consulted) error {
	passages, err := a.Passages(ctx)
	if err != nil || len(passages) == 0 {
		out.Answer = a.Refusal()
		return err
	}
	out.PromptMD = a.Prompt(passages, "", nil)
	shown := map[string]bool{}
	for _, p := range passages {
		shown[p.CID] = true
	}
	out.Sources = a.sourcesOf(shown)
	return nil
}

// cited are the sources that an answer cites.
func (a *Asked) cited(answer *asking.Answer) []AnsweredSource {
	ids := map[string]bool{}
	for _, p := range answer.Claims.Pages {
		ids[p.CID] = true
	}
	return a.sourcesOf(ids)
}

func (a *Asked) sourcesOf(ids map[string]bool) []AnsweredSource {
	out := []AnsweredSource{}
	for _, s := range a.sources {
		if ids[s.ID] {
			out = append(out, s)
		}
	}
	return out
}
