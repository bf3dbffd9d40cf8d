package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// reviewTask reads the report as a whole, and lets it pass or sends it back.
type reviewTask struct {
	*research
	round int64
}

func (r *research) reviewJobs() ([]*Job, error) {
	m := r.Manifest()
	n := m.ReviewRounds()
	if m.Stage() != run.Synthesis {
		claims, err := r.claims(n + 1)
		if err != nil {
			return nil, err
		}
		if !r.policy.Evidence.Reader || r.passed || claims == nil || claims.Judge(true).Pass() && len(claims.Unread()) == 0 {
			n++ // before, the sentences are read
		}
	}
	byRule := m.RoundsByRule()
	jobs := slices.DeleteFunc(rounds("review", "Review the report", n), func(j *Job) bool { return byRule[j.round] })
	for _, j := range jobs {
		j.task = reviewTask{r, j.round}
	}
	return jobs, nil
}

func (v reviewTask) done(*Job) bool {
	if v.round <= v.Manifest().ReviewRounds() {
		return true
	}
	data, err := v.Folder().Read(v.Layout().ReviewBundle)
	if err != nil {
		return false
	}
	doc, err := codec.Parse(data)
	if err != nil {
		return false
	}
	written, err := v.Folder().Digest(v.Layout().Synthesis())
	bundle, problem := synthesis.ReadBundle(doc)
	return err == nil && problem == "" && bundle.Objection(written) == ""
}

// reviewResult is an accepted review.
type reviewResult struct{ synthesis.Review }

func (v reviewResult) take(u update, j *Job, attempt int) error {
	return sentences.TakeSynthesisReview(u.run, v.Review, synthesis.MadeBy{Actor: tidegate.Agent, Job: j.ID, Attempt: attempt})
}

// draft is the report as it stands, and how it is judged by rule.
func (v reviewTask) draft(ctx context.Context) (name string, text []byte, found sentences.Judged, err error) {
	name = v.Layout().Synthesis()
	if text, err = v.Folder().Read(name); err != nil {
		return name, nil, found, err
	}
	found, err = sentences.JudgeDraft(ctx, v.Run, text)
	return name, text, found, err
}

func (v reviewTask) prompt(ctx context.Context, j *Job) (draft, error) {
	name, text, found, err := v.draft(ctx)
	if err != nil {
		return draft{}, err
	}
	statements, err := v.statements(ctx, nil)
	if err != nil {
		return draft{}, err
	}
	ignored, faults := sentences.Ignored(sentences.Contradictions(statements), found.Claims)
	found.Warnings = append(found.Warnings, faults...)
	said, seen, err := v.about(j)
	if err != nil {
		return draft{}, err
	}
	seen[name] = codec.DigestBytes(text)
	all, err := v.sources()
	if err != nil {
		return draft{}, err
	}
	summaries, err := v.summaries(all)
	if err != nil {
		return draft{}, err
	}
	shown, lines := numbered(all.list.Shorten(string(text)))
	example := `{"decision":"PASS","findings":[{"severity":"low","line":1,"message":"The summary could come to the point sooner."}],"directives":[]}`
	if !found.Pass() && !v.passed {
		example = `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":null,"action":"Do what the rules ask for."}]}`
	}
	_, most := said.Shape.Range(true)
	filled, err := fill("review.md", struct {
		about
		Draft            string
		Lines            int
		Words, Most      int // of the draft, and of the next
		Faults, Warnings []Fault
		Sentences        string
		Disagree         string
		Summaries        []summarized
		Example          string
	}{said, shown, lines, found.Words(), most, faultsOf(found.Faults), faultsOf(found.Warnings), all.list.Shorten(sentenceList(found.Claims)), contradictionList(ignored, all), summaries, example})
	return draft{text: filled, seen: seen}, err
}

// sentenceList lists the sentences of a draft for a quotation, each with the passage that
// it was read against and what the second reader says of it.
func sentenceList(claims *evidence.Claims) string {
	var b strings.Builder
	if claims == nil {
		return ""
	}
	for i := range claims.Sentences {
		s := &claims.Sentences[i]
		fmt.Fprintf(&b, "- line %d, %s", s.Line, s.Form)
		for _, cid := range s.CIDs {
			b.WriteString(" @" + cid)
		}
		fmt.Fprintf(&b, ": %s\n", markdown.OneLine(s.Text))
		v := s.Verdict
		switch {
		case v == nil && s.Standing != "":
			fmt.Fprintf(&b, "  By rule it is %s; nobody has read it.\n", s.Standing)
		case v != nil:
			fmt.Fprintf(&b, "  The second reader says %s", v.Verdict)
			if v.Words != "" {
				b.WriteString(", by the words: " + markdown.OneLine(v.Words))
			}
			if v.Verdict != evidence.Supported || v.Words == "" {
				b.WriteString(". " + markdown.OneLine(v.Because))
			}
			b.WriteByte('\n')
		}
		if w := shownWindow(s); w != "" {
			fmt.Fprintf(&b, "  Passage: %s\n", markdown.OneLine(w))
		}
	}
	return b.String()
}

// shownWindow is the passage of a sentence that holds the words by which it stands, or
// the first.
func shownWindow(s *evidence.Claim) string {
	for _, w := range s.Windows {
		if s.Verdict == nil || strings.Contains(markdown.OneLine(w.Text), markdown.OneLine(s.Verdict.Words)) {
			return w.Text
		}
	}
	if len(s.Windows) > 0 {
		return s.Windows[0].Text
	}
	return ""
}

func (v reviewTask) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	name, text, found, err := v.draft(ctx)
	if err != nil {
		return judgement{}, err
	}
	review, faults := synthesis.ParseReview([]byte(a.text), text, found.Pass() || v.passed)
	return judgement{faults: faultsOf(faults), result: reviewResult{review}, seen: map[string]string{name: codec.DigestBytes(text)}}, nil
}
