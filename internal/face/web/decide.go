package web

import (
	"context"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// The arguments that say what a decision is about. The address of its page gives
// them.
const (
	aboutRun    = "manifest_path"
	aboutChange = "change_id"
)

// decision is a tool that is a person's decision and that a page can ask for:
// besides the run or change that it is about, it takes words, numbers and yes or no,
// and no file.
type decision struct {
	*tool.Tool
	name    string // in addresses: the name of the command
	subject string // aboutRun or aboutChange
	asked   []tool.Argument
}

// decisionsOf are the decisions among the tools, in their order.
func decisionsOf(tools []*tool.Tool) []decision {
	var out []decision
next:
	for _, t := range tools {
		if !t.Person || t.Command == nil || t.Effect == tool.Reads || t.Command.NeedsYes { // what cannot be undone is left to the command
			continue
		}
		d := decision{Tool: t, name: strings.ReplaceAll(t.Command.Path, " ", "-")}
		for _, a := range t.Arguments() {
			switch {
			case a.Name == aboutRun || a.Name == aboutChange:
				d.subject = a.Name
			case a.Path || !slices.Contains([]reflect.Kind{reflect.String, reflect.Bool, reflect.Int, reflect.Float64}, a.Kind):
				if a.Required {
					continue next
				}
			default:
				d.asked = append(d.asked, a)
			}
		}
		// What a person hands in besides the arguments is a file.
		if d.subject != "" && !slices.ContainsFunc(t.Command.Operands, func(o tool.Operand) bool { return o.Field == "" && o.Name != "RUN" }) {
			out = append(out, d)
		}
	}
	return out
}

// field is an argument as a form asks for it.
type field struct {
	tool.Argument
	Label string
	Value string
	On    bool
}

// IsSwitch holds for a yes or no.
func (f field) IsSwitch() bool { return f.Kind == reflect.Bool }

// IsNumber holds for a number.
func (f field) IsNumber() bool { return f.Kind == reflect.Float64 || f.Kind == reflect.Int }

// decideView is the page of one decision: the form, then what would be done.
type decideView struct {
	Short, Long string
	Command     string // what a person would type
	Action      string // where the form goes
	Back        string
	Token       string
	Fields      []field
	Seen        int    // the last line of the log when the form was made
	Change      string // what is now → what will be, "" where that is not known
	Wrong       string // what is wrong with what was filled in
	Confirm     bool
	Signed      bool
	Ends        bool // it cannot be undone
}

// listedDecision is one decision in the list of a run.
type listedDecision struct{ Short, Long, Link string }

// maxForm bounds what a form may send.
const maxForm = 64 << 10

// find is the decision with that name about a run or a change.
func (s *server) find(name, subject string) (decision, error) {
	for _, d := range s.decisions {
		if d.name == name && d.subject == subject {
			return d, nil
		}
	}
	return decision{}, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no such decision")
}

// decideRoutes are the pages on which a person decides.
func (s *server) decideRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /runs/{run}/decide", s.ofRun(func(l *visit, _ *http.Request) (*page, error) { return l.decisionsPage(s.decisions) }))
	mux.HandleFunc("GET /runs/{run}/decide/{what}", s.showForm)
	mux.HandleFunc("POST /runs/{run}/decide/{what}", s.takeForm)
	mux.HandleFunc("GET /changes/{change}/decide/{what}", s.showForm)
	mux.HandleFunc("POST /changes/{change}/decide/{what}", s.takeForm)
}

// decisionsView is what a person may decide about a run.
type decisionsView struct {
	Now []offer          // as it stands
	All []listedDecision // at one time or another
}

// decisionsPage lists what a person may decide about the run.
func (l *visit) decisionsPage(all []decision) (*page, error) {
	now, err := l.offers()
	if err != nil {
		return nil, err
	}
	var list []listedDecision
	for _, d := range all {
		if d.subject == aboutRun {
			list = append(list, listedDecision{d.Command.Short, d.Command.Long, l.link("decide", l.id, d.name)})
		}
	}
	return l.page("decisions", "Decide", decisionsView{now, list}), nil
}

// form is the decision that a request is about, as far as it was filled in.
type form struct {
	decision
	about  string // the argument that the address gives
	called string // the same, as a person types it
	signed bool
	here   string // the address of its page
	back   string
	values url.Values
	page   *page
	line   int         // the last of the run's log
	log    []run.Entry // of the run
	budget run.Budget
}

