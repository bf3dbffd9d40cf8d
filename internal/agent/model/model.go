// Package model asks services of models over HTTP. There is no client: the loop of tool
// calls is here.
package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// model is the driver of an endpoint that answers requests over HTTP. There is no
// client: the loop is here, with two tools, search and open.
type model struct {
	settings driver.Settings
	host     driver.Host
	endpoint *endpoint
	url      string
	http     *http.Client

	mu       sync.Mutex
	chosen   string               // the model, once it is known
	most     int                  // tokens that an answer of it may have; 0 where nobody said
	sessions map[string][]message // what may be continued
	order    []string             // of the sessions, the oldest first
}

// keptSessions is how many conversations are kept to be continued.
const keptSessions = 64

// New is the driver of the endpoint that settings name. It returns what [endpointOf]
// returns.
func New(settings driver.Settings, host driver.Host, near string) (driver.Driver, error) {
	host = host.Filled()
	endpoint, address, err := endpointOf(settings, host, near)
	if err != nil {
		return nil, err
	}
	if settings.KeyEnv == "" {
		settings.KeyEnv = endpoint.keyEnv
	}
	return &model{settings: settings, host: host, endpoint: endpoint, url: address, http: newHTTP(), sessions: map[string][]message{}}, nil
}

// newHTTP is a client that leaves no connection open and carries no key to an
// address that nobody named.
func newHTTP() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (d *model) key() string { return driver.Variable(d.host.Environ, d.settings.KeyEnv) }

// masked is a text without the key. Some endpoints repeat it when they refuse it.
func (d *model) masked(text string) string { return withoutKey(text, d.key()) }

func withoutKey(text, key string) string {
	const shortest = 8 // a shorter word is not a key, and stands in many texts
	if len(key) < shortest {
		return text
	}
	return strings.ReplaceAll(text, key, "[key]")
}

// send does a request with the key. An error is the endpoint's silence; its answer may
// be a failure.
func (d *model) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(driver.Marshal(body))
	}
	request, err := http.NewRequestWithContext(ctx, method, d.url+path, content)
	if err != nil {
		return nil, driver.Failf(driver.Unavailable, "%s: %v", d.url, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	key := d.key()
	if key == "" && d.settings.KeyEnv != "" {
		return nil, d.noKey()
	}
	if key != strings.TrimSpace(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return nil, &driver.Error{Kind: driver.Auth, Message: d.settings.KeyEnv + " has white space around the key", Help: "export " + d.settings.KeyEnv + "=…"}
	}
	if key != "" || d.endpoint.protocol == &messagesProtocol {
		d.endpoint.protocol.sign(request.Header, key)
	}
	response, err := d.http.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, d.unreachable(err)
	}
	return response, nil
}

// get reads what the endpoint answers at a path. The status stands beside it.
func (d *model) get(ctx context.Context, path string) ([]byte, *http.Response, error) {
	response, err := d.send(ctx, "GET", path, nil)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, nil, driver.Failf(driver.Unavailable, "the list of models broke off: %s", driver.Shown(err.Error()))
	}
	return data, response, nil
}

// Check asks for the list of models, which costs nothing, and finds the model that
// tasks ask for. It returns what is wrong with the key, the address or the model.
func (d *model) Check(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, driver.Failf(driver.Unavailable, "%s did not answer within %v", d.url, listLimit))
	defer cancel()
	offered, err := d.offered(ctx)
	if err != nil {
		return "", err
	}
	name, err := d.choose(ctx, offered)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.chosen = name
	for _, m := range offered {
		if m.name == name {
			d.most = min(m.Most, mostOutput)
		}
	}
	return "", nil
}

const (
	listLimit  = 20 * time.Second // for the list of models
	mostOutput = 64_000           // tokens of an answer; DefaultAnswer is less
)

func (d *model) mostOutput() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.most
}

// offeredModel is one entry of a list of models.
type offeredModel struct {
	ID   string `json:"id"`
	Most int    `json:"max_tokens"` // Anthropic: of an answer
	name string
}

