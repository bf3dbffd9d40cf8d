package forge

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Dismissal is a comment by which a member of the repository dismisses a finding.
type Dismissal struct {
	Finding  string `json:"finding"` // its id
	Reason   string `json:"reason"`  // data of whoever wrote it
	Comment  int64  `json:"comment_id"`
	Author   int64  `json:"author_id"`
	Digest   string `json:"body_digest"`
	Commit   string `json:"commit"`    // that the comment was about
	ByAuthor bool   `json:"by_author"` // of the pull request, who may not dismiss what is High
}

// dismissWord begins the first line of a comment that dismisses.
const dismissWord = "tidegate: dismiss "

// longestReason is how many characters a reason has.
const longestReason = 500

// mayDismiss are the permissions of those who may dismiss.
var mayDismiss = []string{"write", "maintain", "admin"}

// Dismissals are the dismissals in the conversations of a pull request that the user me
// began about a finding, which findingOf reads from the first comment: answers of persons
// who may write to the repository while they are read, and who did not edit them since.
// Resolving a conversation dismisses nothing. Not says what does not count, and why.
func (f *Forge) Dismissals(
	ctx context.Context, pull Pull, me string, findingOf func(body string) string,
) (list []Dismissal, not []string, err error) {
	var all []commentAnswer
	keep := func(c commentAnswer) { all = append(all, c) }
	if err := each(ctx, f.do, fmt.Sprintf("/pulls/%d/comments", pull.Number), keep); err != nil {
		return nil, nil, err
	}
	permissions := map[string]string{}
	for _, c := range all {
		first, _, _ := strings.Cut(c.Body, "\n")
		reason, dismisses := strings.CutPrefix(strings.TrimSpace(first), dismissWord)
		at := slices.IndexFunc(all, func(root commentAnswer) bool { return root.ID == c.ReplyTo })
		if !dismisses || at < 0 || all[at].User.Login != me || all[at].ReplyTo != 0 {
			continue
		}
		id := findingOf(all[at].Body)
		if id == "" {
			continue
		}
		if _, known := permissions[c.User.Login]; !known && c.User.Type == "User" {
			if permissions[c.User.Login], err = f.permission(ctx, c.User.Login); err != nil {
				return nil, nil, err
			}
		}
		why := ""
		switch reason = strings.TrimSpace(reason); {
		case reason == "":
			why = "it says no reason"
		case utf8.RuneCountInString(reason) > longestReason:
			why = fmt.Sprintf("its reason has more than %d characters", longestReason)
		case c.User.Type != "User":
			why = "its author is no person"
		case !slices.Contains(mayDismiss, permissions[c.User.Login]):
			why = "its author may not write to the repository"
		case c.CreatedAt != c.UpdatedAt:
			why = "it was edited; a comment of its own says it again"
		}
		if why != "" {
			not = append(not, fmt.Sprintf("the comment %d of %s dismisses nothing: %s", c.ID, c.User.Login, why))
			continue
		}
		list = append(list, Dismissal{Finding: id, Reason: reason, Comment: c.ID, Author: c.User.ID,
			Digest: codec.DigestBytes([]byte(c.Body)), Commit: c.Commit,
			ByAuthor: c.User.ID == pull.AuthorID})
	}
	return list, not, nil
}

// permission is what a user may do with the repository; none for a stranger.
func (f *Forge) permission(ctx context.Context, login string) (string, error) {
	var answer struct{ Permission string }
	err := f.do(ctx, "GET", "/collaborators/"+url.PathEscape(login)+"/permission", nil, &answer)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return "none", nil
	}
	return answer.Permission, err
}