// openForm finds the decision and what it is about.
func (s *server) openForm(r *http.Request, values url.Values) (f form, err error) {
	f.values = values
	if id := r.PathValue("change"); id != "" {
		if f.decision, err = s.find(r.PathValue("what"), aboutChange); err != nil {
			return f, err
		}
		if _, err := s.site.changePage(r.Context(), id, s.link); err != nil {
			return f, err
		}
		f.about, f.called, f.here, f.back = id, report.ShellWord(id), s.link("decideChange", id, f.name), s.link("change", id)
		f.page = &page{View: "decide", Title: f.Command.Short, link: s.link}
		return f, nil
	}
	if f.decision, err = s.find(r.PathValue("what"), aboutRun); err != nil {
		return f, err
	}
	l, done, err := s.open(r)
	if err != nil {
		return f, err
	}
	defer done()
	id := l.id
	f.about, f.called = filepath.Join(s.site.Home, r.PathValue("run"), run.ManifestFile), report.ShellWord(r.PathValue("run"))
	f.here, f.back = s.link("decide", id, f.name), s.link("run", id)
	if f.signed, err = l.run.Folder().Exists(run.SignersFile); err != nil {
		return f, err
	}
	f.line, f.log, f.budget = l.line, l.entries, l.board.Policy().Budget
	f.page = l.page("decide", f.Command.Short, nil)
	f.page.Live = "" // a form that is being filled in must not be replaced
	return f, nil
}

// fields are the arguments with what was filled in.
func (f form) fields() []field {
	var out []field
	for _, a := range f.asked {
		v := field{Argument: a, Label: label(a.Name), Value: f.values.Get(a.Name), On: f.values.Has(a.Name)}
		if fallback, ok := f.Command.Defaults[a.Name].(string); ok && v.Value == "" {
			v.Value = fallback
		}
		out = append(out, v)
	}
	return out
}

// label is the name of an argument as people write it.
func label(name string) string {
	name = strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(name[:1]) + name[1:]
}

// arguments are those of the tool, which checks them; numbers go there as they were
// written. It returns INVALID_ARGS for a field that the decision does not have.
func (f form) arguments() ([]byte, error) {
	args := tidegate.Pairs(f.subject, f.about)
	for _, v := range f.fields() {
		switch {
		case v.IsSwitch():
			if v.On {
				args = append(args, tidegate.Pairs(v.Name, true)...)
			}
		case v.Value == "" && !v.Required:
		case v.IsNumber():
			number, err := strconv.ParseFloat(strings.TrimSpace(v.Value), 64)
			if err != nil || number-number != 0 {
				return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(v.Name, tidegate.Cut(v.Value)), "%s must be a number, got %q", v.Name, tidegate.Cut(v.Value))
			}
			args = append(args, tidegate.Pairs(v.Name, number)...)
		default:
			args = append(args, tidegate.Pairs(v.Name, v.Value)...)
		}
	}
	for name := range f.values {
		if name != formToken && name != formConfirm && name != formSeen && !slices.ContainsFunc(f.asked, func(a tool.Argument) bool { return a.Name == name }) {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("field", tidegate.Cut(name)), "the decision has no field %q", tidegate.Cut(name))
		}
	}
	return codec.Canonical(codec.Of(args))
}

// typed is what a person would type.
func (f form) typed() string {
	words := []string{"tidegate", f.Command.Path}
	values := map[string]field{}
	for _, v := range f.fields() {
		values[v.Name] = v
	}
	for _, o := range f.Command.Operands {
		word := f.called
		if o.Field != "" && o.Field != f.subject {
			word = o.Name
			if v := values[o.Field].Value; v != "" {
				word = report.ShellWord(v)
			}
			delete(values, o.Field)
		}
		words = append(words, word)
	}
	for _, a := range f.asked {
		v, ok := values[a.Name]
		flag := "--" + f.Command.FlagName(a.Name)
		switch {
		case !ok:
		case v.IsSwitch() && v.On:
			words = append(words, flag)
		case !v.IsSwitch() && v.Value != "":
			words = append(words, flag, report.ShellWord(v.Value))
		}
	}
	return strings.Join(words, " ")
}

// The fields of every form.
const (
	formToken   = "form_token"
	formConfirm = "form_confirm"
	formSeen    = "form_seen" // the last line of the log when the form was made
)

// show is the page of the form; with confirm it says what would be done, and with wrong
// what is wrong with what was filled in.
func (s *server) show(w http.ResponseWriter, r *http.Request, f form, confirm bool, wrong error) {
	purpose := "fill in " + f.here
	status := http.StatusOK
	view := decideView{Short: f.Command.Short, Long: f.Command.Long, Command: f.typed(), Action: f.here, Back: f.back, Fields: f.fields(), Seen: f.line, Confirm: confirm, Signed: f.signed, Ends: f.Destroys}
	if wrong != nil {
		e := tidegate.AsError(wrong)
		status, view.Wrong = statusOf(e.Code), e.Message
	} else if confirm {
		args, err := f.arguments()
		if err != nil {
			s.problem(w, r, err)
			return
		}
		purpose, view.Change = "do "+f.here+" "+string(args), f.change()
	}
	if !f.signed {
		view.Token = s.forms.Issue(s.site.Desk.Now(), purpose)
	}
	f.page.Data = view
	s.dress(r, f.page)
	data, err := f.page.render()
	if err != nil {
		s.problem(w, r, err)
		return
	}
	s.send(w, status, data)
}

