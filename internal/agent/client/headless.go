package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
)

// client is what there is to know about one agent client that is started without
// a person: its arguments, environment, configuration and words.
type client struct {
	name   string
	oldest string // version that has all that is used here
	tested string // version that the real client was tried with, against internal/test/fakemodel
	get    string // what a person types to install or update it
	login  string // what a person types to log in

	// variables of the person's environment that tell the client whom it works
	// for and where; and those that it needs where a variable says that it works
	// through another provider.
	variables []string
	further   map[string][]string

	// prepare says how the client is started on a task: it writes the client's
	// configuration into the attempt's folder and returns arguments and
	// variables. Resume is the client's own id of the session to continue.
	prepare func(task driver.Task, resume string, f *sandbox.Folder, env []string) (args, variables []string, err error)
	stream  func() sandbox.Stream
	// loggedIn are the arguments with which a client that has these variables
	// says whether it is logged in, by its exit status; nil for one that cannot.
	loggedIn func(env []string) []string
	// loggedOut reports, of a client that cannot say so itself, that it is surely
	// not logged in. What neither of them knows shows with the first task.
	loggedOut func(ctx context.Context, env []string) bool
}

// clients are those that have a name of their own.
var clients = []*client{&claude, &codex, &opencode, &gemini}

// Client is an agent client that has a name of its own.
type Client struct {
	Name  string // also of its driver
	Get   string // what a person types to install it
	Login string // and to log in
}

// Clients are the agent clients that have a name of their own, in the order in
// which they are looked for.
func Clients() []Client {
	list := make([]Client, len(clients))
	for i, c := range clients {
		list[i] = Client{c.name, c.get, c.login}
	}
	return list
}

// headless is the driver of a client.
type headless struct {
	*client
	settings driver.Settings
	machine  sandbox.Machine

	mu      sync.Mutex
	version string // of the client, once it was asked
}

func (d *headless) Run(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
	version, err := d.known(ctx)
	if err != nil {
		return driver.Answer{}, err
	}
	// A session belongs to the path in which it began.
	key, resume, err := session(task)
	if err != nil {
		return driver.Answer{Version: version}, err
	}
	if !d.machine.Unconfined {
		d.renew(ctx, task.Limits.Deadline)
	}
	answer, err := d.run(ctx, task, key, resume, event)
	answer.Version = cmp.Or(answer.Version, version)
	return answer, err
}

// run starts the client on a task whose session, where it has one, is resume in the
// folder of key.
func (d *headless) run(ctx context.Context, task driver.Task, key, resume string, event func(driver.Event)) (driver.Answer, error) {
	path, err := d.path()
	if err != nil {
		return driver.Answer{}, err
	}
	return d.machine.InFolder(key, task, func(f *sandbox.Folder, task driver.Task) (driver.Answer, error) {
		l, err := d.prepareCell(f, path, task)
		if err != nil {
			return driver.Answer{}, err
		}
		defer l.Close()
		args, variables, err := d.prepare(task, resume, f, l.Env)
		if err != nil {
			return driver.Answer{}, driver.Failf(driver.Unavailable, "%s cannot be set up: %v", d.name, err)
		}
		a := &sandbox.Attempt{Name: d.name, Task: task, Stream: d.stream(), Output: sandbox.MaxOutput, Now: d.machine.Now, Event: event}
		c := l.Command(path, args, task.Folder)
		c.Env = append(c.Env, variables...)
		answer, err := a.RunIn(ctx, l, c, f)
		if answer.Session != "" {
			answer.Session = f.Key + "/" + answer.Session
		}
		if failure, ok := err.(*driver.Error); ok && failure.Kind == driver.Auth {
			failure.Help = d.login
		}
		return answer, err
	})
}

// network is what the client may reach: what a person says, else what it needs.
func (d *headless) network(web bool) cell.Network {
	switch {
	case d.settings.Network != "":
		return d.settings.Network
	case cells[d.name].ignoresProxies:
		return cell.Open
	case web:
		return cell.Web
	}
	return cell.Model
}

