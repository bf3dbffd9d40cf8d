package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
)

// turned is a sentence of which the page says the opposite: by rule it stands.
var turned = strings.Replace(strings.Replace(reader.Sentence(0, 3), "its", "all of its", 1), "In ", "It is said that in ", 1)

// foreignReport has twelve true sentences and one that is not.
func foreignReport() string {
	var b strings.Builder
	for k := range 12 {
		fmt.Fprintf(&b, "%s [1]\n\n", reader.Sentence(0, 2*k))
	}
	b.WriteString(turned + " [1]\n\n## Sources\n\n[1] Port statistics 0: https://example.org/port\n")
	return b.String()
}

// readBy audits a report that an agent reads, too.
func readBy(t *testing.T, home, report string, agent func(context.Context, driver.Task) (driver.Answer, error)) (foreign.Result, *crew) {
	t.Helper()
	pool := &crew{agent: agent}
	desk := run.Desk{Now: time.Now, Program: "test"}
	result := must.Get(audit.Make(t.Context(), desk, (&web{}).fetch, audit.Input{Report: report, Home: home, Verifier: "claude", Read: func(ctx context.Context, parts *audit.Parts) (string, error) {
		why, _, err := engine.ReadReport(ctx, parts, run.DefaultBudget(nil), engine.Options{Desk: desk, Pool: pool, Agents: map[string]engine.Agent{"verifier": {Driver: "claude", Model: "m"}}})
		return why, err
	}}))(t)
	return result, pool
}

func faithful(_ context.Context, task driver.Task) (driver.Answer, error) {
	return driver.Answer{Text: reader.Faithful(task.Prompt)}, nil
}

// TestASecondReaderOfAnAudit: each sentence with a passage has a verdict, one that the
// reader does not find is looked at again and fails the report, the reader was tested, and
// the audit can be judged again from what it keeps.
func TestASecondReaderOfAnAudit(t *testing.T) {
	result, pool := readBy(t, t.TempDir(), foreignReport(), func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if strings.Contains(task.Prompt, "Sources") || task.Kind != "verify" || len(task.Prompt) > 48<<10 {
			t.Errorf("%s is sent more than sentences and passages", task.Job)
		}
		return faithful(ctx, task)
	})
	read := result.Summary.Read
	if read == nil || read.Supported != 12 || read.Unsupported != 1 || read.Unread != 0 || read.Pairs.Asked < 6 || read.Pairs.Missed != 0 || read.Pairs.Hard == 0 {
		t.Fatalf("%+v", read)
	}
	for _, s := range result.Sentences {
		want := "supported"
		if s.Text == turned {
			want = "unsupported"
		}
		if s.Verdict != want {
			t.Errorf("%s: %s", s.Verdict, s.Text)
		}
	}
	if result.Pass || result.Summary.Missing > 0 {
		t.Errorf("it passes, or the rule finds it: %+v", result.Summary)
	}
	if pool.times("verify.1") != 1 || pool.times("verify.2") != 1 {
		t.Errorf("asked %v", pool.asked)
	}
	desk := run.Desk{Now: time.Now, Program: "test"}
	file := filepath.Join(result.AuditPath, audit.File)
	if v, err := audit.Verify(t.Context(), desk, file, "test"); err != nil || !v.Pass {
		t.Errorf("%+v %v", v, err)
	}
	again, err := replay.Audit(t.Context(), desk, file, "test")
	if err != nil || !again.Pass || len(again.Steps) != 1+len(pool.asked) {
		t.Errorf("%+v %v", again, err)
	}

	// What the reader said cannot be changed afterwards, nor an answer added.
	kept := filepath.Join(result.AuditPath, "jobs", "verify.1", "001", "reading.json")
	if !strings.Contains(must.Read(t, kept), "unsupported") {
		kept = strings.Replace(kept, "verify.1", "verify.2", 1)
	}
	was := must.Get(os.ReadFile(kept))(t)
	other := filepath.Join(filepath.Dir(filepath.Dir(kept)), "002", "reading.json")
	for _, change := range []func() error{
		func() error {
			return os.WriteFile(kept, []byte(strings.Replace(string(was), "unsupported", "supported", 1)), 0o600)
		},
		func() error {
			if err := os.WriteFile(kept, was, 0o600); err != nil {
				return err
			}
			if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
				return err
			}
			return os.WriteFile(other, []byte(strings.Replace(string(was), `"attempt": 1`, `"attempt": 2`, 1)), 0o600)
		},
	} {
		must.Do(t, change())
		if v, err := audit.Verify(t.Context(), desk, file, "test"); err == nil && v.Pass {
			t.Error("a changed reading is not found")
		}
	}
}

