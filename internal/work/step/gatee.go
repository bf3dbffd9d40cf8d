package step

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// judgeE is the judge of gate E: the final synthesis follows the rules, what it
// says stands on the pages that it cites, and it makes the changes that the review
// before it asked for.
func judgeE(ctx context.Context, r *run.Run) (run.Judgement, error) {
	judged, err := judgeSynthesis(ctx, r, r.Layout().Synthesis())
	return judged.judgement, err
}

// judgedSynthesis is the judgement of a synthesis with what it follows from.
type judgedSynthesis struct {
	name      string // of the document in the run
	facts     synthesis.SynthesisFacts
	result    synthesis.Result
	judgement run.Judgement
}

// judgeSynthesis judges a document of the run by the rules of a synthesis.
func judgeSynthesis(ctx context.Context, r *run.Run, name string) (judgedSynthesis, error) {
	rounds := r.Manifest().ReviewRounds()
	round, review := r.Layout().Round(rounds)
	optional, err := thereOf(r, metaOf(name), packMeta(r), indexFile, round, review, r.Layout().Claims())
	if err != nil {
		return judgedSynthesis{}, err
	}
	readings, err := readingsOf(r)
	if err != nil {
		return judgedSynthesis{}, err
	}
	optional = append(optional, readings...)
	bound, err := run.Bind(r.Folder(), append(optional, name, r.Layout().Citations))
	if err != nil {
		return judgedSynthesis{}, err
	}
	draft, err := r.Folder().Read(name)
	if err != nil {
		return judgedSynthesis{}, tidegate.WithDetails(err, tidegate.Pairs("synthesis_path", r.Path(name)))
	}
	judged, kept, err := judgeText(ctx, r, draft)
	if err != nil {
		return judgedSynthesis{}, err
	}
	out := judgedSynthesis{name: name, result: judged.Result,
		facts: synthesis.SynthesisFacts{RunID: r.ID(), Draft: draft, Claims: judged.Claims, Outcome: judged.Outcome}}
	if out.facts.Generated, out.facts.PackGenerated, err = madeByRule(r, name, draft); err != nil {
		return judgedSynthesis{}, err
	}
	out.judgement = judgementOf(synthesis.GateE(out.facts, out.result), bound)
	for _, d := range judged.Outcome.Directives(nil) {
		out.judgement.Changes = append(out.judgement.Changes, fmt.Sprintf("line %d: %s", d.Line, d.Action))
	}
	for _, f := range out.result.Faults {
		change := f.Message + ". " + f.ChangeNote
		if f.Line > 0 {
			change = fmt.Sprintf("line %d: %s", f.Line, change)
		}
		out.judgement.Changes = append(out.judgement.Changes, change)
	}
	if !kept {
		out.judgement.Warnings = append(out.judgement.Warnings, "REVIEW_NOT_KEPT")
		out.judgement.Notes = "the run does not have the review that the synthesis answers"
	}
	return out, nil
}

// templateOf is the template of the run's report.
func templateOf(r *run.Run) (evidence.Template, error) {
	shape, err := r.Shape()
	if err != nil {
		return evidence.Template{}, err
	}
	return shape.Sections()
}

// thereOf are those of some files that the run has: a gate cannot be bound to a file
// that may be missing.
func thereOf(r *run.Run, names ...string) (there []string, err error) {
	for _, name := range names {
		exists, err := r.Folder().Exists(name)
		if err != nil {
			return nil, err
		}
		if exists {
			there = append(there, name)
		}
	}
	return there, nil
}

// factsOf is what the rules of a synthesis need to know of the run: its sources,
// what stands on their pages, and what its policy asks for.
func factsOf(ctx context.Context, r *run.Run, draft []byte) (synthesis.Facts, error) {
	sources, err := readSources(ctx, r)
	if err != nil {
		return synthesis.Facts{}, err
	}
	facts := synthesis.Facts{Citations: sources.usable}
	template, err := templateOf(r)
	if err != nil {
		return synthesis.Facts{}, err
	}
	facts.Sections = template.Titles(nil)
	if facts.Unsourced, err = unsourced(r, sources); err != nil {
		return synthesis.Facts{}, err
	}
	for _, url := range claim.Inspect(draft).URLs {
		facts.RawURLs = append(facts.RawURLs, synthesis.Place{Line: url.Line, Text: url.Text})
	}
	texts, err := openTexts(ctx, r)
	if err != nil {
		return synthesis.Facts{}, err
	}
	facts.Archived = texts.known.archived
	facts.Claims, err = run.Recall(texts.memory, "grounded "+texts.name+codec.DigestBytes(draft), func() ([]claim.Claim, error) { return texts.claims(draft) })
	return facts, err
}

// runSources are the sources of a run by its records.
type runSources struct {
	usable []synthesis.Citation
	status map[string]string // by cid
}