// prepareCell makes the cell of the client ready, with a copy of its login.
func (d *headless) prepareCell(f *sandbox.Folder, path string, task driver.Task) (*sandbox.Sandbox, error) {
	p := cells[d.name]
	t := sandbox.Program{Path: path, Task: task, Hosts: p.hostsFor(d.machine.Environ), Access: d.settings.Access}
	t.Network, t.ModelAddress = d.network(task.Tools.Web), ""
	named := slices.Concat(d.variables, d.settings.Env)
	for name, more := range d.further {
		if driver.Variable(d.machine.Environ, name) != "" {
			named = append(named, more...)
		}
	}
	l, err := d.machine.Prepare(f, t, named)
	if err != nil || d.machine.Unconfined {
		return l, err
	}
	if p.folder != "" {
		own := f.In(filepath.Join("home", p.usual))
		if p.folder == "GEMINI_CLI_HOME" {
			own = f.In("home")
		}
		l.Env = append(slices.DeleteFunc(l.Env, func(v string) bool { return strings.HasPrefix(v, p.folder+"=") }), p.folder+"="+own)
	}
	if kind, _ := geminiAuthType(d.machine.Environ); d.client == &gemini && kind != "" && driver.Variable(l.Env, "GEMINI_DEFAULT_AUTH_TYPE") == "" {
		l.Env = append(l.Env, "GEMINI_DEFAULT_AUTH_TYPE="+kind) // its settings stay outside
	}
	secrets, err := p.lendLogin(f, d.machine.Environ)
	if err != nil {
		l.Close()
		return nil, driver.Failf(driver.Unavailable, "%s cannot be given its login: %v", d.name, err)
	}
	l.Hide(secrets...)
	return l, nil
}

// sessionName is a session: the key of its folder, and the client's own id, which ends up
// among the arguments of the client, where it may be no flag.
var sessionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]+)/([A-Za-z0-9][A-Za-z0-9._:-]*)$`) })

// session splits the session that a task continues into the key of its folder
// and the client's own id, and checks the model's name with it.
func session(task driver.Task) (key, id string, err error) {
	if task.Model != "" && !driver.IsModel(task.Model) {
		return "", "", &driver.Error{Kind: driver.Unavailable, Message: fmt.Sprintf("%q is not the name of a model", driver.Shown(task.Model)), Lasting: true}
	}
	if task.Session == "" {
		return "", "", nil
	}
	parts := sessionName().FindStringSubmatch(task.Session)
	if parts == nil {
		return "", "", &driver.Error{Kind: driver.Unavailable, Message: "the session does not belong to this driver", SessionGone: true}
	}
	return parts[1], parts[2], nil
}

func (d *headless) path() (string, error) {
	path, err := sandbox.Find(d.machine.Environ, d.name)
	if err != nil {
		return "", &driver.Error{Kind: driver.Unavailable, Message: d.name + " is not installed", Help: d.get, Lasting: true}
	}
	return path, nil
}

// known is the client's version, asked for once, or why no task can start: it
// is not installed, does not start, or is too old.
func (d *headless) known(ctx context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.version != "" {
		return d.version, nil
	}
	said, err := d.ask(ctx, "--version")
	if err != nil {
		return "", err
	}
	version := versionIn(said)
	if version == "" {
		return "", &driver.Error{Kind: driver.Unavailable, Message: d.name + " does not say its version" + driver.LastLine(said), Help: d.get, Lasting: true}
	}
	if olderThan(version, d.oldest) {
		return "", &driver.Error{Kind: driver.Unavailable, Message: d.name + " " + version + " is too old; " + d.oldest + " or newer is needed", Help: d.get, Lasting: true}
	}
	d.version = version
	return version, nil
}

// Check also asks the client whether it is logged in, where it can say so.
func (d *headless) Check(ctx context.Context) (string, error) {
	version, err := d.known(ctx)
	if err != nil {
		return "", err
	}
	absent := &driver.Error{Kind: driver.Auth, Message: d.name + " is not logged in", Help: d.login}
	if d.loggedOut != nil && d.loggedOut(ctx, d.machine.Environ) {
		return version, absent
	}
	args := d.loggedIn(d.machine.Environ)
	if args == nil {
		return version, nil
	}
	_, err = d.ask(ctx, args...)
	if failure, ok := err.(*driver.Error); ok && failure.Kind == driver.Died {
		return version, absent
	}
	return version, err
}

// ask runs the client with a few arguments that are not a task, and returns what it
// writes.
func (d *headless) ask(ctx context.Context, args ...string) (string, error) {
	path, err := d.path()
	if err != nil {
		return "", err
	}
	answer, err := d.machine.InFolder("", driver.Task{Limits: driver.Limits{Deadline: sandbox.ProbeLimit}}, func(f *sandbox.Folder, task driver.Task) (driver.Answer, error) {
		a := &sandbox.Attempt{
			Name: d.name, Task: task, Stream: &sandbox.Text{}, Output: driver.DefaultAnswer, Plain: true,
			Now: d.machine.Now, Event: func(driver.Event) {},
		}
		l, err := d.prepareCell(f, path, task)
		if err != nil {
			return driver.Answer{}, err
		}
		defer l.Close()
		return a.RunIn(ctx, l, l.Command(path, args, task.Folder), f)
	})
	if failure, ok := err.(*driver.Error); ok {
		switch failure.Kind {
		case driver.Empty:
			return "", nil // it had nothing to say
		case driver.Deadline, driver.Flood:
			failure.Kind = driver.Unavailable // no task was begun
		}
	}
	return answer.Text, err
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+`) })

