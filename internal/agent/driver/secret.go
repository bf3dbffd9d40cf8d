package driver

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/text/link"
)

// shortestSecret is how many bytes a value must have to be looked for: shorter ones
// stand in texts by chance.
const shortestSecret = 12

var secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|_)(KEY|TOKEN|SECRET|PASSWORD)($|_)`) })

// secretsIn are the values of the named variables whose names say that they are
// secret.
func secretsIn(env, named []string) []string {
	var list []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if allows(named, name) && secretName().MatchString(name) {
			list = append(list, value)
		}
	}
	return list
}

// mask puts [link.SecretMask] in the place of every secret in a text.
func mask(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			text = strings.ReplaceAll(text, secret, link.SecretMask)
		}
	}
	return text
}

// lodged is [attempt.run] for a program in a cell: what its door let through is
// recorded, and the secrets that the agent was given are in nothing that it returns.
func (a *attempt) lodged(ctx context.Context, l *lodging, c command, f *folder) (Answer, error) {
	secrets := slices.Clone(l.secrets)
	slices.SortFunc(secrets, func(x, y string) int { return len(y) - len(x) }) // one may be a part of another
	plain := a.event
	a.event = func(e Event) {
		e.Text, e.Raw = mask(e.Text, secrets), mask(e.Raw, secrets)
		plain(e)
	}
	variables, err := l.host.lendRepository(ctx, f, a.task, l)
	if err != nil {
		return Answer{}, err
	}
	c.env = append(c.env, variables...)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.door.listen(func(address string) { stop(withoutNetwork(a.name, address)) })
	answer, err := a.run(ctx, c, f)
	if hopeless, ok := context.Cause(ctx).(*Error); ok && err != nil {
		err = hopeless
	}
	l.door.record(a.event)
	answer.Text = mask(answer.Text, secrets)
	failure, ok := err.(*Error)
	if !ok {
		return answer, err
	}
	if c.cell.Confined && failure.Help == "" && slices.Contains([]Kind{Died, Unavailable, Idle, Deadline}, failure.Kind) {
		failure.Help = refusedInCell(failure.Message)
	}
	failure.Message = mask(failure.Message, secrets)
	return answer, failure
}
