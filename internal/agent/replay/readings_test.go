package replay_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/test/signing"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// edit changes lines of the log, with a chain that fits: change returns the lines in the
// place of one. The numbers of the lines and of their transactions are those of the log
// that comes out.
func (f forger) edit(change func(e *codec.Value) []*codec.Value) {
	f.t.Helper()
	var all []*codec.Value
	for _, line := range f.lines() {
		all = append(all, change(runs.Parse(f.t, line).Clone())...)
	}
	var lines [][]byte
	first := map[int64]int{} // by the number of the transaction as it was
	for i, e := range all {
		tx, _ := e.Get("tx").Int()
		if first[tx] == 0 {
			first[tx] = i + 1
		}
		e.Set("seq", codec.Of(i+1))
		e.Set("tx", codec.Of(first[tx]))
		lines = append(lines, []byte(shownLine(f.t, e)))
	}
	f.record(lines)
}

// each changes the lines of a kind that are about an attempt at a job.
func (f forger) each(kind, job string, attempt int64, change func(e *codec.Value)) {
	f.t.Helper()
	found := false
	f.edit(func(e *codec.Value) []*codec.Value {
		if n, _ := e.Get("attempt").Int(); e.Get("kind").Str() == kind && e.Get("job_id").Str() == job && n == attempt {
			change(e)
			found = true
		}
		return []*codec.Value{e}
	})
	if !found {
		f.t.Fatalf("the log has no %s of attempt %d at %s", kind, attempt, job)
	}
}

// document changes a JSON file with its record.
func (f forger) document(name string, change func(doc *codec.Value)) {
	f.t.Helper()
	f.file(name, func(data []byte) []byte {
		doc := runs.Parse(f.t, data).Clone()
		change(doc)
		after := must.Get(codec.MarshalFile(doc))(f.t)
		return after
	})
}

// replaced is a file in which a text stands in the place of another, once.
func replaced(was, is string) func([]byte) []byte {
	return func(data []byte) []byte { return bytes.Replace(data, []byte(was), []byte(is), 1) }
}

