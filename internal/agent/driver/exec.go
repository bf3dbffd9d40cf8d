package driver

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/cell"
)

// program is the driver exec: any program, with the prompt on its standard
// input, its answer on its standard output, and an exit status. It has no
// sessions and no events, and gets the job's id, kind and attempt in its
// environment.
type program struct {
	settings Settings
	host     Host
	argv     []string
}

func newExec(settings Settings, host Host, command string) (Driver, error) {
	argv, ok := words(command)
	if !ok {
		return nil, invalid(settings, "%q names no program; expected exec:COMMAND, with quotes that are closed", settings.Driver)
	}
	return &program{settings, host, argv}, nil
}

func (d *program) Run(ctx context.Context, task Task, event func(Event)) (Answer, error) {
	a := &attempt{
		name: d.argv[0], task: task, stream: &text{}, output: int64(task.Limits.answer()), plain: true,
		now: d.host.Now, event: event,
	}
	path, err := find(d.host.Environ, d.argv[0])
	if err != nil {
		return Answer{}, missing(d.argv[0], err)
	}
	return d.host.inFolder("", task, func(f *folder, task Task) (Answer, error) {
		l, err := d.host.lodge(f, d.settings.tenant(path, d.argv[1:], task), d.settings.Env)
		if err != nil {
			return Answer{}, err
		}
		defer l.close()
		l.env = append(l.env, "TIDEGATE_JOB="+task.Job, "TIDEGATE_KIND="+task.Kind, "TIDEGATE_ATTEMPT="+strconv.Itoa(task.Attempt))
		return a.lodged(ctx, l, l.command(path, d.argv[1:], task.Folder), f)
	})
}

// tenant is a program of any kind: what its arguments name may be read, and it has
// no network unless a person says so.
func (s Settings) tenant(path string, args []string, task Task) tenant {
	t := tenant{path: path, args: args, task: task, Access: s.Access}
	t.Network = s.network()
	return t
}

func (s Settings) network() cell.Network { return cmp.Or(s.Network, cell.None) }

// text is the stream of a program whose output is its answer.
type text struct{ all []byte }

func (t *text) take(chunk []byte, _ func(Event)) { t.all = append(t.all, chunk...) }
func (t *text) done() bool                       { return false }
func (t *text) result(string) (Answer, *Error) {
	return Answer{Text: strings.ToValidUTF8(string(t.all), "\uFFFD")}, nil
}
