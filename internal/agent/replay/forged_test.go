package replay_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// forger changes a run and everything in its record that would show it: digests of
// files, the state of the documents, the chain and the head.
type forger struct {
	t    *testing.T
	root string
}

func (f forger) read(name string) []byte {
	f.t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(f.root, name)))(f.t)
	return data
}

func (f forger) write(name string, data []byte) {
	f.t.Helper()
	must.Do(f.t, os.WriteFile(filepath.Join(f.root, name), data, 0o600))
}

func (f forger) lines() [][]byte {
	return bytes.Split(bytes.TrimSpace(f.read(run.LogFile)), []byte("\n"))
}

// file changes a file as change says, and its digest wherever the log has it.
func (f forger) file(name string, change func([]byte) []byte) {
	f.t.Helper()
	before := f.read(name)
	after := change(bytes.Clone(before))
	f.write(name, after)
	keys := []string{name}
	switch name {
	case run.ManifestFile:
		keys = []string{"manifest_digest"}
	case "gates.json":
		keys = []string{"gates_digest"}
	}
	var lines [][]byte
	for _, line := range f.lines() {
		for _, key := range keys {
			was, is := fmt.Sprintf("%q:%q", key, codec.DigestBytes(before)), fmt.Sprintf("%q:%q", key, codec.DigestBytes(after))
			line = bytes.ReplaceAll(line, []byte(was), []byte(is))
		}
		lines = append(lines, line)
	}
	f.record(lines)
}

// record writes the log anew: every line with its state and the digest of the line
// before it, and the head.
func (f forger) record(lines [][]byte) {
	f.t.Helper()
	documents := []string{run.ManifestFile, "gates.json", run.PolicyFile, run.ScopeFile, "perspectives.json", "wave-1/wave1-plan.json", "wave-2/wave2-plan.json",
		"wave-2/wave2-perspectives.json"}
	digests := map[string]string{}
	var log bytes.Buffer
	prev := "sha256:" + strings.Repeat("0", 64)
	for i := 0; i < len(lines); i++ {
		of := func(line []byte) string {
			e := runs.Parse(f.t, line)
			return e.Get("ts").Str() + e.Get("state").Str()
		}
		end := i
		for end < len(lines) && of(lines[end]) == of(lines[i]) {
			e := runs.Parse(f.t, lines[end])
			for key, name := range map[string]string{"manifest_digest": run.ManifestFile, "gates_digest": "gates.json", "policy_digest": run.PolicyFile, "scope_digest": run.ScopeFile} {
				if digest := e.Get(key).Str(); digest != "" {
					digests[name] = digest
				}
			}
			if e.Get("kind").Str() == "files_write" {
				for _, m := range e.Get("files").Members() {
					if slices.Contains(documents, m.Key) {
						digests[m.Key] = m.Value.Str()
					}
				}
			}
			end++
		}
		state := codec.Digest(codec.Of(digests))
		for ; i < end; i++ {
			e := runs.Parse(f.t, lines[i]).Clone()
			if e.Get("state") != nil {
				e.Set("state", codec.Of(state))
			}
			e.Delete("prev") // it stands last
			e.Set("prev", codec.Of(prev))
			text := must.Get(codec.MarshalLine(e))(f.t)
			sum := sha256.Sum256(text)
			prev = "sha256:" + hex.EncodeToString(sum[:])
			log.Write(text)
			log.WriteByte('\n')
		}
		i--
	}
	f.write(run.LogFile, log.Bytes())
	f.write(run.HeadFile, fmt.Appendf(nil, `{"lines":%d,"digest":%q,"size":%d}`+"\n", len(lines), prev, log.Len()))
}

// add adds a line to the log that is a transaction of its own.
func (f forger) add(kind, event string, fields ...any) {
	f.t.Helper()
	lines := f.lines()
	last := runs.Parse(f.t, lines[len(lines)-1])
	number := len(lines) + 1
	line := append(tidegate.Pairs("ts", "2027-02-14T12:00:00.000Z", "kind", kind, "run_id", last.Get("run_id"), "event", event, "seq", number), tidegate.Pairs(fields...)...)
	if last.Get("tx") != nil {
		line = append(line, tidegate.Detail{Key: "tx", Value: number})
	}
	f.record(append(lines, []byte(shownLine(f.t, codec.Of(append(line, tidegate.Pairs("actor", "agent", "state", last.Get("state"))...))))))
}

