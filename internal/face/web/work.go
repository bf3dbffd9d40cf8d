package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/internal/work/run"
)

// workRoutes are the pages on which a person starts what costs something. Each is a form
// that works without scripts, is sent once, and says what is wrong beside what was filled in.
func (s *server) workRoutes(mux *http.ServeMux) {
	for path, handle := range map[string]func(*workRequest) error{
		"/new":                    s.newQuestion,
		"/new/audit":              s.newAudit,
		"/runs/{run}/plan":        s.confirmPlan,
		"/runs/{run}/continue":    s.continueRun,
		"/runs/{run}/retry/{job}": s.retryJob,
		"/runs/{run}/ask":         s.askRun,
	} {
		for _, method := range []string{"GET", "POST"} {
			mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) {
				q := &workRequest{server: s, w: w, r: r, posted: r.Method == http.MethodPost}
				if err := q.read(); err != nil {
					s.problem(w, r, err)
				} else if err := handle(q); err != nil {
					s.problem(w, r, err)
				}
			})
		}
	}
}

// The limits of what forms that start work may send.
const (
	maxWorkForm = 512 << 10
	maxUpload   = 100 << 20
	uploadTime  = 10 * time.Minute
)

// workRequest is a request for a form that starts work, or what was filled in there.
type workRequest struct {
	*server
	w      http.ResponseWriter
	r      *http.Request
	posted bool
	values url.Values
	upload upload // without a name where there is none
}

// upload is a file that a person handed over.
type upload struct {
	name string
	data []byte
}

