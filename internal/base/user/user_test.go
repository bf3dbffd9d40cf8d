package user_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/test/must"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func person(t *testing.T) context.Context {
	return tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
}

func wantCode(t *testing.T, err error, code tidegate.Code) {
	t.Helper()
	if tidegate.CodeOf(err) != code {
		t.Errorf("%v, want %s", err, code)
	}
}

func TestATokenCountsUntilItEndsOrIsTaken(t *testing.T) {
	now := noon
	list := user.List{Home: filepath.Join(t.TempDir(), "home"), Now: func() time.Time { return now }}
	ada := must.Get(list.Add(person(t), "ada", user.Decide, 2))(t)
	bob := must.Get(list.Add(person(t), "bob@example.org", user.Read, 0))(t)
	kept, err := os.ReadFile(filepath.Join(list.Home, user.File))
	if err != nil || strings.Contains(string(kept), ada) || strings.Contains(string(kept), bob) {
		t.Errorf("the file has a token: %s %v", kept, err)
	}
	if info, err := os.Stat(filepath.Join(list.Home, user.File)); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("others can read the list: %v %v", info.Mode(), err)
	}
	if got, ok, err := list.ByToken(ada); err != nil || !ok || got.Name != "ada" || got.Role != user.Decide {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	for _, wrong := range []string{"", ada + "x", strings.ToLower(ada), "sha256:" + ada} {
		if got, ok, _ := list.ByToken(wrong); ok {
			t.Errorf("%q lets %s in", wrong, got.Name)
		}
	}
	now = noon.AddDate(0, 0, 2)
	if _, ok, _ := list.ByToken(ada); ok {
		t.Error("a token counts after its days")
	}
	if _, ok, _ := list.ByName("ada"); ok {
		t.Error("a name counts after its days")
	}
	if _, ok, _ := list.ByToken(bob); !ok {
		t.Error("a token for good does not count")
	}
	must.Do(t, list.Remove(person(t), "bob@example.org"))
	if _, ok, _ := list.ByToken(bob); ok {
		t.Error("a token counts that was taken")
	}
	wantCode(t, list.Remove(person(t), "bob@example.org"), tidegate.FileNotFound)
	_, err = list.Add(person(t), "ada", user.Work, 0)
	wantCode(t, err, tidegate.AlreadyExistsConflict)
	for _, name := range []string{"", "a b", "x\n", "../x", "<b>", "\u202eada", "\u212aim", "\u0130van", strings.Repeat("x", 65)} {
		_, err := list.Add(person(t), name, user.Read, 0)
		wantCode(t, err, tidegate.InvalidArgs)
	}
	_, err = list.Add(person(t), "eve", "root", 0)
	wantCode(t, err, tidegate.InvalidArgs)
	_, err = list.Add(t.Context(), "eve", user.Read, 0)
	wantCode(t, err, tidegate.NotAPerson)
}

// TestAListThatOthersWrite: nobody on it is let in.
func TestAListThatOthersWrite(t *testing.T) {
	list := user.List{Home: t.TempDir(), Now: func() time.Time { return noon }}
	token := must.Get(list.Add(person(t), "ada", user.Work, 0))(t)
	path := filepath.Join(list.Home, user.File)
	if runtime.GOOS != "windows" {
		must.Do(t, os.Chmod(path, 0o640))
		_, ok, err := list.ByToken(token)
		if wantCode(t, err, tidegate.InvalidState); ok {
			t.Error("a list that others can read lets somebody in")
		}
	}
	for text, code := range map[string]tidegate.Code{"{": tidegate.InvalidJSON, `{"schema_version":"users.v1","users":[{"name":"eve","role":"owner","digest":"x","added_at":"y"}]}`: tidegate.SchemaValidationFailed} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		_ = os.Chmod(path, 0o600)
		_, ok, err := list.ByToken("x")
		if wantCode(t, err, code); ok {
			t.Error("a list that cannot be read lets somebody in")
		}
	}
}

func TestManyAddAtOnce(t *testing.T) {
	list := user.List{Home: t.TempDir(), Now: time.Now}
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if _, err := list.Add(person(t), fmt.Sprint("user", i), user.Read, 0); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if all, err := list.All(); err != nil || len(all) != 20 {
		t.Errorf("%d users, %v", len(all), err)
	}
}

func TestEachRoleMayDoWhatTheOneBeforeMay(t *testing.T) {
	for i, role := range user.Roles {
		for k, what := range user.Roles {
			if role.May(what) != (i >= k) {
				t.Errorf("%s may %s: %v", role, what, role.May(what))
			}
		}
	}
	if user.Role("").May(user.Read) {
		t.Error("nobody may read")
	}
}
