package run

import (
	"context"
	"io"
	"path"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Rehearsal is what the updates of a call would have done.
type Rehearsal struct {
	Lines []Line            // of the log, in order, without what the chain adds
	Files map[string][]byte // by name, nil for one that would have been removed
}

type rehearsalKey struct{}

// Rehearse gives a context under which [Run.Update] and its like write nothing:
// they take no lock, ask for no signature, take the run as it stands, whether or
// not that is what its log records, and leave in the rehearsal what they would
// have written. Replaying a run uses it.
func Rehearse(ctx context.Context) (context.Context, *Rehearsal) {
	r := &Rehearsal{Files: map[string][]byte{}}
	return context.WithValue(ctx, rehearsalKey{}, r), r
}

func rehearsalOf(ctx context.Context) *Rehearsal {
	r, _ := ctx.Value(rehearsalKey{}).(*Rehearsal)
	return r
}

// rehearse is [Run.update] in a rehearsal.
func (r *Run) rehearse(ctx context.Context, clock Clock, into *Rehearsal, change func(*Update) error) error {
	u := &Update{ctx: ctx, run: r, clock: clock, actor: tidegate.ActorOf(ctx), rehearsal: into}
	u.begin()
	var err error
	if u.record, err = r.readRecord(); err != nil {
		return err
	}
	if err := change(u); err != nil {
		return err
	}
	u.logFiles()
	into.Lines = append(into.Lines, u.lines...)
	return nil
}

// put stages the content of a file.
func (u *Update) put(name string, data []byte) error {
	if u.rehearsal != nil {
		u.rehearsal.Files[path.Clean(name)] = data
		return nil
	}
	return u.tx.Write(name, data)
}

// putPlain is put for a file that is the run's own and not a link to another. It
// returns the digest of data.
func (u *Update) putPlain(name string, data []byte) (digest string, err error) {
	if u.rehearsal != nil {
		return codec.DigestBytes(data), u.put(name, data)
	}
	return u.tx.WritePlain(name, data)
}

// take stages the removal of a file.
func (u *Update) take(name string) error {
	if u.rehearsal != nil {
		u.rehearsal.Files[path.Clean(name)] = nil
		return nil
	}
	return u.tx.Remove(name)
}

// putManifest stages a manifest and returns its digest. A long one is written
// piece by piece.
func (u *Update) putManifest(doc *codec.Value) (digest string, err error) {
	if u.rehearsal == nil {
		return u.tx.WriteBy(u.run.name, func(w io.Writer) error { return codec.MarshalFileTo(w, doc) })
	}
	data, err := codec.MarshalFile(doc)
	u.rehearsal.Files[u.run.name] = data
	return codec.DigestBytes(data), err
}

// Value is the line as it stands in the log, without the time and what the chain
// adds.
func (l Line) Value() *codec.Value {
	return codec.Of(append(tidegate.D("kind", l.Kind, "event", l.Event), l.Fields...))
}
