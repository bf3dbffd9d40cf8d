package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestTheRegistryLearnsOfEveryBundle compares server.json with what the release has.
func TestTheRegistryLearnsOfEveryBundle(t *testing.T) {
	r := toy(t)
	files := pack(t, r)
	var server struct {
		Name, Version string
		Packages      []struct{ RegistryType, Identifier, Version, FileSha256 string }
	}
	must.Do(t, json.Unmarshal(files["server.json"], &server))
	if server.Name != mcpName || server.Version != "1.2.3" || len(server.Packages) != 1+len(all) {
		t.Errorf("%+v", server)
	}
	for _, p := range server.Packages {
		name := p.Identifier[strings.LastIndexByte(p.Identifier, '/')+1:]
		digest, made := r.digestOf(name)
		if p.Version != "1.2.3" || p.RegistryType == "mcpb" && (!made || digest != p.FileSha256) {
			t.Errorf("%+v, and the release has %s", p, digest)
		}
	}
}

// TestBundlesAreReadByTheirMakers has the programs of the format's makers validate and unpack
// a bundle, and starts what is in it.
func TestBundlesAreReadByTheirMakers(t *testing.T) {
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to install @anthropic-ai/mcpb from npm and test with it")
	}
	cache := must.Get(os.UserCacheDir())(t)
	folder := filepath.Join(cache, "tidegate-mcpb", "2.1.2")
	mcpb := filepath.Join(folder, "node_modules", ".bin", "mcpb")
	if _, err := os.Stat(mcpb); err != nil {
		if out, err := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", folder, "@anthropic-ai/mcpb@2.1.2").CombinedOutput(); err != nil {
			t.Skipf("mcpb cannot be installed from npm: %v: %s", err, out)
		}
	}
	r := toy(t)
	pack(t, r)
	bundle := filepath.Join(r.output, r.bundleName(target{runtime.GOOS, runtime.GOARCH}))
	unpacked := filepath.Join(t.TempDir(), "unpacked")
	for _, args := range [][]string{{"unpack", bundle, unpacked}, {"validate", filepath.Join(unpacked, "manifest.json")}, {"info", bundle}} {
		if out, err := exec.Command(mcpb, args...).CombinedOutput(); err != nil {
			t.Fatalf("mcpb %v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command(filepath.Join(unpacked, "server", "tidegate"), "mcp").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "tidegate mcp") {
		t.Errorf("what was unpacked does not start: %v, %s", err, out)
	}
}

// registry is the MCP registry's own program, whose module has the schemas of server.json.
const registry = "github.com/modelcontextprotocol/registry@v1.8.7"

// TestTheRegistryTakesTheServer holds server.json against the registry's own schema.
func TestTheRegistryTakesTheServer(t *testing.T) {
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to load the registry's module and test with its schema")
	}
	out, err := exec.Command("go", "mod", "download", "-json", registry).Output()
	if err != nil {
		t.Skipf("the registry's module cannot be had: %v", err)
	}
	var module struct{ Dir string }
	must.Do(t, json.Unmarshal(out, &module))
	schema := must.Get(jsonschema.NewCompiler().Compile(filepath.Join(module.Dir, "internal", "validators", "schemas", "2025-12-11.json")))(t)
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(pack(t, toy(t))["server.json"])))(t)
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
	document.(map[string]any)["description"] = strings.Repeat("too long ", 20)
	if schema.Validate(document) == nil {
		t.Error("the registry's schema takes anything")
	}
}
