package proof_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// byteEdit is one way to change the bytes of a file at a place.
type byteEdit struct {
	name string
	at   func(data []byte, place int) []byte
}

// edits are the edits at a byte. An insertion has one place more: the end.
var edits = []byteEdit{
	{"another byte", func(data []byte, i int) []byte { return replaced(data, i, 1, data[i]^1) }},
	{"a byte removed", func(data []byte, i int) []byte { return replaced(data, i, 1) }},
	{"two bytes swapped", func(data []byte, i int) []byte {
		if i+1 == len(data) {
			return data
		}
		return replaced(data, i, 2, data[i+1], data[i])
	}},
}

// insertions are edits that insert something.
var insertions = []byteEdit{
	{"a byte inserted", func(data []byte, i int) []byte { return replaced(data, i, 0, 'x') }},
	{"a space inserted", func(data []byte, i int) []byte { return replaced(data, i, 0, ' ') }},
	{"a line end inserted", func(data []byte, i int) []byte { return replaced(data, i, 0, '\n') }},
}

// cuts are edits that remove everything before or after a place.
var cuts = []byteEdit{
	{"its end cut off", func(data []byte, i int) []byte { return data[:i] }},
	{"its beginning cut off", func(data []byte, i int) []byte { return data[i+1:] }},
	{"two parts swapped", func(data []byte, i int) []byte { return slices.Concat(data[i:], data[:i]) }},
}

// replaced is data with n bytes at i replaced.
func replaced(data []byte, i, n int, by ...byte) []byte {
	return slices.Concat(data[:i], by, data[i+n:])
}

// lineEdits are edits of whole lines.
var lineEdits = []byteEdit{
	{"a line removed", func(data []byte, i int) []byte {
		return bytes.Join(slices.Delete(lines(data), i, i+1), nil)
	}},
	{"a line repeated", func(data []byte, i int) []byte {
		all := lines(data)
		return bytes.Join(slices.Insert(all, i, all[i]), nil)
	}},
	{"two lines swapped", func(data []byte, i int) []byte {
		all := lines(data)
		if i+1 < len(all) {
			all[i], all[i+1] = all[i+1], all[i]
		}
		return bytes.Join(all, nil)
	}},
	{"a foreign line inserted", func(data []byte, i int) []byte {
		return bytes.Join(slices.Insert(lines(data), i, []byte("{\"kind\":\"note\"}\n")), nil)
	}},
}

// lines are the lines of a file, each with its line end where it has one.
func lines(data []byte) [][]byte {
	return slices.DeleteFunc(bytes.SplitAfter(data, []byte("\n")), func(line []byte) bool { return len(line) == 0 })
}

// TestVerifyFindsEverySingleEdit edits every file of a run, in every way, at several
// points of its life; for one of these points, the long form does so at every place
// of every file. The short form tries some of the ways, different ones for each
// file. `run verify` must not pass.
func TestVerifyFindsEverySingleEdit(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, at := range []struct {
		gap, step string
		short     int // places of each file that the short form tries with each kind of edit
		long      int // the same for the long form; 0 for every place
	}{
		{withGap, "made", 0, 50}, {withGap, "planned", 0, 50}, {withGap, "wave1 judged", 0, 50}, {withGap, "decided", 0, 50},
		{withGap, "in wave2", 0, 50}, {withoutGap, "in citations", 0, 50}, {withGap, "in citations", 0, 0}, {withoutGap, "in summaries", 0, 50}, {withGap, "synthesis refused", 0, 50}, {withGap, "completed", 1, 50},
	} {
		if at.short == 0 && !full.Asked() {
			continue
		}
		f := newOffice(t).copied(t, "tides", at.gap, at.step)
		if pass, findings := f.verify(t); !pass {
			t.Fatalf("an untouched run does not verify:\n%s", findings)
		}
		places := at.short
		if full.Asked() {
			places = at.long
		}
		for i, name := range filesOf(t, f.root) {
			if !strings.HasPrefix(filepath.Base(name), ".tidegate") { // the lock says nothing about the run
				tried += tryEdits(t, f, name, places, i)
			}
		}
		if pass, findings := f.verify(t); !pass {
			t.Fatalf("the run was not put back:\n%s", findings)
		}
	}
	t.Logf("%d edits", tried)
}

// passing are the edits that `run verify` passes by design, with the rule that it
// reports for each.
var passing = []struct{ file, edit, rule, reason string }{
	{run.LogFile, "a byte inserted at the end", "line-torn", "a crash leaves the beginning of a line there, which nobody reads; the next write takes it off"},
	{run.LogFile, "a space inserted at the end", "line-torn", "the same"},
	{"evidence/archive.warc.gz", "a byte inserted at the end", "record-unnamed", "a crash leaves a record there that no line names; nothing is judged by it"},
	{"evidence/archive.warc.gz", "a space inserted at the end", "record-unnamed", "the same"},
	{"evidence/archive.warc.gz", "a line end inserted at the end", "record-unnamed", "the same"},
}

