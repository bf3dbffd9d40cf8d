package run

import (
	"context"
	"io"
	"path"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Rehearsal is what the updates of a call would have done, in the place of writing it.
type Rehearsal struct {
	Lines []Line            // of the log, in order, without what the chain adds
	Files map[string][]byte // by name, nil for one that would have been removed
}

// Rehearsing is the desk with a rehearsal of its own.
func (d Desk) Rehearsing() Desk {
	d.Rehearsal = &Rehearsal{Files: map[string][]byte{}}
	return d
}

// Rehearse is [Run.Update] at a desk with a rehearsal. It writes nothing: it takes
// no lock, asks for no signature, takes the run as it stands, whether or not that is
// what its log records, and leaves in the rehearsal what it would have written.
// Replaying a run uses it, mostly through functions that open the run at such a desk.
func (r *Run) Rehearse(ctx context.Context, desk Desk, change func(*Update) error) error {
	u := &Update{ctx: ctx, run: r, desk: desk, actor: tidegate.ActorOf(ctx)}
	u.begin()
	var err error
	if u.record, err = r.readRecord(); err != nil {
		return err
	}
	if err := u.readManifest(); err != nil {
		return err
	}
	if err := change(u); err != nil {
		return err
	}
	u.logFiles()
	desk.Rehearsal.Lines = append(desk.Rehearsal.Lines, u.lines...)
	return nil
}

// put stages the content of a file.
func (u *Update) put(name string, data []byte) error {
	if u.desk.Rehearsal != nil {
		u.desk.Rehearsal.Files[path.Clean(name)] = data
		return nil
	}
	return u.tx.Write(name, data)
}

// putPlain is put for a file that is the run's own and not a link to another. It
// returns the digest of data.
func (u *Update) putPlain(name string, data []byte) (digest string, err error) {
	if u.desk.Rehearsal != nil {
		return codec.DigestBytes(data), u.put(name, data)
	}
	return u.tx.WritePlain(name, data)
}

// take stages the removal of a file.
func (u *Update) take(name string) error {
	if u.desk.Rehearsal != nil {
		u.desk.Rehearsal.Files[path.Clean(name)] = nil
		return nil
	}
	return u.tx.Remove(name)
}

// putManifest stages a manifest and returns its digest. A long one is written
// piece by piece.
func (u *Update) putManifest(doc *codec.Value) (digest string, err error) {
	if u.desk.Rehearsal == nil {
		return u.tx.WriteBy(u.run.name, func(w io.Writer) error { return codec.MarshalFileTo(w, doc) })
	}
	data, err := codec.MarshalFile(doc)
	u.desk.Rehearsal.Files[u.run.name] = data
	return codec.DigestBytes(data), err
}

// Value is the line as it stands in the log, without the time and what the chain
// adds.
func (l Line) Value() *codec.Value {
	return codec.Of(append(tidegate.Pairs("kind", l.Kind, "event", l.Event), l.kept()...))
}
