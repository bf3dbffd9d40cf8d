package codereview

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/forge"
	"github.com/tidegate/tidegate/review"
	"github.com/tidegate/tidegate/tool"
)

// reviewLabel is the label with which a member has the commit reviewed that a pull
// request ends with while it is put there.
const reviewLabel = "tidegate-review"

// maxOnLines is how many findings have a comment on their lines at a time.
const maxOnLines = 30

func forgeCommands(env commands) []cli.Command {
	name := tool.Flag{Name: "name", About: "the `name` of the review", Kind: tool.Word, Default: "review"}
	return []cli.Command{{
		Path: "review pull",
		Flags: []tool.Flag{name,
			{Name: "decided", About: "write what persons dismissed in the conversations to this `file`, for review run", Kind: tool.PathFlag},
			{Name: "earlier", About: "write the review before to this `file`, for review run, where there is one that counts", Kind: tool.PathFlag},
		},
		Run: env.reviewPull,
	}, {
		Path:     "review publish",
		Operands: []tool.Operand{{Name: "FILE", About: "the review, as --format json printed it", Optional: true}},
		Flags: []tool.Flag{name,
			{Name: "number", About: "the `number` of the pull or merge request", Kind: tool.Word},
			{Name: "head", About: "the `commit` that was reviewed", Kind: tool.Word},
			{Name: "state", About: "the artifact with the review, as `ID@DIGEST`", Kind: tool.Word},
			{Name: "not-reviewed", About: "why there is no review", Kind: tool.Word},
			{Name: "conclusion", About: "of the check where there is no review", Default: "failure", Enum: []string{"failure", "neutral", "action_required"}},
			{Name: "resolve-threads", About: "resolve the conversations about findings that are gone; the token must be one that may", Kind: tool.Switch},
		},
		Run: env.reviewPublish,
	}}
}

// getenv reads the environment.
func (e commands) getenv(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// caller asks a forge.
func (e commands) caller() archive.Call {
	if e.Call != nil {
		return e.Call
	}
	limits := fetch.DefaultLimits
	limits.Spacing = 0 // a few requests, one after the other, to who asks for no pause
	return fetch.New(fetch.Options{Proxy: true, Now: e.Now, Limits: limits}).Call
}

// onPull is the review of the last commit of a pull request, as the artifact has it that
// its check names.
func (e commands) onPull(ctx context.Context, address string) (ReviewRun, error) {
	var r ReviewRun
	f, number, err := forge.ParsePull(address, e.Getenv)
	if err != nil {
		return r, err
	}
	f.Call = e.caller()
	pull, err := f.Pull(ctx, number)
	if err != nil {
		return r, err
	}
	state, why, err := f.StateAt(ctx, "review", number, pull.Head, "")
	if err != nil {
		return r, err
	}
	if why != "" {
		return r, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("from", address),
			"the last commit of %s has no review that counts: %s", address, why)
	}
	data, err := f.ReadState(ctx, state, reviewArtifact)
	if err != nil {
		return r, err
	}
	return parseReviewRun("from", address, data)
}

func (e commands) reviewPull(ctx context.Context, call cli.Invocation) error {
	name := call.Flag("name")
	if !review.ValidChangeID(name) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("name", tidegate.Cut(name)), "--name must be %s, got %q", review.ChangeIDRule, tidegate.Cut(name))
	}
	f, err := forge.FromEnv(e.getenv)
	if err != nil {
		return err
	}
	f.Call = e.caller()
	data, err := artifact.Everywhere.ReadDocument("GITHUB_EVENT_PATH", e.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return err
	}
	event, err := forge.ReadEvent(data)
	if err != nil {
		return err
	}
	number, err := f.NumberOf(ctx, event)
	if err != nil {
		return err
	}
	pull, err := f.Pull(ctx, number)
	if err != nil {
		return err
	}
	why := notAllowed(pull, event)
	lines := []string{fmt.Sprintf("number=%d", number), "head=" + pull.Head, "base=" + pull.Base, fmt.Sprintf("allowed=%t", why == ""), "why=" + report.OneLine(why)}
	if file := call.Flag("earlier"); file != "" && why == "" {
		// What was reviewed before saves money, and is not needed.
		not, err := e.earlierInto(ctx, f, name, number, file)
		if err != nil {
			not = "the review before cannot be read: " + tidegate.AsError(err).Message
		}
		if not != "" {
			warned(call, "all of the pull request is reviewed: "+report.OneLine(not))
		}
	}
	if file := call.Flag("decided"); file != "" && why == "" {
		if err := decidedInto(ctx, call, f, pull, name, file); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(call.Stdout, strings.Join(lines, "\n")); err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, nil, "the result cannot be written to stdout: %w", err)
	}
	return nil
}