// versionIn is the first version number of a text.
func versionIn(text string) string { return versionNumber().FindString(text) }

// olderThan compares two version numbers.
func olderThan(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x < y
		}
	}
	return false
}

// Forget implements the interface that [Forget] looks for.
func (d *headless) Forget(session string) { d.machine.Forget(session) }

// lines hands over what a client writes line by line.
type lines struct{ rest []byte }

// each calls do with every line that chunk completes. The line is valid during
// the call.
func (l *lines) each(chunk []byte, do func(line []byte)) {
	for {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			if all := len(l.rest) + len(chunk); all > cap(l.rest) {
				l.rest = slices.Grow(l.rest, all) // twice as much; append copies a long line five times over
			}
			l.rest = append(l.rest, chunk...)
			return
		}
		line := chunk[:end]
		if len(l.rest) > 0 {
			line = append(l.rest, line...)
			l.rest = l.rest[:0]
		}
		chunk = chunk[end+1:]
		if line = bytes.TrimSpace(line); len(line) > 0 {
			do(line)
		}
	}
}

// readEvents reads a client's JSON lines: read is called with each line that is an
// object, and says what it was. Everything else is passed on as it is: clients
// write notices among their events, and later versions write other events.
func readEvents[E any](l *lines, chunk []byte, event func(driver.Event), read func(*E) driver.Event) {
	l.each(chunk, func(line []byte) {
		e, v := driver.Event{Kind: driver.Other}, new(E)
		if json.Unmarshal(line, v) == nil {
			e = read(v)
		}
		e.Raw = strings.ToValidUTF8(string(line), "\uFFFD")
		event(e)
	})
}

// left are the tools of a client, by its own names, that nothing takes away from a
// task.
func left(task driver.Task, counted func(own string) string, tools ...string) []string {
	return slices.DeleteFunc(tools, func(own string) bool { return !task.MayUse(counted(own), own) })
}

// mcpServers is the file in which several clients look for MCP servers.
func mcpServers(servers []driver.Server) []byte {
	type entry struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	all := map[string]entry{}
	for _, server := range servers {
		all[server.Name] = entry{server.Command, server.Args}
	}
	return driver.Marshal(map[string]any{"mcpServers": all})
}
