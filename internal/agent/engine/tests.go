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
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// tested is what the project's tests say of a diff.
type tested struct {
	run  *review.TestRun // nil where none were run
	gone []string        // tests of the base that do not run any more
	not  string          // why they cannot be run, neither with the change nor without
}

// words say how the tests went.
func (t tested) words() string {
	if t.run == nil {
		return "not tested: " + t.not
	}
	return t.run.Words()
}

// testDiff runs the project's tests on a copy of the files of a diff and, where they
// can be told apart or failed, on one of its base, whose result the home keeps. Nothing is
// written to the project. A failure that the base has, too, is none of the change. It
// returns the errors of [sandbox.RunTests].
func testDiff(ctx context.Context, desk run.Desk, home string, d *git.Diff, t sandbox.Tests) (tested, error) {
	t.Dir, t.Fill = d.Prefix(), func(ctx context.Context, folder string) error { return d.Copy(ctx, folder, nil) }
	now, not, err := runTests(ctx, t)
	switch {
	case err != nil:
		return tested{}, err
	case not == "" && (d.FromNothing() || now.Format == "" && now.Failed == 0):
		return tested{run: &now}, nil
	}
	before, notBefore := review.TestRun{}, "there is no version before"
	if !d.FromNothing() {
		if before, notBefore, err = testBase(ctx, desk, home, d, t); err != nil {
			return tested{}, err
		}
	}
	switch {
	case not != "" && notBefore != "":
		return tested{not: not}, nil
	case not != "": // the change is why
		now = review.TestRun{Status: now.Status, Failed: 1, FailedNew: 1, Failing: []string{not}}
	case notBefore == "":
		now.Since(before)
		if now.Format != "" {
			return tested{run: &now, gone: now.Gone(before)}, nil
		}
	}
	return tested{run: &now}, nil
}

// testBase runs the tests on the base of a diff, or reads what they said there before.
func testBase(ctx context.Context, desk run.Desk, home string, d *git.Diff, t sandbox.Tests) (ran review.TestRun,
	not string, err error) {
	const name = "tests.json"
	digest := codec.Digest([]string{d.Base, d.Prefix(), t.Command, fmt.Sprint(t.Network)})
	folder := filepath.Join(home, "tests", strings.TrimPrefix(digest, "sha256:")[:32])
	var kept review.TestRun
	if data, err := desk.Reach.ReadFile("home", filepath.Join(folder, name)); err == nil && json.Unmarshal(data, &kept) == nil {
		return kept, "", nil
	}
	t.Fill = d.CopyBase
	if ran, not, err = runTests(ctx, t); err != nil || not != "" {
		return ran, not, err
	}
	data, err := codec.MarshalFile(ran)
	if err == nil {
		err = desk.Reach.CreateFolder("home", folder, func(draft *artifact.Draft) error { return draft.Write(name, data) })
	}
	if errors.Is(err, fs.ErrExist) { // somebody else was faster
		err = nil
	}
	return ran, "", err
}

// runTests runs the tests. Not says why they cannot be started.
func runTests(ctx context.Context, t sandbox.Tests) (ran review.TestRun, not string, err error) {
	output, status, err := sandbox.RunTests(ctx, driver.Host{}, t)
	switch {
	case ctx.Err() != nil:
		return ran, "", cancelled(ctx, err)
	case tidegate.CodeOf(err) != "":
		return ran, "", err
	case err != nil:
		return ran, err.Error(), nil
	}
	if ran = review.ReadTestRun(output, status); ran.Unstarted() {
		return ran, "the tests cannot be started: " + tidegate.Cut(report.OneLine(ran.Tail)), nil
	}
	return ran, "", nil
}

// unanswered are what no reviewer of a diff answers for: text that none was shown, and
// tests that are gone, by what the tests say or else by the files that hold them.
func unanswered(d *git.Diff, t tested) []review.Unanswered {
	list := []review.Unanswered{}
	for _, left := range d.Unseen() {
		list = append(list, review.NotShown(left.File, d.Version(left.File), left.Why))
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
