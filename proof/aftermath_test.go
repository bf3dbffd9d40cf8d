package proof_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

var labelRule = regexp.MustCompile(`\bw\d\d-\d+\b`)

// logged is one line of a run's audit log.
type logged struct {
	kind       string
	reason     string
	label      string // of the call that wrote it, "" when the line has none
	prev, next int64  // revisions, 0 when the line has none
	digest     string // of the document that was written
	gates      []string
}

// readAudit reads the log of a run and checks its chain by the documented rule:
// every line carries the digest of the raw bytes of the line before it.
func readAudit(t *testing.T, root string) []logged {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(root, "logs/audit.jsonl")))(t)
	var (
		lines    []logged
		previous []byte
	)
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		v, err := codec.Parse(line)
		if err != nil {
			t.Fatalf("line %d of the log is not JSON: %s", i+1, line)
		}
		if previous != nil && v.Get("prev").Str() != codec.DigestBytes(previous) {
			t.Errorf("line %d of the log does not carry the digest of the line before", i+1)
		}
		previous = line
		entry := logged{kind: v.Get("kind").Str(), reason: v.Get("reason").Str()}
		entry.label = labelRule.FindString(entry.reason)
		entry.prev, _ = v.Get("prev_revision").Int()
		entry.next, _ = v.Get("new_revision").Int()
		for _, name := range []string{"manifest_digest", "gates_digest"} {
			if digest := v.Get(name).Str(); digest != "" {
				entry.digest = digest
			}
		}
		for _, m := range v.Get("gates").Members() {
			entry.gates = append(entry.gates, m.Key)
		}
		lines = append(lines, entry)
	}
	return lines
}

// checkRun compares the answers that the workers got with the records of the run.
func checkRun(t *testing.T, work string, done [][]strike, eyes *watcher) {
	t.Helper()
	lines := readAudit(t, filepath.Join(work, "runs/tides"))
	byLabel := map[string][]logged{}
	ingested := 0
	for _, line := range slices.Concat(lines, readBare(t, work)) {
		if line.label != "" {
			byLabel[line.label] = append(byLabel[line.label], line)
		}
		if line.kind == "wave_output_ingest" {
			ingested++
		}
	}
	accepted := 1 // the one that prepared the run
	for _, s := range slices.Concat(done...) {
		checkLogged(t, s, byLabel[s.label])
		if s.code == "" && s.tool == "deep_research_wave_output_ingest" {
			accepted++
		}
	}
	if ingested != accepted {
		t.Errorf("%d ingests were accepted and %d recorded", accepted, ingested)
	}
	checkDocument(t, work, "manifest_write", "manifest.json", lines, eyes)
	checkDocument(t, work, "gates_write", "gates.json", lines, eyes)
}