// TestForgedReadingsAreFound forges what second readers said, what they were shown and
// how they were tested, each time with a record that fits. The short form has two of the
// forgeries.
func TestForgedReadingsAreFound(t *testing.T) {
	const claims, reading, prompt, attempt = "synthesis/claims.json", "jobs/verify.1/001/reading.json", "jobs/verify.1/001/prompt.md", "jobs/verify.1/001/attempt.json"
	seed := hex.EncodeToString(bytes.Repeat([]byte{7}, 16))
	digest := codec.DigestBytes(bytes.Repeat([]byte{7}, 16))
	set := func(key string, value any) func(*codec.Value) {
		return func(e *codec.Value) { e.Set(key, codec.Of(value)) }
	}
	for name, test := range full.Some(map[string]struct {
		kind  string
		forge func(f forger)
		found string // in what replay names
		loose bool   // the record alone shows it, too
	}{
		"a verdict": {kind: "sent-back", found: reading, forge: func(f forger) { f.file(reading, replaced(`"unsupported"`, `"supported"`)) }},
		"a verdict in the claims": {kind: "sent-back", found: "review/rounds/1/claims.json", forge: func(f forger) {
			f.file("review/rounds/1/claims.json", replaced(`"unsupported"`, `"supported"`))
		}},
		"words of a verdict":      {kind: "second-wave", found: claims, forge: func(f forger) { f.file(claims, replaced(`"words": "In`, `"words": "On`)) }},
		"a window":                {kind: "second-wave", found: claims, forge: func(f forger) { f.file(claims, replaced(`"text": "In`, `"text": "On`)) }},
		"a window that was shown": {kind: "second-wave", found: prompt, forge: func(f forger) { f.file(prompt, replaced("under the owner", "above the owner")) }},
		"another seed":            {kind: "second-wave", found: claims, forge: func(f forger) { f.document("review/rounds/1/seed.json", set("seed", seed)) }},
		"another seed with its digest": {kind: "second-wave", found: "seed_digest", forge: func(f forger) {
			f.edit(func(e *codec.Value) []*codec.Value {
				if e.Get("seed_digest") != nil {
					e.Set("seed_digest", codec.Of(digest))
				}
				return []*codec.Value{e}
			})
		}},
		"another seed when the round closes": {kind: "second-wave", found: "seed", forge: func(f forger) {
			f.edit(func(e *codec.Value) []*codec.Value {
				if e.Get("seed") != nil {
					e.Set("seed", codec.Of(seed))
				}
				return []*codec.Value{e}
			})
		}},
		"a missed pair that was none": {kind: "unfit-reader", found: "job_settled: ", forge: func(f forger) {
			f.each("job_settled", "verify.1", 1, func(e *codec.Value) { set("accepted", true)(e); set("faults", []string{})(e) })
		}},
		"a missed pair that the attempt forgets": {kind: "unfit-reader", found: attempt, forge: func(f forger) {
			f.document(attempt, func(e *codec.Value) { e.Get("submissions").Elems()[0].Set("faults", codec.Of([]string{})) })
		}},
		"a removed attempt": {kind: "unfit-reader", found: "job_lease: attempt is 2 and comes out as 1", forge: func(f forger) {
			f.edit(func(e *codec.Value) []*codec.Value {
				n, _ := e.Get("attempt").Int()
				files := shownLine(f.t, e.Get("files"))
				if e.Get("job_id").Str() == "verify.1" && n == 1 || strings.Contains(files, "jobs/verify.1/001/") {
					return nil
				}
				return []*codec.Value{e}
			})
			must.Do(f.t, os.RemoveAll(filepath.Join(f.root, "jobs/verify.1/001")))
		}},
		"a reader that is fit all the same": {kind: "unfit-reader", found: "a line READER_UNFIT belongs to it", forge: func(f forger) {
			f.edit(func(e *codec.Value) []*codec.Value {
				if e.Get("kind").Str() == "READER_UNFIT" {
					return nil
				}
				return []*codec.Value{e}
			})
		}},
		"a reader that is not": {kind: "second-wave", found: "READER_UNFIT: it does not come out again", forge: func(f forger) {
			f.edit(func(e *codec.Value) []*codec.Value {
				if e.Get("kind").Str() != "job_verdict" || e.Get("job_id").Str() != "verify.1" {
					return []*codec.Value{e}
				}
				unfit := e.Clone()
				for key, value := range map[string]any{"kind": "READER_UNFIT", "event": "unfit", "reader": "reader "} {
					unfit.Set(key, codec.Of(value))
				}
				for _, key := range []string{"answer", "accepted", "faults", "args", "held"} {
					unfit.Delete(key)
				}
				return []*codec.Value{e, unfit}
			})
		}},
		"how readers were tested": {kind: "second-wave", found: claims, forge: func(f forger) {
			f.document(claims, func(doc *codec.Value) { doc.Get("pairs").Set("asked", codec.Of(30)) })
		}},
		"a sentence that a person let stand": {kind: "second-wave", found: claims, forge: func(f forger) {
			f.document(claims, func(doc *codec.Value) {
				doc.Get("sentences").Elems()[0].Set("accepted", codec.Of(tidegate.Pairs("by", "ada", "reason", "I know", "at", "2026-02-14T12:00:00Z", "signature", "")))
			})
		}},
		"claims written by hand": {kind: "second-wave", found: claims, loose: true, forge: func(f forger) { f.write(claims, altered(f.read(claims))) }},
		"claims written by hand, with a digest": {kind: "second-wave", found: claims, forge: func(f forger) {
			changed := altered(f.read(claims))
			f.write(claims, changed)
			f.add("files_write", "files", "files", tidegate.Pairs(claims, codec.DigestBytes(changed)))
		}},
		"claims written by hand, with a reason": {kind: "second-wave", found: claims, forge: func(f forger) {
			changed := altered(f.read(claims))
			f.write(claims, changed)
			f.add("synthesis_write", "synthesized", "reason", "better", "files", tidegate.Pairs(claims, codec.DigestBytes(changed)))
		}},
		"a reading from nowhere": {kind: "second-wave", found: "jobs/verify.1/002/reading.json", forge: func(f forger) {
			data := f.read(reading)
			must.Do(f.t, os.Mkdir(filepath.Join(f.root, "jobs/verify.1/002"), 0o700))
			f.write("jobs/verify.1/002/reading.json", data)
		}},
		"what the rule asks for": {kind: "sent-back", found: "review/rounds/1/review-bundle.json", forge: func(f forger) {
			f.file("review/rounds/1/review-bundle.json", replaced("does not stand", "stands well"))
		}},
		"who sent the report back": {kind: "sent-back", found: "manifest_write: by", forge: func(f forger) {
			f.edit(func(e *codec.Value) []*codec.Value {
				if e.Get("to").Str() == "synthesis" && e.Get("by") != nil {
					e.Set("by", codec.Of("review"))
				}
				return []*codec.Value{e}
			})
		}},
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := forger{t, played.Lay(t, t.TempDir(), test.kind)}
			before := f.read(run.LogFile)
			test.forge(f)
			if bytes.Equal(before, f.read(run.LogFile)) && !test.loose && name != "a reading from nowhere" {
				t.Fatal("nothing was forged")
			}
			if !test.loose {
				f.holdsTogether()
			}
			out, err := replay.Run(t.Context(), open(t, f.root), "")
			if err != nil || out.Pass || !strings.Contains(differences(out), test.found) {
				t.Errorf("pass %v, %v, %v, and not %q in\n%s", out.Pass, out.Left, err, test.found, differences(out))
			}
		})
	}
}

