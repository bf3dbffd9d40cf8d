package codereview

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/forge"
	"github.com/tidegate/tidegate/review"
)

// reviewRunVersion names the form of a [ReviewRun] as JSON.
const reviewRunVersion = "review_run.v1"

// reviewRunShape is what others may rely on in a [ReviewRun] that came as a file.
var reviewRunShape = sync.OnceValue(func() codec.Shape {
	id, commit, text, texts := review.IDShape(), codec.Matching("a commit", forge.IsCommit), codec.Text(), codec.List(codec.Text(), 0)
	count := codec.IntegerFrom(0)
	optional := func(name string, shape codec.Shape) codec.Field {
		return codec.Field{Name: name, Shape: shape, Optional: true}
	}
	must := func(name string, shape codec.Shape) codec.Field { return codec.Field{Name: name, Shape: shape} }
	return codec.Table(
		must("ok", codec.Truth()), must("schema_version", codec.Version(reviewRunVersion)),
		must("change_id", codec.Matching(review.ChangeIDRule, review.ValidChangeID)),
		must("verdict", codec.OneOf(append([]string{review.Verdict("").String()}, review.Verdicts...)...)), must("summary", text),
		must("test_results", codec.Table(optional("passed", count.OrNull()), optional("failed", count.OrNull()), optional("total", count.OrNull())).OrNull()),
		must("nothing_to_review", codec.Truth()), must("base", commit), must("head", commit.OrNull()), must("paths", texts),
		must("left_out", codec.List(codec.Table(must("file", text), must("why", text), must("unseen", codec.Truth())), 0)),
		must("findings", codec.List(review.FindingShape(must("counts", codec.Truth()), optional("spared", text)), 0)),
		must("dropped", codec.List(review.FindingShape(must("why", text), optional("person", text)), 0)),
		must("closed", codec.List(id, 0)),
		must("for_person", codec.List(codec.Table(
			must("id", id), must("rule", text), must("file", text), must("message", text)), 0)),
		must("needs_person", text.OrNull()), must("fails", text.OrNull()), must("failing_tests", texts),
		must("failed_new", count.OrNull()), must("exit_status", count), must("warnings", texts),
		must("spent", codec.Table(must("minutes", codec.AnyNumber()), must("tokens", codec.AnyNumber()), must("cost_usd", codec.AnyNumber()))))
})

// readReviewRun reads what review run printed as JSON. It returns INVALID_ARGS for a
// file that is something else, NOT_FOUND and READ_FAILED.
func readReviewRun(arg, path string) (ReviewRun, error) {
	data, err := artifact.Everywhere.ReadDocument(arg, path)
	if err != nil {
		return ReviewRun{}, err
	}
	return parseReviewRun(arg, path, data)
}

func parseReviewRun(arg, path string, data []byte) (r ReviewRun, err error) {
	doc, err := codec.Parse(data)
	if err == nil {
		err = reviewRunShape().Check(doc)
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(arg, path), "%s is not what `review run --format json` prints: %s", path, tidegate.AsError(err).Message)
	}
	return r, nil
}

// before is the review for the next one. One that a person has to look at is not gone on
// from, unless that is because of what the next one looks at as well: all of it is
// reviewed again.
func (r ReviewRun) before() *engine.Before {
	b := &engine.Before{Base: r.Base, Parts: r.Paths, Review: review.Payload{ChangeID: r.ChangeID, Verdict: review.Verdict(r.Verdict), Summary: r.Summary, TestResults: r.TestResults}}
	for _, f := range r.Findings {
		b.Findings, b.Review.Issues = append(b.Findings, f.Finding), append(b.Review.Issues, f.Issue)
		if f.Checked != "" {
			b.Checked = append(b.Checked, review.Checked{ID: f.ID, Verdict: f.Checked, Because: strings.TrimPrefix(f.Spared, review.RefutedBecause)})
		}
	}
	grave, _ := review.Policy{Checked: b.Checked}.ForPerson(b.Findings, r.Dropped, nil)
	if r.Head != nil && !r.Nothing && (r.NeedsPerson == nil || grave == "" && len(r.ForPerson) > 0) {
		b.Head = *r.Head
	}
	return b
}