// offered is the list of models; nil where the endpoint has none.
func (d *model) offered(ctx context.Context) ([]offeredModel, error) {
	data, response, err := d.get(ctx, d.endpoint.protocol.list)
	if err != nil {
		return nil, err
	}
	if d.endpoint.probe != "" && response.StatusCode == http.StatusOK {
		// Everybody can read this list; a wrong key shows elsewhere.
		said, probed, err := d.get(ctx, d.endpoint.probe)
		if err != nil {
			return nil, err
		}
		if probed.StatusCode == http.StatusUnauthorized || probed.StatusCode == http.StatusForbidden {
			return nil, d.failure(probed, said, "")
		}
	}
	switch status := response.StatusCode; {
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return nil, d.elsewhere(ctx)
	case status != http.StatusOK:
		return nil, d.failure(response, data, "")
	}
	var list struct {
		Data []offeredModel `json:"data"`
	}
	if json.Unmarshal(data, &list) != nil || list.Data == nil && !bytes.Contains(data, []byte(`"data"`)) {
		return nil, d.misplaced("%s answers with something else than a list of models", d.url+d.endpoint.protocol.list)
	}
	models := []offeredModel{}
	for _, m := range list.Data {
		m.name = strings.TrimPrefix(m.ID, "models/") // as Google writes it
		if m.name != "" && !noText().MatchString(m.name) {
			models = append(models, m)
		}
	}
	return models, nil
}

// noText matches the names of models that write no texts.
var noText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)embed|\btts\b|whisper|dall-e|image|imagen|\bveo\b|\bsora\b|audio|realtime|moderation|transcribe|rerank|\blive\b`)
})

// elsewhere says, of an address without a list of models, whether the usual one has a
// list. An endpoint without any can still be asked.
func (d *model) elsewhere(ctx context.Context) error {
	root, err := url.Parse(d.url)
	if err != nil || root.Path == "/v1" || d.endpoint.protocol == &messagesProtocol {
		return nil
	}
	usual := root.Scheme + "://" + root.Host + "/v1"
	other := &model{settings: d.settings, host: d.host, endpoint: d.endpoint, url: usual, http: d.http}
	if _, response, err := other.get(ctx, d.endpoint.protocol.list); err != nil || response.StatusCode != http.StatusOK {
		return nil
	}
	failure := d.misplaced("nothing is at %s, but %s has a list of models", d.url, usual)
	failure.Help = d.addressHelp(usual)
	return failure
}

// choose is the model that tasks ask for: the named one, else the first of those that
// the table of models prefers, else the only one. The endpoint must offer it.
func (d *model) choose(ctx context.Context, offered []offeredModel) (string, error) {
	has := func(name string) bool {
		return slices.ContainsFunc(offered, func(m offeredModel) bool {
			return m.name == name || m.name == name+":latest" || strings.Contains(m.name, "*")
		})
	}
	named := d.settings.Model
	preferred := preferredModels(d.endpoint.name)
	switch {
	case named != "" && (offered == nil || has(named)):
		return named, nil
	case named != "":
		// Names that stand for others are not always in the list.
		_, response, err := d.get(ctx, strings.SplitN(d.endpoint.protocol.list, "?", 2)[0]+"/"+url.PathEscape(named))
		if err != nil {
			return "", err
		}
		if response.StatusCode == http.StatusOK {
			return named, nil
		}
		return "", d.unknown(named, offered)
	}
	for _, name := range preferred {
		if offered == nil || has(name) {
			return name, nil
		}
	}
	if len(offered) == 1 && !strings.Contains(offered[0].name, "*") {
		return offered[0].name, nil
	}
	return "", d.unnamed(offered)
}

// Chosen is the model that d asks for where a task names none, once [Check] has found
// it; "" where the agent itself chooses.
func Chosen(d driver.Driver) string {
	m, ok := d.(*model)
	if !ok {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.chosen
}

// Run has the model answer the task step by step. Each step is one request, which
// ends either in tool calls, which are made and answered, or in the answer.
func (d *model) Run(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
	c, err := d.begin(task)
	if err != nil {
		return driver.Answer{}, err
	}
	if c.model = cmp.Or(task.Model, Chosen(d)); c.model == "" {
		if _, err := d.Check(ctx); err != nil {
			return driver.Answer{}, err
		}
		c.model = Chosen(d)
	}
	// While the model thinks, nothing is read here, so a goroutine watches the limits.
	ctx, stop := d.watch(ctx, task.Limits)
	defer stop.end()
	c.alive = stop.alive
	c.event = event
	event(driver.Event{Kind: driver.Started})
	answer, err := c.answer(ctx)
	if err != nil {
		answer.Text = ""
		return answer, err
	}
	answer.Session = d.keep(task, c)
	return answer, nil
}

func (d *model) begin(task driver.Task) (*conversation, error) {
	c := &conversation{driver: d, task: task, room: startRoom}
	if task.Session != "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		earlier := d.sessions[task.Session]
		if earlier == nil {
			return nil, &driver.Error{Kind: driver.Unavailable, Message: "the conversation was not kept", SessionGone: true}
		}
		c.messages = append(c.messages, earlier...)
	}
	c.say(task.Prompt)
	return c, nil
}

// keep keeps a conversation so that its answer can be repaired, and returns its name.
func (d *model) keep(task driver.Task, c *conversation) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := fmt.Sprintf("%s.%d.%s", task.Job, task.Attempt, task.ID)
	if d.sessions[name] == nil {
		d.order = append(d.order, name)
	}
	d.sessions[name] = c.messages
	if len(d.order) > keptSessions {
		delete(d.sessions, d.order[0])
		d.order = d.order[1:]
	}
	return name
}

// watchStep is how often the limits are looked at.
const watchStep = 20 * time.Millisecond

// watchdog ends a context when a limit is passed.
type watchdog struct {
	mu   sync.Mutex
	line time.Time // when something came
	step time.Time // when a step was made
	now  func() time.Time
	end  func()
}

func (w *watchdog) alive(step bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = w.now()
	if step {
		w.step = w.line
	}
}

func (d *model) watch(ctx context.Context, limits driver.Limits) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	began := d.host.Now()
	w := &watchdog{now: d.host.Now, line: began, step: began}
	var ended sync.WaitGroup
	w.end = func() {
		cancel(nil)
		ended.Wait()
	}
	ended.Go(func() {
		tick := time.NewTicker(watchStep)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := w.now()
			w.mu.Lock()
			line, step := w.line, w.step
			w.mu.Unlock()
			past := func(since time.Time, limit time.Duration) bool { return limit > 0 && now.Sub(since) > limit }
			switch {
			case past(began, limits.Deadline):
				cancel(driver.Failf(driver.Deadline, "the model had no answer after %v", limits.ShownDeadline()))
			case past(line, limits.Idle):
				cancel(driver.Failf(driver.Idle, "the model wrote nothing for %v", limits.Idle))
			case past(step, limits.Step):
				cancel(driver.Failf(driver.Idle, "the model wrote no message and called no tool for %v", limits.Step))
			}
		}
	})
	return ctx, w
}

// thinking is what some models write at the beginning of their answer.
var thinking = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^\s*<(think|thinking|reasoning)>.*?(</(?:think|thinking|reasoning)>|$)\s*`)
})

