package engine

import (
	"maps"
	"slices"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
)

// toolNote tells others what the agents of a home used last. It is the note of a
// claim: it ends with the process, and is not part of the record.
type toolNote struct {
	mu    sync.Mutex
	claim *artifact.Claim   // nil once the home has ended
	last  map[string]string // by job
}

func newToolNote(folder *artifact.Folder) (*toolNote, error) {
	claim, err := folder.Claim(run.ToolsFile, nil)
	return &toolNote{claim: claim, last: map[string]string{}}, err
}

// end takes the note away. Agents that have not ended yet are no longer noted.
func (n *toolNote) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.claim.Release()
	n.claim = nil
}

// used notes that the agent at a job called a tool. A note that cannot be written
// does no harm to the run.
func (n *toolNote) used(job string, e driver.Event) {
	if e.Kind != driver.ToolCall {
		return
	}
	tool := tidegate.Cut(e.Tool)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last[job] != tool {
		n.last[job] = tool
		n.write()
	}
}

// rests notes that no agent is at a job any more.
func (n *toolNote) rests(job string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, noted := n.last[job]; noted {
		delete(n.last, job)
		n.write()
	}
}

func (n *toolNote) write() {
	if n.claim == nil {
		return
	}
	var note tidegate.Details
	for _, job := range slices.Sorted(maps.Keys(n.last)) {
		note = append(note, tidegate.Detail{Key: job, Value: n.last[job]})
	}
	_ = n.claim.Note(note)
}