// TestForgedRecordHoldsTogether shows that the forger of the tests below does its
// work well.
func TestForgedRecordHoldsTogether(t *testing.T) {
	root := played.Lay(t, t.TempDir(), "review-rounds")
	f := forger{t, root}
	f.file("summaries/summary-pack.json", altered)
	f.holdsTogether()
}

// holdsTogether demands that verification, which looks at the record alone, finds
// nothing but gates that judged something else: their digests are not forged.
func (f forger) holdsTogether() {
	f.t.Helper()
	out := must.Get(run.Verify(f.t.Context(), pinned, run.VerifyInput{ManifestPath: filepath.Join(f.root, run.ManifestFile), Follows: stage.Follows}))(f.t)
	for _, finding := range out.Findings {
		if finding.Level == "error" && finding.Rule != "gate-stale" {
			f.t.Fatalf("the forger is to do its work well: %+v", finding)
		}
	}
}

// altered is a text with one character changed, the last letter or digit, so that
// JSON stays JSON.
func altered(text []byte) []byte {
	for i := len(text) - 1; i >= 0; i-- {
		switch c := text[i]; {
		case c >= 'a' && c < 'z' && !bytes.HasSuffix(text[:i+1], []byte("null")) && !bytes.HasSuffix(text[:i+1], []byte("true")) && !bytes.HasSuffix(text[:i+1], []byte("false")):
			text[i]++
			return text
		case c >= '0' && c < '9':
			text[i]++
			return text
		}
	}
	return append(text, 'x')
}

// TestReplayNamesWhatWasForged changes every file that a rule made, in turn, with a
// record that fits, and in the long form also without: replay names the file, or the
// line of the log that has its digest.
func TestReplayNamesWhatWasForged(t *testing.T) {
	type point struct{ kind, name string }
	var points []point
	for _, kind := range []string{"second-wave", "review-rounds", "failed-citations"} {
		for _, name := range played.Files(t, played.Lay(t, t.TempDir(), kind)) {
			if name != "bundle.json" && (!givenFile(name) || name == run.ManifestFile || name == "gates.json") {
				points = append(points, point{kind, name})
			}
		}
	}
	for i := 0; i < len(points); i += full.Stride(len(points), 2) {
		at := points[i]
		t.Run(at.kind+"/"+at.name, func(t *testing.T) {
			t.Parallel()
			root := played.Lay(t, t.TempDir(), at.kind)
			f := forger{t, root}
			clean := f.read(at.name)
			if full.Asked() {
				f.write(at.name, altered(bytes.Clone(clean)))
				named(t, root, at.name, "without its record")
				f.write(at.name, clean)
			}
			f.file(at.name, altered)
			named(t, root, at.name, "with its record")
		})
	}
}

// named replays a run, and wants it to name the file or the line that has its digest.
func named(t *testing.T, root, name, how string) {
	t.Helper()
	r, err := run.Open(t.Context(), pinned, filepath.Join(root, run.ManifestFile))
	if err != nil {
		return // what cannot be opened cannot be believed
	}
	defer r.Close()
	out, err := replay.Run(t.Context(), r, "")
	if err != nil {
		return
	}
	if out.Pass {
		t.Errorf("%s was changed %s, and nothing differs", name, how)
		return
	}
	for _, s := range out.Steps {
		if !s.Same && (s.What == name || strings.Contains(s.Difference, name) ||
			name == run.ManifestFile && strings.Contains(s.What, "manifest_write") || name == "gates.json" && strings.Contains(s.What, "gate")) {
			return
		}
	}
	t.Errorf("%s was changed %s, and replay names something else:\n%s", name, how, differences(out))
}

