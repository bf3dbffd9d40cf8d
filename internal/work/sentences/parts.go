package sentences

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// ReadOutline reads the outline of a report that is written by parts, nil where the run
// has none. It returns READ_FAILED and SCHEMA_VALIDATION_FAILED.
func ReadOutline(r *run.Run) (*synthesis.Outline, error) {
	name := r.Layout().Outline()
	data, err := r.Folder().Read(name)
	if err != nil {
		return nil, artifact.UnlessMissing(err)
	}
	var o synthesis.Outline
	if err := json.Unmarshal(data, &o); err != nil || o.SchemaVersion != synthesis.OutlineVersion {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", r.Path(name)), "%s is not %s", name, synthesis.OutlineVersion)
	}
	return &o, nil
}

// TakeOutline stages the outline of a report that was judged. It returns INVALID_STATE and
// STAGE_MISMATCH.
func TakeOutline(u *run.Update, o synthesis.Outline) error {
	if err := step.TakesIn(u, run.Synthesis); err != nil {
		return err
	}
	return u.WriteJSON(u.Run().Layout().Outline(), o)
}

// TakePart stages a section of the report that was judged, or, from the second round on,
// the edits of one. It returns INVALID_STATE and STAGE_MISMATCH.
func TakePart(u *run.Update, number int, round int64, text []byte) error {
	if err := step.TakesIn(u, run.Synthesis); err != nil {
		return err
	}
	return u.Write(u.Run().Layout().Part(number, round), text)
}

// JudgePart judges one section of a report by the rules of a synthesis, as far as they are
// about a section. Least and most are how many words it has. It returns READ_FAILED and
// the errors of reading the records.
func JudgePart(ctx context.Context, r *run.Run, text []byte, number, least, most int) (Judged, error) {
	return judgeSome(ctx, r, text, func(facts *evidence.Facts) {
		caveats := max(1, len(facts.Template.Titles(func(s evidence.Section) bool { return s.Caveats })))
		facts.Template.Sections = facts.Template.Sections[number-1 : number]
		facts.Least, facts.Most, facts.MaxRun = least, most, max(1, evidence.MaxRun/caveats)
	})
}

// JudgeJoin judges the part of a report that joins its sections, by itself.
func JudgeJoin(ctx context.Context, r *run.Run, text []byte, least, most int) (Judged, error) {
	return judgeSome(ctx, r, text, func(facts *evidence.Facts) { facts.Least, facts.Most = least, most })
}

// judgeSome judges a text that is not a whole report.
func judgeSome(ctx context.Context, r *run.Run, text []byte, narrow func(*evidence.Facts)) (judged Judged, err error) {
	read := markdown.Read(text)
	facts, err := factsOf(ctx, r, read)
	if err != nil {
		return Judged{}, err
	}
	policy, err := r.Policy()
	if err != nil {
		return Judged{}, err
	}
	about, records, err := ReportFacts(r, text)
	if err != nil {
		return Judged{}, err
	}
	about.Whole = false
	narrow(&about)
	facts.Sections = about.Template.Titles(nil)
	if judged.sentences, err = holdSentences(ctx, r, read, about, records, nil); err != nil {
		return Judged{}, err
	}
	judged.Claims, facts.Sentences = &judged.sentences.claims, judged.sentences.found(policy.Evidence.Grounding)
	judged.Result = synthesis.Judge(read, facts)
	return judged, nil
}

// AssembleParts is the first draft of a report that was written by parts. It returns
// READ_FAILED.
func AssembleParts(r *run.Run, join []byte) ([]byte, error) {
	template, err := templateOf(r)
	if err != nil {
		return nil, err
	}
	parts := map[string][]byte{}
	for i, s := range template.Sections {
		text, err := r.Folder().Read(r.Layout().Part(i+1, 1))
		if artifact.UnlessMissing(err) != nil {
			return nil, err
		}
		parts[s.Title] = text
	}
	return synthesis.Assemble(template, join, parts), nil
}

