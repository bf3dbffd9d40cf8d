package step

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// SynthesisInput are the arguments of [WriteSynthesis].
type SynthesisInput struct {
	ManifestPath     string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	SummaryPackPath  string `json:"summary_pack_path,omitzero" path:"absolute" jsonschema:"absolute path of the summary pack, which is the run's own"`
	OutputPath       string `json:"output_path,omitzero" path:"absolute" jsonschema:"absolute path of the draft, which is the run's own"`
	Mode             string `json:"mode,omitzero" jsonschema:"fixture takes the text from a file, generate puts it together from the summaries by rule" enum:"fixture,generate" default:"fixture"`
	FixtureDraftPath string `json:"fixture_draft_path,omitzero" path:"absolute" jsonschema:"absolute path of the text, for mode fixture" requiredif:"mode=fixture"`
	Reason           string `json:"reason" jsonschema:"why, for the audit log"`
	// Dir is the working folder, in which an agent may name a text.
	Dir string `json:"-"`
}

// SynthesisResult is the result of [WriteSynthesis].
type SynthesisResult struct {
	OK           codec.True `json:"ok"`
	OutputPath   string     `json:"output_path"`
	MetaPath     string     `json:"meta_path" jsonschema:"absolute path of the file that says how the text was made"`
	InputsDigest string     `json:"inputs_digest"`
}

// WriteSynthesis is the tool deep_research_synthesis_write: it puts a draft into a
// run in stage synthesis, which counts for nothing: a final synthesis comes from a
// job. The text has the required headings, cites at least one source and only
// validated sources of the run, and holds no raw URL.
//
// It returns SCHEMA_VALIDATION_FAILED for a missing heading, a text without a
// citation and a pack that cannot be used, UNKNOWN_CID, RAW_URL_NOT_ALLOWED,
// STAGE_MISMATCH, INVALID_STATE for a run that is final, PATH_NOT_ALLOWED,
// NOT_FOUND, INVALID_JSON, and the errors of [run.Open] and [run.Run.Update].
func WriteSynthesis(ctx context.Context, desk run.Desk, in SynthesisInput) (SynthesisResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *SynthesisResult) error {
		if err := inStage(r.Manifest(), run.Synthesis); err != nil {
			return err
		}
		name := r.Layout().Draft()
		if err := ownFile(r, "output_path", in.OutputPath, name); err != nil {
			return err
		}
		if err := ownFile(r, "summary_pack_path", in.SummaryPackPath, r.Layout().SummaryPack); err != nil {
			return err
		}
		pool, err := readPool(ctx, r)
		if err != nil {
			return err
		}
		template, err := templateOf(r)
		if err != nil {
			return err
		}
		text, err := synthesisText(ctx, r, pool, template, in)
		if err != nil {
			return err
		}
		found := claim.Inspect(text)
		if err := checkSynthesis(text, found, pool, template); err != nil {
			return err
		}
		cited := []string{}
		for _, m := range found.Mentions {
			cited = append(cited, m.CID)
		}
		slices.Sort(cited)
		mode := cmp.Or(in.Mode, "fixture")
		*out = SynthesisResult{OutputPath: r.Path(name), MetaPath: r.Path(metaOf(name)), InputsDigest: codec.Digest(tidegate.Pairs(
			"schema", "synthesis_write.inputs.v1", "mode", mode, "run_id", r.ID(), "summary_pack_path", r.Layout().SummaryPack,
			"draft_hash", synthesis.MarkdownHash(text), "cited", slices.Compact(cited)))}
		_, err = r.Update(ctx, func(u *run.Update) error {
			if err := takesIn(u, run.Synthesis); err != nil {
				return err
			}
			u.Log(run.EventSynthesized, "synthesis_write", tidegate.Pairs("reason", run.Note(in.Reason), "mode", mode, "output_path", name,
				"synthesis_digest", codec.DigestBytes(text), "inputs_digest", out.InputsDigest))
			if err := u.Write(name, text); err != nil {
				return err
			}
			return u.WriteJSON(metaOf(name), tidegate.Pairs("schema_version", "synthesis_meta.v1", "mode", mode, "generated_at", u.Now(), "inputs_digest", out.InputsDigest))
		})
		return err
	})
}

