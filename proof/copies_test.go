package proof_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/signing"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ways are how the folder of a run comes to be elsewhere.
var ways = map[string]func(t *testing.T, f folder) folder{
	"copied": func(t *testing.T, f folder) folder {
		other := f.at(filepath.Join(filepath.Dir(f.root), "copied", f.id))
		must.Do(t, os.CopyFS(other.root, os.DirFS(f.root)))
		spoil(t, f)
		return other
	},
	"moved": func(t *testing.T, f folder) folder {
		other := f.at(filepath.Join(filepath.Dir(f.root), "moved", f.id))
		rename(t, f.root, other.root)
		return other
	},
	"renamed": func(t *testing.T, f folder) folder {
		other := f.at(f.root + "-renamed")
		rename(t, f.root, other.root)
		return other
	},
}

// TestARunThatIsTakenElsewhereReplaysAndSeals takes a run elsewhere after each step of
// an honest agent, each time in another way. After every one of them it replays as if
// it had not been moved. In the end it is sealed, and once its folder is gone, a
// stranger finds the seal good. The short form has one course, and replays after some of
// its steps.
func TestARunThatIsTakenElsewhereReplaysAndSeals(t *testing.T) {
	t.Parallel()
	gaps := []string{withGap, withoutGap}
	for i := 0; i < len(gaps); i += full.Stride(len(gaps), 1) {
		gap := gaps[i]
		t.Run(gap, func(t *testing.T) {
			t.Parallel()
			steps, names := ladder(gap), slices.Sorted(maps.Keys(ways))
			f := newOffice(t).run("tides")
			before, stride := "", full.Stride(len(steps), 2)
			for j, s := range steps {
				f = f.climbFrom(t, gap, before, s.name)
				before = s.name
				name := names[(i+j)%len(names)]
				original := f.root
				f = ways[name](t, f)
				if err := os.RemoveAll(original); err != nil && name == "copied" {
					t.Fatal(err)
				}
				if j%stride == 0 || j == len(steps)-1 && full.Asked() { // sealing replays, too
					f.replays(t, s.name+", "+name)
				}
			}
			f.sealed(t)
		})
	}
}

// replays wants a run to come out again without a difference.
func (f folder) replays(t *testing.T, when string) {
	t.Helper()
	answer := f.must(t, "deep_research_run_replay", tidegate.Pairs("manifest_path", f.manifest()))
	var differ []string
	for _, step := range answer.Get("steps").Elems() {
		if !step.Get("same").Bool() {
			differ = append(differ, asJSON(step))
		}
	}
	if left := answer.Get("not_compared"); !answer.Get("pass").Bool() || left.Len() > 0 {
		t.Fatalf("%s: the replay finds %s, and leaves out %s", when, strings.Join(differ, "\n"), asJSON(left))
	}
}

// sealed seals a run, removes it, and has a stranger look at the seal.
func (f folder) sealed(t *testing.T) {
	t.Helper()
	key, signers := signing.New(t)
	r := must.Get(run.Open(t.Context(), run.Desk{Now: time.Now}, f.manifest()))(t)
	defer r.Close()
	data := must.Get(replay.Seal(t.Context(), r, key, "tidegate test", false))(t)
	must.Do(t, os.RemoveAll(f.root))
	found, err := replay.Unseal(t.Context(), r.Desk(), replay.UnsealInput{Data: data, Signers: signers, At: time.Now(), Program: "tidegate test"})
	if err != nil || !found.Pass {
		t.Errorf("the seal does not hold: %s %v", asJSON(codec.Of(found)), err)
	}
}

// TestCopiedMovedAndRenamedRunsResume takes a run elsewhere at each step of an honest
// agent; in the short form, in one way at one step of one course. It must go on from there to its end, verify, replay, and judge its own files: those
// that it was copied from are spoilt.
func TestCopiedMovedAndRenamedRunsResume(t *testing.T) {
	t.Parallel()
	for i, gap := range []string{withGap, withoutGap} {
		for name, way := range ways {
			if !full.Asked() && (i > 0 || name != "renamed") {
				continue
			}
			t.Run(name+" "+gap, func(t *testing.T) {
				steps := ladder(gap)
				last := steps[len(steps)-1].name
				stride := full.Stride(len(steps), 1)
				for i := (len(name) + len(gap)) * 5 % stride; i < len(steps); i += stride { // different steps for each way
					s := steps[i]
					o := newOffice(t)
					original := o.run("tides").climb(t, gap, s.name)
					f := way(t, original)
					if pass, findings := f.verify(t); !pass {
						t.Fatalf("%s after %q does not verify:\n%s", name, s.name, findings)
					}
					if s.name != last {
						f.climbFrom(t, gap, s.name, last)
					}
					if pass, findings := f.verify(t); !pass {
						t.Fatalf("%s after %q does not verify at its end:\n%s", name, s.name, findings)
					}
					f.replays(t, name+" after "+s.name)
					status := f.must(t, "deep_research_run_status", tidegate.Pairs("manifest_path", f.manifest()))
					if root := status.Get("root").Str(); root != f.root {
						t.Errorf("the status of %s is that of %s", f.root, root)
					}
					if strings.Contains(string(f.read(t, "gates.json")), original.root) {
						t.Errorf("the gates name files of the run that this one was taken from")
					}
				}
			})
		}
	}
}

// spoil makes every judgement of a run's files fail.
func spoil(t *testing.T, f folder) {
	t.Helper()
	for _, name := range []string{
		"wave-1/moon.md", "wave-1/sun.md", "perspectives.json", "gates.json", "pivot.json", "wave-review.json", "citations/citations.jsonl", "evidence/archive.warc.gz", "jobs/summary.moon/lease.json",
		"jobs/synthesis/001/attempt.json", "summaries/moon.md", "summaries/summary-pack.json", "synthesis/final-synthesis.md", "review/review-bundle.json",
	} {
		if f.has(name) {
			f.write(t, name, "spoilt")
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(to), 0o700))
	must.Do(t, os.Rename(from, to))
}