// readBare reads the log beside the bare manifest, which exists once a pack has
// been built.
func readBare(t *testing.T, work string) []logged {
	t.Helper()
	root := filepath.Join(work, "bare")
	if _, err := os.Stat(filepath.Join(root, "logs")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return readAudit(t, root)
}

// checkLogged compares one call with the lines that bear its label: an accepted
// change is recorded. A call that was refused
// or had nothing to change is not.
func checkLogged(t *testing.T, s strike, lines []logged) {
	t.Helper()
	switch {
	case s.code != "":
		if len(lines) > 0 {
			t.Errorf("%s %s was refused with %s, but the log has %+v", s.tool, s.label, s.code, lines)
		}
	case s.leavesLine() != (len(lines) > 0):
		t.Errorf("%s %s was accepted and changed something: %v; but the log has %+v", s.tool, s.label, s.leavesLine(), lines)
	}
}

// leavesLine reports whether the accepted call leaves a line with its label.
func (s strike) leavesLine() bool {
	switch s.tool {
	case "deep_research_perspectives_write", "deep_research_wave1_plan", "deep_research_wave_restore", "deep_research_gate_a_record", "deep_research_gate_b_record",
		"deep_research_gate_c_record", "deep_research_gate_f_record", "deep_research_summary_pack_build", "deep_research_citations_validate",
		"deep_research_citations_attach", "deep_research_citations_replace", "deep_research_stage_advance":
		return true
	case "deep_research_pivot_decide":
		return s.result.Get("pivot_path").Str() != "" // otherwise the run is in another stage
	case "deep_research_run_pause", "deep_research_run_resume":
		return s.result.Get("changed").Bool()
	case "deep_research_run_limit":
		from, _ := s.result.Get("from").Int()
		to, _ := s.result.Get("to").Int()
		return from != to
	}
	return false
}

// checkDocument demands that the revisions of a document have no gap, that the
// file is the last of them, and that every version seen meanwhile was one of them.
func checkDocument(t *testing.T, work, kind, name string, lines []logged, eyes *watcher) {
	t.Helper()
	path := "runs/tides/" + name
	data := must.Get(os.ReadFile(filepath.Join(work, path)))(t)
	written := map[string]bool{eyes.first[path]: true}
	var revision int64 = 1
	last := ""
	for _, line := range lines {
		if line.kind != kind {
			continue
		}
		if line.prev != revision || line.next != revision+1 {
			t.Errorf("%s: revision %d is followed by %d → %d", name, revision, line.prev, line.next)
		}
		revision, last = line.next, line.digest
		written[last] = true
	}
	if codec.DigestBytes(data) != last {
		t.Errorf("%s is not what the log says was written last", name)
	}
	for digest := range eyes.seen[path] {
		if !written[digest] {
			t.Errorf("%s was seen in a state that nobody wrote, %s", name, digest)
		}
	}
	t.Logf("%s: %d revisions without a hole, %d of them seen under way", name, revision, len(eyes.seen[path]))
}

// checkChange compares the answers that the workers got with what the change keeps:
// every review once, under numbers without a gap, and every round counted once.
func checkChange(t *testing.T, work string, done [][]strike, eyes *watcher) {
	t.Helper()
	folder := filepath.Join(work, "agentd/changes/c1")
	entries, err := os.ReadDir(filepath.Join(folder, "reviews"))
	if err != nil {
		t.Fatal(err)
	}
	number := map[string]int{} // label → place in the history
	written := map[string]bool{eyes.first[reviewPath]: true}
	var last []byte
	entries = slices.DeleteFunc(entries, func(entry os.DirEntry) bool { return strings.HasSuffix(entry.Name(), ".json") })
	for i, entry := range entries {
		if want := fmt.Sprintf("%04d.md", i+1); entry.Name() != want {
			t.Fatalf("review %s stands where %s should", entry.Name(), want)
		}
		if last, err = os.ReadFile(filepath.Join(folder, "reviews", entry.Name())); err != nil {
			t.Fatal(err)
		}
		written[codec.DigestBytes(last)] = true
		if label := labelRule.FindString(string(last)); label != "" {
			if number[label] != 0 {
				t.Errorf("review %s is kept twice", label)
			}
			number[label] = i + 1
		}
	}
	if current, err := os.ReadFile(filepath.Join(work, reviewPath)); err != nil || !bytes.Equal(current, last) {
		t.Errorf("REVIEW.md is not the last review: %v", err)
	}
	for digest := range eyes.seen[reviewPath] {
		if !written[digest] {
			t.Errorf("REVIEW.md was seen in a state that nobody wrote")
		}
	}
	rounds := []int64{}
	accepted := 1 // the one that prepared the change
	for _, strikes := range done {
		before := 0
		for _, s := range strikes {
			switch {
			case s.code != "":
			case s.tool == "create_review":
				accepted++
				if number[s.label] <= before {
					t.Errorf("review %s has number %d, and the one before it %d", s.label, number[s.label], before)
				}
				before = number[s.label]
			case s.tool == "change_advance" && s.result.Get("changed").Bool() && s.result.Get("needs_person").Str() == "",
				s.tool == "change_resume" && strings.Contains(s.result.Get("message").Str(), "round"):
				round, _ := s.result.Get("iteration").Int()
				rounds = append(rounds, round)
			}
		}
	}
	if accepted != len(entries) {
		t.Errorf("%d reviews were accepted and %d kept", accepted, len(entries))
	}
	slices.Sort(rounds)
	for i, round := range rounds {
		if round != int64(i+2) {
			t.Fatalf("the rounds that were counted are %v", rounds)
		}
	}
	t.Logf("%d reviews and %d rounds without a hole", len(entries), len(rounds))
}
