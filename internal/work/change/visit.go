package change

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// visit is a change under its lock, with what its files say.
type visit struct {
	id     string
	desk   run.Desk
	held   *artifact.Lock
	folder *artifact.Folder
	s      *state
	isNew  bool // there is no STATE.yaml yet
	r      *record
}

// enter takes the lock of a change and reads its record and its STATE.yaml. A
// missing STATE.yaml is taken to be orElse, unless that is nil. The visit ends
// with leave.
func enter(ctx context.Context, desk run.Desk, folder *artifact.Folder, id string, orElse []byte) (*visit, error) {
	held, err := lock(ctx, desk, folder)
	if err != nil {
		return nil, err
	}
	v := &visit{id: id, desk: desk, held: held, folder: folder}
	if v.r, err = readLocked(desk, held, id); err == nil {
		v.s, err = readState(folder)
	}
	if tidegate.CodeOf(err) == tidegate.FileNotFound && orElse != nil {
		v.isNew = true
		v.s, err = parseState(v.path(stateFile), orElse)
	}
	if err != nil {
		v.leave()
		return nil, err
	}
	return v, nil
}

// enterToDecide makes a person's decision about a change, as fill completes it, and enters
// the change to carry it out. What is signed is signed before the lock is taken. A folder
// without a state gets no lock file.
func enterToDecide(ctx context.Context, desk run.Desk, folder *artifact.Folder, id, command string, fill func(*decision)) (v *visit, d decision, signature string, err error) {
	if _, err = readState(folder); err != nil {
		return nil, d, "", err
	}
	r, err := readToDecide(ctx, desk, folder, id)
	if err != nil {
		return nil, d, "", err
	}
	d = r.decision(id, command)
	fill(&d)
	if signature, err = d.sign(ctx, desk, folder); err == nil {
		v, err = enter(ctx, desk, folder, id, nil)
	}
	return v, d, signature, err
}

func (v *visit) leave() { v.held.Unlock() }

func (v *visit) path(name string) string { return filepath.Join(v.folder.Path(), name) }

// commit writes the state after a move, with its line in the log.
func (v *visit) commit(ctx context.Context, m move, kind string, j judged, more tidegate.Details) error {
	text, err := v.s.edited(v.path(stateFile), m.action, v.desk.Now(), m.edits)
	if err != nil {
		return err
	}
	tx := v.held.Begin()
	if err := tx.Write(stateFile, text); err != nil {
		return err
	}
	fields := tidegate.Pairs("review", j.number, "verdict", j.verdict, "from", v.s.phase, "phase", m.phase, "iteration", m.iteration,
		"needs_person", m.needsPerson, "cause", m.cause, "state_digest", codec.DigestBytes(text))
	line := v.r.line(ctx, v.desk, v.id, kind, m.event, append(fields, more...))
	if err := v.r.log(tx, line); err != nil {
		return err
	}
	return tx.Commit()
}
