package main

import (
	_ "embed"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// The package tidegate has a launcher and, as optional dependencies, one package
// per platform that holds the program: npm installs the one that fits. This is the
// layout of esbuild's packages; installing it runs and fetches nothing.

//go:embed launcher.js
var launcher []byte

// npmPlatform is what npm calls a platform.
func npmPlatform(t target) (system, cpu string) {
	system, cpu = t.os, t.arch
	if t.os == "windows" {
		system = "win32"
	}
	if t.arch == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}

func npmName(t target) string {
	system, cpu := npmPlatform(t)
	return "@tidegate/" + system + "-" + cpu
}

// manifest is package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	Repository           string            `json:"repository"`
	License              string            `json:"license"`
	Bin                  map[string]string `json:"bin,omitzero"`
	OS                   []string          `json:"os,omitzero"`
	CPU                  []string          `json:"cpu,omitzero"`
	Engines              map[string]string `json:"engines"`
	PreferUnplugged      bool              `json:"preferUnplugged"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitzero"`
	MCPName              string            `json:"mcpName,omitzero"` // by which the MCP registry knows that the package is ours
}

func (r *release) manifest(name string) manifest {
	return manifest{
		Name: name, Version: r.number(), License: "Apache-2.0", Repository: "github:tidegate/tidegate", Description: short,
		Engines: map[string]string{"node": ">=18"}, PreferUnplugged: true,
	}
}

// short describes the program in a line.
const short = "The gate between what an AI agent wrote and everything that trusts it"

// mcpName is the name of the server in server.json.
const mcpName = "io.github.tidegate/tidegate"

func (r *release) npm() error {
	dependencies := map[string]string{}
	for _, t := range all {
		dependencies[npmName(t)] = r.number()
	}
	m := r.manifest("tidegate")
	m.Bin, m.OptionalDependencies, m.MCPName = map[string]string{"tidegate": "bin/tidegate.js"}, dependencies, mcpName
	err := r.npmPackage("tidegate-npm-"+r.number()+".tgz", m, entry{"bin/tidegate.js", launcher, 0o755})
	for _, t := range r.targets {
		if err != nil {
			return err
		}
		system, cpu := npmPlatform(t)
		m := r.manifest(npmName(t))
		m.OS, m.CPU = []string{system}, []string{cpu}
		err = r.npmPackage("tidegate-npm-"+system+"-"+cpu+"-"+r.number()+".tgz", m, entry{"bin/" + t.file(tidegate), r.programs[t], 0o755})
	}
	return err
}

// npmPackage writes a package as `npm pack` does.
func (r *release) npmPackage(file string, m manifest, program entry) error {
	text, err := codec.MarshalFile(m)
	if err != nil {
		return err
	}
	entries := []entry{{"package.json", text, 0o644}, program}
	for _, e := range r.share {
		if e.name == "LICENSE" || e.name == "LICENSES-OF-OTHERS.txt" || e.name == "README.md" {
			entries = append(entries, e)
		}
	}
	for i := range entries {
		entries[i].name = "package/" + entries[i].name
	}
	data, err := tarGz(entries, r.time)
	if err != nil {
		return err
	}
	return r.write(file, data)
}
