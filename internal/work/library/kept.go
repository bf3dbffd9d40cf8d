package library

import (
	"encoding/json"
	"path/filepath"

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

// Held is an answer or update that a home keeps.
type Held struct {
	ID        string    `json:"id"`
	CreatedAt string    `json:"created_at"`
	Question  string    `json:"question"` // of an answer
	Of        []Subject `json:"of"`
}

// ListKept lists the answers or updates of a folder that have a result, by id. They never
// change: those that the caller knows are not read again. What cannot be read is left out.
// It returns READ_FAILED for the folder.
func ListKept(desk run.Desk, home string, known map[string]Held) (map[string]Held, error) {
	there := map[string]Held{}
	err := store.Kind{File: store.ResultFile}.Each(desk.Reach, home, func(folder *artifact.Folder, id string) {
		held, ok := known[id]
		if !ok {
			data, err := folder.ReadDocument(id + "/" + store.AboutFile)
			ok = err == nil && json.Unmarshal(data, &held) == nil && held.ID == id
		}
		if ok {
			there[id] = held
		}
	})
	return there, err
}

// ReadAnswer reads an answer that the home of runs keeps. It returns NOT_FOUND,
// READ_FAILED and INVALID_JSON.
func ReadAnswer(desk run.Desk, runs, id string) (Answered, error) {
	return readKept[Answered](desk, store.Answers.Home(runs), "answer", id)
}

// ReadUpdate is [ReadAnswer] for an update.
func ReadUpdate(desk run.Desk, runs, id string) (Updated, error) {
	return readKept[Updated](desk, store.Updates.Home(runs), "update", id)
}

func readKept[T any](desk run.Desk, home, noun, id string) (out T, err error) {
	missing := tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs(noun, tidegate.Cut(id)), "there is no %s of that name", noun)
	if run.CheckID(id) != nil {
		return out, missing
	}
	folder, err := desk.Reach.Open(noun, filepath.Join(home, id))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return out, missing
	}
	if err != nil {
		return out, err
	}
	defer folder.Close()
	data, err := folder.ReadDocument(store.ResultFile)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, tidegate.Errorf(tidegate.InvalidJSON, tidegate.Pairs(noun, id), "the result of %s %s cannot be read: %w", noun, id, err)
	}
	return out, nil
}
