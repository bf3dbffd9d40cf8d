package step_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/full"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/seal"
	"github.com/tidegate/tidegate/step"
	"golang.org/x/crypto/ssh"
)

// signingKey is a new key, and a list of signers with it.
func signingKey(t *testing.T) (*seal.Key, *seal.Signers) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := seal.OpenKey(t.Context(), "sign", path, seal.Unlock{})
	if err != nil {
		t.Fatal(err)
	}
	sshKey, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	signers, err := seal.ParseSigners([]byte("ada@example.org " + string(ssh.MarshalAuthorizedKey(sshKey))))
	if err != nil {
		t.Fatal(err)
	}
	return key, signers
}

// completed is a run at its end, with its sources archived, its gates C to F
// judged, and a synthesis that quotes a page.
func completed(t *testing.T) run.InitResult {
	t.Helper()
	made, list := summarized(t, run.InitInput{RequireGrounding: true})
	cid, text := sentence(t, list, 0)
	put(t, made.Root, "synthesis/final-synthesis.md", draft(`It says "`+text+`" [@`+cid+`].`))
	for _, id := range []string{"C", "D", "E", "F"} {
		if g := judged(t, made, id); !g.Passed() {
			t.Fatalf("gate %s: %+v", id, g)
		}
	}
	r := open(t, made.ManifestPath)
	_, err := r.Update(t.Context(), pinned, func(u *run.Update) error {
		_, err := u.MoveTo(run.Move{From: run.Init, To: run.Finalize, Status: run.Completed, Reason: "test", InputsDigest: "d", GatesRevision: 5})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func unseal(t *testing.T, data []byte, signers *seal.Signers) (step.Unsealed, error) {
	t.Helper()
	return step.Unseal(t.Context(), step.UnsealInput{Data: data, Signers: signers, At: pinned.Now(), Dir: filepath.Join(t.TempDir(), "run"),
		Follows: func(run.Stage, run.Stage) bool { return true }})
}

// TestSealedRunIsCheckedWithOnlyItsFile: and every byte of it that is changed is
// found; in the short form some of them.
func TestSealedRunIsCheckedWithOnlyItsFile(t *testing.T) {
	made := completed(t)
	key, signers := signingKey(t)
	data, err := step.Seal(t.Context(), pinned, open(t, made.ManifestPath), key, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(made.Root); err != nil {
		t.Fatal(err)
	}
	out, err := unseal(t, data, signers)
	if err != nil || !out.Pass || out.Signer != "ada@example.org" || out.RunID != "r1" {
		t.Fatalf("%+v %v", out, err)
	}
	var done []string
	for _, s := range out.Steps {
		done = append(done, s.What)
	}
	if got := strings.Join(done, " "); got != "citations/citations.jsonl evidence/index.json citations/validated-citations.md gate C gate D gate E gate F report.html report.md" {
		t.Errorf("done again: %s", got)
	}
	for i := 0; i < len(data); i += full.Stride(len(data), 400) {
		changed := append([]byte{}, data...)
		changed[i] ^= 1 << (i % 8)
		if _, err := seal.Open(changed, signers, pinned.Now()); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Fatalf("byte %d of %d changed: %v", i, len(data), err)
		}
	}
	for _, changed := range [][]byte{data[:len(data)-1], append(append([]byte{}, data...), 0), nil} {
		if _, err := unseal(t, changed, signers); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("%d bytes instead of %d: %v", len(changed), len(data), err)
		}
	}
	_, others := signingKey(t)
	_, err = unseal(t, data, others)
	wantCode(t, err, tidegate.Tampered)
}

// TestASealShowsARunThatDoesNotHold: a signer may seal a run whose files were
// forged, together with a log that fits; doing it again shows what does not
// follow.
func TestASealShowsARunThatDoesNotHold(t *testing.T) {
	made := completed(t)
	key, signers := signingKey(t)
	name := filepath.Join(made.Root, "citations/citations.jsonl")
	put(t, made.Root, "citations/citations.jsonl", strings.Replace(read(t, name), `"notes":"`, `"notes":"x`, 1))
	data, err := step.Seal(t.Context(), pinned, open(t, made.ManifestPath), key, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
	out, err := unseal(t, data, signers)
	if err != nil || out.Pass {
		t.Errorf("a forged record holds: %+v %v", out, err)
	}
}

func TestOnlyACompletedRunIsSealed(t *testing.T) {
	made := create(t, run.InitInput{})
	key, _ := signingKey(t)
	_, err := step.Seal(t.Context(), pinned, open(t, made.ManifestPath), key, "tidegate test")
	wantCode(t, err, tidegate.InvalidState)
}

// TestReplayFindsWhatWasChanged in every file that a rule made.
func TestReplayFindsWhatWasChanged(t *testing.T) {
	for _, name := range []string{"citations/citations.jsonl", "evidence/index.json", "citations/validated-citations.md"} {
		made := completed(t)
		before := tree(t, made.Root)
		out, err := step.Replay(t.Context(), open(t, made.ManifestPath))
		if err != nil || !out.Pass {
			t.Fatalf("%+v %v", out, err)
		}
		if after := tree(t, made.Root); len(after) != len(before) || after["logs/audit.jsonl"] != before["logs/audit.jsonl"] {
			t.Error("replay writes into the run")
		}
		text := read(t, filepath.Join(made.Root, name))
		put(t, made.Root, name, text[:len(text)-3]+" "+text[len(text)-3:])
		if out, err = step.Replay(t.Context(), open(t, made.ManifestPath)); err == nil && out.Pass {
			t.Errorf("%s was changed, and replay finds nothing", name)
		}
	}
}

// TestReportOfARun: complete and partial, in every format.
func TestReportOfARun(t *testing.T) {
	made := completed(t)
	r := open(t, made.ManifestPath)
	reported, err := step.ReadReport(t.Context(), r, false, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"markdown": "# What moves the tide?", "html": "<!DOCTYPE html>", "csl-json": `"type": "webpage"`, "bibtex": "@misc{", "ris": "TY  - ELEC",
	} {
		data, err := reported.Export(format)
		if err != nil || !strings.Contains(strings.ToLower(string(data)), strings.ToLower(want)) {
			t.Errorf("%s lacks %q: %v\n%.300s", format, want, err, data)
		}
		again, err := step.ReadReport(t.Context(), open(t, made.ManifestPath), false, "tidegate test")
		if err != nil {
			t.Fatal(err)
		}
		if twice, _ := again.Export(format); string(twice) != string(data) {
			t.Errorf("%s is another one the second time", format)
		}
	}
	if len(reported.Records) != 1 || reported.Report.Parts[0].Claims[0].Quotations[0].Link == "" {
		t.Errorf("%+v", reported.Report.Parts[0].Claims)
	}
	under := citing(t, run.InitInput{}, outputOf(honest(1)...))
	put(t, under.Root, "perspectives.json", perspectivesDoc)
	_, err = step.ReadReport(t.Context(), open(t, under.ManifestPath), false, "tidegate test")
	wantCode(t, err, tidegate.InvalidState)
	partial, err := step.ReadReport(t.Context(), open(t, under.ManifestPath), true, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(partial.Report.Markdown()), "\n")
	if !strings.Contains(strings.ToLower(first), "partial") || len(partial.Report.Parts) != 1 || partial.Report.Parts[0].Title != "T" {
		t.Errorf("%q %+v", first, partial.Report.Parts)
	}
}