// textCalls are calls of tools that a model wrote as text, because it or its
// server does not know how to make them.
var textCalls = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<tool_call>|<\|tool_call|<function=|\[TOOL_CALLS\]`) })

// What endpoints say with many different statuses. Quota is money that is used up, which
// no waiting brings back.
var (
	tooLong = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)context.{0,20}(length|window|size)|too many tokens|maximum.{0,20}tokens|too long|too_large|exceeds.{0,40}tokens|exceed_context_size`)
	})
	noQuota = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)insufficient.?(quota|credits|funds|balance)|exceeded your current quota|credit balance|payment.?required|requires more credits`)
	})
	noModel = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)model_not_found|model.{0,120}(not found|not exist|not available|no access|not a valid|unsupported)|not a valid model|^model:|no models? (is )?loaded|no endpoints found`)
	})
	unnamedModel = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)model.{0,30}(required|not specified|missing)|must provide a model|missing.{0,30}model`)
	})
	noTools = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(not|n't) support.{0,20}(tools?|function)|support tool use`)
	})
)

// failure is what an answer with a status that is not 200 means: who has to wait, and
// what a person has to change. Help is a command, or a flag for the same command as
// before. Nothing in it is the key.
func (d *model) failure(response *http.Response, body []byte, model string) *driver.Error {
	said := saidIn(body)
	words := d.masked(said.Message)
	all := strings.TrimSpace(strings.Join([]string{said.Code, said.Type, words}, " "))
	wait := retryAfter(response.Header.Get("Retry-After"), d.host.Now())
	if wait == 0 {
		wait = driver.WaitIn(string(body))
	}
	status := response.StatusCode
	answers := d.masked(fmt.Sprintf("%s answers %s", d.endpoint.title, response.Status))
	if words != "" {
		answers += ": " + driver.Shown(words)
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusBadRequest && strings.Contains(strings.ToLower(all), "api key not valid"):
		return d.refusedKey(fmt.Sprintf("%s refuses the key", d.endpoint.title), status)
	case noQuota().MatchString(all) && wait == 0, status == http.StatusPaymentRequired && wait == 0:
		return &driver.Error{Kind: driver.Unavailable, Lasting: true, Message: fmt.Sprintf("%s wants to be paid (%d)%s", d.endpoint.title, status, d.paysAt()), Help: "--agent AGENT"}
	case unnamedModel().MatchString(all) && status < 500:
		return d.unnamed(nil)
	case noModel().MatchString(words) && status < 500, said.Code == "model_not_found":
		return d.unknown(model, nil)
	case noTools().MatchString(all) && status < 500:
		return d.modelFault("%s cannot call tools", driver.Shown(model))
	case status == http.StatusForbidden:
		return d.refusedKey(fmt.Sprintf("%s does not allow that (%s)", d.endpoint.title, driver.Shown(tidegate.Cut(words))), status)
	case status == http.StatusTooManyRequests:
		return &driver.Error{Kind: driver.Rate, Message: answers, Wait: wait}
	case status >= 300 && status < 400:
		return d.moved(response)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		failure := d.misplaced("nothing that speaks %s is at %s", d.endpoint.protocol.name, d.url+d.endpoint.protocol.ask)
		if d.endpoint.protocol == &responsesProtocol && d.url != d.endpoint.url {
			failure.Help = "--agent model:" + d.url // which speaks Chat Completions, as most do
		}
		return failure
	case status == http.StatusRequestEntityTooLarge, tooLong().MatchString(all):
		return d.tooSmall(model)
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		return &driver.Error{Kind: driver.Unavailable, Message: answers, Wait: wait}
	}
	return driver.Failf(driver.Died, "%s", answers)
}

