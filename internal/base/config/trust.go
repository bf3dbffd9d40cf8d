package config

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// trustFile lists, in the user's folder, the files that a person trusts.
const trustFile = "trusted.json"

const trustVersion = "trusted.v1"

// trusted is the list: files by path, with the digest that they had.
type trusted struct {
	SchemaVersion string        `json:"schema_version"`
	Files         []trustedFile `json:"files"`
}

type trustedFile struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

var trustShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(trustVersion)},
	codec.Field{Name: "files", Shape: codec.List(codec.Table(
		codec.Field{Name: "path", Shape: codec.NotBlank()},
		codec.Field{Name: "digest", Shape: codec.NotBlank()},
	), 0)},
)

// untrusted is what counts of a project's file that nobody has trusted, and the
// keys that do not count.
func untrusted(s Settings, dir string) (Settings, []string) {
	counts := Settings{Formats: s.Formats, Agents: map[string]Agent{}, Review: Review{Ignore: s.Review.Ignore, Guidelines: s.Review.Guidelines}}
	for role, agent := range s.Agents {
		if isNamed(agent.Driver) || agent.Driver == "" { // else the model belongs to a driver that waits
			counts.Agents[role] = Agent{Driver: agent.Driver, Model: agent.Model}
		}
	}
	for _, root := range s.Roots {
		if real, ok := realInside(dir, root); ok {
			counts.Roots = append(counts.Roots, real)
		}
	}
	counted := counts.leaves()
	var waiting []string
	for key, value := range s.leaves() {
		if counted[key] != value {
			waiting = append(waiting, key)
		}
	}
	slices.Sort(waiting)
	return counts, waiting
}

// everybodyWrites reports whether every user of the machine can put a file into a
// folder, as into that of temporary files. It returns false where it cannot find out.
func everybodyWrites(dir string) bool {
	if runtime.GOOS == "windows" { // its folders have no such mode
		return false
	}
	folder, err := artifact.Everywhere.Open("config", dir)
	if err != nil {
		return false
	}
	defer folder.Close()
	info, err := fs.Stat(folder.FS(), ".")
	return err == nil && info.Mode().Perm()&0o002 != 0
}

// realInside is where a folder really is, if that is inside dir. It refuses a link
// that leads out, and a folder that does not exist, because it may become such a link.
func realInside(dir, folder string) (string, bool) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", false
	}
	_, inside := artifact.Inside(dir, real)
	return real, inside
}

// trusts reports whether a person has trusted a file as it is.
func (p Places) trusts(source *Source) (bool, error) {
	if p.User == "" {
		return false, nil
	}
	list, err := readTrusted(p.User)
	if err != nil {
		return false, err
	}
	return slices.Contains(list.Files, trustedFile{source.Path, source.Digest}), nil
}

func readTrusted(user string) (trusted, error) {
	list := trusted{SchemaVersion: trustVersion, Files: []trustedFile{}}
	doc, err := artifact.Everywhere.ReadJSON("trusted", filepath.Join(user, trustFile))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return list, nil
	}
	if err == nil {
		err = trustShape.Check(doc)
	}
	if err != nil {
		return list, err
	}
	for _, file := range doc.Get("files").Elems() {
		list.Files = append(list.Files, trustedFile{file.Get("path").Str(), file.Get("digest").Str()})
	}
	return list, nil
}

// Trust lets everything in a project's file count from now on, as long as it is
// the file that the person has seen: the one that [Load] returned. It keeps the
// digest in the user's folder. It returns INVALID_STATE for an actor that is not a
// person, and where the user's folder is not known, and WRITE_FAILED.
func (p Places) Trust(ctx context.Context, source Source) error {
	if tidegate.ActorOf(ctx).Kind != tidegate.Person {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("config", source.Path), "only a person trusts a configuration, with `tidegate config trust`: %s", source.Path)
	}
	if p.User == "" {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("config", source.Path), "the folder for the user's configuration is not known, so nothing can be trusted")
	}
	list, err := readTrusted(p.User)
	if err != nil {
		return err
	}
	list.Files = slices.DeleteFunc(list.Files, func(file trustedFile) bool { return file.Path == source.Path })
	list.Files = append(list.Files, trustedFile{source.Path, source.Digest})
	slices.SortFunc(list.Files, func(a, b trustedFile) int { return strings.Compare(a.Path, b.Path) })
	data, err := codec.MarshalFile(list)
	if err != nil {
		return err
	}
	return p.Write("trusted", trustFile, data)
}

// Write writes a file into the user's folder, which is made where there is none. It
// returns WRITE_FAILED and READ_FAILED.
func (p Places) Write(arg, name string, data []byte) error {
	folder, err := artifact.Everywhere.Open(arg, p.User)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return artifact.Everywhere.CreateFolder(arg, p.User, func(d *artifact.Draft) error { return d.Write(name, data) })
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Write(name, data)
}

// Add adds tables to the user's own file, and makes the file where there is none. It
// returns the path. It returns INVALID_STATE for an actor that is not a person, and
// where the user's folder is not known, INVALID_ARGS where the file would be wrong
// afterwards, READ_FAILED and WRITE_FAILED. In each case the file is as it was.
func (p Places) Add(ctx context.Context, tables string) (string, error) {
	path := filepath.Join(p.User, FileName)
	if tidegate.ActorOf(ctx).Kind != tidegate.Person || p.User == "" {
		return "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("config", path), "only a person sets up tidegate, in a configuration folder that is known")
	}
	before, err := artifact.Everywhere.ReadFile("config", path)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return "", err
	}
	text := string(before)
	if text != "" {
		text = strings.TrimRight(text, "\n") + "\n\n"
	}
	text += tables
	if _, err := p.parse(path, []byte(text)); err != nil {
		return "", err
	}
	return path, p.Write("config", FileName, []byte(text))
}
