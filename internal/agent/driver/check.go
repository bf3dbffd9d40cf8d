package driver

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/artifact"
)

// checker is a driver that can say, before the first task and at no cost,
// whether its agent can be asked.
type checker interface {
	check(ctx context.Context) (version string, err error)
}

// Check says whether the agent of d can be asked, before the first task and at
// no cost, and which version it is where it has one. An error is an [*Error], with
// what helps: [Unavailable] for a client that is not installed or too old, [Auth]
// for one that is not logged in. NOT_CONFINED and INVALID_ARGS are for an agent that
// cannot be kept in a cell, or not in the one that a person wants. What only a model
// can say shows with the first task.
func Check(ctx context.Context, d Driver) (version string, err error) {
	if c, ok := d.(checker); ok {
		return c.check(ctx)
	}
	return "", nil // a driver from outside this package
}

// check also makes the cell ready, which refuses a folder that cannot be allowed.
func (d *program) check(context.Context) (string, error) {
	path, err := find(d.host.Environ, d.argv[0])
	if err != nil {
		return "", missing(d.argv[0], err)
	}
	_, err = d.host.inFolder("", Task{}, func(f *folder, task Task) (Answer, error) {
		_, err := d.host.cell(f, d.settings.tenant(path, d.argv[1:], task), nil)
		return Answer{}, err
	})
	return "", err
}

func (d *recorded) check(ctx context.Context) (string, error) {
	folder, err := artifact.Everywhere.Open("driver", d.folder)
	if err != nil {
		return "", unreadable(err)
	}
	folder.Close()
	return "", nil
}