func filesOf(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	must.Do(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// tryEdits edits one file at that many places, 0 for all, and returns the number of
// edits it tried. Shift chooses which of them the short form tries.
func tryEdits(t *testing.T, f folder, name string, places, shift int) (tried int) {
	t.Helper()
	data := f.read(t, name)
	defer f.write(t, name, string(data))
	const ways = 18
	found := func(edit string) {
		if shift++; shift%full.Stride(ways, 1) > 0 {
			return
		}
		tried++
		pass, rules := verified(t, f)
		if i := slices.IndexFunc(passing, func(p struct{ file, edit, rule, reason string }) bool { return p.file == name && p.edit == edit }); i >= 0 {
			if !slices.Contains(rules, passing[i].rule) {
				t.Errorf("%s: %s: `run verify` says %q, want %s among it", name, edit, rules, passing[i].rule)
			}
		} else if pass {
			t.Errorf("%s: %s: `run verify` passes", name, edit)
		}
	}
	try := func(kinds []byteEdit, count, places int) {
		for k, e := range kinds {
			stride := 1
			if places > 0 {
				stride = max(1, (count+places-1)/places)
			}
			// Each kind begins at a different place, so that the short form covers more of them.
			for i := min((k+1)*count/(len(kinds)+1), stride-1); i < count; i += stride {
				if out := e.at(data, i); !bytes.Equal(out, data) {
					f.write(t, name, string(out))
					found(fmt.Sprintf("%s at %d", e.name, i))
				}
			}
		}
	}
	some := places
	if some == 0 {
		some = 100
	}
	try(edits, len(data), places)
	try(insertions, len(data), places)
	try(cuts, len(data), some)
	try(lineEdits, len(lines(data)), places)
	for _, e := range insertions {
		f.write(t, name, string(e.at(data, len(data))))
		found(e.name + " at the end")
	}
	f.write(t, name, "")
	found("emptied")
	must.Do(t, os.Remove(f.path(name)))
	found("removed")
	return tried
}

// verified reports whether `run verify` passes, and the rules behind its findings.
// A run that cannot be opened at all does not pass.
func verified(t *testing.T, f folder) (pass bool, rules []string) {
	t.Helper()
	out, err := run.Verify(t.Context(), run.Desk{}, run.VerifyInput{ManifestPath: f.manifest(), Follows: stage.Follows})
	for _, finding := range out.Findings {
		rules = append(rules, finding.Rule)
	}
	return err == nil && out.Pass, rules
}

// TestOnlyANotedHeadFindsALogRewrittenAsAWhole makes the one change that a run
// cannot show by itself: after an edit, it rewrites the log and every digest in it.
// `--head` with the digest that was noted before finds it.
func TestOnlyANotedHeadFindsALogRewrittenAsAWhole(t *testing.T) {
	t.Parallel()
	f := newOffice(t).copied(t, "tides", withGap, "wave1 judged")
	noted := f.must(t, "deep_research_run_verify", tidegate.Pairs("manifest_path", f.manifest())).Get("log").Get("head").Str()
	if noted == "" {
		t.Fatal("`run verify` names no head")
	}
	verifyHead := func() bool {
		return f.must(t, "deep_research_run_verify", tidegate.Pairs("manifest_path", f.manifest(), "head", noted)).Get("pass").Bool()
	}
	if !verifyHead() {
		t.Fatal("the head that was noted a moment ago is not found")
	}
	rewriteLog(t, f)
	if pass, findings := f.verify(t); !pass {
		t.Fatalf("the log was not rewritten well enough to show anything:\n%s", findings)
	}
	if verifyHead() {
		t.Error("a log rewritten as a whole passes `--head` with the head of the log that it replaced")
	}
}

// rewriteLog adds something to the first line of the log and recomputes the chain
// and the head.
func rewriteLog(t *testing.T, f folder) {
	t.Helper()
	var out []byte
	prev, count := artifact.FirstPrev, 0
	for _, text := range lines(f.read(t, run.LogFile)) {
		line := parsed(t, text)
		line.Delete("prev") // the last key of a line
		if count == 0 {
			line.Set("note", codec.Of("never said"))
		}
		line.Set("prev", codec.Of(prev))
		data := must.Get(codec.MarshalLine(line))(t)
		prev, count = codec.DigestBytes(data), count+1
		out = append(append(out, data...), '\n')
	}
	head := must.Get(codec.MarshalLine(tidegate.Pairs("lines", count, "digest", prev, "size", len(out))))(t)
	f.write(t, run.LogFile, string(out))
	f.write(t, run.HeadFile, string(head)+"\n")
}