// DirectedParts are the numbers of the sections for which the review before a round asks
// for changes, in the order of the template, and whether it asks for others. It returns
// READ_FAILED and TAMPERED.
func DirectedParts(r *run.Run, round int64) (numbers []int, others bool, err error) {
	answers, _, err := answeredBy(r, round-1)
	if err != nil || answers == nil {
		return nil, true, err
	}
	outline, err := ReadOutline(r)
	if err != nil || outline == nil {
		return nil, true, err
	}
	facts, _, err := ReportFacts(r, answers.Draft)
	if err != nil {
		return nil, true, err
	}
	report := evidence.Read(markdown.Read(answers.Draft), facts)
	for _, d := range answers.Directives {
		at := slices.Index(facts.Template.Titles(nil), report.SectionAt(d.Line)) + 1
		switch {
		case at == 0 || outline.Part(at) == nil:
			others = true
		case !slices.Contains(numbers, at):
			numbers = append(numbers, at)
		}
	}
	slices.Sort(numbers)
	return numbers, others, nil
}

// PartEdits are the edits of sections that agents handed in for a round, in the order of
// the sections. It returns READ_FAILED.
func PartEdits(r *run.Run, round int64) (edits evidence.Edits, err error) {
	numbers, _, err := DirectedParts(r, round)
	if err != nil {
		return edits, err
	}
	for _, n := range numbers {
		data, err := r.Folder().Read(r.Layout().Part(n, round))
		if err != nil {
			return edits, err
		}
		own, faults := evidence.ParseEdits(data)
		if len(faults) > 0 {
			return edits, tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("changed", []string{r.Layout().Part(n, round)}), "%s holds no edits", r.Layout().Part(n, round))
		}
		edits = edits.With(own)
	}
	return edits, nil
}

// ApplyPart makes the next draft from edits of one section alone, or says what is wrong
// with them: SCHEMA_VALIDATION_FAILED for one of another section.
func (v *Revision) ApplyPart(answer []byte, section string) (evidence.Edited, []evidence.Fault) {
	edits, faults := evidence.ParseEdits(answer)
	if len(faults) == 0 {
		faults = v.report.Outside(edits, section)
	}
	if len(faults) > 0 {
		return evidence.Edited{}, faults
	}
	return v.report.Apply(edits, v.report.IDsIn(section, v.drop))
}

// ApplyWith makes the next draft from the edits of sections and those of the part that
// joins them.
func (v *Revision) ApplyWith(parts evidence.Edits, answer []byte) (evidence.Edited, []evidence.Fault) {
	edits, faults := evidence.ParseEdits(answer)
	if len(faults) > 0 {
		return evidence.Edited{}, faults
	}
	return v.report.Apply(parts.With(edits), v.drop)
}

// NumberedPart is a section of the draft with ids beside its sentences, and the number of
// its first line.
func (v *Revision) NumberedPart(section string) (text string, line int) {
	return v.report.NumberedSection(section)
}

// Directed are the directives about a section, or, where it is "", about none of those
// that agents edit alone.
func (v *Revision) Directed(section string, apart []string) []synthesis.Directive {
	var own []synthesis.Directive
	if v.Answered == nil {
		return nil
	}
	for _, d := range v.Answered.Directives {
		if in := v.report.SectionAt(d.Line); in == section && section != "" || section == "" && !slices.Contains(apart, in) {
			own = append(own, d)
		}
	}
	return own
}

// JudgeEdited judges a draft in which only what some directives ask for is changed.
func JudgeEdited(ctx context.Context, r *run.Run, draft []byte, directives []synthesis.Directive) (Judged, error) {
	judged, _, err := judgeTextFor(ctx, r, draft, func(a *synthesis.Answered) *synthesis.Answered {
		if a == nil {
			return nil
		}
		return &synthesis.Answered{Draft: a.Draft, Directives: directives}
	})
	return judged, err
}
