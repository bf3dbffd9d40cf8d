package catalog

import (
	"context"

	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/tool"
)

// claimTools are a person's commands on the sentences of a report.
func claimTools(env tools) []*tool.Tool {
	hidden := []string{"manifest_path"}
	sentence := tool.Operand{Name: "ID", Field: "id", About: "the sentence, by its id in `tidegate claim list`"}
	shown := sentence
	shown.Optional = true
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_claim_list", Set: "citation", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: &tool.Command{Path: "claim list", Operands: readOperand, Hide: hidden, Fill: env.fillReadRun, Formats: []string{"markdown"}},
		}, func(ctx context.Context, call tool.Caller, in manifestIn) (sentences.ClaimList, error) {
			return sentences.ListClaims(ctx, env.Desk(call.Reach), in.ManifestPath)
		}),
		declare(tool.Spec{
			Name: "deep_research_claim_show", Set: "citation", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: &tool.Command{Path: "claim show", Operands: []tool.Operand{readOperand[0], shown}, Hide: hidden, Fill: env.fillReadRun, Formats: []string{"markdown"}},
		}, at(env, sentences.ShowClaim)),
		declare(tool.Spec{
			Name: "deep_research_claim_accept", Set: "citation", Effect: tool.Writes, Person: true,
			Command: &tool.Command{Path: "claim accept", Operands: []tool.Operand{runOperand[0], sentence}, Hide: hidden, Fill: env.fillRun},
		}, at(env, sentences.AcceptClaim)),
	}
}