// read reads what was filled in.
func (q *workRequest) read() error {
	q.values = q.r.URL.Query()
	if !q.posted {
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(q.r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/x-www-form-urlencoded":
		q.r.Body = http.MaxBytesReader(q.w, q.r.Body, maxWorkForm)
		if err := q.r.ParseForm(); err != nil {
			return unreadable(err)
		}
		q.values = q.r.PostForm
		return nil
	case err == nil && kind == "multipart/form-data" && q.r.URL.Path == "/new/audit":
		select {
		case q.uploads <- struct{}{}:
			defer func() { <-q.uploads }()
		default:
			return tidegate.Errorf(tidegate.LockHeld, nil, "other files are being handed over: try again in a moment")
		}
		// A large file takes longer than a form.
		_ = http.NewResponseController(q.w).SetReadDeadline(time.Now().Add(uploadTime))
		q.r.Body = http.MaxBytesReader(q.w, q.r.Body, maxUpload+maxWorkForm)
		return q.readParts(multipart.NewReader(q.r.Body, parameters["boundary"]))
	}
	return tidegate.Errorf(tidegate.InvalidArgs, nil, "send this by the form on its page")
}

// readParts reads the parts of a form with one file.
func (q *workRequest) readParts(parts *multipart.Reader) error {
	q.values = url.Values{}
	for range 10 {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
		most := int64(maxWorkForm)
		if part.FormName() == fileField {
			most = maxUpload
		}
		data, err := io.ReadAll(io.LimitReader(part, most+1))
		if err == nil && int64(len(data)) > most {
			err = &http.MaxBytesError{Limit: most}
		}
		if err != nil {
			return unreadable(err)
		}
		if part.FormName() == fileField {
			q.upload = upload{uploadName(part.FileName()), data}
		} else {
			q.values.Set(part.FormName(), string(data))
		}
	}
	return tidegate.Errorf(tidegate.InvalidArgs, nil, "the form has too many parts")
}

// uploadName is what a file is called, without the folders that some browsers name.
func uploadName(given string) string {
	name := path.Base(strings.ReplaceAll(strings.ToValidUTF8(given, ""), `\`, "/"))
	if name == "." || name == "/" || name == ".." {
		return "report"
	}
	return tidegate.Cut(name)
}

func unreadable(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("limit", large.Limit), "that is too large: at most %d MB are taken from a file, and %d KB from a form", maxUpload>>20, maxWorkForm>>10)
	}
	return tidegate.Errorf(tidegate.InvalidArgs, nil, "the form cannot be read: %w", err)
}

// asPerson is the context of what a person has said yes to. Closing the page does not undo
// it.
func (q *workRequest) asPerson() context.Context {
	return context.WithoutCancel(q.r.Context())
}

// workView is a page that asks before work begins: what it will do, a form, and the answers
// that a person can give.
type workView struct {
	Heading, Lead string
	Wrong         string // what is wrong with what was filled in
	Parts         []planPart
	Details       []planPart // folded away, below the form
	Action        string
	Token         string
	Hidden        []field
	Fields        []workField
	Groups        []workGroup
	File          string // the label of the file that is asked for
	Yes           string
	Back          string
	No            string
	After         string // what happens when the person says yes
}

// workField is one question of a form.
type workField struct {
	Name, Label, About, Value string
	Rows                      int            // of a text of several lines
	Options                   []brief.Choice // to choose from
	Number, Required, More    bool           // More: it is folded away
}

// askedFields are the questions of a form, and those that are folded away under some words.
type askedFields struct {
	Asked, Folded []workField
	Words         string
}

func fieldsOf(fields []workField, words string) (out askedFields) {
	out.Words = words
	for _, f := range fields {
		if f.More {
			out.Folded = append(out.Folded, f)
		} else {
			out.Asked = append(out.Asked, f)
		}
	}
	return out
}

// workGroup is questions that belong together.
type workGroup struct {
	Legend string
	Fields []workField
}

// The names of fields.
const (
	fileField = "report"
)

const expiredForm = "this form was sent already, is too old, or is not one of ours. Look whether it was done, and send it again if it was not"

// show shows a form for a purpose. Wrong is what is wrong with what was filled in, nil where
// nothing is.
func (q *workRequest) show(p *page, view workView, purpose string, wrong error) error {
	status := http.StatusOK
	if wrong != nil {
		e := tidegate.AsError(wrong)
		view.Wrong = e.Message
		if status = statusOf(e.Code); status == http.StatusInternalServerError {
			return wrong
		}
	}
	view.Token = q.forms.Issue(q.site.Desk.Now(), purpose)
	p.View, p.Data, p.Live = "work", view, "" // a form that is being filled in must not be replaced
	q.dress(q.r, p)
	data, err := p.render()
	if err != nil {
		return err
	}
	q.send(q.w, status, data)
	return nil
}

// taken returns INVALID_STATE for a form that was sent already, or is too old.
func (q *workRequest) taken(purpose string) error {
	if !q.forms.Take(q.site.Desk.Now(), q.values.Get(formToken), purpose) {
		return tidegate.Errorf(tidegate.InvalidState, nil, expiredForm)
	}
	return nil
}

// once does what a form asks for, where it was sent and not before. Did says that it was
// done; wrong why it was not.
func (q *workRequest) once(purpose string, act func() error) (did bool, wrong error) {
	if !q.posted {
		return false, nil
	}
	if wrong = q.taken(purpose); wrong == nil {
		wrong = act()
	}
	return wrong == nil, wrong
}

func (q *workRequest) to(address string) error {
	http.Redirect(q.w, q.r, address, http.StatusSeeOther)
	return nil
}

// plainPage is a page that is not of a run.
func (q *workRequest) plainPage(title string) *page {
	return &page{Title: title, Now: q.site.Desk.Now(), link: q.link}
}

// runPage is a page of the run that the address names.
func (q *workRequest) runPage(title string) (*page, *job.Board, func(), error) {
	l, done, err := q.open(q.r)
	if err != nil {
		return nil, nil, nil, err
	}
	return l.page("work", title, nil), l.board, done, nil
}

// The question box.

// usualMost is what a run may cost unless the person says otherwise, in USD.
const usualMost = 5

// questionOf is what was filled in of a question.
func questionOf(v url.Values) dispatch.Question {
	q := dispatch.Question{}
	for _, o := range brief.Options {
		if o.Page != nil {
			q[o.Name] = v.Get(o.Name)
		}
	}
	return q
}

// questionFields are the fields of a question, as far as they are filled in.
func (q *workRequest) questionFields() []workField {
	v := q.values
	most := v.Get("most_usd")
	if !v.Has("most_usd") {
		left, _ := q.site.Background.Left()
		most = usd(min(left, usualMost))
	}
	var fields []workField
	for _, o := range brief.Options {
		if f := o.Page; o.Name == "most_usd" {
			fields = append(fields, q.mostField(most))
		} else if f != nil {
			fields = append(fields, workField{Name: o.Name, Label: f.Label, About: f.About, Value: v.Get(o.Name), Rows: f.Lines,
				Options: f.Choices, Number: f.Number, Required: !f.More, More: f.More})
		}
	}
	return fields
}

func (q *workRequest) mostField(most string) workField {
	left, limit := q.site.Background.Left()
	return workField{Name: "most_usd", Label: "May cost at most, in USD", Value: most, Number: true, Required: true,
		About: fmt.Sprintf("%s are left of the %s that this server may spend in 24 hours", inDollars(left), inDollars(limit))}
}

// usd is an amount as a form has it, rounded down.
func usd(f float64) string { return strconv.FormatFloat(math.Floor(f*100)/100, 'f', 2, 64) }

func inDollars(f float64) string {
	if math.IsInf(f, 1) {
		return "no limit"
	}
	return dollars(f)
}

// newQuestion asks for a question, and has its perspectives planned: the research itself waits
// for a yes to the plan.
func (s *server) newQuestion(q *workRequest) error {
	id := ""
	did, wrong := q.once("new", func() (err error) {
		id, err = q.site.Background.Begin(q.asPerson(), questionOf(q.values))
		return err
	})
	if did {
		return q.to(q.link("run", id))
	}
	view := workView{Heading: "What do you want to know?", Lead: "Agents research it, and every sentence of the report is held against the pages that it cites.", Action: q.link("new"),
		Fields: q.questionFields(), Yes: "Plan it", Back: q.link("runs"), No: "Not now", After: planningWords}
	if lacks := q.site.Background.Lacks(q.r.Context()); lacks != nil && wrong == nil {
		view.Wrong = tidegate.AsError(lacks).Message
	}
	return q.show(q.plainPage("New question"), view, "new", wrong)
}

// planningWords say what a question costs before there is a plan.
const planningWords = "The question goes to your planner, which names the perspectives. Then you see the plan and its price; nothing else is sent or spent before your yes."

// planPart is a part of a plan under its heading.
type planPart struct {
	Title  string
	Blocks []planBlock
}

// planBlock is one of the blocks of a report.
type planBlock struct {
	Paragraph string
	Fields    report.Fields
	Bullets   report.Bullets
}

// planParts are the parts of a plan, without the perspectives, which are fields of the form.
func planParts(plan report.Report) []planPart {
	var parts []planPart
	for _, block := range plan.Blocks {
		var b planBlock
		switch block := block.(type) {
		case report.Heading:
			parts = append(parts, planPart{Title: string(block)})
			continue
		case report.Paragraph:
			b.Paragraph = string(block)
		case report.Fields:
			b.Fields = block
		case report.Bullets:
			b.Bullets = block
		case *report.Table:
			return parts[:len(parts)-2] // with the sections, which stand before them
		}
		last := &parts[len(parts)-1]
		last.Blocks = append(last.Blocks, b)
	}
	return parts
}

// The plan of a run.

// confirmPlan shows the plan of a run with its price, lets a person change the perspectives
// where they stand, and takes the yes for what was shown and changed.
func (s *server) confirmPlan(q *workRequest) error {
	p, board, done, err := q.runPage("The plan")
	if err != nil {
		return err
	}
	defer done()
	id := board.Run().ID()
	plan, err := q.site.Background.Plan(q.r.Context(), id)
	if err != nil {
		return err
	}
	digest := q.values.Get("digest")
	did, wrong := q.once("plan "+id+" "+digest, func() error {
		perspectives := plan.Perspectives
		if q.values.Has("title0") {
			if perspectives, err = dispatch.EditPerspectives(perspectives, q.values.Get); err != nil {
				return err
			}
		}
		return q.site.Background.Confirm(q.asPerson(), id, digest, perspectives)
	})
	if did {
		return q.to(q.link("run", id))
	}
	bounds, err := q.site.Background.Bounds(q.r.Context(), id)
	if err != nil {
		return err
	}
	lead := "Expected cost: " + plan.Price + ". It stops at " + inDollars(bounds.Most) + "."
	if plan.Instead != "" {
		lead += " " + plan.Instead
	}
	return q.show(p, workView{Heading: "Begin the research?", Lead: lead, Details: planParts(plan.Report), Action: q.link("plan", id),
		Hidden: []field{{Label: "digest", Value: plan.Digest}}, Groups: perspectiveGroups(plan.Perspectives, q.values), Yes: "Yes, begin", Back: q.link("runs"), No: "Not now",
		After: "Change the perspectives where they stand: one without a title is left out. With no, the plan stays as it is and waits."}, "plan "+id+" "+plan.Digest, wrong)
}

// perspectiveGroups are the fields of perspectives, with what was filled in, and of one more.
func perspectiveGroups(doc *codec.Value, v url.Values) []workGroup {
	var out []workGroup
	all := doc.Get("perspectives").Elems()
	for i := range len(all) + 1 {
		title, from, group := "", all[0], workGroup{Legend: "Another perspective"}
		if i < len(all) {
			from = all[i]
			title, group.Legend = from.Get("title").Str(), from.Get("id").Str()
		}
		contract := from.Get("prompt_contract")
		most := func(key string) string {
			f, _ := contract.Get(key).Float()
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
		add := func(key, label, value string, f workField) {
			f.Name, f.Label, f.Value = key+strconv.Itoa(i), label, value
			if v.Has(f.Name) {
				f.Value = v.Get(f.Name)
			}
			group.Fields = append(group.Fields, f)
		}
		add("title", "What it looks at", title, workField{})
		add("words", "Most words", most("max_words"), workField{Number: true, More: true})
		add("sources", "Most sources", most("max_sources"), workField{Number: true, More: true})
		add("sections", "Sections, one a line", strings.Join(contract.Get("must_include_sections").Strs(), "\n"), workField{Rows: 3, More: true})
		out = append(out, group)
	}
	return out
}

// A run that goes on.

func (s *server) continueRun(q *workRequest) error {
	p, board, done, err := q.runPage("Continue")
	if err != nil {
		return err
	}
	defer done()
	id := board.Run().ID()
	if status := board.Run().Manifest().Status(); !q.posted && status.Final() {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("status", status), "the run is %s, and there is nothing to continue", status)
	}
	did, wrong := q.once("continue "+id, func() error { return q.site.Background.Continue(q.asPerson(), id) })
	if did {
		return q.to(q.link("run", id))
	}
	parts, err := q.bounds(id)
	if err != nil {
		return err
	}
	return q.show(p, workView{Heading: "Continue this run?", Lead: "Agents go on where it stopped. What was accepted is not asked for again.", Parts: parts, Action: q.link("continue", id),
		Yes: "Yes, continue", Back: q.link("run", id), No: "No"}, "continue "+id, wrong)
}

// bounds says what a run may cost when it goes on.
func (q *workRequest) bounds(id string) ([]planPart, error) {
	b, err := q.site.Background.Bounds(q.r.Context(), id)
	if err != nil {
		return nil, err
	}
	left, limit := q.site.Background.Left()
	fields := report.Fields{{Name: "spent so far", Value: inDollars(b.Spent)}, {Name: "its limit", Value: inDollars(b.Limit)},
		{Name: "left here", Value: inDollars(left) + " of the " + inDollars(limit) + " that this server may spend in 24 hours"}}
	if b.Most < b.Limit {
		fields[1].Value += " → " + inDollars(b.Most) + ", which is what this server gives it"
	}
	return []planPart{{Title: "What it may cost", Blocks: []planBlock{{Fields: fields}}}}, nil
}

func (s *server) retryJob(q *workRequest) error {
	p, board, done, err := q.runPage("Try again")
	if err != nil {
		return err
	}
	defer done()
	id := board.Run().ID()
	j, err := board.Job(q.r.PathValue("job"))
	if err != nil {
		return err
	}
	purpose := "retry " + id + " " + j.ID
	did, wrong := q.once(purpose, func() error {
		seen, err := strconv.Atoi(q.values.Get("attempt"))
		if err != nil || seen < 0 {
			return tidegate.Errorf(tidegate.InvalidState, nil, expiredForm)
		}
		return q.site.Background.Retry(q.asPerson(), id, j.ID, q.values.Get("note"), seen)
	})
	if did {
		return q.to(q.link("run", id))
	}
	parts, err := q.bounds(id)
	if err != nil {
		return err
	}
	return q.show(p, workView{Heading: "Try “" + short(200, j.Title) + "” again?", Lead: "The job has its tries again, and the run goes on.", Parts: parts, Action: q.link("retry", id, j.ID),
		Fields: []workField{{Name: "note", Label: "What should the next agent do otherwise?", Value: q.values.Get("note"), Rows: 3, Required: true, About: "It stands in the prompt, and in the log."}},
		Hidden: []field{{Label: "attempt", Value: strconv.Itoa(j.Attempt)}}, Yes: "Yes, try again", Back: q.link("job", id, j.ID), No: "No"}, purpose, wrong)
}

// Questions and audits.

// usualAnswer is what an answer may cost unless the person says otherwise, in USD.
const usualAnswer = 1

func (s *server) askRun(q *workRequest) error {
	p, board, done, err := q.runPage("Ask")
	if err != nil {
		return err
	}
	defer done()
	id := board.Run().ID()
	did, wrong := q.once("ask "+id, func() error {
		return q.site.Background.Ask(q.asPerson(), id, q.values.Get("question"), strings.TrimSpace(q.values.Get("most_usd")))
	})
	switch {
	case did:
		return q.to(q.link("report", id) + "#asked")
	case !q.posted && board.Run().Manifest().Status() != run.Completed:
		return tidegate.Errorf(tidegate.InvalidState, nil, "the run is not completed, so there is no report to ask about")
	}
	most := q.values.Get("most_usd")
	if !q.values.Has("most_usd") {
		left, _ := q.site.Background.Left()
		most = usd(min(left, usualAnswer))
	}
	return q.show(p, workView{Heading: "Ask about this report", Lead: "The answer comes from the archived pages of this run alone, and stands as the report does: an agent writes it from passages, and another reads every sentence against them.", Action: q.link("ask", id),
		Fields: []workField{{Name: "question", Label: "Your question", Value: q.values.Get("question"), Rows: 3, Required: true}, q.mostField(most)},
		Yes:    "Ask", Back: q.link("report", id), No: "Not now", After: "The passages and your question go to the agents of your own configuration."}, "ask "+id, wrong)
}

// soonDone is how long a file that was handed over is waited for, so that its own document
// opens; the list shows what takes longer.
const soonDone = 15 * time.Second

func (s *server) newAudit(q *workRequest) error {
	var made <-chan string
	did, wrong := q.once("audit", func() (err error) {
		made, err = q.site.Background.Audit(q.upload.name, q.upload.data)
		return err
	})
	if did {
		select {
		case id := <-made:
			if id != "" {
				return q.to(q.link("audit", id))
			}
		case <-time.After(soonDone):
		case <-q.r.Context().Done():
		}
		return q.to(q.link("audits"))
	}
	return q.show(q.plainPage("Check a report"), workView{Heading: "Check a report that you have", Lead: "Its sources are fetched, and every sentence is held against them. No agent is asked, and nothing is paid.", Action: q.link("newAudit"),
		File: "Drop a file here, or choose one: Markdown, HTML, docx, PDF or text", Yes: "Check it", Back: q.link("audits"), No: "Not now", After: "At most 100 MB. The file stays on this machine; the pages that it cites are fetched from here."}, "audit", wrong)
}

// workOffer is something that a page can start.
type workOffer struct{ Words, Link string }

// workOffers are what can be started about the run as it stands, and why the last work on it
// ended where its files do not say so.
func (l *visit) workOffers() (offers []workOffer, stopped string) {
	works := l.site.Background
	if works == nil || l.files {
		return nil, ""
	}
	id := l.id
	switch l.standing.Kind {
	case dispatch.StandsAlone, dispatch.StandsRests:
		offers = append(offers, workOffer{"Continue it here", l.link("continue", id)})
	case dispatch.StandsNeeds:
		if works.MayConfirm(l.board) {
			offers = append(offers, workOffer{"Look at the plan", l.link("plan", id)})
		}
	}
	if !l.run.Manifest().Status().Final() {
		for _, j := range jobsIn(l.board, job.Exhausted) {
			offers = append(offers, workOffer{"Try “" + short(60, j.Title) + "” again", l.link("retry", id, j.ID)})
		}
	}
	return offers, works.Stopped(id)
}