// decided is what persons dismissed on a forge, as `review pull` writes it.
type decided struct {
	Schema     string            `json:"schema_version"`
	Dismissals []forge.Dismissal `json:"dismissals"`
}

const decidedSchema = "decided.v1"

// decidedInto writes what persons dismissed in the conversations of a pull request. Where
// the forge does not say it, nothing is dismissed.
func decidedInto(ctx context.Context, call cli.Invocation, f *forge.Forge, pull forge.Pull, name, file string) error {
	me, err := f.Me(ctx)
	d := decided{Schema: decidedSchema, Dismissals: []forge.Dismissal{}}
	var list []forge.Dismissal
	var not []string
	if err == nil {
		list, not, err = f.Dismissals(ctx, pull, me, func(body string) (string, forge.About) { return markedFinding(body, name) })
	}
	if err != nil {
		not = []string{"no comment dismisses anything: " + tidegate.AsError(err).Message}
	}
	for _, text := range not {
		warned(call, text)
	}
	d.Dismissals = append(d.Dismissals, list...)
	data, err := codec.MarshalFile(d)
	if err != nil {
		return err
	}
	return artifact.Everywhere.WriteFile("decided", file, data)
}

// readDecided reads what persons dismissed on a forge, as dismissals of findings of the
// review before, or else of what the comments say that they are about. Those of the author of the pull request hold for nothing that is High. It
// returns INVALID_ARGS for another file, NOT_FOUND and READ_FAILED.
func readDecided(
	path string, before []review.Finding,
) (list review.Dismissals, kept []forge.Dismissal, not []string, err error) {
	data, err := artifact.Everywhere.ReadDocument("decided", path)
	if err != nil {
		return nil, nil, nil, err
	}
	var d decided
	if err := json.Unmarshal(data, &d); err != nil || d.Schema != decidedSchema {
		return nil, nil, nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("decided", path),
			"%s is not what `review pull --decided` writes", path)
	}
	for _, c := range d.Dismissals {
		// Without quoted lines it holds by the id alone.
		one := review.Dismissal{ID: c.Finding, File: c.File, Category: c.Category, Severity: cmp.Or(c.Severity, review.High), Quote: c.Quote}
		if known, ok := review.Dismissible(c.Finding, before, nil, nil); ok {
			one = known
		}
		if c.ByAuthor && one.Severity == review.High {
			if one.Quote+one.File != "" {
				not = append(not, fmt.Sprintf("the comment %d dismisses nothing: the author of a change does not dismiss what is High in it", c.Comment))
				continue
			}
			one.Severity = review.Medium
		}
		one.Reason = fmt.Sprintf("%s (comment %d of user %d)", report.OneLine(c.Reason), c.Comment, c.Author)
		list, kept = append(list, one), append(kept, c)
	}
	return list, kept, not, nil
}

// notAllowed says why nothing is spent on a pull request, "" where it may be.
func notAllowed(p forge.Pull, e forge.Event) string {
	switch {
	case p.ByMember():
		return ""
	case e.Labeled != reviewLabel:
		return fmt.Sprintf("%s does not belong to the repository: a member who puts the label %s on the pull request has its last commit reviewed", p.Author, reviewLabel)
	case e.Head != p.Head:
		return fmt.Sprintf("the label %s was for %.12s, and the pull request ends with %.12s", reviewLabel, e.Head, p.Head)
	}
	return ""
}