// TestADrawnSeedIsReplayed: without a pinned clock no rule says which seed it is. The log
// has its digest before the readings and the seed after them.
func TestADrawnSeedIsReplayed(t *testing.T) {
	full.Story(t)
	t.Parallel()
	made := runs.CreateAt(t, run.Desk{Now: time.Now}, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "drawn"})
	out, err := engine.Drive(t.Context(), made.ManifestPath, played.Options(run.Desk{Now: time.Now}, played.Kinds[len(played.Kinds)-1].Agent))
	if err != nil || out.Status != run.Completed {
		t.Fatalf("%s %s %v", out.Status, out.Reason, err)
	}
	result, err := replay.Run(t.Context(), open(t, made.Root), "")
	if err != nil || !result.Pass || len(result.Left) > 0 {
		t.Fatalf("%s %v %v", differences(result), result.Left, err)
	}
	f := forger{t, made.Root}
	const name = "review/rounds/1/seed.json"
	seed := runs.Parse(t, f.read(name)).Get("seed").Str()
	if line := string(slices.Concat(f.lines()...)); !strings.Contains(line, `"seed":"`+seed) {
		t.Error("the log does not have the seed")
	}
	f.document(name, func(e *codec.Value) { e.Set("seed", codec.Of(strings.Repeat("07", 16))) })
	if result, err = replay.Run(t.Context(), open(t, made.Root), ""); err != nil || result.Pass {
		t.Errorf("another seed holds: %v", err)
	}
	if !strings.Contains(differences(result), "seed_digest") {
		t.Errorf("another seed makes the same pairs: %s", differences(result))
	}
}

// standsByBoth is what a report says of its sentences when all is well.
const standsByBoth = "stand by rule and second reader"

// TestASealedRunTellsItsStanding: whoever checks a sealed run is told how its sentences
// were checked.
func TestASealedRunTellsItsStanding(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "sent-back")
	key, signers := signing.New(t)
	data := must.Get(replay.Seal(t.Context(), open(t, root), key, program, false))(t)
	out, err := unseal(t, data, signers)
	trust, readErr := sentences.ReadTrust(open(t, root))
	if err != nil || readErr != nil || !out.Pass || out.Trust != trust.Line || !strings.Contains(textOf(out.Report()), standsByBoth) {
		t.Errorf("pass %v, trust %q, %s %v %v", out.Pass, out.Trust, differences(out.Replay), out.Findings, err)
	}
}

// mute is an agent that writes well and does not read.
func mute(task driver.Task) string {
	if task.Kind == "verify" {
		return "no"
	}
	return played.Writer(nil)(task)
}