// change is what a limit is now and what it will be.
func (f form) change() string {
	value, err := strconv.ParseFloat(strings.TrimSpace(f.values.Get("value")), 64)
	if f.name != "run-limit" || err != nil {
		return ""
	}
	return limitWords(f.values.Get("name")) + ": " + limitText(f.budget.Of(f.values.Get("name"))) + " → " + limitText(value)
}

// decidedSince is what people decided about the run since the form was made, "" where
// nobody decided anything.
func (f form) decidedSince() string {
	seen, err := strconv.Atoi(f.values.Get(formSeen))
	if err != nil {
		return ""
	}
	for _, e := range slices.Backward(f.log) {
		if e.Number <= seen {
			break
		}
		if told, ok := reporting.InWords(e); ok && e.Actor == tidegate.Person {
			return told.Text
		}
	}
	return ""
}

// showForm asks for what a decision needs. The address may fill in fields.
func (s *server) showForm(w http.ResponseWriter, r *http.Request) {
	f, err := s.openForm(r, r.URL.Query())
	if err != nil {
		s.problem(w, r, err)
		return
	}
	s.show(w, r, f, false, nil)
}

// takeForm takes a form that was filled in and asks for confirmation, or takes the
// confirmation and decides. Each form is taken once.
func (s *server) takeForm(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		http.Error(w, "send a decision by the form on its page", http.StatusUnsupportedMediaType)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		s.problem(w, r, tidegate.Errorf(tidegate.InvalidArgs, nil, "the form cannot be read: %w", err))
		return
	}
	f, err := s.openForm(r, r.PostForm)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	if f.signed {
		s.problem(w, r, tidegate.Errorf(tidegate.InvalidState, nil, "decisions about this run are signed, and a page has no key: type %s --sign KEY", f.typed()))
		return
	}
	args, wrong := f.arguments()
	confirmed := r.PostForm.Get(formConfirm) != ""
	if confirmed && wrong != nil {
		s.problem(w, r, wrong)
		return
	}
	purpose := "fill in " + f.here
	if confirmed {
		purpose = "do " + f.here + " " + string(args)
	}
	if !s.forms.Take(s.site.Desk.Now(), r.PostForm.Get(formToken), purpose) {
		s.show(w, r, f, false, tidegate.Errorf(tidegate.InvalidState, nil, expiredForm))
		return
	}
	if !confirmed {
		s.show(w, r, f, wrong == nil, wrong)
		return
	}
	// Closing the page does not undo the decision.
	ctx := context.WithoutCancel(r.Context())
	err = s.withinMoney(f, r.PathValue("run"), func() error {
		result := f.Call(ctx, args, tool.Caller{Panicked: func(value any, stack []byte) {
			slog.Error("a decision panicked", "decision", f.name, "value", value, "stack", string(stack))
		}})
		if result.Err != nil {
			return result.Err
		}
		return nil
	})
	if err != nil {
		s.undone(w, r, f, err)
		return
	}
	if after, err := s.openForm(r, r.PostForm); err == nil && after.line == f.line && f.decidedSince() != "" {
		s.undone(w, r, f, tidegate.Errorf(tidegate.InvalidState, nil, "nothing was left to do"))
		return
	}
	http.Redirect(w, r, f.back, http.StatusSeeOther)
}

// withinMoney takes a decision. One that raises what a run may cost has to stay within what
// work from pages may cost together.
func (s *server) withinMoney(f form, id string, decide func() error) error {
	most, err := strconv.ParseFloat(strings.TrimSpace(f.values.Get("value")), 64)
	if s.site.spends == nil || f.name != "run-limit" || f.values.Get("name") != "max_cost_usd" || err != nil {
		return decide()
	}
	return s.site.spends.Limit(id, most, decide)
}

// undone says why nothing was decided: what was filled in stays, with what is wrong, and
// of two decisions the second says that the first was taken.
func (s *server) undone(w http.ResponseWriter, r *http.Request, f form, wrong error) {
	e := tidegate.AsError(wrong)
	switch tidegate.ClassOf(e.Code) {
	case tidegate.Invalid:
		s.show(w, r, f, false, wrong)
	case tidegate.Conflict:
		if decided := f.decidedSince(); decided != "" {
			wrong = tidegate.Errorf(e.Code, e.Details, "it was decided already: %s. %s", decided, e.Message)
		}
		fallthrough
	default:
		s.problem(w, r, wrong)
	}
}
