package catalog

import (
	"context"
	"io"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

// Pages fetches pages from the web for a caller, as the configuration allows. Nothing is opened
// before it is called, and a run that must not reach the web does not call it.
func (e *Env) Pages(call tool.Caller) step.Fetch { return e.PagesAgain(call)(nil) }

// PagesAgain is Pages for pages of which something is known already.
func (e *Env) PagesAgain(call tool.Caller) library.Again {
	return func(known func(url string) []archive.Field) step.Fetch {
		if e.Fetch != nil {
			return e.Fetch
		}
		return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
			settings, err := e.settings(ctx)
			if err != nil {
				return err
			}
			allow, err := fetch.ParseAllow(settings.Fetch.Allow)
			if err != nil {
				return err
			}
			client := fetch.New(fetch.Options{Allow: allow, Proxy: settings.Fetch.Proxy, Known: known, Now: e.Now})
			defer client.Close()
			return client.Each(ctx, urls, keep, func(p fetch.Progress) {
				if call.Waiting != nil {
					call.Waiting(p.Slow, p.For)
				}
				if call.Progress != nil {
					call.Progress(p.Done, p.Total)
				}
			})
		}
	}
}

// settings are what the configuration says by now.
func (e *Env) settings(ctx context.Context) (config.Config, error) {
	return config.Load(ctx, config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv})
}

// sharing finds out which pages the runs of the home share, as long as pages come from the
// web. Runs that may reach other private addresses, or by other ways, share nothing.
func (e *Env) sharing() run.Sharing {
	if e.Fetch != nil {
		return nil
	}
	return func(ctx context.Context) (*run.Shared, error) {
		settings, err := e.settings(ctx)
		if err != nil || !settings.Archive.Share {
			return nil, err
		}
		like, err := codec.MarshalLine(settings.Fetch)
		return &run.Shared{Runs: e.Home, Reach: artifact.Everywhere, Like: string(like), Fresh: settings.Archive.MaxAge()}, err
	}
}

// fillOffline finds the run, and asks for its sources to be judged without
// fetching any.
func (e *Env) fillOffline(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	args.Set("online_dry_run", codec.Of(true))
	return e.fillRun(ctx, typed, args)
}

func citationTools(env *Env) []*tool.Tool {
	hidden := []string{"manifest_path"}
	source := tool.Operand{Name: "CID", Field: "cid", About: "the source, by its id in `tidegate citations list`"}
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_citations_extract_urls", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, Idempotent: true,
			Command: &tool.Command{
				Path: "citations extract", Operands: runOperand, Hide: append(hidden, "include_wave2", "extracted_urls_path", "found_by_path"),
				Fill: env.fillRun, Defaults: byHand("extracted by hand"),
			},
		}, at(env, step.ExtractURLs)),
		declare(tool.Spec{
			Name: "deep_research_citations_normalize", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, Idempotent: true,
		}, at(env, step.NormalizeURLs)),
		declare(tool.Spec{
			Name: "deep_research_citations_fetch", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, OpenWorld: true,
			Command: &tool.Command{Path: "citations fetch", Operands: runOperand, Hide: hidden, Fill: env.fillRun},
		}, func(ctx context.Context, call tool.Caller, in step.FetchInput) (step.FetchResult, error) {
			return step.FetchSources(ctx, env.Desk(call.Reach), env.Pages(call), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_citations_validate", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, OpenWorld: true,
			Command: &tool.Command{
				Path: "citations check", Operands: runOperand,
				Hide: append(hidden, "url_map_path", "citations_path", "offline_fixtures_path", "online_fixtures_path", "online_dry_run"),
				Fill: env.fillOffline, Defaults: byHand("checked by hand"), Formats: []string{"markdown"},
			},
		}, func(ctx context.Context, call tool.Caller, in step.CitationsInput) (step.CitationsResult, error) {
			return step.ValidateCitations(ctx, env.Desk(call.Reach), env.Pages(call), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_citations_render_md", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, Idempotent: true,
		}, at(env, step.RenderCitations)),
		declare(tool.Spec{
			Name: "deep_research_citations_list", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "citations list", Operands: readOperand, Hide: hidden, Fill: env.fillReadRun, Formats: []string{"markdown", "csl-json", "bibtex", "ris"}},
		}, func(ctx context.Context, call tool.Caller, in manifestIn) (step.CitationList, error) {
			return step.ListCitations(ctx, env.Desk(call.Reach), string(in.ManifestPath))
		}),
		declare(tool.Spec{
			Name: "deep_research_citations_rules", Set: "citation", Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "citations rules", Formats: []string{"markdown"}},
		}, func(_ context.Context, _ tool.Caller, in step.RulesInput) (step.CitationRules, error) {
			return step.RulesOfCitations(in), nil
		}),
		declare(tool.Spec{
			Name: "deep_research_citations_attach", Set: "citation", Effect: tool.Writes, Person: true,
			Command: &tool.Command{
				Path: "citations attach", Operands: []tool.Operand{runOperand[0], source, {Name: "FILE", Field: "file_path", About: "the page as you saved it, or a document in its place", Path: true}},
				Hide: hidden, Fill: env.fillRun,
			},
		}, at(env, step.Attach)),
		declare(tool.Spec{
			Name: "deep_research_citations_replace", Set: "citation", Effect: tool.Writes, Person: true,
			Command: &tool.Command{
				Path: "citations replace", Operands: []tool.Operand{runOperand[0], source, {Name: "URL", Field: "url", About: "the page that is its evidence from now on"}},
				Hide: hidden, Fill: env.fillRun,
			},
		}, func(ctx context.Context, call tool.Caller, in step.ReplaceInput) (step.SourceDecision, error) {
			return step.Replace(ctx, env.Desk(call.Reach), env.Pages(call), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_gate_c_compute", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, at(env, step.ComputeGateC)),
		declare(tool.Spec{
			Name: "deep_research_grounding_check", Set: "citation", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path: "ground", Operands: []tool.Operand{readOperand[0], {Name: "FILE", Field: "document_path", About: "the markdown document; the run's final synthesis when absent", Optional: true}},
				Hide: hidden, Fill: env.fillReadRun, Formats: []string{"markdown", "sarif", "junit", "github", "rdjson"},
				Stream: &tool.Stream{Flag: "claims", About: "judge the claims of a `file` of JSON lines (- for stdin) by the texts beside them, without a run", Run: judgeClaims},
			},
		}, func(ctx context.Context, call tool.Caller, in step.GroundInput) (step.GroundResult, error) {
			in.Dir = env.Dir
			return step.Ground(ctx, env.Desk(call.Reach), in)
		}),
	}
}

// judgeClaims is ground --claims.
func judgeClaims(ctx context.Context, file string, input io.Reader, out io.Writer) error {
	if file != tool.Stdin {
		f, err := artifact.Everywhere.OpenFile("claims", file)
		if err != nil {
			return err
		}
		defer f.Close()
		input = f
	}
	return claim.JudgeLines(ctx, artifact.Until(ctx, input), out)
}
