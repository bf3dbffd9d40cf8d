package change

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/repo"
	"github.com/tidegate/tidegate/review"
)

// TestDismissalsArePersonal: only a person dismisses, with a reason, and where
// decisions are signed only what is signed counts.
func TestDismissalsArePersonal(t *testing.T) {
	dir := repo.New(t)
	issue := []review.Dismissal{{ID: "abc", Title: "Slow", File: "main.go"}}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	for _, tt := range []struct {
		ctx    context.Context
		reason string
		want   tidegate.Code
	}{
		{tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Agent}), "it is fast", tidegate.GateBlocked},
		{person, " ", tidegate.InvalidArgs},
		{person, "it is fast", ""},
		{person, "it runs once", ""},
	} {
		if _, err := Dismiss(tt.ctx, always, dir, issue, tt.reason); (err == nil) != (tt.want == "") || err != nil && tidegate.CodeOf(err) != tt.want {
			t.Errorf("%q: %v, want %s", tt.reason, err, tt.want)
		}
	}
	reasons := func(commit string) string {
		t.Helper()
		list := must.Get(Dismissed(t.Context(), always, dir, commit))(t)
		var said []string
		for _, d := range list {
			said = append(said, d.ID+": "+d.Reason)
		}
		return strings.Join(said, ", ")
	}
	if got := reasons(""); got != "abc: it runs once" {
		t.Errorf("dismissed are %q", got)
	}
	if got := reasons("HEAD"); got != "" {
		t.Errorf("dismissed at the base are %q", got)
	}
	repo.Commit(t, dir)
	if got := reasons("HEAD"); got != "abc: it runs once" {
		t.Errorf("dismissed at the base are %q", got)
	}
	repo.Write(t, dir, "agentd/dismissed.json", `{"dismissed":7}`)
	if _, err := Dismissed(t.Context(), always, dir, ""); tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
		t.Errorf("another document: %v", err)
	}
}

// TestDismissalsAreSigned: with signers beside the changes an unsigned dismissal does
// not count, and none is made without a key.
func TestDismissalsAreSigned(t *testing.T) {
	dir := repo.New(t)
	issue := []review.Dismissal{{ID: "abc", Title: "Slow"}}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(Dismiss(person, always, dir, issue, "unsigned"))(t)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	must.Do(t, err)
	path := filepath.Join(t.TempDir(), "key")
	must.Do(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	key, err := seal.OpenKey(artifact.Everywhere, "sign", path, seal.Unlock{})
	must.Do(t, err)
	listed, err := ssh.NewPublicKey(public)
	must.Do(t, err)
	repo.Write(t, dir, "agentd/allowed_signers", "ada@example.org "+string(ssh.MarshalAuthorizedKey(listed)))
	if list, err := Dismissed(t.Context(), always, dir, ""); err != nil || len(list) != 0 {
		t.Errorf("an unsigned dismissal counts: %+v, %v", list, err)
	}
	if _, err := Dismiss(person, always, dir, issue, "no key"); tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Errorf("without a key: %v, want INVALID_ARGS", err)
	}
	desk := always
	desk.Sign = key.Sign
	must.Get(Dismiss(person, desk, dir, issue, "signed"))(t)
	if list, err := Dismissed(t.Context(), always, dir, ""); err != nil || len(list) != 1 || list[0].Reason != "signed" {
		t.Errorf("dismissed are %+v, %v", list, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "agentd/dismissed.json"))
	must.Do(t, err)
	repo.Write(t, dir, "agentd/dismissed.json", strings.Replace(string(text), `"signed"`, `"forged"`, 1))
	if list, err := Dismissed(t.Context(), always, dir, ""); err != nil || len(list) != 0 {
		t.Errorf("a dismissal with another reason counts: %+v, %v", list, err)
	}
}
