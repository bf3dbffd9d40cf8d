package stage_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/stage"
)

// wholeSequence takes a run from init to the pivot decision and beyond, in the
// home dir. It can be started again after it was killed anywhere: each step is
// skipped when what it leads to is there.
func wholeSequence(dir string) error {
	ctx := context.Background()
	home := filepath.Join(dir, "home")
	created, err := run.Create(ctx, pinned, home, run.InitInput{Query: "What moves the tide?", RunID: "r1", RequireBoundGates: true})
	if err != nil {
		return err
	}
	s := sequence{ctx: ctx, files: created}
	for _, step := range []func() error{
		s.perspectives, s.advance("init"), s.outputs, s.gateB, s.advance("wave1"), s.pivot, s.advance("pivot"), s.recover,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type sequence struct {
	ctx   context.Context
	files run.InitResult
}

// has looks at the run first, as one does to see how to go on: what is seen
// after that stays.
func (s sequence) has(name string) bool {
	if _, err := stage.Status(s.ctx, s.files.ManifestPath); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(s.files.Root, name))
	return err == nil
}

func (s sequence) advance(from string) func() error {
	return func() error {
		now, err := stage.Status(s.ctx, s.files.ManifestPath)
		if err != nil || string(now.Stage) != from {
			return err
		}
		_, err = stage.Advance(s.ctx, pinned, stage.AdvanceInput{ManifestPath: s.files.ManifestPath, GatesPath: s.files.GatesPath, Reason: "sequence"})
		return err
	}
}

// recover clears away what a process left that was killed after its last write.
func (s sequence) recover() error {
	_, err := run.Recover(s.ctx, pinned, s.files.ManifestPath)
	return err
}

func (s sequence) perspectives() error {
	if s.has("perspectives.json") {
		return nil
	}
	value, err := codec.Parse([]byte(perspectives))
	if err != nil {
		return err
	}
	_, err = run.PerspectivesWrite(s.ctx, pinned, run.PerspectivesInput{
		PerspectivesPath: filepath.Join(s.files.Root, "perspectives.json"), Value: value, Reason: "sequence"})
	return err
}

func (s sequence) update(change func(*run.Update) error) error {
	r, err := run.Open(s.ctx, s.files.ManifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Update(s.ctx, pinned, change)
	return err
}

// outputs is what taking in a wave does: outputs, report and progress together.
func (s sequence) outputs() error {
	if s.has("wave-review.json") {
		return nil
	}
	return s.update(func(u *run.Update) error {
		for i := range 3 {
			if err := u.Write(fmt.Sprintf("wave-1/p%d.md", i), []byte("# Findings\n")); err != nil {
				return err
			}
		}
		if err := u.WriteJSON("wave-review.json", tidegate.D("ok", true, "pass", true)); err != nil {
			return err
		}
		return u.Progress("sequence", "wave1_output_ingested:p2")
	})
}

func (s sequence) gateB() error {
	now, err := stage.Status(s.ctx, s.files.ManifestPath)
	if err != nil || now.Gates[1].Status == "pass" {
		return err
	}
	_, err = run.GatesWrite(s.ctx, pinned, run.GatesWriteInput{
		GatesPath: s.files.GatesPath, InputsDigest: "sha256:x", Reason: "sequence",
		Update: codec.Of(tidegate.D("B", tidegate.D("status", "pass", "checked_at", tidegate.Stamp(noon), "artifacts", []string{"wave-1", "wave-review.json"}))),
	})
	return err
}

func (s sequence) pivot() error {
	if s.has("pivot.json") {
		return nil
	}
	return s.update(func(u *run.Update) error {
		u.Audit("pivot_decide", tidegate.D("reason", "sequence", "pivot_path", "pivot.json"))
		return u.Write("pivot.json", []byte(pivotSkip))
	})
}

// sameArtifacts compares what two sequences left, locks aside.
func sameArtifacts(want, got map[string]string) error {
	drop := func(files map[string]string) map[string]string {
		files = maps.Clone(files)
		maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(filepath.Base(name), ".tidegate") })
		return files
	}
	want, got = drop(want), drop(got)
	for name, content := range want {
		if got[name] != content {
			return fmt.Errorf("%s differs:\n%s\nwant:\n%s", name, got[name], content)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%s should not be there", name)
		}
	}
	return nil
}