func synthesisText(ctx context.Context, r *run.Run, pool *source.Pool, template evidence.Template, in SynthesisInput) ([]byte, error) {
	if in.Mode == modeGenerate {
		return generateSynthesis(r, pool, template)
	}
	return readGiven(ctx, r, "fixture_draft_path", in.FixtureDraftPath, in.Dir)
}

// readGiven reads a file that a caller names. A file that an agent names must lie in
// the run, in the working folder, or where the roots of the program allow it.
func readGiven(ctx context.Context, r *run.Run, arg, path, dir string) ([]byte, error) {
	if err := run.CheckGiven(ctx, arg, path); err != nil {
		return nil, err
	}
	if name, err := r.Name(arg, path); err == nil {
		data, err := r.Folder().Read(name)
		return data, tidegate.WithDetails(err, tidegate.Pairs(arg, path))
	}
	if tidegate.ActorOf(ctx).Kind == tidegate.Agent {
		if _, in := artifact.Inside(dir, path); dir == "" || !in {
			return nil, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs(arg, path, "run_root", r.Root()),
				"an agent can name a file that lies in the run or in the working folder")
		}
	}
	return r.Desk().Reach.ReadFile(arg, path)
}

// checkSynthesis refuses a text that no gate could pass, by its first fault.
func checkSynthesis(text []byte, found claim.Inspection, pool *source.Pool, template evidence.Template) error {
	if missing := synthesis.Judge(text, synthesis.Facts{Sections: template.Titles(nil)}).Missing; len(missing) > 0 {
		return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("heading", "## "+missing[0]), "the synthesis lacks the heading `## %s`", missing[0])
	}
	if len(found.Mentions) == 0 {
		return tidegate.Errorf(tidegate.SchemaValidationFailed, nil, "the synthesis cites nothing")
	}
	for _, m := range found.Mentions {
		if !pool.Has(m.CID) {
			return tidegate.Errorf(tidegate.UnknownCID, tidegate.Pairs("cid", tidegate.Cut(m.CID), "line_number", m.Line), "line %d cites %q, which is not a validated source of the run", m.Line, tidegate.Cut(m.CID))
		}
	}
	for _, url := range found.URLs {
		return tidegate.Errorf(tidegate.RawURLNotAllowed, tidegate.Pairs("line_number", url.Line, "text", tidegate.Cut(url.Text)), "line %d has a raw URL; cite its source instead", url.Line)
	}
	return nil
}

// generateSynthesis puts a text together from the claims of the summary pack, each
// with the sources that it came with. It invents nothing, and never passes gate E.
func generateSynthesis(r *run.Run, pool *source.Pool, template evidence.Template) ([]byte, error) {
	pack, err := readDocument(r, "summary_pack_path", r.Layout().SummaryPack)
	if err != nil {
		return nil, err
	}
	var findings []string
	var cids []string
	for _, s := range pack.Get("summaries").Elems() {
		for _, claim := range s.Get("key_claims").Elems() {
			var cited []string
			for _, c := range claim.Get("citation_cids").Elems() {
				if pool.Citable(c.Str()) {
					cited = append(cited, "[@"+c.Str()+"]")
					cids = append(cids, c.Str())
				}
			}
			if len(cited) > 0 {
				findings = append(findings, "- "+markdown.OneLine(claim.Get("claim").Str())+" "+strings.Join(cited, " "))
			}
		}
	}
	if len(findings) == 0 {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("summary_pack_path", r.Path(r.Layout().SummaryPack)),
			"the summary pack has no claim with a validated source")
	}
	slices.Sort(cids)
	cids = slices.Compact(cids)
	var parts []string
	for i, s := range template.Sections {
		text := "- [@" + strings.Join(cids, "]\n- [@") + "]"
		switch {
		case s.Findings:
			text = strings.Join(findings, "\n")
		case i == 0:
			text = "This text was put together by rule from the summaries of the run. Nobody has written it."
		case s.Judgement:
			text = "No claim was weighed against another."
		}
		parts = append(parts, "## "+s.Title+"\n\n"+text+"\n")
	}
	return []byte(strings.Join(parts, "\n")), nil
}