// earlierInto writes the review before, at the commit that our comment names, to a file. Not
// says why there is none.
func (e commands) earlierInto(ctx context.Context, f *forge.Forge, name string, number int, file string) (not string, err error) {
	me, err := f.Me(ctx)
	if err != nil {
		return "", err
	}
	comments, err := f.Comments(ctx, number, me)
	if err != nil {
		return "", err
	}
	for _, c := range comments {
		head := marked(c.Body, "review", name)
		if !forge.IsCommit(head) {
			continue
		}
		state, not, err := f.StateAt(ctx, name, number, head, e.Getenv("GITHUB_RUN_ID"))
		if err != nil || not != "" {
			return not, err
		}
		data, err := f.ReadState(ctx, state, reviewArtifact)
		if err != nil {
			return "", err
		}
		return "", artifact.Everywhere.WriteFile("earlier", file, data)
	}
	return "it was not reviewed before", nil
}

// reviewArtifact is the file of an artifact that holds a review.
const reviewArtifact = "review.json"

func (e commands) reviewPublish(ctx context.Context, call cli.Invocation) error {
	p, err := e.toPublish(call)
	if err != nil {
		return err
	}
	if p.forge, err = forge.HostFromEnv(e.getenv, e.caller()); err != nil {
		return err
	}
	p.publish(ctx)
	for _, text := range p.warnings {
		warned(call, text)
	}
	return call.Render(report.Report{Name: "review_publish", Title: "Published", Summary: p.check.Title})
}

// publication is a review on its way to a pull request.
type publication struct {
	forge    forge.Host
	review   *ReviewRun // nil where nothing was reviewed
	number   int
	resolve  bool
	check    forge.Check
	warnings []string
}

// toPublish is what the flags say, and the review of the file.
func (e commands) toPublish(call cli.Invocation) (*publication, error) {
	name := call.Flag("name")
	p := &publication{resolve: call.Flag("resolve-threads") == "true"}
	p.check = forge.Check{Name: forge.CheckName(name), Head: call.Flag("head")}
	var err error
	switch p.number, err = strconv.Atoi(call.Flag("number")); {
	case err != nil || p.number < 1:
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("number", tidegate.Cut(call.Flag("number"))), "--number must be that of a pull request, got %q", tidegate.Cut(call.Flag("number")))
	case !forge.IsCommit(p.check.Head):
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("head", tidegate.Cut(p.check.Head)), "--head must be the full id of a commit, got %q", tidegate.Cut(p.check.Head))
	case !review.ValidChangeID(name):
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("name", tidegate.Cut(name)), "--name must be %s, got %q", review.ChangeIDRule, tidegate.Cut(name))
	case (len(call.Args) == 0) == (call.Flag("not-reviewed") == ""):
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("FILE", nil), "name the FILE with the review, or say with --not-reviewed why there is none")
	}
	if text := call.Flag("state"); text != "" {
		state, ok := forge.ParseState(text)
		if !ok {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("state", tidegate.Cut(text)), "--state must be ID@sha256:DIGEST, got %q", tidegate.Cut(text))
		}
		p.check.State = &state
	}
	if len(call.Args) == 0 {
		p.check.Conclusion, p.check.Title = call.Flag("conclusion"), "Not reviewed"
		p.check.Text = report.Prose(sentence(call.Flag("not-reviewed")))
		return p, nil
	}
	r, err := readReviewRun("FILE", call.Args[0])
	if err != nil {
		return nil, err
	}
	if r.Head == nil || *r.Head != p.check.Head || r.ChangeID != name {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("FILE", call.Args[0]), "%s is no review %s of the commit %s", call.Args[0], name, p.check.Head)
	}
	p.review = &r
	p.check.Title = r.outcome() + ": " + r.Counts.Words()
	p.check.Conclusion = map[int]string{0: "success", screen.ExitNeedsPerson: "action_required"}[r.Exit]
	if p.check.Conclusion == "" {
		p.check.Conclusion = "failure"
	}
	return p, nil
}

// warn keeps what went wrong with the forge: a review is no worse for it.
func (p *publication) warn(what string, err error) bool {
	if err != nil {
		p.warnings = append(p.warnings, what+": "+tidegate.AsError(err).Message)
	}
	return err != nil
}

func (p *publication) publish(ctx context.Context) {
	if p.review != nil {
		p.comment(ctx)
	}
	p.warn("the check is not written", p.forge.WriteCheck(ctx, p.check))
}

