package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// released is the variable that holds the version of a release.
const released = "github.com/tidegate/tidegate/internal/face/cli.Released"

// target is a platform of the release.
type target struct{ os, arch string }

// all are the platforms of a release.
var all = []target{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func find(name string) (target, error) {
	for _, t := range all {
		if t.os+"/"+t.arch == name {
			return t, nil
		}
	}
	return target{}, fmt.Errorf("%s is not a platform of a release", name)
}

// file is the name of the file of a program.
func (t target) file(program string) string {
	if t.os == "windows" {
		return program + ".exe"
	}
	return program
}

// The programs of a release. The worker is a module of its own, in temporal/.
const (
	tidegate = "tidegate"
	worker   = "tidegate-worker"
)

// folderOf is the folder of a program's module.
func folderOf(dir, program string) string {
	if program == worker {
		return filepath.Join(dir, "temporal")
	}
	return dir
}

// release is what is made, and from what.
type release struct {
	version string // with its v
	output  string
	key     string // signs the provenance; "" for none
	targets []target

	commit   string
	time     time.Time         // of the commit; every file has it
	programs map[target][]byte // what was built
	share    []entry           // what every archive has besides the program
	workers  map[target][]byte // what was built of the worker
	beside   []entry           // what its archives have besides it
	modules  []resource        // what the programs were built from
	server   []byte            // server.json of the sources
	made     []made
}

// entry is a file that goes into an archive.
type entry struct {
	name string // with slashes
	data []byte
	mode int64 // 0o644 or 0o755
}

// made is a file of the release.
type made struct {
	name, digest string
	size         int
}

var versionForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// number is the version without its v, as in packages.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// source finds out what is to be built.
func (r *release) source(ctx context.Context, dir string) error {
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("--version must be such as v1.2.3, got %q", r.version)
	}
	out, err := command(ctx, dir, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("git says %q of the last commit", out)
	}
	r.commit, r.time = commit, time.Unix(unix, 0).UTC()
	return nil
}

// build makes the programs, the manual pages and the completion scripts.
func (r *release) build(ctx context.Context, dir string) error {
	temp, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r.programs, r.workers = map[target][]byte{}, map[target][]byte{}
	host := target{runtime.GOOS, runtime.GOARCH}
	for _, t := range r.targets {
		if r.programs[t], err = r.compile(ctx, dir, temp, tidegate, t); err != nil {
			return err
		}
		if r.workers[t], err = r.compile(ctx, dir, temp, worker, t); err != nil {
			return err
		}
	}
	if r.programs[host] == nil {
		if _, err := r.compile(ctx, dir, temp, tidegate, host); err != nil {
			return err
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "docs/machines.md"} {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if name != "docs/machines.md" {
			r.share = append(r.share, entry{name, data, 0o644})
		}
		if name == "docs/machines.md" || name == "LICENSE" {
			r.beside = append(r.beside, entry{path.Base(name), data, 0o644})
		}
	}
	if r.server, err = os.ReadFile(filepath.Join(dir, "server.json")); err != nil {
		return err
	}
	for program, to := range map[string]*[]entry{tidegate: &r.share, worker: &r.beside} {
		others, err := third(ctx, dir, program, r.targets)
		if err != nil {
			return err
		}
		*to = append(*to, entry{"LICENSES-OF-OTHERS.txt", others, 0o644})
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, err := command(ctx, dir, nil, filepath.Join(temp, host.os+"-"+host.arch, host.file(tidegate)), "completion", shell)
		if err != nil {
			return err
		}
		r.share = append(r.share, entry{"completions/tidegate." + shell, script, 0o644})
	}
	pages, err := r.manual(ctx, dir, temp)
	if err != nil {
		return err
	}
	r.share = append(r.share, pages...)
	r.modules, err = r.modulesOf()
	return err
}

// compile builds a program for a platform and returns it.
func (r *release) compile(ctx context.Context, dir, temp, program string, t target) ([]byte, error) {
	file := filepath.Join(temp, t.os+"-"+t.arch, t.file(program))
	env := []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS="}
	_, err := command(ctx, folderOf(dir, program), env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X "+released+"="+r.version, "-o", file, "./cmd/"+program)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// manual makes the manual pages, dated by the commit.
func (r *release) manual(ctx context.Context, dir, temp string) ([]entry, error) {
	folder := filepath.Join(temp, "man")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	env := []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.time.Unix(), 10), "GOFLAGS="}
	if _, err := command(ctx, dir, env, "go", "run", "-tags", "man", "-trimpath", "-buildvcs=false", "-ldflags", "-X "+released+"="+r.version, "./cmd/tidegate", folder); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(folder) // in byte order
	if err != nil {
		return nil, err
	}
	var pages []entry
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			return nil, err
		}
		pages = append(pages, entry{"man/" + file.Name(), data, 0o644})
	}
	if len(pages) == 0 {
		return nil, errors.New("there are no manual pages")
	}
	return pages, nil
}

// pack writes everything that people download, and returns what it wrote.
func (r *release) pack(ctx context.Context) ([]made, error) {
	if err := os.Mkdir(r.output, 0o755); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		r.archives, r.npm, r.debian, r.homebrew, r.image, r.bundles,
		func() error { return r.provenance(ctx) },
		r.checksums,
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.made, nil
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	sum := sha256.Sum256(data)
	r.made = append(r.made, made{name, hex.EncodeToString(sum[:]), len(data)})
	return os.WriteFile(filepath.Join(r.output, name), data, 0o644)
}

// digestOf is the digest of a file that was made, and whether it was made.
func (r *release) digestOf(name string) (string, bool) {
	i := slices.IndexFunc(r.made, func(m made) bool { return m.name == name })
	if i < 0 {
		return "", false
	}
	return r.made[i].digest, true
}

// checksums lists every file in the form that sha256sum --check reads.
func (r *release) checksums() error {
	var out bytes.Buffer
	slices.SortFunc(r.made, func(a, b made) int { return strings.Compare(a.name, b.name) })
	for _, m := range r.made {
		fmt.Fprintf(&out, "%s  %s\n", m.digest, m.name)
	}
	return r.write("checksums.txt", out.Bytes())
}

// command runs a program and returns what it printed.
func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, problems.Bytes())
	}
	return out.Bytes(), nil
}
