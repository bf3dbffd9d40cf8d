package catalog

import (
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/tool"
)

// claimTools are a person's commands on the sentences of a report.
func claimTools(env tools) []*tool.Tool {
	sentence := tool.Operand{Name: "ID", Field: "id", About: "the sentence, by its id in `tidegate claim list`"}
	shown := env.readsRun("claim show", "markdown")
	shown.Operands = []tool.Operand{readOperand[0], {Name: sentence.Name, Field: sentence.Field, About: sentence.About, Optional: true}}
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_claim_list", Set: "citation", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: env.readsRun("claim list", "markdown"),
		}, ofRun(env, sentences.ListClaims)),
		declare(tool.Spec{
			Name: "deep_research_claim_show", Set: "citation", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: shown,
		}, at(env, sentences.ShowClaim)),
		declare(tool.Spec{
			Name: "deep_research_claim_accept", Set: "citation", Effect: tool.Writes, Person: true,
			Command: env.onRun("claim accept", sentence),
		}, at(env, sentences.AcceptClaim)),
	}
}