// comment writes the comments, unless the pull request has moved on: then the review of
// its last commit writes them.
func (p *publication) comment(ctx context.Context) {
	shown := published{head: p.check.Head, page: p.forge.Page, onLines: map[string]bool{}}
	var err error
	shown.reported, err = p.forge.Reported(ctx, p.check.Head)
	p.warn("what the change's own workflows report is not known", err)
	p.check.Text = p.review.summaryComment(shown)
	pull, err := p.forge.Pull(ctx, p.number)
	if p.warn("no comment is written", err) {
		return
	}
	if pull.Head != p.check.Head {
		p.warnings = append(p.warnings, fmt.Sprintf("no comment is written: the pull request has moved on from %.12s to %.12s", p.check.Head, pull.Head))
		return
	}
	me, err := p.forge.Me(ctx)
	if p.warn("no comment is written", err) {
		return
	}
	p.commentLines(ctx, me, &shown)
	comments, err := p.forge.Comments(ctx, p.number, me)
	if p.warn("the summary is not written", err) {
		return
	}
	before := int64(0)
	for _, c := range comments {
		if marked(c.Body, "review", p.review.ChangeID) != "" {
			before = c.ID
			break
		}
	}
	p.warn("the summary is not written", p.forge.WriteComment(ctx, p.number, before, p.review.summaryComment(shown)))
}

// commentLines writes the comments on lines, and answers those whose findings are gone.
func (p *publication) commentLines(ctx context.Context, me string, shown *published) {
	ours, err := p.forge.LineComments(ctx, p.number, me)
	if p.warn("no comment on lines is written", err) {
		return
	}
	closed := map[int64]bool{}
	for _, c := range ours {
		if c.ReplyTo != 0 && marked(c.Body, "closed", p.review.ChangeID) != "" {
			closed[c.ReplyTo] = true
		}
	}
	open := map[string]bool{}
	for _, f := range p.review.Findings {
		open[f.ID] = true
	}
	var gone []forge.Comment
	for _, c := range ours {
		id, _ := markedFinding(c.Body, p.review.ChangeID)
		switch {
		case id == "" || c.ReplyTo != 0 || closed[c.ID]:
		case open[id]:
			shown.onLines[id] = true
		default:
			gone = append(gone, c)
		}
	}
	p.answerGone(ctx, gone)
	lines, err := p.forge.Lines(ctx, p.number)
	if p.warn("no comment on lines is written", err) {
		return
	}
	var list []forge.OnLines
	var ids []string
	for _, f := range p.review.counting() {
		from, to := f.lines()
		if !f.suggests() && !lines.Has(f.File, from, to) {
			to = from // the comment needs no more than its line
		}
		if len(list)+len(shown.onLines) < maxOnLines && !shown.onLines[f.ID] && lines.Has(f.File, from, to) {
			list, ids = append(list, forge.OnLines{Path: f.File, From: from, To: to, Body: p.review.lineComment(f, p.forge.SuggestionWord(to-from+1))}), append(ids, f.ID)
		}
	}
	if len(list) == 0 {
		return
	}
	body := report.Counted(len(list), "finding") + " of the code review. Its summary is a comment of its own."
	if p.warn("the comments on lines are not written, the summary has them", p.forge.Review(ctx, p.number, p.check.Head, body, list)) {
		return
	}
	for _, id := range ids {
		shown.onLines[id] = true
	}
}

// answerGone answers comments whose findings are gone.
func (p *publication) answerGone(ctx context.Context, gone []forge.Comment) {
	for _, c := range gone {
		id, _ := markedFinding(c.Body, p.review.ChangeID)
		if p.warn("a comment is not answered", p.forge.Reply(ctx, p.number, c.ID, closedReply(p.review.ChangeID, id, p.check.Head))) {
			return
		}
	}
	if !p.resolve || len(gone) == 0 {
		return
	}
	threads, err := p.forge.Threads(ctx, p.number)
	if p.warn("no conversation is resolved", err) {
		return
	}
	for _, t := range threads {
		for _, c := range gone {
			if t.First == c.ID && !t.Resolved && p.warn("a conversation is not resolved", p.forge.Resolve(ctx, t.ID)) {
				return
			}
		}
	}
}

// warned says what went wrong and changes nothing.
func warned(call cli.Invocation, text string) {
	// Nothing can be done about a reader that is gone.
	fmt.Fprintln(call.Stderr, "tidegate: "+report.OneLine(text))
}
