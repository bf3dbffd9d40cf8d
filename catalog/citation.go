package catalog

import (
	"context"
	"io"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/tool"
)

// fillOffline finds the run, and asks for its sources to be judged without
// fetching any.
func (e tools) fillOffline(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	args.Set("online_dry_run", codec.Of(true))
	return e.fillRun(ctx, typed, args)
}

func citationTools(env tools) []*tool.Tool {
	hidden := []string{"manifest_path"}
	source := tool.Operand{Name: "CID", Field: "cid", About: "the source, by its id in `tidegate citations list`"}
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_citations_fetch", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, OpenWorld: true,
			Command: env.onRun("citations fetch"),
		}, func(ctx context.Context, call tool.Caller, in sourcing.FetchInput) (sourcing.FetchResult, error) {
			return sourcing.FetchSources(ctx, env.Desk(call.Reach), env.Pages(call), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_citations_validate", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, OpenWorld: true,
			Command: &tool.Command{
				Path: "citations check", Operands: runOperand,
				Hide: append(hidden, "citations_path", "online_dry_run"),
				Fill: env.fillOffline, Defaults: byHand("checked by hand"), Formats: []string{"markdown"},
			},
		}, func(ctx context.Context, call tool.Caller, in sourcing.CitationsInput) (sourcing.CitationsResult, error) {
			return sourcing.ValidateCitations(ctx, env.Desk(call.Reach), env.Pages(call), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_citations_list", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: env.readsRun("citations list", "markdown", "csl-json", "bibtex", "ris"),
		}, ofRun(env, sourcing.ListCitations)),
		declare(tool.Spec{
			Name: "deep_research_citations_rules", Set: "citation", Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "citations rules", Formats: []string{"markdown"}},
		}, func(_ context.Context, _ tool.Caller, in sourcing.RulesInput) (sourcing.CitationRules, error) {
			return sourcing.RulesOfCitations(in), nil
		}),
		declare(tool.Spec{
			Name: "deep_research_citations_attach", Set: "citation", Effect: tool.Writes, Person: true,
			Command: env.onRun("citations attach", source, tool.Operand{Name: "FILE", Field: "file_path", About: "the page as you saved it, or a document in its place", Path: true}),
		}, at(env, sourcing.Attach)),
		declare(tool.Spec{
			Name: "deep_research_citations_replace", Set: "citation", Effect: tool.Writes, Person: true,
			Command: env.onRun("citations replace", source, tool.Operand{Name: "URL", Field: "url", About: "the page that is its evidence from now on"}),
		}, func(ctx context.Context, call tool.Caller, in sourcing.ReplaceInput) (sourcing.SourceDecision, error) {
			return sourcing.Replace(ctx, env.Desk(call.Reach), env.Pages(call), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_grounding_check", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path: "ground", Operands: []tool.Operand{readOperand[0], {Name: "FILE", Field: "document_path", About: "the markdown document; the run's final synthesis when absent", Optional: true}},
				Hide: hidden, Fill: env.fillReadRun, Formats: []string{"markdown", "sarif", "junit", "github", "rdjson"},
				Stream: &tool.Stream{
					Flag: "claims", About: "judge the claims of a `file` of JSON lines (- for stdin) by the texts beside them, without a run", Run: judgeClaims,
					Choice: tool.Choice{Flag: "look", About: "with --claims: print the windows of the first `look` of a reader or of the second, too", Values: []string{"1", "2"}},
				},
			},
		}, func(ctx context.Context, call tool.Caller, in sentences.GroundInput) (sentences.GroundResult, error) {
			in.Dir = env.Dir
			return sentences.Ground(ctx, env.Desk(call.Reach), in)
		}),
	}
}

// judgeClaims is ground --claims.
func judgeClaims(ctx context.Context, file, look string, input io.Reader, out io.Writer) error {
	if file != tool.Stdin {
		f, err := artifact.Everywhere.OpenFile("claims", file)
		if err != nil {
			return err
		}
		defer f.Close()
		input = f
	}
	return claim.JudgeLines(ctx, artifact.Until(ctx, input), out, look == "2")
}
