package main

import (
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/guard"
)

// tokenFile keeps, in the home, the token that lets people see the pages, so that open
// tabs go on after a restart.
const tokenFile = "serve.json"

// tokenLife is how long a token is used.
const tokenLife = 30 * 24 * time.Hour

var tokenShape = codec.Table(
	codec.Field{Name: "token", Shape: codec.NotBlank()},
	codec.Field{Name: "made_at", Shape: codec.NotBlank()},
)

// pageToken is the token of the home, or another one where it has none that is of use,
// or another is asked for. A token that cannot be kept is returned with the error:
// WRITE_FAILED.
func pageToken(env *catalog.Env, another bool) (string, error) {
	path := filepath.Join(filepath.Dir(env.Home), tokenFile)
	if token, ok := keptToken(path, env.Now()); ok && !another {
		return token, nil
	}
	token := guard.NewToken()
	data, err := codec.MarshalFile(tidegate.Pairs("token", token, "made_at", env.Now().UTC().Format(time.RFC3339)))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return token, tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("path", path), "the token cannot be kept: %w", err)
	}
	_ = os.Remove(path) // one that others may read would stay readable
	return token, artifact.Everywhere.WriteFile("token", path, data)
}

// keptToken is the token that a file keeps, unless it is old or others than its owner
// may read it.
func keptToken(path string, now time.Time) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", false
	}
	doc, err := artifact.Everywhere.ReadJSON("token", path)
	if err != nil || tokenShape.Check(doc) != nil {
		return "", false
	}
	made, ok := tidegate.ParseTime(doc.Get("made_at").Str())
	return doc.Get("token").Str(), ok && !now.Before(made) && now.Sub(made) < tokenLife
}
