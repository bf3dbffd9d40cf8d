package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// tested is what the project's tests say of a diff.
type tested struct {
	run  *review.TestRun // nil where none were run
	gone []string        // tests of the base that do not run any more
}

// testDiff runs the project's tests on a copy of the files of a diff and, where they
// can be told apart, on one of its base, whose result the home keeps. Nothing is
// written to the project. It returns the errors of [driver.RunTests], those of
// starting as INVALID_ARGS.
func testDiff(ctx context.Context, desk run.Desk, home string, d *change.Diff, t driver.Tests) (tested, error) {
	t.Dir, t.Fill = d.Prefix(), func(ctx context.Context, folder string) error { return d.Copy(ctx, folder, nil) }
	now, err := runTests(ctx, t)
	if err != nil || now.Format == "" || d.FromNothing() {
		return tested{run: &now}, err
	}
	before, err := testBase(ctx, desk, home, d, t)
	return tested{&now, now.Gone(before)}, err
}

// testBase runs the tests on the base of a diff, or reads what they said there before.
func testBase(ctx context.Context, desk run.Desk, home string, d *change.Diff, t driver.Tests) (review.TestRun, error) {
	const name = "tests.json"
	digest := codec.Digest([]string{d.Base, d.Prefix(), t.Command, fmt.Sprint(t.Network)})
	folder := filepath.Join(home, "tests", strings.TrimPrefix(digest, "sha256:")[:32])
	var kept review.TestRun
	if data, err := desk.Reach.ReadFile("home", filepath.Join(folder, name)); err == nil && json.Unmarshal(data, &kept) == nil {
		return kept, nil
	}
	t.Fill = d.CopyBase
	ran, err := runTests(ctx, t)
	if err != nil {
		return ran, err
	}
	data, err := codec.MarshalFile(ran)
	if err == nil {
		err = desk.Reach.CreateFolder("home", folder, func(draft *artifact.Draft) error { return draft.Write(name, data) })
	}
	if errors.Is(err, fs.ErrExist) { // somebody else was faster
		err = nil
	}
	return ran, err
}

func runTests(ctx context.Context, t driver.Tests) (review.TestRun, error) {
	output, status, err := driver.RunTests(ctx, driver.Host{}, t)
	switch {
	case ctx.Err() != nil:
		return review.TestRun{}, cancelled(ctx, err)
	case tidegate.CodeOf(err) != "":
		return review.TestRun{}, err
	case err != nil:
		return review.TestRun{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("test", tidegate.Cut(t.Command)), "%w", err)
	}
	return review.ReadTestRun(output, status), nil
}

// unanswered are what no reviewer of a diff answers for: text that none was shown, and
// tests that are gone, by what the tests say or else by the files that hold them.
func unanswered(d *change.Diff, t tested) []review.Unanswered {
	list := []review.Unanswered{}
	for _, left := range d.Unseen() {
		list = append(list, review.NotShown(left.File, left.Why))
	}
	if t.run == nil || t.run.Format == "" {
		for _, file := range review.TestsGone(d.Files) {
			list = append(list, review.TestGone(file, file))
		}
	}
	for _, name := range t.gone {
		list = append(list, review.TestGone("", name))
	}
	return list
}
