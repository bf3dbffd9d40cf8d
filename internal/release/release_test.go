package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/signing"
)

// script stands in for the program where only the packing is tested.
const script = "#!/bin/sh\necho \"tidegate $*\"\n"

// toy is a release of a small script for all platforms.
func toy(t *testing.T) *release {
	t.Helper()
	server := must.Get(os.ReadFile("../../server.json"))(t)
	r := &release{
		server: server, version: "v1.2.3", output: filepath.Join(t.TempDir(), "dist"), targets: all,
		commit: strings.Repeat("ab", 20), time: time.Unix(1_700_000_000, 0).UTC(), programs: map[target][]byte{}, workers: map[target][]byte{},
		modules: []resource{{"pkg:golang/example.org/m@v1.0.0", map[string]string{"goModuleH1": "h1:x"}}},
		share: []entry{
			{"LICENSE", []byte("free\n"), 0o644}, {"README.md", []byte("# Read\n"), 0o644},
			{"completions/tidegate.bash", []byte("complete\n"), 0o644}, {"completions/tidegate.powershell", []byte("complete\n"), 0o644}, {"man/tidegate.1", []byte(".TH\n"), 0o644},
		},
	}
	for _, each := range all {
		r.programs[each] = []byte(script + "# " + each.os + "/" + each.arch + "\n")
		r.workers[each] = []byte(script + "# worker " + each.os + "/" + each.arch + "\n")
	}
	return r
}

func pack(t *testing.T, r *release) map[string][]byte {
	t.Helper()
	must.Get(r.pack(context.Background()))(t)
	return read(t, r.output)
}

// read is the content of a folder.
func read(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		var data []byte
		if data, err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			break
		}
		files[e.Name()] = data
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// untar is the files and folders in a tar, by name.
func untar(t *testing.T, data []byte) map[string]*tar.Header {
	t.Helper()
	if unpacked, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		if data, err = io.ReadAll(unpacked); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]*tar.Header{}
	for files := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := files.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		text := must.Get(io.ReadAll(files))(t)
		header.PAXRecords = map[string]string{"data": string(text)}
		found[header.Name] = header
	}
}

func TestAReleaseIsWhole(t *testing.T) {
	files := pack(t, toy(t))
	want := []string{
		"checksums.txt", "provenance.intoto.json", "server.json",
		"tidegate-npm-1.2.3.tgz", "tidegate-npm-darwin-arm64-1.2.3.tgz", "tidegate-npm-darwin-x64-1.2.3.tgz", "tidegate-npm-linux-arm64-1.2.3.tgz",
		"tidegate-npm-linux-x64-1.2.3.tgz", "tidegate-npm-win32-arm64-1.2.3.tgz", "tidegate-npm-win32-x64-1.2.3.tgz",
		"tidegate-worker_1.2.3_darwin_amd64.tar.gz", "tidegate-worker_1.2.3_darwin_arm64.tar.gz", "tidegate-worker_1.2.3_linux_amd64.tar.gz",
		"tidegate-worker_1.2.3_linux_arm64.tar.gz", "tidegate-worker_1.2.3_windows_amd64.zip", "tidegate-worker_1.2.3_windows_arm64.zip",
		"tidegate.rb", "tidegate_1.2.3_amd64.deb", "tidegate_1.2.3_arm64.deb",
		"tidegate_1.2.3_darwin_amd64.mcpb", "tidegate_1.2.3_darwin_amd64.tar.gz", "tidegate_1.2.3_darwin_arm64.mcpb", "tidegate_1.2.3_darwin_arm64.tar.gz",
		"tidegate_1.2.3_linux_amd64.mcpb", "tidegate_1.2.3_linux_amd64.tar.gz", "tidegate_1.2.3_linux_arm64.mcpb", "tidegate_1.2.3_linux_arm64.tar.gz",
		"tidegate_1.2.3_oci.tar", "tidegate_1.2.3_windows_amd64.mcpb", "tidegate_1.2.3_windows_amd64.zip", "tidegate_1.2.3_windows_arm64.mcpb", "tidegate_1.2.3_windows_arm64.zip",
	}
	var got []string
	for name := range files {
		got = append(got, name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the files are %q", got)
	}
	sums := ""
	for _, name := range want[1:] {
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(files[name]), name)
	}
	if string(files["checksums.txt"]) != sums {
		t.Errorf("checksums.txt is\n%s", files["checksums.txt"])
	}
}

