package driver

import (
	"context"
	"os"
	"sync"
)

// acp is the driver of any agent that speaks the Agent Client Protocol, version
// 1, on its standard streams. The agent writes to a file, as every other client
// does, so it never has to wait and nothing is dropped. Of what it writes, only
// what it was asked for is kept.
type acp struct {
	settings Settings
	host     Host
	argv     []string
}

func newACP(settings Settings, host Host, command string) (Driver, error) {
	argv, ok := words(command)
	if !ok {
		return nil, invalid(settings, "%q names no program; expected acp:COMMAND, with quotes that are closed", settings.Driver)
	}
	return &acp{settings, host, argv}, nil
}

func (d *acp) Run(ctx context.Context, task Task, event func(Event)) (Answer, error) {
	key, resume, err := session(task)
	if err != nil {
		return Answer{}, err
	}
	return d.converse(ctx, task, key, &acpStream{name: d.argv[0], resume: resume}, event)
}

// acpVariables are for agents that need more than the protocol says; others do not
// know them. Those for Claude Code keep it from hiding the tools of MCP servers
// behind a tool that searches for tools, and from trying for minutes.
var acpVariables = []string{"ENABLE_TOOL_SEARCH=false", "CLAUDE_CODE_MAX_RETRIES=2"}

// check shakes hands with the agent and returns its version. Whether it is
// logged in shows with the first task.
func (d *acp) check(ctx context.Context) (string, error) {
	task := Task{Limits: Limits{Deadline: probeLimit}}
	answer, err := d.converse(ctx, task, "", &acpStream{name: d.argv[0], greeting: true}, func(Event) {})
	return answer.Version, err
}

func (d *acp) converse(ctx context.Context, task Task, key string, s *acpStream, event func(Event)) (Answer, error) {
	path, err := find(d.host.Environ, d.argv[0])
	if err != nil {
		return Answer{}, missing(d.argv[0], err)
	}
	return d.host.inFolder(key, task, func(f *folder, task Task) (Answer, error) {
		input, output, err := os.Pipe()
		if err != nil {
			return Answer{}, failf(Unavailable, "%s cannot be started: %v", d.argv[0], err)
		}
		s.task = task
		s.input = newMailbox(output)
		defer s.input.close()
		s.greet()
		a := &attempt{name: d.argv[0], task: task, stream: s, output: maxOutput, served: true, now: d.host.Now, event: event}
		l, err := d.host.lodge(f, d.settings.tenant(path, d.argv[1:], task), d.settings.Env)
		if err != nil {
			input.Close()
			return Answer{}, err
		}
		defer l.close()
		l.env = append(l.env, acpVariables...)
		c := l.command(path, d.argv[1:], task.Folder)
		c.stdin = input
		answer, err := a.lodged(ctx, l, c, f)
		if answer.Session != "" {
			answer.Session = f.key + "/" + answer.Session
		}
		if failure, ok := err.(*Error); ok && failure.Kind == Auth {
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
