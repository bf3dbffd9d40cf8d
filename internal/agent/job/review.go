package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

var reviewKind = kind{
	name: "review", role: "reviewer", format: "json", stages: []run.Stage{run.Review},
	list: func(b *Board) ([]*Job, error) {
		m := b.run.Manifest()
		n := m.ReviewRounds()
		if m.Stage() != run.Synthesis {
			claims, err := b.claimsOf(n + 1)
			if err != nil {
				return nil, err
			}
			if !b.policy.Evidence.Reader || b.passed || claims == nil || claims.Judge(true).Pass() && len(claims.Unread()) == 0 {
				n++ // before, the sentences are read
			}
		}
		byRule := m.RoundsByRule()
		return slices.DeleteFunc(rounds("review", "Review the report", n), func(j *Job) bool { return byRule[j.round] }), nil
	},
	done: func(b *Board, j *Job) bool {
		if j.round <= b.run.Manifest().ReviewRounds() {
			return true
		}
		data, err := b.run.Folder().Read(b.run.Layout().ReviewBundle)
		if err != nil {
			return false
		}
		doc, err := codec.Parse(data)
		if err != nil {
			return false
		}
		written, err := b.run.Folder().Digest(b.run.Layout().Synthesis())
		bundle, problem := synthesis.ReadBundle(doc)
		return err == nil && problem == "" && bundle.Objection(written) == ""
	},
	prompt: reviewPrompt,
	judge:  judgeReview,
	accept: inRun(func(u *run.Update, j *Job, attempt int, judged judgement) error {
		return step.TakeSynthesisReview(u, judged.review, synthesis.MadeBy{Actor: tidegate.Agent, Job: j.ID, Attempt: attempt})
	}),
}

func reviewPrompt(ctx context.Context, b *Board, j *Job) (draft, error) {
	r := b.Run()
	name := r.Layout().Synthesis()
	text, err := r.Folder().Read(name)
	if err != nil {
		return draft{}, err
	}
	found, err := step.JudgeDraft(ctx, r, text)
	if err != nil {
		return draft{}, err
	}
	statements, err := b.statements(ctx, nil)
	if err != nil {
		return draft{}, err
	}
	ignored, faults := step.Ignored(step.Contradictions(statements), found.Claims)
	found.Warnings = append(found.Warnings, faults...)
	b.mu.Lock()
	defer b.mu.Unlock()
	said, seen, err := b.about(j)
	if err != nil {
		return draft{}, err
	}
	seen[name] = codec.DigestBytes(text)
	all, err := b.sources()
	if err != nil {
		return draft{}, err
	}
	summaries, err := b.summaries(all)
	if err != nil {
		return draft{}, err
	}
	shown, lines := numbered(all.shorten(string(text)))
	example := `{"decision":"PASS","findings":[{"severity":"low","line":1,"message":"The summary could come to the point sooner."}],"directives":[]}`
	if !found.Pass() && !b.passed {
		example = `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":null,"action":"Do what the rules ask for."}]}`
	}
	filled, err := fill("review.md", struct {
		about
		Draft            string
		Lines            int
		Faults, Warnings []Fault
		Sentences        string
		Disagree         string
		Summaries        []summarized
		Example          string
	}{said, shown, lines, faultsOf(found.Faults), faultsOf(found.Warnings), all.shorten(sentenceList(found.Claims)), contradictionList(ignored, all), summaries, example})
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
		case v != nil && v.Words != "":
			fmt.Fprintf(&b, "  The second reader says %s, by the words: %s\n", v.Verdict, markdown.OneLine(v.Words))
		case v != nil:
			fmt.Fprintf(&b, "  The second reader says %s. %s\n", v.Verdict, markdown.OneLine(v.Because))
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

func judgeReview(ctx context.Context, b *Board, _ *Job, a answer) (judgement, error) {
	r := b.Run()
	name := r.Layout().Synthesis()
	text, err := r.Folder().Read(name)
	if err != nil {
		return judgement{}, err
	}
	found, err := step.JudgeDraft(ctx, r, text)
	if err != nil {
		return judgement{}, err
	}
	b.mu.Lock()
	pass := found.Pass() || b.passed
	b.mu.Unlock()
	review, faults := synthesis.ParseReview([]byte(a.text), text, pass)
	return judgement{faults: faultsOf(faults), review: review, seen: map[string]string{name: codec.DigestBytes(text)}}, nil
}