func TestTheSameBytesTwice(t *testing.T) {
	one, two := pack(t, toy(t)), pack(t, toy(t))
	for name, data := range one {
		if !bytes.Equal(data, two[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestNothingIsWrittenOver(t *testing.T) {
	r := toy(t)
	must.Do(t, os.Mkdir(r.output, 0o700))
	if _, err := r.pack(t.Context()); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
	for _, args := range [][]string{{}, {"--version", "1.2.3"}, {"--version", "v1.2"}, {"--version", "v1.2.3", "--platforms", "plan9/amd64"}} {
		if err := run(t.Context(), append(args, "--output", filepath.Join(t.TempDir(), "x"))); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

func TestArchives(t *testing.T) {
	r := toy(t)
	files := pack(t, r)
	found := untar(t, files["tidegate_1.2.3_darwin_arm64.tar.gz"])
	for name, mode := range map[string]int64{"tidegate": 0o755, "LICENSE": 0o644, "README.md": 0o644, "completions/tidegate.bash": 0o644, "man/tidegate.1": 0o644} {
		h := found[name]
		if h == nil || h.Mode != mode || !h.ModTime.Equal(r.time) || h.Uid != 0 || h.Uname != "" {
			t.Errorf("%s: %+v", name, h)
		}
	}
	if got := found["tidegate"].PAXRecords["data"]; got != script+"# darwin/arm64\n" {
		t.Errorf("the program is %q", got)
	}
	if got := untar(t, files["tidegate-worker_1.2.3_darwin_arm64.tar.gz"])["tidegate-worker"].PAXRecords["data"]; got != script+"# worker darwin/arm64\n" {
		t.Errorf("the worker is %q", got)
	}
	data := files["tidegate_1.2.3_windows_amd64.zip"]
	zipped := must.Get(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	if first := zipped.File[0]; first.Name != "tidegate.exe" || first.Mode() != 0o755 || !first.Modified.Equal(r.time) {
		t.Errorf("the first file is %+v", first.FileHeader)
	}
}

// TestNPMPackages checks the layout of esbuild's packages: the launcher with all
// platforms as optional dependencies of the same version, and nothing that runs at
// installation.
func TestNPMPackages(t *testing.T) {
	files := pack(t, toy(t))
	var m struct {
		Name, Version        string
		OS, CPU              []string
		Bin, Scripts         map[string]string
		OptionalDependencies map[string]string
	}
	about := untar(t, files["tidegate-npm-1.2.3.tgz"])
	must.Do(t, json.Unmarshal([]byte(about["package/package.json"].PAXRecords["data"]), &m))
	if m.Name != "tidegate" || m.Version != "1.2.3" || len(m.OptionalDependencies) != 6 || m.Scripts != nil || about["package/"+m.Bin["tidegate"]] == nil || about["package/LICENSE"] == nil {
		t.Errorf("%+v", m)
	}
	for name, version := range m.OptionalDependencies {
		file := "tidegate-npm-" + strings.TrimPrefix(name, "@tidegate/") + "-" + version + ".tgz"
		inner := untar(t, files[file])
		var p struct {
			Name, Version string
			OS, CPU       []string
		}
		must.Do(t, json.Unmarshal([]byte(inner["package/package.json"].PAXRecords["data"]), &p))
		program := "package/bin/tidegate"
		if p.OS[0] == "win32" {
			program += ".exe"
		}
		if p.Name != name || p.Version != version || name != "@tidegate/"+p.OS[0]+"-"+p.CPU[0] || inner[program] == nil || inner[program].Mode != 0o755 {
			t.Errorf("%s: %+v", file, p)
		}
	}
}

func TestDebianPackage(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("there is no dpkg-deb")
	}
	r := toy(t)
	pack(t, r)
	deb := filepath.Join(r.output, "tidegate_1.2.3_amd64.deb")
	for field, want := range map[string]string{"Package": "tidegate", "Version": "1.2.3", "Architecture": "amd64", "Depends": ""} {
		if got := output(t, exec.Command("dpkg-deb", "--field", deb, field)); strings.TrimSpace(got) != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	dir := t.TempDir()
	output(t, exec.Command("dpkg-deb", "-x", deb, dir))
	for _, name := range []string{"usr/share/man/man1/tidegate.1.gz", "usr/share/bash-completion/completions/tidegate", "usr/share/doc/tidegate/copyright"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if got := output(t, exec.Command(filepath.Join(dir, "usr/bin/tidegate"), "demo")); got != "tidegate demo\n" {
		t.Errorf("it says %q", got)
	}
	if os.Geteuid() == 0 {
		installsAndRemoves(t, deb)
	}
	listed := output(t, exec.Command("dpkg-deb", "--contents", deb))
	if !strings.Contains(listed, "-rwxr-xr-x 0/0 ") || !strings.Contains(listed, "./usr/bin/\n") {
		t.Errorf("it holds\n%s", listed)
	}
}

// installsAndRemoves has dpkg install the package for its own architecture into a
// separate system, verify it, and remove it without a trace.
func installsAndRemoves(t *testing.T, deb string) {
	t.Helper()
	system := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		must.Do(t, os.MkdirAll(filepath.Join(system, "var/lib/dpkg", dir), 0o755))
	}
	must.Do(t, os.WriteFile(filepath.Join(system, "var/lib/dpkg/status"), nil, 0o644))
	dpkg := func(args ...string) string {
		t.Helper()
		return output(t, exec.Command("dpkg", append([]string{"--root=" + system, "--force-architecture", "--log=" + filepath.Join(system, "log")}, args...)...))
	}
	dpkg("--install", deb)
	if shown := dpkg("--verify", "tidegate"); shown != "" {
		t.Errorf("dpkg finds differences:\n%s", shown)
	}
	if _, err := os.Stat(filepath.Join(system, "usr/bin/tidegate")); err != nil {
		t.Error(err)
	}
	dpkg("--purge", "tidegate")
	if _, err := os.Stat(filepath.Join(system, "usr/bin")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

func TestFormulaNamesTheArchives(t *testing.T) {
	files := pack(t, toy(t))
	formula := string(files["tidegate.rb"])
	for _, name := range []string{"tidegate_1.2.3_darwin_amd64.tar.gz", "tidegate_1.2.3_darwin_arm64.tar.gz", "tidegate_1.2.3_linux_amd64.tar.gz", "tidegate_1.2.3_linux_arm64.tar.gz"} {
		want := fmt.Sprintf("/releases/download/v1.2.3/%s\"\n      sha256 \"%x\"\n", name, sha256.Sum256(files[name]))
		if !strings.Contains(formula, want) {
			t.Errorf("the formula does not have %s:\n%s", want, formula)
		}
	}
	if opened, closed := strings.Count(formula, " do\n")+strings.Count(formula, "def ")+strings.Count(formula, "class "), strings.Count(formula, "end\n"); opened != closed {
		t.Errorf("%d blocks are opened, %d closed", opened, closed)
	}
}

// imageFiles reads the image for a platform out of the layout, checking every
// digest and size on the way, and returns its configuration and its files.
func imageFiles(t *testing.T, layout []byte, arch string) (imageConfig, map[string]*tar.Header) {
	t.Helper()
	files := untar(t, layout)
	if files["oci-layout"] == nil {
		t.Fatal("there is no oci-layout")
	}
	get := func(d descriptor, mediaType string, into any) []byte {
		t.Helper()
		blob := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if blob == nil || d.MediaType != mediaType {
			t.Fatalf("%+v is not there, or no %s", d, mediaType)
		}
		data := []byte(blob.PAXRecords["data"])
		if sum := sha256.Sum256(data); len(data) != d.Size || "sha256:"+hex.EncodeToString(sum[:]) != d.Digest {
			t.Errorf("%+v is another blob", d)
		}
		if into != nil {
			must.Do(t, json.Unmarshal(data, into))
		}
		return data
	}
	var top, index imageIndex
	must.Do(t, json.Unmarshal([]byte(files["index.json"].PAXRecords["data"]), &top))
	get(top.Manifests[0], typeIndex, &index)
	for _, d := range index.Manifests {
		if d.Platform.Architecture != arch {
			continue
		}
		var m imageManifest
		var config imageConfig
		get(d, typeManifest, &m)
		get(m.Config, typeConfig, &config)
		layer := get(m.Layers[0], typeLayer, nil)
		unpacked := must.Get(gzip.NewReader(bytes.NewReader(layer)))(t)
		plain := must.Get(io.ReadAll(unpacked))(t)
		if sum := sha256.Sum256(plain); len(m.Layers) != 1 || config.RootFS.DiffIDs[0] != "sha256:"+hex.EncodeToString(sum[:]) || config.Architecture != arch {
			t.Errorf("the configuration is that of another layer: %+v", config.RootFS)
		}
		return config, untar(t, layer)
	}
	t.Fatalf("there is no image for %s", arch)
	return imageConfig{}, nil
}

func TestImage(t *testing.T) {
	r := toy(t)
	files := pack(t, r)
	for _, arch := range []string{"amd64", "arm64"} {
		config, inside := imageFiles(t, files["tidegate_1.2.3_oci.tar"], arch)
		if config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/tidegate" || config.Config.WorkingDir != "/work" || config.Config.Env[0] != "TIDEGATE_HOME=/" {
			t.Errorf("%+v", config.Config)
		}
		if len(inside) != 5 || inside["LICENSE"] == nil || inside["tidegate"].PAXRecords["data"] != script+"# linux/"+arch+"\n" || inside["tidegate"].Mode != 0o755 || inside["tmp/"].Mode != 0o1777 || inside["work/"].Uid != nobody {
			t.Errorf("%s: %v", arch, inside)
		}
	}
	dir := t.TempDir()
	image := filepath.Join(r.output, "tidegate_1.2.3_oci.tar")
	if _, err := exec.LookPath("skopeo"); err != nil {
		t.Log("there is no skopeo: no other reader has seen the image")
		return
	}
	output(t, exec.Command("skopeo", "copy", "--all", "--insecure-policy", "oci-archive:"+image+":1.2.3", "dir:"+dir))
	if shown := output(t, exec.Command("skopeo", "inspect", "--override-arch", "arm64", "--override-os", "linux", "oci-archive:"+image+":1.2.3")); !strings.Contains(shown, `"Architecture": "arm64"`) {
		t.Errorf("skopeo shows %s", shown)
	}
}

// TestProvenance reads the statement unsigned, and reads the signed one with a DSSE
// reader that is not ours.
func TestProvenance(t *testing.T) {
	r := toy(t)
	files := pack(t, r)
	check := func(text []byte) {
		t.Helper()
		var s struct {
			Type          string `json:"_type"`
			PredicateType string
			Subject       []struct {
				Name   string
				Digest map[string]string
			}
			Predicate provenance
		}
		must.Do(t, json.Unmarshal(text, &s))
		if s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://slsa.dev/provenance/v1" || len(s.Subject) != len(files)-2 {
			t.Errorf("%+v", s)
		}
		for _, each := range s.Subject {
			if each.Digest["sha256"] != fmt.Sprintf("%x", sha256.Sum256(files[each.Name])) {
				t.Errorf("%s has another digest", each.Name)
			}
		}
		if from := s.Predicate.BuildDefinition.ResolvedDependencies; len(from) != 2 || from[0].Digest["gitCommit"] != r.commit {
			t.Errorf("it was built from %+v", from)
		}
	}
	check(files["provenance.intoto.json"])

	signed := toy(t)
	key, verifier := signing.PKCS8(t)
	signed.key = key
	var envelope dsse.Envelope
	must.Do(t, json.Unmarshal(pack(t, signed)["provenance.dsse.json"], &envelope))
	must.Get(verifier.Verify(t.Context(), &envelope))(t)
	payload := must.Get(envelope.DecodeB64Payload())(t)
	check(payload)
}

func output(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", command.Args, err, out, problems.Bytes())
	}
	return string(out)
}

// TestOfThisMachine builds the real program for this machine and runs it from each
// thing that people can install here.
func TestOfThisMachine(t *testing.T) {
	if !full.Asked() {
		t.Skip("it builds the program; -full does it")
	}
	start := time.Now()
	dist := filepath.Join(t.TempDir(), "dist")
	t.Chdir(filepath.Join("..", ".."))
	must.Do(t, run(t.Context(), []string{"--version", "v0.1.0-dry", "--platforms", "host", "--output", dist}))
	t.Logf("made in %v", time.Since(start).Round(time.Second))
	// demo runs the demo in an empty folder and home.
	demo := func(t *testing.T, command ...string) {
		t.Helper()
		home := t.TempDir()
		for _, run := range []struct{ arg, want string }{{"version", "tidegate v0.1.0-dry\n"}, {"demo", ""}} {
			cmd := exec.Command(command[0], append(command[1:], run.arg)...)
			cmd.Dir = home
			cmd.Env = append(os.Environ(), "HOME="+home, "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+home)
			if got := output(t, cmd); run.want != "" && got != run.want || len(got) < 10 {
				t.Errorf("%v says %q", cmd.Args, got)
			}
		}
	}
	host := target{runtime.GOOS, runtime.GOARCH}
	t.Run("archive", func(t *testing.T) {
		dir := t.TempDir()
		output(t, exec.Command("tar", "-xzf", filepath.Join(dist, "tidegate_0.1.0-dry_"+host.os+"_"+host.arch+".tar.gz"), "-C", dir))
		for _, name := range []string{"man/tidegate.1", "man/tidegate-wave-review.1", "completions/tidegate.zsh"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		demo(t, filepath.Join(dir, "tidegate"))
	})
	t.Run("worker", func(t *testing.T) {
		dir := t.TempDir()
		output(t, exec.Command("tar", "-xzf", filepath.Join(dist, "tidegate-worker_0.1.0-dry_"+host.os+"_"+host.arch+".tar.gz"), "-C", dir))
		program := filepath.Join(dir, "tidegate-worker")
		if got := output(t, exec.Command(program, "version")); got != "tidegate-worker v0.1.0-dry\n" {
			t.Errorf("it says %q", got)
		}
		info := must.Get(os.Stat(program))(t)
		t.Logf("tidegate-worker has %d MB", info.Size()>>20)
		if info.Size() > 80<<20 {
			t.Errorf("tidegate-worker has %d MB: is the server in it?", info.Size()>>20)
		}
	})
	t.Run("npm", func(t *testing.T) {
		if _, err := exec.LookPath("npm"); err != nil {
			t.Skip("there is no npm")
		}
		dir := t.TempDir()
		system, cpu := npmPlatform(host)
		install := exec.Command("npm", "install", "--offline", "--no-audit", "--no-fund", "--no-update-notifier",
			filepath.Join(dist, "tidegate-npm-0.1.0-dry.tgz"), filepath.Join(dist, "tidegate-npm-"+system+"-"+cpu+"-0.1.0-dry.tgz"))
		install.Dir = dir
		install.Env = append(os.Environ(), "npm_config_cache="+t.TempDir())
		output(t, install)
		demo(t, "npx", "--offline", "--no", "--prefix", dir, "tidegate")
	})
	t.Run("debian", func(t *testing.T) {
		if _, err := exec.LookPath("dpkg-deb"); err != nil || host.os != "linux" {
			t.Skip("there is no dpkg-deb")
		}
		dir := t.TempDir()
		output(t, exec.Command("dpkg-deb", "-x", filepath.Join(dist, "tidegate_0.1.0-dry_"+host.arch+".deb"), dir))
		demo(t, filepath.Join(dir, "usr", "bin", "tidegate"))
	})
	t.Run("image", func(t *testing.T) {
		if host.os != "linux" {
			t.Skip("the image is for Linux")
		}
		_, inside := imageFiles(t, read(t, dist)["tidegate_0.1.0-dry_oci.tar"], host.arch)
		root := t.TempDir()
		program := filepath.Join(root, "tidegate")
		must.Do(t, os.WriteFile(program, []byte(inside["tidegate"].PAXRecords["data"]), 0o755))
		if os.Geteuid() != 0 {
			demo(t, program)
			return
		}
		// The file system of the image and nothing else.
		for _, dir := range []string{"work", "runs", "tmp"} {
			must.Do(t, os.Mkdir(filepath.Join(root, dir), 0o777))
			must.Do(t, os.Chmod(filepath.Join(root, dir), 0o777))
		}
		must.Do(t, os.Chmod(root, 0o755))
		cmd := exec.Command("chroot", "--userspec=65532:65532", root, "/tidegate", "demo")
		cmd.Env = []string{"TIDEGATE_HOME=/"}
		output(t, cmd)
	})
}

// TestOfEveryPlatform makes the whole release, twice, and compares.
func TestOfEveryPlatform(t *testing.T) {
	if !full.Asked() {
		t.Skip("it builds the program six times; -full does it")
	}
	t.Chdir(filepath.Join("..", ".."))
	var made [2]map[string][]byte
	for i := range made {
		dist := filepath.Join(t.TempDir(), "dist")
		must.Do(t, run(t.Context(), []string{"--version", "v0.1.0", "--output", dist}))
		made[i] = read(t, dist)
	}
	if len(made[0]) != 25 {
		t.Errorf("there are %d files", len(made[0]))
	}
	for name, data := range made[0] {
		if !bytes.Equal(data, made[1][name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestLicencesOfOthers reads the licence of every module that the program is built
// from, and refuses an unknown one.
func TestLicencesOfOthers(t *testing.T) {
	t.Parallel()
	text := must.Get(third(t.Context(), filepath.Join("..", ".."), tidegate, []target{{"linux", "amd64"}, {"windows", "arm64"}}))(t)
	for _, want := range []string{"github.com/spf13/cobra v", "golang.org/x/sys v", ": Apache-2.0\n", ": MIT\n", "the Go standard library and runtime go1"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not there", want)
		}
	}
	if full.Asked() { // it needs the modules of temporal/
		if text, err := third(t.Context(), filepath.Join("..", ".."), worker, all); err != nil || !strings.Contains(string(text), "go.temporal.io/sdk v") {
			t.Errorf("the worker: %v", err)
		}
	}
	dir := t.TempDir()
	m := module{Path: "example.org/m", Version: "v1.0.0", Dir: dir}
	if _, _, err := m.licence(); err == nil || !strings.Contains(err.Error(), "example.org/m v1.0.0 has no licence") {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{"GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3", "All rights reserved."} {
		must.Do(t, os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(text), 0o600))
		if _, _, err := m.licence(); err == nil || !strings.Contains(err.Error(), "that nobody decided on") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLicencesOfTestsToo reads the licences of what the module asks for, tests included, and
// in full of all that this asks for in turn.
func TestLicencesOfTestsToo(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}} {{.Version}} {{.Dir}}{{end}}", "all")
	if full.Asked() {
		list = exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "./...")
	}
	list.Dir = filepath.Join("..", "..")
	read := map[string]bool{}
	for line := range strings.Lines(output(t, list)) {
		words := strings.Fields(line)
		if len(words) != 3 || read[words[0]] {
			continue
		}
		read[words[0]] = true
		if _, _, err := (module{Path: words[0], Version: words[1], Dir: words[2]}).licence(); err != nil {
			t.Error(err)
		}
	}
	if len(read) < 20 {
		t.Errorf("only %d modules were read", len(read))
	}
}