// TestNoDigestAloneExplainsAFile adds a line to the record that has nothing but the
// digest of a changed file: verification, which looks at the record alone, takes its word.
func TestNoDigestAloneExplainsAFile(t *testing.T) {
	names := []string{run.ManifestFile, "gates.json", run.PolicyFile, "wave-1/wave1-plan.json", "wave-review.json", "pivot.json", "citations/citations.jsonl",
		"summaries/summary-pack.json", "synthesis/final-synthesis.md"}
	for i := 0; i < len(names); i += full.Stride(len(names), 1) {
		t.Run(names[i], func(t *testing.T) {
			t.Parallel()
			f := forger{t, played.Lay(t, t.TempDir(), "second-wave")}
			changed := append(f.read(names[i]), ' ')
			f.write(names[i], changed)
			f.add("files_write", "files", "files", tidegate.Pairs(names[i], codec.DigestBytes(changed)))
			f.holdsTogether()
			out, err := replay.Run(t.Context(), open(t, f.root), "")
			if err != nil || out.Pass && len(out.Left) == 0 {
				t.Errorf("%s was changed, and nothing differs: %v", names[i], err)
			}
		})
	}
}

// TestNoGatePassesUnjudged adds a line by which a gate passes, without a judgement.
func TestNoGatePassesUnjudged(t *testing.T) {
	f := forger{t, played.Lay(t, t.TempDir(), "second-wave")}
	before := f.read("gates.json")
	doc := runs.Parse(t, before).Clone()
	revision, _ := doc.Get("revision").Int()
	doc.Set("revision", codec.Of(revision+1))
	doc.Get("gates").Get("F").Set("notes", codec.Of("forged"))
	after := must.Get(codec.MarshalFile(doc))(t)
	f.write("gates.json", after)
	f.add("gates_write", "gates", "prev_revision", revision, "new_revision", revision+1, "reason", "x", "inputs_digest", doc.Get("inputs_digest"),
		"gates_digest", codec.DigestBytes(after), "prev_digest", codec.DigestBytes(before), "gates", tidegate.Pairs("F", "pass"))
	out, err := replay.Run(t.Context(), open(t, f.root), "")
	if err != nil || !strings.Contains(differences(out), "gate_judged belongs to it") {
		t.Errorf("%s %v", differences(out), err)
	}
}

// TestReplayReadsNothingButTheRecord has a line name files beside the run.
func TestReplayReadsNothingButTheRecord(t *testing.T) {
	f := forger{t, played.Lay(t, t.TempDir(), "second-wave")}
	must.Do(t, os.CopyFS(filepath.Join(filepath.Dir(f.root), "beside"), os.DirFS(f.root)))
	lines := f.lines()
	at := slices.IndexFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte(`"kind":"wave_review"`)) })
	e := runs.Parse(t, lines[at]).Clone()
	e.Get("args").Set("perspectives_path", codec.Of("../beside/perspectives.json"))
	lines[at] = []byte(shownLine(t, e))
	f.record(lines)
	out, err := replay.Run(t.Context(), open(t, f.root), "")
	if err != nil || out.Pass || !strings.Contains(differences(out), "PATH_NOT_ALLOWED") {
		t.Errorf("%s %v", differences(out), err)
	}
}

// TestReplayLeavesTransactionsAlone leaves what a killed process had staged and not yet
// put in place.
func TestReplayLeavesTransactionsAlone(t *testing.T) {
	root := played.Lay(t, t.TempDir(), "second-wave")
	staged := filepath.Join(root, ".tidegate-tx")
	must.Do(t, errors.Join(os.Mkdir(staged, 0o700), os.WriteFile(filepath.Join(staged, "0"), []byte("half"), 0o600)))
	out, err := replay.Run(t.Context(), open(t, root), "")
	if err != nil || !out.Pass {
		t.Errorf("%s %v", differences(out), err)
	}
}