// saidIn is the error in the body of an answer: an object, Google's list of one, or a
// text.
func saidIn(body []byte) spoken {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var answer struct {
		Error   *spoken `json:"error"`
		Message string  `json:"message"`
		Detail  any     `json:"detail"`
	}
	switch {
	case json.Unmarshal(body, &answer) != nil:
		return spoken{} // a page of some server on the way
	case answer.Error != nil:
		return *answer.Error
	case answer.Detail != nil:
		return spoken{Message: fmt.Sprint(answer.Detail)}
	}
	return spoken{Message: answer.Message}
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := time.ParseDuration(value + "s"); err == nil {
		return min(max(0, seconds), driver.LongestWait)
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(0, date.Sub(now)), driver.LongestWait)
	}
	return 0
}

func (d *model) noKey() *driver.Error {
	return &driver.Error{Kind: driver.Auth, Message: d.settings.KeyEnv + " is not set" + d.keysAt(), Help: "export " + d.settings.KeyEnv + "=…"}
}

// keysAt is where a person gets a key, as the end of a sentence.
func (d *model) keysAt() string {
	if d.endpoint.keyEnv == "" || d.endpoint.help == "" {
		return ""
	}
	return "; keys are at " + d.endpoint.help
}

func (d *model) refusedKey(what string, status int) *driver.Error {
	if d.settings.KeyEnv == "" {
		return &driver.Error{Kind: driver.Auth, Message: fmt.Sprintf("%s wants a key (%d)", d.url, status), Help: "export " + modelKey + "=…"}
	}
	return &driver.Error{Kind: driver.Auth, Message: fmt.Sprintf("%s in %s (%d)%s", what, d.settings.KeyEnv, status, d.keysAt()), Help: "export " + d.settings.KeyEnv + "=…"}
}

// paysAt is where a person pays, as the end of a sentence.
func (d *model) paysAt() string {
	if d.endpoint.pays == "" {
		return ""
	}
	return " at " + d.endpoint.pays
}

// misplaced is the failure of an address at which there is no such endpoint.
func (d *model) misplaced(format string, args ...any) *driver.Error {
	return &driver.Error{Kind: driver.Unavailable, Lasting: true, Code: tidegate.EndpointInvalid, Message: fmt.Sprintf(format, args...), Help: d.addressHelp("")}
}

// addressHelp is what a person types to ask another address: the right one where it is
// known.
func (d *model) addressHelp(right string) string {
	switch name := d.endpoint.urlEnv; {
	case d.endpoint.name == "":
		return "--agent model:" + cmp.Or(right, "http://HOST:PORT/v1")
	case d.settings.URL != "":
		return "tidegate config"
	case name != "" && driver.Variable(d.host.Environ, name) != "" && right != "":
		return "export " + name + "=" + right
	case name != "" && driver.Variable(d.host.Environ, name) != "":
		return "unset " + name
	}
	return "tidegate agents check api:" + d.endpoint.name
}