func readSources(ctx context.Context, r *run.Run) (runSources, error) {
	pool, err := readPool(ctx, r)
	if err != nil {
		return runSources{}, err
	}
	s := runSources{status: map[string]string{}}
	data, err := r.Folder().Read(r.Layout().Citations)
	if err != nil {
		return runSources{}, err
	}
	sameAs := map[string]string{}
	for line := range bytes.Lines(data) {
		record, err := codec.Parse(bytes.TrimSpace(line))
		if cid := record.Get("cid").Str(); err == nil && cid != "" {
			s.status[cid] = record.Get("status").Str()
			sameAs[cid] = record.Get("same_as").Str()
		}
	}
	for _, cid := range pool.CIDs() {
		s.usable = append(s.usable, synthesis.Citation{CID: cid, SameAs: sameAs[cid]})
	}
	return s, nil
}

// unsourced reports whether a person let gate C pass without a single source that
// can be cited.
func unsourced(r *run.Run, sources runSources) (bool, error) {
	if len(sources.usable) > 0 {
		return false, nil
	}
	return gateAccepted(r, "C")
}

// metaOf is the file beside a synthesis that says how it was made.
func metaOf(name string) string { return path.Join(path.Dir(name), "final-synthesis.meta.json") }

// packMeta is the file that says how the earlier system made the summary pack.
func packMeta(r *run.Run) string {
	return path.Join(path.Dir(r.Layout().SummaryPack), "summary-pack.meta.json")
}

// madeByRule reports whether the text, or the summary pack, was made by rule instead
// of written. For texts that this program made the log says so; for those of the
// earlier system, the file beside them.
func madeByRule(r *run.Run, name string, draft []byte) (text, pack bool, err error) {
	generated := func(meta string) bool {
		data, err := r.Folder().Read(meta)
		if err != nil {
			return false
		}
		doc, _ := codec.Parse(data)
		return doc.Get("mode").Str() == modeGenerate
	}
	pack = generated(packMeta(r))
	events, err := r.Events()
	digest := codec.DigestBytes(draft)
	logged := false
	for _, e := range events {
		made := e.Entry.Get("mode").Str() == modeGenerate
		switch {
		case e.Event == run.EventPacked:
			pack = made
		case e.Event == run.EventSynthesized && e.Entry.Get("synthesis_digest").Str() == digest:
			text, logged = text || made, true
		}
	}
	return text || !logged && generated(metaOf(name)), pack, err
}

const modeGenerate = "generate"

// answeredBy is the review that the present draft answers, nil in the first
// round: the one that last sent the run back to writing, and never a later one. It
// is not kept where another program moved the run. It returns TAMPERED when what
// was kept is not what the log recorded.
func answeredBy(r *run.Run, rounds int64) (answers *synthesis.Answered, kept bool, err error) {
	if rounds == 0 {
		return nil, true, nil
	}
	recorded, err := r.Recorded()
	if err != nil {
		return nil, false, err
	}
	draftName, bundleName := r.Layout().Round(rounds)
	var texts [2][]byte
	for i, name := range []string{draftName, bundleName} {
		data, err := r.Folder().Read(name)
		switch {
		case tidegate.CodeOf(err) == tidegate.FileNotFound && recorded[name] == "":
			return nil, false, nil
		case err == nil && codec.DigestBytes(data) != recorded[name], tidegate.CodeOf(err) == tidegate.FileNotFound:
			return nil, false, tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("changed", []string{name}),
				"%s is not what the run kept of the last review", name)
		case err != nil:
			return nil, false, err
		}
		texts[i] = data
	}
	doc, err := codec.ParseFile("review_bundle_path", r.Path(bundleName), texts[1])
	if err != nil {
		return nil, false, err
	}
	bundle, _ := synthesis.ReadBundle(doc)
	if bundle.Decision != synthesis.ReviewChanges {
		return nil, true, nil // gate E sent the run back, and judges again
	}
	return &synthesis.Answered{Draft: texts[0], Directives: bundle.Directives}, true, nil
}

// KeepRound stages copies of the synthesis, its sentences and the review that sends a
// run back to writing: the next draft is judged by them.
func KeepRound(u *run.Update, round int64) error {
	r := u.Run()
	draft, bundle := r.Layout().Round(round)
	for _, file := range []struct{ from, to string }{{r.Layout().Synthesis(), draft}, {r.Layout().ReviewBundle, bundle}, {r.Layout().Claims(), r.Layout().RoundClaims(round)}} {
		data, err := r.Folder().Read(file.from)
		if tidegate.CodeOf(err) == tidegate.FileNotFound && file.from == r.Layout().Claims() {
			continue // an earlier program checked it
		}
		if err != nil {
			return err
		}
		if err := u.Write(file.to, data); err != nil {
			return err
		}
	}
	return nil
}

// judgeNamed judges the synthesis at a path inside the run, the final one where
// path is "".
func judgeNamed(ctx context.Context, r *run.Run, path string) (judgedSynthesis, error) {
	name, err := nameOr(r, "synthesis_path", path, r.Layout().Synthesis())
	if err != nil {
		return judgedSynthesis{}, err
	}
	return judgeSynthesis(ctx, r, name)
}
