package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// aPerson is a call by a person at the terminal.
func aPerson(t *testing.T) context.Context {
	return tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person, Name: "Ada", By: tidegate.ByTerminal})
}

// lying writes the report with lies in words that no rule can judge, and changes nothing.
func lying(ctx context.Context, task driver.Task) (driver.Answer, error) {
	answer, err := obedient(ctx, task)
	if task.Job == "synthesis" {
		answer.Text = strings.Replace(answer.Text, "## Evidence\n\n", "## Evidence\n\n"+strings.TrimSuffix(lie, ".")+". [@s1]\n\n", 1)
	}
	return answer, err
}

// approving is a reader that finds everything right.
func approving(ctx context.Context, task driver.Task) (driver.Answer, error) {
	if task.Kind != "verify" {
		return obedient(ctx, task)
	}
	return driver.Answer{Text: reader.Answer(task.Prompt, func(c reader.Claim) reader.Verdict {
		return reader.Honest(c, strings.Join(strings.Fields(c.Sentence), " "))
	})}, nil
}

// TestAPersonAcceptsASentence has a run stop because a sentence does not stand, and go on
// when a person accepts it. Every view says so.
func TestAPersonAcceptsASentence(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	must.Get(runs.OpenAt(t, desk, manifest).Update(t.Context(), func(u *run.Update) error { return u.SetLimit("max_verify_rounds", 0, "test") }))(t)
	pool := &crew{agent: lying}
	if out := drive(t, manifest, desk, pool); out.Status != run.Failed {
		t.Fatal(shown(out))
	}
	doubted, err := sentences.ShowClaim(t.Context(), desk, sentences.ClaimInput{ManifestPath: manifest})
	if err != nil || len(doubted.Sentences) != 1 || !strings.Contains(doubted.Sentences[0].Text, "grave accident") || doubted.Sentences[0].Stands != "not confirmed" {
		t.Fatal(shown(doubted), err)
	}
	text := fmt.Sprint(doubted.Report().Blocks)
	for _, want := range []string{"grave accident", "passage of", "unsupported", "reader"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown: %s", want, text)
		}
	}
	id := doubted.Sentences[0].ID
	_, err = sentences.AcceptClaim(aPerson(t), desk, sentences.AcceptClaimInput{ManifestPath: manifest, ID: id, Reason: " "})
	runs.WantCode(t, err, tidegate.InvalidArgs)
	_, err = sentences.AcceptClaim(aPerson(t), desk, sentences.AcceptClaimInput{ManifestPath: manifest, ID: "c99", Reason: "so"})
	runs.WantCode(t, err, tidegate.FileNotFound)
	_, err = sentences.AcceptClaim(aPerson(t), desk, sentences.AcceptClaimInput{ManifestPath: manifest, ID: "c1", Reason: "it stands anyway"})
	runs.WantCode(t, err, tidegate.InvalidState)
	accepted, err := sentences.AcceptClaim(aPerson(t), desk, sentences.AcceptClaimInput{ManifestPath: manifest, ID: id, Reason: "I was there"})
	if err != nil || accepted.By != "Ada" || len(accepted.Left) != 0 || accepted.Accepted != 1 {
		t.Fatal(shown(accepted), err)
	}
	_, err = sentences.AcceptClaim(aPerson(t), desk, sentences.AcceptClaimInput{ManifestPath: manifest, ID: id, Reason: "again"})
	runs.WantCode(t, err, tidegate.InvalidState)
	if out := drive(t, manifest, desk, pool); out.Status != run.Completed || pool.times("review") != 1 {
		t.Fatal(shown(out))
	}
	trust, err := sentences.ReadTrust(runs.Open(t, manifest))
	if err != nil || trust.Accepted != 1 || !strings.Contains(trust.Line, "1 accepted by Ada") {
		t.Errorf("%+v, %v", trust, err)
	}
	verify(t, manifest)
}

// TestAPersonLetsTheReportPass has readers that cannot be used, and a person who lets the
// report pass unread: its review is asked for, and the trust line counts what nobody read.
func TestAPersonLetsTheReportPass(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	pool := &crew{agent: approving}
	drive(t, manifest, desk, pool)
	asked := pool.times("verify.1")
	must.Get(gates.RecordGate(aPerson(t), desk, gates.GateInput{ManifestPath: manifest, Gate: "E", Accept: true, Reason: "no reader is at hand"}))(t)
	if out := drive(t, manifest, desk, pool); out.Status != run.Completed || pool.times("review") != 1 || pool.times("verify.1") != asked {
		t.Fatal(shown(out))
	}
	trust, err := sentences.ReadTrust(runs.Open(t, manifest))
	if err != nil || !strings.Contains(trust.Line, "4 not confirmed") {
		t.Errorf("%+v, %v", trust, err)
	}
	verify(t, manifest)
}

// TestAPersonReads has a person read what no agent could: sentences by their ids, nothing
// planted, and the trust line names it.
func TestAPersonReads(t *testing.T) {
	for _, test := range []struct {
		name  string
		tries float64
		left  run.Status
	}{
		{"the reader is unfit", 4, run.Running},
		{"no tries are left", 1, run.Failed},
	} {
		t.Run(test.name, func(t *testing.T) { aPersonReads(t, test.tries, test.left) })
	}
}

func aPersonReads(t *testing.T, tries float64, left run.Status) {
	t.Parallel()
	manifest, desk := researched.newRun(t, map[string]float64{"tries": tries})
	pool := &crew{agent: approving}
	if out := drive(t, manifest, desk, pool); out.Status != left {
		t.Fatal(shown(out))
	}
	board := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer board.Close()
	type verdict map[string]any
	asked := 0
	for _, id := range []string{"verify.1", "verify.2"} {
		prompt := must.Get(board.Prompt(t.Context(), id))(t)
		names := regexp.MustCompile(`(?m)^claim (c\d)$`).FindAllStringSubmatch(prompt.PromptMD, -1)
		var given []verdict
		for i, c := range reader.Claims(prompt.PromptMD) {
			passage, words := reader.Words(c.Sentence, c.Passages)
			given = append(given, verdict{"claim": names[i][1], "verdict": "supported", "passage": passage, "words": words})
		}
		asked += len(given)
		short, _ := json.Marshal(verdict{"verdicts": given[1:]})
		if out, err := board.Answer(aPerson(t), id, short); err != nil || out.Accepted || len(out.Faults) == 0 {
			t.Fatal(shown(out), err)
		}
		whole, _ := json.Marshal(verdict{"verdicts": given})
		if out, err := board.Answer(aPerson(t), id, whole); err != nil || out.Accepted != (id == "verify.2") {
			t.Fatal(shown(out), err)
		}
	}
	if asked != 4 {
		t.Errorf("%d sentences were asked about", asked)
	}
	if out := drive(t, manifest, desk, pool); out.Status != run.Completed {
		t.Fatal(shown(out))
	}
	trust, err := sentences.ReadTrust(runs.Open(t, manifest))
	if err != nil || !strings.Contains(trust.Line, "A person read some of it, and was not tested.") || !strings.Contains(trust.Line, "in answers that were refused") {
		t.Errorf("%+v, %v", trust, err)
	}
	verify(t, manifest)
}
