package library

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// about is [store.AboutFile]: what a kept folder is bound to.
type about struct {
	SchemaVersion string    `json:"schema_version"`
	ID            string    `json:"id"`
	CreatedAt     string    `json:"created_at"`
	Program       string    `json:"program"`
	Question      string    `json:"question,omitzero"` // of an answer
	Of            []Subject `json:"of"`
}

// judged is the line that records a result.
func judged(desk run.Desk, result []byte, more tidegate.Details) tidegate.Details {
	return desk.Writer().Line("judged", tidegate.Pairs("files", append(more, tidegate.Detail{Key: store.ResultFile, Value: codec.DigestBytes(result)})))
}

// create makes a folder under home that is bound to runs and audits, with what more adds to
// it, which may be nil.
func create(desk run.Desk, home string, a about, more func(d *artifact.Draft, path string) error) (about, string, error) {
	seed := ""
	for _, s := range a.Of {
		seed += s.ID + s.Head
	}
	path, err := desk.Writer().Create(home, seed, func(d *artifact.Draft, id, stamp string) (tidegate.Details, error) {
		a.ID, a.CreatedAt, a.Program = id, stamp, desk.Program
		data, err := codec.MarshalFile(a)
		if err != nil {
			return nil, err
		}
		return tidegate.Pairs(store.AboutFile, codec.DigestBytes(data)), d.Write(store.AboutFile, data)
	}, more)
	return a, path, err
}
