package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Forge is a repository on a forge, for the owner of a token.
type Forge struct {
	API        string // such as https://api.github.com
	GraphQL    string // such as https://api.github.com/graphql
	Repository string // owner/name
	Pages      string // the address of its pages, such as https://github.com; may be ""
	Token      string
	Call       archive.Call
}

var (
	repositoryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`) })
	commitID       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })
)

// IsCommit reports whether a text is the id of a commit.
func IsCommit(text string) bool { return commitID().MatchString(text) }

// FromEnv is the forge that the environment of a job names. It returns INVALID_ARGS.
func FromEnv(getenv func(string) string) (*Forge, error) {
	f := &Forge{API: strings.TrimSuffix(getenv("GITHUB_API_URL"), "/"), GraphQL: getenv("GITHUB_GRAPHQL_URL"), Repository: getenv("GITHUB_REPOSITORY"), Pages: getenv("GITHUB_SERVER_URL"), Token: getenv("GITHUB_TOKEN")}
	for name, value := range map[string]string{"GITHUB_API_URL": f.API, "GITHUB_GRAPHQL_URL": f.GraphQL} {
		if err := checkAddress(name, value); err != nil {
			return nil, err
		}
	}
	if !repositoryName().MatchString(f.Repository) {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("GITHUB_REPOSITORY", tidegate.Cut(f.Repository)), "GITHUB_REPOSITORY must be owner/name, got %q", tidegate.Cut(f.Repository))
	}
	if f.Token == "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("GITHUB_TOKEN", nil), "GITHUB_TOKEN is not set")
	}
	return f, nil
}

func checkAddress(name, value string) error {
	if u, err := url.Parse(value); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, tidegate.Cut(value)), "%s must be the address of the forge's API, got %q", name, tidegate.Cut(value))
	}
	return nil
}

// ParsePull reads the address of the page of a pull request: the forge that has it, and its
// number. The environment has the token, which goes to github.com, and to another host only
// where the environment names that: whoever wrote the address does not choose who gets it.
// It returns INVALID_ARGS.
func ParsePull(address string, getenv func(string) string) (*Forge, int, error) {
	m := pullPage().FindStringSubmatch(address)
	if m == nil {
		return nil, 0, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("from", tidegate.Cut(address)),
			"the address of a pull request is https://HOST/OWNER/NAME/pull/NUMBER, got %q", tidegate.Cut(address))
	}
	const github = "github.com"
	host := strings.ToLower(m[1])
	api := getenv("GITHUB_API_URL")
	named := slices.Contains([]string{hostOf(getenv("GITHUB_SERVER_URL")), hostOf(api), strings.TrimPrefix(hostOf(api), "api.")}, host)
	graphQL := getenv("GITHUB_GRAPHQL_URL")
	switch {
	case named && api != "":
	case host == github:
		api, graphQL = "https://api.github.com", "https://api.github.com/graphql"
	case named || host == strings.ToLower(getenv("GH_HOST")):
		api, graphQL = "https://"+host+"/api/v3", "https://"+host+"/api/graphql"
	default:
		return nil, 0, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("host", host),
			"a token is not sent to %s, which only the address names: if you trust it with one, set GH_HOST=%s and GH_ENTERPRISE_TOKEN", host, host)
	}
	tokens := []string{"GITHUB_TOKEN", "GH_TOKEN"}
	if host != github {
		tokens = append([]string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}, tokens...)
	}
	number, _ := strconv.Atoi(m[3]) // nine digits at most
	f, err := FromEnv(func(name string) string {
		switch name {
		case "GITHUB_API_URL":
			return api
		case "GITHUB_GRAPHQL_URL":
			return cmp.Or(graphQL, api+"/graphql")
		case "GITHUB_REPOSITORY":
			return m[2]
		case "GITHUB_TOKEN":
			for _, name := range tokens {
				if token := getenv(name); token != "" {
					return token
				}
			}
			return ""
		}
		return getenv(name)
	})
	return f, number, err
}

// hostOf is the host of an address, with its port, "" where it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

var pullPage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^https://([A-Za-z0-9.:-]+)/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/pull/([1-9][0-9]{0,8})(?:[/?#].*)?$`)
})

// do sends a request about the repository and reads the answer into a value, which may
// be nil. It returns NOT_FOUND, INVALID_STATE where the forge refuses or cannot be
// reached, and CANCELLED.
func (f *Forge) do(ctx context.Context, method, path string, body, into any) error {
	return f.send(ctx, method, f.API+"/repos/"+f.Repository+path, path, body, into)
}

func (f *Forge) send(ctx context.Context, method, address, what string, body, into any) error {
	return send(ctx, f.Call, f.request(method, address), what, body, into)
}

