// Package user keeps the list of people that a server lets in beside whoever started it:
// their names, what they may do, and the digests of their tokens. One list serves the
// pages, the HTTP API and MCP over HTTP; what a face makes of a role is its own business.
package user

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Role is what a user may do. Each role may do what the one before it may.
type Role string

// The roles.
const (
	Read   Role = "read"   // look at everything
	Decide Role = "decide" // take a person's decisions
	Work   Role = "work"   // start work that costs money
)

// Roles are all roles, the one that may do the least first.
var Roles = []Role{Read, Decide, Work}

// May reports whether a role may do what another one may.
func (r Role) May(what Role) bool { return slices.Index(Roles, r) >= slices.Index(Roles, what) }

// User is somebody on the list.
type User struct {
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Digest  string `json:"digest"` // of the token
	AddedAt string `json:"added_at"`
	Until   string `json:"until,omitzero"` // when the token ends, "" for never
}

// List is the file with the list, in a home. The zero List has nobody on it.
type List struct {
	Home string
	Now  func() time.Time
}

// File is the name of the list in a home.
const File = "users.json"

const schema = "users.v1"

type document struct {
	SchemaVersion string `json:"schema_version"`
	Users         []User `json:"users"`
}

var shape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.OneOf(schema)},
	codec.Field{Name: "users", Shape: codec.List(codec.Table(
		codec.Field{Name: "name", Shape: codec.NotBlank()},
		codec.Field{Name: "role", Shape: codec.OneOf(string(Read), string(Decide), string(Work))},
		codec.Field{Name: "digest", Shape: codec.NotBlank()},
		codec.Field{Name: "added_at", Shape: codec.NotBlank()},
		codec.Field{Name: "until", Shape: codec.NotBlank(), Optional: true},
	), 0)},
)

// All are the users in order of their names. It returns READ_FAILED, INVALID_JSON and
// SCHEMA_VALIDATION_FAILED, and INVALID_STATE for a list that others than its owner can
// read or write.
func (l List) All() ([]User, error) {
	if l.Home == "" {
		return nil, nil
	}
	path := filepath.Join(l.Home, File)
	file, err := artifact.Everywhere.OpenFile("users", path)
	if err != nil {
		return nil, artifact.UnlessMissing(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", path), "the list of users cannot be read: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode()&(fs.ModeType|0o077) != 0 {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", path), "only you may read and write the list of users: chmod 600 %s", path)
	}
	doc, err := artifact.Everywhere.ReadJSON("users", path)
	if err == nil {
		err = shape.Check(doc)
	}
	if err != nil {
		return nil, err
	}
	var users []User
	for _, u := range doc.Get("users").Elems() {
		users = append(users, User{u.Get("name").Str(), Role(u.Get("role").Str()), u.Get("digest").Str(), u.Get("added_at").Str(), u.Get("until").Str()})
	}
	return users, nil
}

// ByToken is the user whose token it is. How long it takes says nothing about a token. A
// list that cannot be read lets nobody in, and is an error as in [List.All].
func (l List) ByToken(token string) (found User, ok bool, err error) {
	users, err := l.All()
	got := []byte(codec.DigestBytes([]byte(token)))
	for _, u := range users {
		if subtle.ConstantTimeCompare(got, []byte(u.Digest)) == 1 && token != "" && l.current(u) {
			found, ok = u, true
		}
	}
	return found, ok, err
}

// ByName is the user of that name, where somebody else has made sure who it is.
func (l List) ByName(name string) (User, bool, error) {
	users, err := l.All()
	i := slices.IndexFunc(users, func(u User) bool { return u.Name == name && l.current(u) })
	if i < 0 {
		return User{}, false, err
	}
	return users[i], true, err
}

func (l List) current(u User) bool {
	until, ok := tidegate.ParseTime(u.Until)
	return u.Until == "" || ok && l.Now().Before(until)
}

// Add puts somebody on the list, for a number of days or, with 0, for good, and returns
// the token, which is kept nowhere. It returns INVALID_ARGS, ALREADY_EXISTS_CONFLICT,
// NOT_A_PERSON, the errors of [List.All], LOCK_HELD and WRITE_FAILED.
func (l List) Add(ctx context.Context, name string, role Role, days int) (token string, err error) {
	if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@+") != "" {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("NAME", tidegate.Cut(name)), "a name has letters, digits and ._-@+, 64 at most, got %q", tidegate.Cut(name))
	}
	if !slices.Contains(Roles, role) || days < 0 || days > 36500 {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("role", role, "days", days), "--role must be read, decide or work, and --days a number from 0 to 36500")
	}
	token = rand.Text()
	now := l.Now()
	added := User{Name: name, Role: role, Digest: codec.DigestBytes([]byte(token)), AddedAt: tidegate.Stamp(now)}
	if days > 0 {
		added.Until = tidegate.Stamp(now.AddDate(0, 0, days))
	}
	return token, l.change(ctx, func(users []User) ([]User, error) {
		if slices.ContainsFunc(users, func(u User) bool { return u.Name == name }) {
			return nil, tidegate.Errorf(tidegate.AlreadyExistsConflict, tidegate.Pairs("NAME", name), "there is a user %s already: remove them first", name)
		}
		return append(users, added), nil
	})
}

// Remove takes somebody off the list. It returns NOT_FOUND, and the errors of [List.Add].
func (l List) Remove(ctx context.Context, name string) error {
	return l.change(ctx, func(users []User) ([]User, error) {
		left := slices.DeleteFunc(slices.Clone(users), func(u User) bool { return u.Name == name })
		if len(left) == len(users) {
			return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("NAME", tidegate.Cut(name)), "there is no user %q; `tidegate serve user list` shows all", tidegate.Cut(name))
		}
		return left, nil
	})
}

func (l List) change(ctx context.Context, do func([]User) ([]User, error)) error {
	if tidegate.ActorOf(ctx).Kind != tidegate.Person {
		return tidegate.Errorf(tidegate.NotAPerson, nil, "only a person says who is let in")
	}
	folder, err := artifact.Everywhere.Open("users", l.Home)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		if err = artifact.Everywhere.CreateFolder("users", l.Home, func(*artifact.Draft) error { return nil }); err == nil {
			folder, err = artifact.Everywhere.Open("users", l.Home)
		}
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	lock, err := folder.Lock(ctx, l.Now)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	users, err := l.All()
	if err == nil {
		users, err = do(users)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(users, func(a, b User) int { return strings.Compare(a.Name, b.Name) })
	data, err := codec.MarshalFile(document{schema, append([]User{}, users...)})
	if err != nil {
		return err
	}
	return folder.Write(File, data)
}
