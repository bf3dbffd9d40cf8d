package change

import (
	"context"
	"encoding/json"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// sidecar stands beside a kept review: what the review was about, and on whose
// authority it came. What is missing is null.
type sidecar struct {
	Schema       string             `json:"schema_version"`
	ChangeID     string             `json:"change_id"`
	Number       int                `json:"number"`
	CreatedAt    string             `json:"created_at"`
	Actor        tidegate.ActorKind `json:"actor"`
	Verdict      review.Verdict     `json:"verdict"`
	ReviewDigest string             `json:"review_digest"` // of the markdown
	TreeDigest   *string            `json:"tree_digest"`   // null outside a repository, and when it is not known
	Commit       *string            `json:"commit"`        // that was checked out
	Worktree     *string            `json:"worktree"`      // as STATE.yaml named it; null for the project
	TreeProblem  *string            `json:"tree_problem"`  // why the tree is not known
	Evidence
}

// Evidence is what stands beside the review of an agent that tidegate asked.
type Evidence struct {
	Files       []string         `json:"files,omitempty"`        // that the reviewers were shown
	Findings    []review.Finding `json:"findings,omitempty"`     // the issues of the review, in its order
	Dropped     []review.Dropped `json:"dropped,omitempty"`      // findings that do not hold
	TestCommand string           `json:"test_command,omitempty"` // by which it was tested
	FailedNew   *int64           `json:"failed_new,omitempty"`   // tests that fail with the change and not without it
	Note        string           `json:"note,omitempty"`         // of the implementer, about what was reviewed
	NeedsPerson string           `json:"needs_person,omitempty"` // why a person decides, whatever the verdict
}

const sidecarSchema = "kept_review.v1"

// KeptReviewShape is the schema of kept_review.v1.
func KeptReviewShape() codec.Shape {
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(sidecarSchema)},
		codec.Field{Name: "change_id", Shape: codec.NotBlank()},
		codec.Field{Name: "number", Shape: codec.IntegerFrom(1), About: "of the review among those of the change"},
		codec.Field{Name: "created_at", Shape: codec.NotBlank()},
		codec.Field{Name: "actor", Shape: codec.OneOf(string(tidegate.Agent), string(tidegate.Person), string(tidegate.Rule)), About: "on whose authority the review was handed in"},
		codec.Field{Name: "verdict", Shape: codec.OneOf(review.Verdicts...)},
		codec.Field{Name: "review_digest", Shape: codec.NotBlank(), About: "of the markdown beside this document"},
		codec.Field{Name: "tree_digest", Shape: codec.NotBlank().OrNull(), About: "of the files that were reviewed; null outside a git repository"},
		codec.Field{Name: "commit", Shape: codec.NotBlank().OrNull(), About: "that was checked out"},
		codec.Field{Name: "worktree", Shape: codec.NotBlank().OrNull(), About: "as STATE.yaml named it; null for the project"},
		codec.Field{Name: "tree_problem", Shape: codec.NotBlank().OrNull(), About: "why the tree is not known"},
		codec.Field{Name: "files", Shape: codec.List(codec.Text(), 0), Optional: true, About: "that the reviewers were shown"},
		codec.Field{Name: "findings", Optional: true, About: "the issues of the review, in its order, with what ties them to the code",
			Shape: codec.List(review.FindingShape(), 0)},
		codec.Field{Name: "dropped", Optional: true, About: "findings that do not hold",
			Shape: codec.List(review.FindingShape(codec.Field{Name: "why", Shape: codec.NotBlank()}), 0)},
		codec.Field{Name: "failed_new", Shape: codec.IntegerFrom(0), Optional: true,
			About: "tests that fail with the change and not without it"},
		codec.Field{Name: "test_command", Shape: codec.Text(), Optional: true, About: "by which it was tested"},
		codec.Field{Name: "note", Shape: codec.Text(), Optional: true, About: "of the implementer, about what was reviewed"},
		codec.Field{Name: "needs_person", Shape: codec.NotBlank(), Optional: true, About: "why a person decides, whatever the verdict"},
	)
}

func newSidecar(ctx context.Context, desk run.Desk, p review.Payload, number int, data []byte, about git.Tree, with Evidence) sidecar {
	return sidecar{
		Schema: sidecarSchema, ChangeID: p.ChangeID, Number: number, CreatedAt: tidegate.Stamp(desk.Now()), Actor: tidegate.ActorOf(ctx).Kind,
		Verdict: p.Verdict, ReviewDigest: codec.DigestBytes(data),
		TreeDigest: orNull(about.Digest), Commit: orNull(about.Commit), Worktree: orNull(about.Worktree), TreeProblem: orNull(about.Problem),
		Evidence: with,
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// readSidecar is what stands beside a kept review.
func readSidecar(folder *artifact.Folder, number int) (s sidecar, err error) {
	data, err := folder.Read(sidecarName(number))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

// tree is the tree that a sidecar names.
func (s sidecar) tree() git.Tree {
	return git.Tree{Digest: textOf(s.TreeDigest), Commit: textOf(s.Commit), Worktree: textOf(s.Worktree), Problem: textOf(s.TreeProblem)}
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
