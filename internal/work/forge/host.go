package forge

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
)

// Host is what the review of a pull request, or merge request, is published on.
type Host interface {
	Pull(ctx context.Context, number int) (Pull, error)
	Me(ctx context.Context) (string, error)
	Reported(ctx context.Context, head string) ([]Reported, error)

	Comments(ctx context.Context, number int, author string) ([]Comment, error)
	LineComments(ctx context.Context, number int, author string) ([]Comment, error)
	WriteComment(ctx context.Context, number int, id int64, body string) error
	Reply(ctx context.Context, number int, to int64, body string) error

	Lines(ctx context.Context, number int) (Lines, error)
	Review(ctx context.Context, number int, head, body string, comments []OnLines) error
	Threads(ctx context.Context, number int) ([]Thread, error)
	Resolve(ctx context.Context, thread string) error

	WriteCheck(ctx context.Context, c Check) error

	// Page is the address at which people see lines of a file as it is at a commit, "" where
	// that is not known.
	Page(head, file string, from, to int) string
	// SuggestionWord follows the fence of a suggestion for so many lines.
	SuggestionWord(lines int) string
}

// HostFromEnv is the forge that the environment of a job names: GitLab where that has its
// API, else GitHub. It returns INVALID_ARGS.
func HostFromEnv(getenv func(string) string, call archive.Call) (Host, error) {
	if getenv("CI_API_V4_URL") == "" || getenv("GITHUB_API_URL") != "" {
		f, err := FromEnv(getenv)
		if err != nil {
			return nil, err
		}
		f.Call = call
		return f, nil
	}
	g := &GitLab{API: strings.TrimSuffix(getenv("CI_API_V4_URL"), "/"), Project: getenv("CI_PROJECT_ID"), URL: getenv("CI_PROJECT_URL"), Pipeline: getenv("CI_PIPELINE_ID"), Token: getenv("GITLAB_TOKEN"), Call: call}
	if err := checkAddress("CI_API_V4_URL", g.API); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"CI_PROJECT_ID": g.Project, "CI_PIPELINE_ID": cmp.Or(g.Pipeline, "1")} {
		if !digits().MatchString(value) {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, tidegate.Cut(value)), "%s must be a number, got %q", name, tidegate.Cut(value))
		}
	}
	if g.Token == "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("GITLAB_TOKEN", nil), "GITLAB_TOKEN is not set: it is a token of the project with the scope api, because that of a job may not comment")
	}
	return g, nil
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,17}$`) })
