package replay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/test/signing"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestOthersVerifyStatements: a verifier that somebody else wrote takes the statement of
// every gate and of the whole run, which name the files by their digests.
func TestOthersVerifyStatements(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "second-wave")
	path, verifier := signing.PKCS8(t)
	key := must.Get(seal.OpenKey(artifact.Everywhere, "sign", path, seal.Unlock{}))(t)
	sealed, data := must.Both(replay.SealAndState(t.Context(), open(t, root), key, program, false))(t)
	alone, err := replay.Seal(t.Context(), open(t, root), key, program, false)
	if err != nil || !bytes.Equal(sealed, alone) {
		t.Errorf("the seal beside statements is another one: %v", err)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(lines) != len(run.GateTable)+1 {
		t.Fatalf("%d statements", len(lines))
	}
	for i, line := range lines {
		var envelope dsse.Envelope
		must.Do(t, json.Unmarshal(line, &envelope))
		if _, err := verifier.Verify(t.Context(), &envelope); err != nil {
			t.Errorf("statement %d: %v", i, err)
		}
		payload := must.Get(envelope.DecodeB64Payload())(t)
		var s struct {
			Type    string `json:"_type"`
			Subject []struct {
				Name   string
				Digest map[string]string
			}
			PredicateType string
			Predicate     struct {
				Gate, Status string
				RunID        string `json:"run_id"`
				PassedBy     string `json:"passed_by"`
			}
		}
		must.Do(t, json.Unmarshal(payload, &s))
		if s.Type != "https://in-toto.io/Statement/v1" || len(s.Subject) == 0 || s.Predicate.RunID != "second-wave" {
			t.Errorf("statement %d is %s", i, payload)
		}
		for _, sub := range s.Subject {
			file := must.Read(t, filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(sub.Name, "run/"))))
			if "sha256:"+sub.Digest["sha256"] != codec.DigestBytes([]byte(file)) {
				t.Errorf("statement %d: %s has another digest", i, sub.Name)
			}
		}
		switch {
		case i == len(run.GateTable):
			if s.PredicateType != seal.PredicateType {
				t.Errorf("the last statement is about %s", s.PredicateType)
			}
		case s.PredicateType != replay.GateType || s.Predicate.Gate != run.GateTable[i].ID || s.Predicate.Status != "pass" || s.Predicate.PassedBy != "judge":
			t.Errorf("statement %d is %s", i, payload)
		}
		envelope.Payload = strings.Replace(envelope.Payload, "e", "f", 1)
		if _, err := verifier.Verify(t.Context(), &envelope); err == nil {
			t.Errorf("statement %d may be changed", i)
		}
	}
	_, _, err = replay.SealAndState(t.Context(), open(t, played.Lay(t, t.TempDir(), "needs-a-person")), key, program, false)
	runs.WantCode(t, err, tidegate.InvalidState)
}

// TestNothingIsStatedAboutAForgedRun: gates that somebody wrote by hand are not stated, be
// it that they say what they judged or not; the short form has those that do not.
func TestNothingIsStatedAboutAForgedRun(t *testing.T) {
	t.Parallel()
	for name, forge := range full.Some(map[string]func(gates string) string{
		"bound to nothing": func(gates string) string { return strings.ReplaceAll(gates, `"bound"`, `"found"`) },
		"said to be checked at another time": func(gates string) string {
			return regexp.MustCompile(`"checked_at": "\d+`).ReplaceAllString(gates, `"checked_at": "1999`)
		},
	}, 1) {
		root := played.Lay(t, t.TempDir(), "second-wave")
		path := filepath.Join(root, "gates.json")
		kept := must.Read(t, path)
		forged := forge(kept)
		if forged == kept {
			t.Fatalf("gates that are %s: nothing was forged", name)
		}
		must.Do(t, os.WriteFile(path, []byte(forged), 0o600))
		_, _, err := replay.SealAndState(t.Context(), open(t, root), nil, program, false)
		if runs.WantCode(t, err, tidegate.Tampered); t.Failed() {
			t.Fatalf("gates that are %s are stated", name)
		}
	}
}