// moved is the failure of an address that leads elsewhere. The key is not carried there.
func (d *model) moved(response *http.Response) *driver.Error {
	failure := d.misplaced("%s answers %s", d.url, response.Status)
	if to, err := response.Location(); err == nil {
		failure.Message += " and leads to " + driver.Shown(d.masked(to.Scheme+"://"+to.Host+to.Path)) + ": name that address"
	}
	return failure
}

// unreachable is the failure of a request that got no answer.
func (d *model) unreachable(err error) *driver.Error {
	var unknown x509.UnknownAuthorityError
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // it repeats the address
	}
	failure := driver.Failf(driver.Unavailable, "%s cannot be reached at %s: %s", d.endpoint.title, d.url, driver.Shown(err.Error()))
	switch {
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return d.schemeOf("http")
	case strings.Contains(err.Error(), "malformed HTTP response"):
		return d.schemeOf("https")
	case errors.As(err, &unknown):
		failure.Message += "; SSL_CERT_FILE names further certificates"
		failure.Help = "export SSL_CERT_FILE=…"
	case strings.Contains(err.Error(), "no such host"):
		failure.Help = d.addressHelp("")
	case strings.HasPrefix(err.Error(), "proxyconnect "):
		failure.Message = fmt.Sprintf("the proxy of the environment does not lead to %s: %s", d.url, driver.Shown(strings.TrimPrefix(err.Error(), "proxyconnect tcp: dial tcp ")))
		failure.Help = "unset HTTPS_PROXY"
	case errors.Is(err, syscall.ECONNREFUSED) && d.endpoint.keyEnv == "" && d.endpoint.help != "":
		failure.Message, failure.Help = fmt.Sprintf("%s does not run at %s", d.endpoint.title, d.url), d.endpoint.help
	case errors.Is(err, syscall.ECONNREFUSED):
		failure.Message, failure.Help = fmt.Sprintf("nothing listens at %s", d.url), d.addressHelp("")
	}
	return failure
}

// schemeOf is the failure of an address that wants another scheme.
func (d *model) schemeOf(scheme string) *driver.Error {
	right := scheme + d.url[strings.Index(d.url, "://"):]
	failure := d.misplaced("%s wants %s://", d.url, scheme)
	failure.Help = d.addressHelp(right)
	return failure
}

func (d *model) modelFault(format string, args ...any) *driver.Error {
	return &driver.Error{Kind: driver.Unavailable, Lasting: true, Code: tidegate.ModelRequired, Message: fmt.Sprintf(format, args...), Help: "--model NAME"}
}

// unnamed is the failure of an endpoint that cannot be asked without the name of a
// model.
func (d *model) unnamed(offered []offeredModel) *driver.Error {
	failure := d.modelFault("no model is named, and %s does not choose one", d.endpoint.title)
	failure.Choices = namesOf(offered)
	switch {
	case d.endpoint.name == "ollama" && offered != nil && len(offered) == 0:
		failure.Message, failure.Help = "Ollama has no model", "ollama pull qwen3"
	case offered != nil && len(offered) == 0:
		failure.Message = d.endpoint.title + " has no model at " + d.url
	}
	return failure
}

// unknown is the failure of a model that the endpoint does not have.
func (d *model) unknown(name string, offered []offeredModel) *driver.Error {
	failure := d.modelFault("%s has no model %q", d.endpoint.title, driver.Shown(name))
	failure.Choices = namesOf(offered)
	if near := codec.Nearest(name, failure.Choices); near != "" {
		failure.Message += "; did you mean " + near + "?"
		failure.Help = "--model " + near
	} else if d.endpoint.name == "ollama" && driver.IsModel(name) {
		failure.Help = "ollama pull " + name
	}
	return failure
}

// tooSmall is the failure of a model that cannot take what the job has to say.
func (d *model) tooSmall(name string) *driver.Error {
	return d.modelFault("the prompt does not fit into the context of %s: name a model with a larger one", driver.Shown(name))
}

// mostChoices is how many models a person is shown.
const mostChoices = 60

func namesOf(offered []offeredModel) []string {
	var names []string
	for _, m := range offered {
		if len(names) == mostChoices {
			names = append(names, fmt.Sprintf("… and %d more", len(offered)-mostChoices))
			break
		}
		names = append(names, driver.Shown(m.name))
	}
	return names
}
