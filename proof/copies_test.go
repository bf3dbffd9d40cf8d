package proof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/full"
)

// TestCopiedMovedAndRenamedRunsGoOn takes a run elsewhere at each step of an honest
// agent; in the short form, each way at one step of one course. It must go on from there to its end, verify, and judge its own files: those
// that it was copied from are spoilt.
func TestCopiedMovedAndRenamedRunsGoOn(t *testing.T) {
	t.Parallel()
	ways := map[string]func(t *testing.T, f folder) folder{
		"copied": func(t *testing.T, f folder) folder {
			other := f.at(filepath.Join(f.dir, "elsewhere", f.id))
			if err := os.CopyFS(other.root, os.DirFS(f.root)); err != nil {
				t.Fatal(err)
			}
			spoil(t, f)
			return other
		},
		"moved": func(t *testing.T, f folder) folder {
			other := f.at(filepath.Join(f.dir, "elsewhere", f.id))
			rename(t, f.root, other.root)
			return other
		},
		"renamed": func(t *testing.T, f folder) folder {
			other := f.at(f.root + "-renamed")
			rename(t, f.root, other.root)
			return other
		},
	}
	for i, gap := range []string{withGap, withoutGap} {
		for name, way := range ways {
			if !full.Asked() && len(name)%2 == i {
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
					status := f.must(t, "deep_research_run_status", tidegate.D("manifest_path", f.manifest()))
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
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
