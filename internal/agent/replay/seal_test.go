package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/test/signing"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
)

const program = "tidegate test"

var pinned = run.Desk{Now: func() time.Time { return time.Date(2026, 2, 14, 13, 0, 0, 0, time.UTC) }, Pinned: true}

func unseal(t *testing.T, data []byte, signers *seal.Signers) (replay.Unsealed, error) {
	t.Helper()
	return replay.Unseal(t.Context(), pinned, replay.UnsealInput{Data: data, Signers: signers, At: pinned.Now(), Program: program})
}

// sealed is a run that a signer seals without asking whether it holds, with its reports
// as change makes them.
func sealed(t *testing.T, root string, key *seal.Key, program string, change func([]byte) []byte) []byte {
	t.Helper()
	r := open(t, root)
	reported := must.Get(reporting.ReadReport(t.Context(), r, false, program))(t)
	if change == nil {
		change = func(data []byte) []byte { return data }
	}
	files := []seal.File{{Name: "report.html", Data: change(reported.Report.HTML())}, {Name: "report.md", Data: change(reported.Report.Markdown())}}
	for _, name := range played.Files(t, root) {
		files = append(files, seal.File{Name: "run/" + name, Data: forger{t, root}.read(name)})
	}
	var data bytes.Buffer
	must.Do(t, seal.Write(t.Context(), &data, key, files, codec.Of(tidegate.Pairs("run_id", r.ID(), "program", program))))
	return data.Bytes()
}

// TestSealedRunIsCheckedWithOnlyItsFile: the run itself is gone. Every byte of the
// file that is changed is found; in the short form some of them are tried.
func TestSealedRunIsCheckedWithOnlyItsFile(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "second-wave")
	key, signers := signing.New(t)
	data := must.Get(replay.Seal(t.Context(), open(t, root), key, program, false))(t)
	must.Do(t, os.RemoveAll(root))
	out, err := unseal(t, data, signers)
	if err != nil || !out.Pass || out.Signer != "ada@example.org" || out.RunID != "second-wave" || out.Program != program {
		t.Fatalf("%s %v %v", differences(out.Replay), out.Findings, err)
	}
	if !strings.Contains(out.Trust, standsByBoth) {
		t.Errorf("it stands by %q", out.Trust)
	}
	var done []string
	for _, s := range out.Replay.Steps {
		done = append(done, s.What)
	}
	for _, name := range []string{"perspectives.json", "wave-1/wave1-plan.json", "wave-1/figures.md", "wave-review.json", "pivot.json", "wave-2/wave2-plan.json", "wave-2/gap_figures_1.md",
		"citations/citations.jsonl", "evidence/index.json", "summaries/figures.md", "summaries/summary-pack.json", "synthesis/final-synthesis.md", "review/review-bundle.json",
		"jobs/synthesis/001/prompt.md", "report.html", "report.md"} {
		if !slices.Contains(done, name) {
			t.Errorf("%s was not made again", name)
		}
	}
	for i := 0; i < len(data); i += full.Stride(len(data), 60) {
		changed := bytes.Clone(data)
		changed[i] ^= 1 << (i % 8)
		if _, err := seal.Open(changed, signers, pinned.Now()); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Fatalf("byte %d of %d changed: %v", i, len(data), err)
		}
	}
	for _, changed := range [][]byte{data[:len(data)-1], append(bytes.Clone(data), 0), nil} {
		if _, err := unseal(t, changed, signers); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("%d bytes instead of %d: %v", len(changed), len(data), err)
		}
	}
	_, others := signing.New(t)
	_, err = unseal(t, data, others)
	runs.WantCode(t, err, tidegate.Tampered)
}

// TestASealShowsARunThatDoesNotHold: a signer may seal a run whose files were
// forged, together with a log that fits; doing it again shows what does not follow.
func TestASealShowsARunThatDoesNotHold(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "second-wave")
	forger{t, root}.file("summaries/summary-pack.json", altered)
	key, signers := signing.New(t)
	_, err := replay.Seal(t.Context(), open(t, root), key, program, false)
	if refused := runs.WantCode(t, err, tidegate.Tampered); refused == nil || !strings.Contains(refused.Message, "would not verify: ") || !strings.Contains(fmt.Sprint(refused.Details), "summary-pack.json") {
		t.Errorf("what would not verify is sealed, or nobody says why: %v", err)
	}
	out, err := unseal(t, sealed(t, root, key, program, nil), signers)
	if err != nil || out.Pass || !strings.Contains(differences(out.Replay), "summaries/summary-pack.json") {
		t.Errorf("a forged record holds: %s %v", differences(out.Replay), err)
	}
}

func TestOnlyACompletedRunIsSealed(t *testing.T) {
	t.Parallel()
	key, _ := signing.New(t)
	_, err := replay.Seal(t.Context(), open(t, played.Lay(t, t.TempDir(), "needs-a-person")), key, program, false)
	runs.WantCode(t, err, tidegate.InvalidState)
}

// TestAnotherVersionIsNamed: what differs is then a finding and not a failure.
func TestAnotherVersionIsNamed(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "no-second-wave")
	f := forger{t, root}
	lines := f.lines()
	first := runs.Parse(t, lines[0]).Clone()
	first.Set("program", runs.Parse(t, []byte(`"tidegate v0.1.0"`)))
	lines[0] = []byte(strings.TrimSpace(shownLine(t, first)))
	f.record(lines)
	f.file("summaries/summary-pack.json", altered)
	for program, passes := range map[string]bool{"tidegate v0.1.0": false, "tidegate v0.2.0": true} {
		out, err := replay.Run(t.Context(), open(t, root), program)
		if err != nil || out.Pass != passes || !strings.Contains(differences(out), "summary-pack.json") || out.Recorded != "tidegate v0.1.0" {
			t.Errorf("%s: %v %s %v", program, out.Pass, differences(out), err)
		}
		if strings.Contains(differences(out), "perspectives_write") {
			t.Errorf("%s: more than the altered file differs: %s", program, differences(out))
		}
		if shown := out.Report(); passes != strings.Contains(textOf(shown), "created by tidegate v0.1.0 and is replayed by tidegate v0.2.0") {
			t.Errorf("%s: %s", program, textOf(shown))
		}
	}
}

// TestASealIsNotExcusedByAnotherVersion: its name stands in a line that a forger writes.
func TestASealIsNotExcusedByAnotherVersion(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "no-second-wave")
	f := forger{t, root}
	lines := f.lines()
	first := runs.Parse(t, lines[0]).Clone()
	first.Set("program", runs.Parse(t, []byte(`"tidegate v0.1.0"`)))
	lines[0] = []byte(strings.TrimSpace(shownLine(t, first)))
	f.record(lines)
	key, signers := signing.New(t)
	for _, forged := range []bool{false, true} {
		if forged {
			f.file("jobs/synthesis/001/prompt.md", altered)
		}
		out, err := unseal(t, sealed(t, root, key, "tidegate v0.1.0", nil), signers)
		if err != nil || out.Pass == forged || forged != strings.Contains(textOf(out.Report()), "or the run is forged: only tidegate v0.1.0 can tell") {
			t.Errorf("forged %v: pass %v, %s %v %v", forged, out.Pass, differences(out.Replay), out.Findings, err)
		}
	}
}

func textOf(r report.Report) string {
	var b bytes.Buffer
	if err := report.Text(&b, r, report.Options{Width: 200}); err != nil {
		return err.Error()
	}
	return b.String()
}