// TestReplayNamesForgedEvents changes every field of every line that a rule wrote, in
// turn, with a chain that fits.
func TestReplayNamesForgedEvents(t *testing.T) {
	const kind = "review-rounds"
	type field struct {
		line int
		key  string
	}
	var fields []field
	for i, line := range (forger{t, played.Lay(t, t.TempDir(), kind)}).lines() {
		e := runs.Parse(t, line)
		for _, m := range e.Members() {
			if comparedField(e, m.Key) {
				fields = append(fields, field{i, m.Key})
			}
		}
	}
	if len(fields) < 100 {
		t.Fatalf("only %d fields are compared", len(fields))
	}
	for i := 0; i < len(fields); i += full.Stride(len(fields), 2) {
		at := fields[i]
		t.Run(fmt.Sprintf("line %d %s", at.line+1, at.key), func(t *testing.T) {
			t.Parallel()
			root := played.Lay(t, t.TempDir(), kind)
			f := forger{t, root}
			lines := f.lines()
			e := runs.Parse(t, lines[at.line]).Clone()
			var value any
			must.Do(t, json.Unmarshal([]byte(shownLine(t, e.Get(at.key))), &value))
			e.Set(at.key, codec.Of(otherThan(value)))
			lines[at.line] = []byte(shownLine(t, e))
			f.record(lines)
			out, err := replay.Run(t.Context(), open(t, root), "")
			if err == nil && out.Pass {
				t.Errorf("%s of %s was changed, and nothing differs", at.key, e.Get("kind").Str())
			}
		})
	}
}

// comparedField reports whether a field of a line follows from a rule.
func comparedField(e *codec.Value, key string) bool {
	switch key {
	case "ts", "kind", "run_id", "event", "seq", "tx", "actor", "state", "clock", "prev", "program",
		"reason", "from", "status", "stage", "holder", "home", "expires_at", "attempt", "answer", "job_id", "late", "digest":
		return false // of the log, of what was handed in, or by which the rule is found
	}
	switch e.Get("event").Str() {
	case "created", "leased", "answered", "fetched", "files", "ended", "limit":
		return false
	}
	return true
}

func shownLine(t *testing.T, v *codec.Value) string {
	t.Helper()
	text := must.Get(codec.MarshalLine(v))(t)
	return string(text)
}

// otherThan is another value of the same kind.
func otherThan(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case float64:
		return v + 1
	case bool:
		return !v
	case []any:
		return append(v, "x")
	case map[string]any:
		v["x"] = "x"
		return v
	}
	return "x"
}

// TestAForgedAcceptanceShows adds a line by which a person accepted a changed file: its
// digest counts as what the log says, and whoever looks at the run is told whose word it
// is.
func TestAForgedAcceptanceShows(t *testing.T) {
	names := []string{"synthesis/final-synthesis.md", "summaries/summary-pack.json", "gates.json", run.ManifestFile, "jobs/summary.figures/001/answer-1.md"}
	actors := []string{"person", "agent"}
	for i := 0; i < len(names)*len(actors); i += full.Stride(len(names)*len(actors), 1) {
		name, actor := names[i/len(actors)], actors[i%len(actors)]
		t.Run(actor+"/"+name, func(t *testing.T) {
			t.Parallel()
			f := forger{t, played.Lay(t, t.TempDir(), "second-wave")}
			changed := append(f.read(name), ' ')
			f.write(name, changed)
			f.add("record_accept", "accepted", "what", "record", "reason", "forged", "files", tidegate.Pairs(name, codec.DigestBytes(changed)), "args", tidegate.Pairs())
			lines := f.lines()
			lines[len(lines)-1] = bytes.Replace(lines[len(lines)-1], []byte(`"actor":"agent"`), []byte(`"actor":"`+actor+`"`), 1)
			f.record(lines)
			verified := must.Get(run.Verify(t.Context(), pinned, run.VerifyInput{ManifestPath: filepath.Join(f.root, run.ManifestFile), Follows: stage.Follows}))(t)
			if !slices.ContainsFunc(verified.Decisions, func(d run.Decided) bool { return d.What == run.AcceptedRecord && d.About == name && !d.Signed }) {
				t.Errorf("verify lists %v", verified.Decisions)
			}
			out := must.Get(replay.Run(t.Context(), open(t, f.root), ""))(t)
			differs := slices.ContainsFunc(out.Steps, func(s replay.Step) bool { return !s.Same && strings.Contains(s.What+s.Difference, name) })
			if verified.Pass && !differs {
				t.Errorf("neither verify nor replay names it: %s", differences(out))
			}
		})
	}
}