// TestWhatPeopleDecideAboutSentencesIsReplayed has the rule leave a report with a lie to a
// person, who lets the sentence, or the whole report, stand, or reads it in place of an
// agent. The short form has the last; TestARunGoesOnByLaterRules has the first.
func TestWhatPeopleDecideAboutSentencesIsReplayed(t *testing.T) {
	t.Parallel()
	never := int64(0)
	type decision func(t *testing.T, ctx context.Context, desk run.Desk, manifest string)
	for name, test := range full.Some(map[string]struct {
		agent  func(driver.Task) string
		decide decision
	}{
		"a sentence stands": {played.Liar, func(t *testing.T, ctx context.Context, desk run.Desk, manifest string) {
			claims := must.Get(sentences.ReadClaims(runs.OpenAt(t, desk, manifest)))(t)
			refused := claims.Judge(true).Refused
			must.Get(sentences.AcceptClaim(ctx, desk, sentences.AcceptClaimInput{ManifestPath: manifest, ID: refused[0].ID, Reason: "I was there"}))(t)
		}},
		"the report stands": {played.Liar, func(t *testing.T, ctx context.Context, desk run.Desk, manifest string) {
			must.Get(gates.RecordGate(ctx, desk, gates.GateInput{ManifestPath: manifest, Gate: "E", Accept: true, Reason: "I was there"}))(t)
		}},
		"a person reads": {mute, func(t *testing.T, ctx context.Context, desk run.Desk, manifest string) {
			claims := must.Get(sentences.ReadClaims(runs.OpenAt(t, desk, manifest)))(t)
			board := must.Get(job.OpenBoard(ctx, desk, manifest))(t)
			defer board.Close()
			for _, p := range claims.Parts {
				verdicts := []tidegate.Details{}
				for _, id := range p.Sentences {
					s := claims.Find(id)
					at := slices.IndexFunc(s.Windows, func(w claim.Window) bool { return strings.Contains(w.Text, s.Text) })
					verdicts = append(verdicts, tidegate.Pairs("claim", s.ID, "verdict", "supported", "passage", at+1, "words", s.Text))
				}
				out, err := board.Answer(ctx, sentences.VerifyJob(1, p.Number), []byte(shownLine(t, codec.Of(tidegate.Pairs("verdicts", verdicts)))))
				if err != nil || len(out.Faults) > 0 || out.Accepted != (p.Number == len(claims.Parts)) {
					t.Fatal(out.Faults, err)
				}
			}
		}},
	}, 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
			desk := run.Desk{Pinned: true, Now: func() time.Time { at = at.Add(time.Millisecond); return at }}
			made := runs.CreateAt(t, desk, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "decided", Limits: &run.Limits{MaxVerifyRounds: &never}, Budget: map[string]float64{"tries": 1}})
			ends := func(want run.Status) {
				t.Helper()
				out, err := engine.Drive(t.Context(), made.ManifestPath, played.Options(desk, test.agent))
				if err != nil || out.Status != want {
					t.Fatalf("%s %s %v", out.Status, out.Reason, err)
				}
			}
			ends(run.Failed)
			test.decide(t, tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal, Name: "ada"}), desk, made.ManifestPath)
			ends(run.Completed)
			result, err := replay.Run(t.Context(), open(t, made.Root), "")
			if err != nil || !result.Pass || len(result.Left) > 0 {
				t.Errorf("%s %v %v", differences(result), result.Left, err)
			}
		})
	}
}

// TestASealIsHeldToWhatItStates: its reports say what the run says.
func TestASealIsHeldToWhatItStates(t *testing.T) {
	root := played.Lay(t, t.TempDir(), "second-wave")
	key, signers := signing.New(t)
	reported := must.Get(reporting.ReadReport(t.Context(), open(t, root), false, program))(t)
	trust := reported.Report.Trust
	for name, test := range full.Some(map[string]struct {
		change func([]byte) []byte
		pass   bool
	}{
		"as it was":             {func(data []byte) []byte { return data }, true},
		"without how it stands": {replaced(trust, ""), false},
		"another end":           {func(data []byte) []byte { return append(data, "made otherwise"...) }, false},
		"a changed statement":   {replaced("mooring fees from 140", "mooring fees from 150"), false},
		"nothing":               {func([]byte) []byte { return nil }, false},
		"more before its end": {func(data []byte) []byte {
			return append(data, "\n\nIt is a lie.\n\n## How this report was made\n"...)
		}, false},
	}, 2) {
		data := sealed(t, root, key, program, test.change)
		if out, err := unseal(t, data, signers); err != nil || out.Pass != test.pass {
			t.Errorf("%s: pass %v, %s %v %v", name, out.Pass, differences(out.Replay), out.Replay.Left, err)
		}
	}
}

// TestGroundingAnswersAsTheClaims: the check of a finished report has its sentences as claims.v1
// has them, with windows and verdicts, and a link to each match.
func TestGroundingAnswersAsTheClaims(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "no-second-wave")
	r := open(t, root)
	claims := must.Get(sentences.ReadClaims(r))(t)
	out := must.Get(sentences.Ground(t.Context(), pinned, sentences.GroundInput{ManifestPath: filepath.Join(root, run.ManifestFile)}))(t)
	if diff := cmp.Diff(must.Get(codec.MarshalFile(claims.Sentences))(t), must.Get(codec.MarshalFile(out.Sentences))(t)); diff != "" {
		t.Errorf("the sentences are others (-claims.json +check):\n%s", diff)
	}
	read, linked := 0, 0
	for _, s := range out.Sentences {
		if s.Verdict != nil && len(s.Windows) > 0 {
			read++
		}
	}
	for _, c := range out.Claims {
		for _, m := range c.Numbers {
			if strings.Contains(m.Link, "#:~:text=") {
				linked++
			}
		}
	}
	if read == 0 || linked == 0 {
		t.Errorf("%d sentences have verdicts, %d numbers links", read, linked)
	}
}
