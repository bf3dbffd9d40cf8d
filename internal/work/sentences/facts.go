package sentences

import (
	"bytes"
	"context"
	"path"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// templateOf is the template of the run's report.
func templateOf(r *run.Run) (evidence.Template, error) {
	shape, err := r.Shape()
	if err != nil {
		return evidence.Template{}, err
	}
	return shape.Sections()
}

// factsOf is what the rules of a synthesis need to know of the run: its sources,
// what stands on their pages, and what its policy asks for.
func factsOf(ctx context.Context, r *run.Run, text *markdown.Text) (synthesis.Facts, error) {
	known, err := ReadSources(ctx, r)
	if err != nil {
		return synthesis.Facts{}, err
	}
	facts := synthesis.Facts{Citations: known.usable}
	template, err := templateOf(r)
	if err != nil {
		return synthesis.Facts{}, err
	}
	facts.Sections = template.Titles(nil)
	if facts.Unsourced, err = Unsourced(r, known); err != nil {
		return synthesis.Facts{}, err
	}
	for _, url := range claim.InspectRead(text).URLs {
		facts.RawURLs = append(facts.RawURLs, synthesis.Place{Line: url.Line, Text: url.Text})
	}
	return facts, nil
}

// runSources are the sources of a run by its records.
type runSources struct {
	usable []synthesis.Citation
	Status map[string]string // by cid
}

func ReadSources(ctx context.Context, r *run.Run) (runSources, error) {
	pool, err := sourcing.ReadPool(ctx, r)
	if err != nil {
		return runSources{}, err
	}
	s := runSources{Status: map[string]string{}}
	data, err := r.Folder().Read(r.Layout().Citations)
	if err != nil {
		return runSources{}, err
	}
	sameAs := map[string]string{}
	for line := range bytes.Lines(data) {
		record, err := codec.Parse(bytes.TrimSpace(line))
		if cid := record.Get("cid").Str(); err == nil && cid != "" {
			s.Status[cid] = record.Get("status").Str()
			sameAs[cid] = record.Get("same_as").Str()
		}
	}
	for _, cid := range pool.CIDs() {
		s.usable = append(s.usable, synthesis.Citation{CID: cid, SameAs: sameAs[cid]})
	}
	return s, nil
}

// Unsourced reports whether a person let gate C pass without a single source that
// can be cited.
func Unsourced(r *run.Run, sources runSources) (bool, error) {
	if len(sources.usable) > 0 {
		return false, nil
	}
	return gateAccepted(r, "C")
}

// MetaFile is the file beside a synthesis that says how it was made.
func MetaFile(name string) string { return path.Join(path.Dir(name), "final-synthesis.meta.json") }

// PackMetaFile is the file that says how the earlier system made the summary pack.
func PackMetaFile(r *run.Run) string {
	return path.Join(path.Dir(r.Layout().SummaryPack), "summary-pack.meta.json")
}

// MadeByRule reports whether the text, or the summary pack, was made by rule instead
// of written. For packs that this program made the log says so; for what the earlier
// system made, the file beside it.
func MadeByRule(r *run.Run, name string) (text, pack bool, err error) {
	generated := func(meta string) bool {
		data, err := r.Folder().Read(meta)
		if err != nil {
			return false
		}
		doc, _ := codec.Parse(data)
		return doc.Get("mode").Str() == modeGenerate
	}
	pack = generated(PackMetaFile(r))
	events, err := r.Events()
	for _, e := range events {
		if e.Event == run.EventPacked {
			pack = e.Entry.Get("mode").Str() == modeGenerate
		}
	}
	return generated(MetaFile(name)), pack, err
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
		u.Write(file.to, data)
	}
	return nil
}

// perspectivesOf are the perspectives whose outputs name a source.
func perspectivesOf(rec *source.Record) []string {
	var ids []string
	for _, by := range rec.FoundBy {
		if !slices.Contains(ids, by.Perspective) {
			ids = append(ids, by.Perspective)
		}
	}
	return ids
}