// send sends a request with a body, which may be nil, as [Forge.do] does.
func send(ctx context.Context, call archive.Call, r archive.Request, what string, body, into any) error {
	if body != nil {
		data, err := codec.MarshalLine(body)
		if err != nil {
			return err
		}
		r.Body = data
		r.Header = append(r.Header, archive.Field{Name: "Content-Type", Value: "application/json"})
	}
	c, err := call(ctx, "forge", r)
	if err != nil {
		return tidegate.Errorf(tidegate.Cancelled, nil, "stopped while asking the forge: %w", err)
	}
	last := c.Last()
	if c.Kind != archive.Responded || last.Status < 200 || last.Status > 299 {
		return refused(r.Method, what, c)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(last.Body, into); err != nil {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the forge's answer to %s %s cannot be read: %v", r.Method, what, err)
	}
	return nil
}

// request is a request of the owner of the token.
func (f *Forge) request(method, address string) archive.Request {
	return archive.Request{Method: method, URL: address, Named: true, Secrets: []string{f.Token}, Header: []archive.Field{
		{Name: "Authorization", Value: "Bearer " + f.Token}, {Name: "Accept", Value: "application/vnd.github+json"},
		{Name: "X-GitHub-Api-Version", Value: "2022-11-28"}}}
}

// refused is the error for an answer that is none.
func refused(method, what string, c archive.Capture) error {
	last := c.Last()
	why := string(c.Kind) + ": " + c.Detail
	if c.Kind == archive.Responded {
		var said struct{ Message string }
		_ = json.Unmarshal(last.Body, &said) // whatever else it is, the status says enough
		why = strings.TrimSpace(strconv.Itoa(last.Status) + " " + tidegate.Cut(said.Message))
		if last.Get("X-RateLimit-Remaining") == "0" || last.Get("Retry-After") != "" || last.Status == 429 {
			why += " (the limit of requests is reached)"
		}
	}
	code := tidegate.InvalidState
	if last.Status == 404 {
		code = tidegate.FileNotFound
	}
	return tidegate.Errorf(code, tidegate.Pairs("status", last.Status), "the forge does not answer %s %s: %s", method, what, why)
}

// The pages of a list.
const (
	perPage  = 100
	maxPages = 30
)

// each reads the pages of a list. What is beyond the last one that is read is left out.
func each[T any](ctx context.Context, do func(ctx context.Context, method, path string, body, into any) error, path string, visit func(T)) error {
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	for page := 1; page <= maxPages; page++ {
		var list []T
		if err := do(ctx, "GET", fmt.Sprintf("%s%sper_page=%d&page=%d", path, join, perPage, page), nil, &list); err != nil {
			return err
		}
		for _, item := range list {
			visit(item)
		}
		if len(list) < perPage {
			return nil
		}
	}
	return nil
}

// query asks the GraphQL API.
func (f *Forge) query(ctx context.Context, text string, variables map[string]any, into any) error {
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := f.send(ctx, "POST", f.GraphQL, "graphql", map[string]any{"query": text, "variables": variables}, &answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the forge does not answer a query: %s", tidegate.Cut(answer.Errors[0].Message))
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the forge's answer to a query cannot be read: %v", err)
	}
	return nil
}

type user struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
	Type  string `json:"type"` // User, Bot or Organization
}

// Me is the login of the user whose token this is.
func (f *Forge) Me(ctx context.Context) (string, error) {
	var answer struct{ Viewer user }
	err := f.query(ctx, "query { viewer { login } }", nil, &answer)
	if err == nil && answer.Viewer.Login == "" {
		err = tidegate.Errorf(tidegate.InvalidState, nil, "the forge does not say whose token this is")
	}
	return answer.Viewer.Login, err
}

// Page is the address of lines of a file at a commit.
func (f *Forge) Page(head, file string, from, to int) string {
	if f.Pages == "" {
		return ""
	}
	address := fmt.Sprintf("%s/%s/blob/%s", f.Pages, f.Repository, head) + escapedPath(file)
	if from > 0 {
		address += fmt.Sprintf("#L%d", from)
	}
	if to > from {
		address += fmt.Sprintf("-L%d", to)
	}
	return address
}

// escapedPath is the path of a file behind an address in markdown.
func escapedPath(file string) (path string) {
	for part := range strings.SplitSeq(file, "/") {
		path += "/" + strings.NewReplacer("(", "%28", ")", "%29").Replace(url.PathEscape(part))
	}
	return path
}

// SuggestionWord follows the fence of a suggestion that replaces the lines of its comment.
func (f *Forge) SuggestionWord(int) string { return "suggestion" }
