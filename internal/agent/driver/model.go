package driver

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// model is the driver of an endpoint that speaks OpenAI's Chat Completions. There
// is no client: the loop is here, with two tools, search and open.
type model struct {
	settings Settings
	host     Host
	url      string // without /chat/completions
	http     *http.Client

	mu       sync.Mutex
	sessions map[string][]chatMessage // what may be continued
	order    []string                 // of the sessions, the oldest first
}

// keptSessions is how many conversations are kept to be continued.
const keptSessions = 64

func newModel(settings Settings, host Host, address string) (Driver, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" {
		return nil, invalid(settings, "%q names no model; expected model:URL, as in model:http://127.0.0.1:11434/v1, without a key in it", settings.Driver)
	}
	if host.Search.Service != "" {
		if _, known := searchServices[host.Search.Service]; !known {
			return nil, invalid(settings, "%q is not a search service; expected searxng, brave or tavily", host.Search.Service)
		}
	}
	return &model{settings: settings, host: host, url: strings.TrimRight(address, "/"), http: newHTTP(), sessions: map[string][]chatMessage{}}, nil
}

// newHTTP is a client that leaves no connection open and carries no key to an
// address that nobody named.
func newHTTP() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// check asks for the list of models, which costs nothing. A server without such a
// list can still be asked.
func (d *model) check(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", d.url+"/models", nil)
	if err != nil {
		return "", failf(Unavailable, "%s: %v", d.url, err)
	}
	response, err := d.send(request)
	if err != nil {
		return "", err
	}
	response.Body.Close()
	return "", nil
}

// send does a request with the key. A status that stands for a failure becomes an
// error, except 400 and 404, which check and context limits need to see.
func (d *model) send(request *http.Request) (*http.Response, error) {
	if d.settings.KeyEnv != "" {
		key := variable(d.host.Environ, d.settings.KeyEnv)
		if key == "" {
			return nil, &Error{Kind: Auth, Message: "the model's key is missing", Help: "export " + d.settings.KeyEnv + "=…"}
		}
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := d.http.Do(request)
	if err != nil {
		if cause := context.Cause(request.Context()); cause != nil {
			return nil, cause
		}
		return nil, failf(Unavailable, "the model cannot be reached: %s", shown(err.Error()))
	}
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		response.Body.Close()
		failure := failf(Auth, "the model answers %s", response.Status)
		failure.Help = "name the variable that holds its key as key_env"
		if d.settings.KeyEnv != "" {
			failure.Help = "export " + d.settings.KeyEnv + "=…"
		}
		return nil, failure
	case status >= 300 && status < 400, status == http.StatusTooManyRequests, status >= 500:
		response.Body.Close()
		failure := failf(byStatus(status), "the model answers %s", response.Status)
		if failure.Kind == Died {
			failure.Kind = Unavailable
		}
		failure.Wait = retryAfter(response.Header.Get("Retry-After"), d.host.Now())
		return nil, failure
	}
	return response, nil
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := time.ParseDuration(value + "s"); err == nil {
		return min(max(0, seconds), LongestWait)
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(0, date.Sub(now)), LongestWait)
	}
	return 0
}

// Run has the model answer the task step by step. Each step is one request, which
// ends either in tool calls, which are made and answered, or in the answer.
func (d *model) Run(ctx context.Context, task Task, event func(Event)) (Answer, error) {
	c, err := d.begin(task)
	if err != nil {
		return Answer{}, err
	}
	// While the model thinks, nothing is read here, so a goroutine watches the limits.
	ctx, stop := d.watch(ctx, task.Limits)
	defer stop.end()
	c.alive = stop.alive
	c.event = event
	event(Event{Kind: Started})
	answer, err := c.answer(ctx)
	if err != nil {
		answer.Text = ""
		return answer, err
	}
	answer.Session = d.keep(task, c)
	return answer, nil
}

func (d *model) begin(task Task) (*conversation, error) {
	c := &conversation{driver: d, task: task, room: startRoom}
	if task.Session != "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		earlier := d.sessions[task.Session]
		if earlier == nil {
			return nil, &Error{Kind: Unavailable, Message: "the conversation was not kept", SessionGone: true}
		}
		c.messages = append(c.messages, earlier...)
	}
	c.say(task.Prompt)
	return c, nil
}

// keep keeps a conversation so that its answer can be repaired, and returns its name.
func (d *model) keep(task Task, c *conversation) string {
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

func (d *model) watch(ctx context.Context, limits Limits) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	began := d.host.Now()
	w := &watchdog{now: d.host.Now, line: began, step: began}
	var ended sync.WaitGroup
	w.end = func() {
		cancel(nil)
		ended.Wait()
	}
	ended.Go(func() {
		tick := time.NewTicker(poll)
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
				cancel(failf(Deadline, "the model had no answer after %v", limits.Deadline))
			case past(line, limits.Idle):
				cancel(failf(Idle, "the model wrote nothing for %v", limits.Idle))
			case past(step, limits.Step):
				cancel(failf(Idle, "the model wrote no message and called no tool for %v", limits.Step))
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
