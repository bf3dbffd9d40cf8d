package reporting

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
)

// roles are the roles that do the jobs of a kind, in the order of the stages.
var roles = []struct{ kind, role string }{
	{"perspectives", "planner"}, {"wave1", "researcher"}, {"wave2", "researcher"}, {"summary", "summarizer"}, {"outline", "writer"}, {"section", "writer"}, {"synthesis", "writer"}, {"verify", "verifier"}, {"review", "reviewer"},
}

// agents are those whose answers the run accepted, and what these answers took: how
// often a job was tried is not part of a report.
func (w *reportReader) agents() error {
	folders, err := w.run.Folder().List(run.JobsDir)
	if err != nil {
		return err
	}
	counts := map[paper.Agent]int{}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		accepted, err := w.acceptedIn(run.JobsDir + "/" + folder.Name())
		if err != nil {
			return err
		}
		if accepted == nil {
			continue
		}
		role := ""
		for _, r := range roles {
			if r.kind == accepted.Get("kind").Str() {
				role = r.role
			}
		}
		// What follows the colon (a folder, a command, an address) concerns only the machine.
		driver, _, _ := strings.Cut(accepted.Get("driver").Str(), ":")
		counts[paper.Agent{Role: role, Driver: cmp.Or(driver, evidence.Say(w.out.Report.Language, "by hand")), Model: accepted.Get("model").Str(), Version: accepted.Get("version").Str()}]++
	}
	for agent, n := range counts {
		agent.Answers = n
		w.out.Report.Agents = append(w.out.Report.Agents, agent)
	}
	order := func(role string) int {
		return slices.IndexFunc(roles, func(r struct{ kind, role string }) bool { return r.role == role })
	}
	slices.SortFunc(w.out.Report.Agents, func(a, b paper.Agent) int {
		return cmp.Or(order(a.Role)-order(b.Role), strings.Compare(a.Driver, b.Driver), strings.Compare(a.Model, b.Model), strings.Compare(a.Version, b.Version))
	})
	return nil
}

// acceptedIn is the last accepted attempt in the folder of a job, nil when there is
// none. It adds what the answer took to the cost: what was reported or, where nothing
// was, a quarter of the bytes of prompt and answer.
func (w *reportReader) acceptedIn(dir string) (*codec.Value, error) {
	attempts, err := w.run.Folder().List(dir)
	if err != nil {
		return nil, err
	}
	slices.Reverse(attempts)
	for _, e := range attempts {
		data, err := w.read(dir + "/" + e.Name() + "/attempt.json")
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		attempt, err := codec.ParseFile("path", w.run.Path(dir), data)
		if err != nil {
			return nil, err
		}
		if answers := attempt.Get("submissions").Elems(); attempt.Get("outcome").Str() == "accepted" && len(answers) > 0 {
			return attempt, w.charge(dir+"/"+e.Name(), attempt, answers[len(answers)-1])
		}
	}
	return nil, nil
}

func (w *reportReader) charge(dir string, attempt, answer *codec.Value) error {
	cost := &w.out.Report.Cost
	usage := attempt.Get("usage") // of all its answers, by the price that a person gave
	if _, priced := usage.Get("cost_usd").Float(); !priced {
		usage = answer.Get("usage")
	}
	if usage.Kind() == codec.Object {
		in, _ := usage.Get("input_tokens").Int()
		out, _ := usage.Get("output_tokens").Int()
		cost.InputTokens, cost.OutputTokens = cost.InputTokens+in, cost.OutputTokens+out
		if usd, ok := usage.Get("cost_usd").Float(); ok {
			cost.USD, cost.Priced = cost.USD+usd, true
		}
		return nil
	}
	switch kind, _, named := strings.Cut(attempt.Get("driver").Str(), ":"); {
	case kind == "recorded":
		return nil // no model was asked
	case named && (kind == "exec" || kind == "acp"): // which cost nothing that tidegate knows of, as the plan says
		cost.Priced = true
	}
	prompt, err := w.read(dir + "/prompt.md")
	if err != nil {
		return err
	}
	text, err := w.read(dir + "/" + answer.Get("answer").Str())
	if err != nil && tidegate.CodeOf(err) != tidegate.PathNotAllowed {
		return err
	}
	cost.InputTokens, cost.OutputTokens = cost.InputTokens+int64(len(prompt)+3)/4, cost.OutputTokens+int64(len(text)+3)/4
	return nil
}
