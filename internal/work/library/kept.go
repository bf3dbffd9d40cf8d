package library

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// resultFile is the result of what is kept, and aboutFile says what it is about.
const (
	resultFile = "result.json"
	aboutFile  = "about.json"
)

// about is aboutFile: what a kept folder is bound to.
type about struct {
	SchemaVersion string    `json:"schema_version"`
	ID            string    `json:"id"`
	CreatedAt     string    `json:"created_at"`
	Program       string    `json:"program"`
	Question      string    `json:"question,omitzero"` // of an answer
	Of            []Subject `json:"of"`
}

// line is a line of the log of a kept folder.
func line(desk run.Desk, event string, more tidegate.Details) tidegate.Details {
	out := tidegate.Pairs("ts", desk.Stamp(), "event", event)
	if desk.Pinned {
		out = append(out, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	return append(out, more...)
}

// judged is the line that records a result.
func judged(desk run.Desk, result []byte, more tidegate.Details) tidegate.Details {
	return line(desk, "judged", tidegate.Pairs("files", append(more, tidegate.Detail{Key: resultFile, Value: codec.DigestBytes(result)})))
}

// create makes a folder under home that is bound to runs and audits, in the form of audits:
// about, log, and what fill writes. It appears whole or not at all.
func create(desk run.Desk, home string, a about, fill func(d *artifact.Draft, id, path string) error) (about, string, error) {
	a.CreatedAt, a.Program = desk.Stamp(), desk.Program
	for n := byte(0); ; n++ {
		seed := []byte(a.CreatedAt)
		for _, s := range a.Of {
			seed = append(seed, s.ID+s.Head...)
		}
		sum := sha256.Sum256(append(seed, n))
		a.ID = a.CreatedAt[:len("2006-01-02")] + "-" + hex.EncodeToString(sum[:3])
		path := filepath.Join(home, a.ID)
		data, err := codec.MarshalFile(a)
		if err != nil {
			return a, path, err
		}
		err = desk.Reach.CreateFolder("home", path, func(d *artifact.Draft) error {
			if err := d.Write(aboutFile, data); err != nil {
				return err
			}
			created := line(desk, "created", tidegate.Pairs("program", desk.Program, "files", tidegate.Pairs(aboutFile, codec.DigestBytes(data))))
			if err := d.Record(run.AuditFile, created); err != nil {
				return err
			}
			return fill(d, a.ID, path)
		})
		if tidegate.CodeOf(err) == tidegate.AlreadyExistsConflict && n < 255 {
			continue // the same at the same time
		}
		return a, path, err
	}
}
