package temporal

import (
	"context"
	"sync"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/temporal"
)

// SearchAttributes are the names by which tasks can be found on a server, all of the type
// Keyword. A namespace that does not have them is told none.
var SearchAttributes = []string{"TidegateRun", "TidegateJob", "TidegateKind"}

// naming is how the server knows the tasks of a home.
type naming struct {
	once     sync.Once
	searched bool   // the namespace has the search attributes
	unknown  string // in the place of names that the server must not know
}

// attributes are the search attributes of a task.
func (p *Pool) attributes(ctx context.Context, m taskMessage) temporal.SearchAttributes {
	p.naming.once.Do(func() {
		p.naming.unknown = newID()
		p.naming.searched = !p.Connection.secret && p.Connection.searchable(ctx)
	})
	if !p.naming.searched {
		return temporal.SearchAttributes{}
	}
	var updates []temporal.SearchAttributeUpdate
	for i, value := range []string{m.Task.Run, m.Task.Job, m.Task.Kind} {
		if value != "" {
			updates = append(updates, temporal.NewSearchAttributeKeyKeyword(SearchAttributes[i]).ValueSet(shown(value)))
		}
	}
	return temporal.NewSearchAttributes(updates...)
}

// searchable reports whether the namespace has the search attributes. A server that does
// not say is told none.
func (c *Connection) searchable(ctx context.Context) bool {
	about, err := c.Client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: c.namespace})
	if err != nil {
		return false
	}
	for _, name := range SearchAttributes {
		if _, there := about.GetCustomAttributes()[name]; !there {
			return false
		}
	}
	return true
}

// longestFairness is how many bytes the server takes as a key of fairness.
const longestFairness = 64

// priority is how urgent a task is, and whose turn it is where many runs wait: each run
// has its share of the workers.
func (p *Pool) priority(m taskMessage) temporal.Priority {
	run := m.Task.Run
	if p.Connection.secret || len(run) > longestFairness {
		run = p.naming.unknown
	}
	return temporal.Priority{PriorityKey: p.Priority, FairnessKey: run}
}
