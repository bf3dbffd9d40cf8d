// Package model asks services of models over HTTP. There is no client: the loop of tool
// calls is here.
package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/tidegate/tidegate/internal/agent/driver"
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