// TestAnUnfitReaderOfAnAudit: a reader that confirms everything reads no more, its verdicts
// do not count, and the report does not pass.
func TestAnUnfitReaderOfAnAudit(t *testing.T) {
	report := strings.Replace(foreignReport(), turned+" [1]\n", "", 1)
	result, _ := readBy(t, t.TempDir(), report, func(_ context.Context, task driver.Task) (driver.Answer, error) {
		return driver.Answer{Text: reader.Answer(task.Prompt, func(c reader.Claim) reader.Verdict {
			return reader.Verdict{Verdict: "supported", Passage: 1, Words: c.Passages[0]}
		})}, nil
	})
	if read := result.Summary.Read; read.Unread != 12 || read.Supported != 0 || result.Pass {
		t.Errorf("%+v, passes: %v", read, result.Pass)
	}
	last := result.Findings[len(result.Findings)-1]
	if last.Code != "NOT_READ" || !strings.Contains(last.Text, "missed too much") {
		t.Errorf("%+v", result.Findings)
	}
	log, err := os.ReadFile(filepath.Join(result.AuditPath, "logs", "audit.jsonl"))
	if err != nil || !strings.Contains(string(log), "READER_UNFIT") {
		t.Errorf("the log does not say it: %v", err)
	}
	if v, err := audit.Verify(t.Context(), run.Desk{Now: time.Now}, filepath.Join(result.AuditPath, audit.File), "test"); err != nil || !v.Pass {
		t.Errorf("%+v %v", v, err)
	}
}

// TestAnInterruptedReadingResumes stops an audit while a second reader is at work: what was
// read is not asked again.
func TestAnInterruptedReadingResumes(t *testing.T) {
	var b strings.Builder
	for k := range 28 {
		fmt.Fprintf(&b, "%s [1]\n\n", reader.Sentence(0, k))
	}
	b.WriteString("## Sources\n\n[1] Port statistics 0: https://example.org/port\n")
	home, desk := t.TempDir(), run.Desk{Now: time.Now, Program: "test"}
	begin := func(ctx context.Context, pool *crew) (foreign.Result, error) {
		return audit.Make(ctx, desk, (&web{}).fetch, audit.Input{Report: b.String(), Home: home, Verifier: "claude", Read: func(ctx context.Context, parts *audit.Parts) (string, error) {
			why, _, err := engine.ReadReport(ctx, parts, run.DefaultBudget(nil), engine.Options{Desk: desk, Pool: pool, Parallel: 1, Agents: map[string]engine.Agent{"verifier": {Driver: "claude", Model: "m"}}})
			return why, err
		}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := begin(ctx, &crew{agent: func(own context.Context, task driver.Task) (driver.Answer, error) {
		if task.Job == "verify.2" {
			cancel()
			<-own.Done()
			return driver.Answer{}, own.Err()
		}
		return faithful(own, task)
	}})
	if tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Fatal(err)
	}
	pool := &crew{agent: faithful}
	result := must.Get(begin(t.Context(), pool))(t)
	if read := result.Summary.Read; read.Supported != 28 || read.Unread != 0 || pool.times("verify.1") != 0 || pool.times("verify.2") != 1 {
		t.Errorf("%+v, asked %v", read, pool.asked)
	}
	if made, err := os.ReadDir(home); err != nil || len(made) != 1 {
		t.Errorf("%v %v", made, err)
	}
	if v, err := audit.Verify(t.Context(), desk, filepath.Join(result.AuditPath, audit.File), "test"); err != nil || !v.Pass {
		t.Errorf("%+v %v", v, err)
	}
}
