package catalog

import (
	"context"
	"io"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

// Lent is what the tools work with that the home of an agent lends it. The agent names
// neither its run, nor its lease, nor a file.
type Lent struct {
	Manifest string                 // of its run; "" where the run is on another machine
	Token    string                 // of its lease
	Search   bool                   // it may search the web
	Contract []byte                 // what its text is judged by, as perspectives with one in them; empty: nothing judges it
	MaxText  int                    // bytes that its text may have; 0: any number
	Leaks    func(text string) bool // whether a text has a token or key of the agent in it
}

// searchTool searches for an agent with a lease.
const searchTool = "deep_research_search"

// Searches reports whether one of the tools is the search.
func Searches(tools []*tool.Tool) bool { return find(tools, searchTool) != nil }

func find(tools []*tool.Tool, name string) *tool.Tool {
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Of is what is lent of the tools: the search, and the two that judge an output, which
// take its text in the place of paths.
func (l Lent) Of(tools []*tool.Tool) []*tool.Tool {
	var list []*tool.Tool
	if search := find(tools, searchTool); search != nil && l.Search && l.Manifest != "" {
		list = append(list, search.Given(map[string]any{"manifest_path": l.Manifest, "token": l.Token}).Checked(l.keeps))
	}
	if doc, err := wave.ParsePerspectives(l.Contract, wave.Contracts); len(l.Contract) > 0 && err == nil && len(doc.List) == 1 {
		list = append(list, l.judges(doc.List[0])...)
	}
	return list
}

// keeps returns SECRET_IN_ANSWER for a query by which a secret of the agent would leave.
func (l Lent) keeps(args []byte) error {
	if l.Leaks != nil && l.Leaks(string(args)) {
		return tidegate.Errorf(tidegate.SecretInAnswer, tidegate.Pairs("query", nil), "the query has a token or key of the agent in it; leave out what you log in with")
	}
	return nil
}

type textIn struct {
	Markdown string `json:"markdown" jsonschema:"the whole text of your output, in markdown"`
}

func (l Lent) judges(p wave.Perspective) []*tool.Tool {
	spec := tool.Spec{Set: "wave", Effect: tool.Reads, Idempotent: true}
	validate, review := spec, spec
	validate.Name, validate.Summary = "deep_research_wave_output_validate", "Use before you answer: judges the text of your output by the contract of your job, and names the first thing that does not meet it."
	review.Name, review.Summary = "deep_research_wave_review", "Use before you answer: judges the text of your output by the contract of your job, and says all that has to change in it."
	return []*tool.Tool{
		tool.New(validate, func(_ context.Context, _ tool.Caller, in textIn) (wave.Validation, error) {
			if err := l.fits(in); err != nil {
				return wave.Validation{}, err
			}
			return wave.Validate(p, "", strings.NewReader(in.Markdown))
		}),
		tool.New(review, func(ctx context.Context, _ tool.Caller, in textIn) (wave.ReviewResult, error) {
			if err := l.fits(in); err != nil {
				return wave.ReviewResult{}, err
			}
			return wave.Review(ctx, wave.Outputs{
				Perspectives: []wave.Perspective{p}, MaxFailures: 1, Path: func(int) string { return "" },
				Open: func(int) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(in.Markdown)), nil },
			})
		}),
	}
}

func (l Lent) fits(in textIn) error {
	if l.MaxText > 0 && len(in.Markdown) > l.MaxText {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("markdown", len(in.Markdown)), "markdown may have at most %d bytes, got %d", l.MaxText, len(in.Markdown))
	}
	return nil
}
