package change

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
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
	)
}

func newSidecar(ctx context.Context, desk run.Desk, p review.Payload, number int, data []byte, about tree) sidecar {
	return sidecar{
		Schema: sidecarSchema, ChangeID: p.ChangeID, Number: number, CreatedAt: stamp(desk.Now()), Actor: tidegate.ActorOf(ctx).Kind,
		Verdict: p.Verdict, ReviewDigest: codec.DigestBytes(data),
		TreeDigest: orNull(about.digest), Commit: orNull(about.commit), Worktree: orNull(about.worktree), TreeProblem: orNull(about.problem),
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// treeOf is the tree that a sidecar names.
func treeOf(data []byte) (tree, error) {
	v, err := codec.Parse(data)
	if err != nil {
		return tree{}, err
	}
	return tree{digest: v.Get("tree_digest").Str(), commit: v.Get("commit").Str(), worktree: v.Get("worktree").Str(), problem: v.Get("tree_problem").Str()}, nil
}

// differs says how a tree differs from the one that was reviewed, "" when it does
// not.
func (t tree) differs(reviewed tree) string {
	switch {
	case reviewed.problem != "":
		return "the tree that was reviewed is not known (" + reviewed.problem + ")"
	case t.problem != "":
		return "the tree is not known (" + t.problem + ")"
	case t.worktree != reviewed.worktree:
		return "another worktree was reviewed"
	case t.digest != reviewed.digest:
		return "the tree is not the one that was reviewed"
	}
	return ""
}
