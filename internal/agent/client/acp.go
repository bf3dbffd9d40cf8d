package client

import (
	"context"
	"os"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
)

// acp is the driver of any agent that speaks the Agent Client Protocol, version
// 1, on its standard streams. The agent writes to a file, as every other client
// does, so it never has to wait and nothing is dropped. Of what it writes, only
// what it was asked for is kept.
type acp struct {
	settings driver.Settings
	machine  sandbox.Machine
	argv     []string
}

func newACP(settings driver.Settings, machine sandbox.Machine, command string) (driver.Driver, error) {
	argv, ok := words(command)
	if !ok {
		return nil, driver.Invalid(settings, "%q names no program; expected acp:COMMAND, with quotes that are closed", settings.Driver)
	}
	return &acp{settings, machine, argv}, nil
}

func (d *acp) Run(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
	key, resume, err := session(task)
	if err != nil {
		return driver.Answer{}, err
	}
	return d.converse(ctx, task, key, &acpStream{name: d.argv[0], resume: resume}, event)
}

// acpVariables are for agents that need more than the protocol says; others do not
// know them. Those for Claude Code keep it from hiding the tools of MCP servers
// behind a tool that searches for tools, and from trying for minutes.
var acpVariables = []string{"ENABLE_TOOL_SEARCH=false", "CLAUDE_CODE_MAX_RETRIES=2"}

// Check shakes hands with the agent and returns its version. Whether it is
// logged in shows with the first task.
func (d *acp) Check(ctx context.Context) (string, error) {
	task := driver.Task{Limits: driver.Limits{Deadline: sandbox.ProbeLimit}}
	answer, err := d.converse(ctx, task, "", &acpStream{name: d.argv[0], greeting: true}, func(driver.Event) {})
	return answer.Version, err
}

func (d *acp) converse(ctx context.Context, task driver.Task, key string, s *acpStream, event func(driver.Event)) (driver.Answer, error) {
	path, err := sandbox.Find(d.machine.Environ, d.argv[0])
	if err != nil {
		return driver.Answer{}, driver.CannotStart(d.argv[0], err)
	}
	return d.machine.InFolder(key, task, func(f *sandbox.Folder, task driver.Task) (driver.Answer, error) {
		input, output, err := os.Pipe()
		if err != nil {
			return driver.Answer{}, driver.Failf(driver.Unavailable, "%s cannot be started: %v", d.argv[0], err)
		}
		s.task = task
		s.input = newMailbox(output)
		defer s.input.close()
		s.greet()
		a := &sandbox.Attempt{Name: d.argv[0], Task: task, Stream: s, Output: sandbox.MaxOutput, Served: true, Now: d.machine.Now, Event: event}
		l, err := d.machine.Prepare(f, programOf(d.settings, path, d.argv[1:], task), d.settings.Env)
		if err != nil {
			input.Close()
			return driver.Answer{}, err
		}
		defer l.Close()
		l.Env = append(l.Env, acpVariables...)
		c := l.Command(path, d.argv[1:], task.Folder)
		c.Stdin = input
		answer, err := a.RunIn(ctx, l, c, f)
		if answer.Session != "" {
			answer.Session = f.Key + "/" + answer.Session
		}
		if failure, ok := err.(*driver.Error); ok && failure.Kind == driver.Auth {
			failure.Help = d.argv[0] + ", and log in, or name its key in env of tidegate.toml"
		}
		return answer, err
	})
}

// mailbox writes to an agent that reads when it likes.
type mailbox struct {
	mu    sync.Mutex
	more  *sync.Cond
	queue [][]byte
	ended bool
	to    *os.File
}

func newMailbox(to *os.File) *mailbox {
	m := &mailbox{to: to}
	m.more = sync.NewCond(&m.mu)
	go func() {
		for {
			m.mu.Lock()
			for len(m.queue) == 0 && !m.ended {
				m.more.Wait()
			}
			queue := m.queue
			m.queue = nil
			m.mu.Unlock()
			if queue == nil {
				m.to.Close()
				return
			}
			for _, line := range queue {
				if _, err := m.to.Write(line); err != nil {
					break
				}
			}
		}
	}()
	return m
}

func (m *mailbox) put(line []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, line)
	m.more.Signal()
}

// finish closes the agent's input once all is written, which asks it to exit.
func (m *mailbox) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.more.Signal()
}

// close closes the agent's input at once.
func (m *mailbox) close() {
	m.finish()
	m.to.Close()
}

// Forget implements the interface that [Forget] looks for.
func (d *acp) Forget(session string) { d.machine.Forget(session) }
