package main

import (
	"encoding/json"
	"fmt"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// object is a JSON object whose keys are in byte order.
type object = map[string]any

// bundleName is the name of the .mcpb bundle for a platform.
func (r *release) bundleName(t target) string {
	return tidegate + "_" + r.number() + "_" + t.os + "_" + t.arch + ".mcpb"
}

// bundles writes an .mcpb bundle per platform: the program, and the manifest by which a
// client that opens the bundle starts it, confined to the folder that its person chooses.
func (r *release) bundles() error {
	for _, t := range r.targets {
		system, _ := npmPlatform(t)
		program := "server/" + t.file(tidegate)
		manifest, err := codec.MarshalFile(object{
			"manifest_version": "0.3", "name": tidegate, "display_name": tidegate, "version": r.number(), "description": short,
			"author": object{"name": tidegate}, "license": "Apache-2.0", "repository": object{"type": "git", "url": "https://github.com/tidegate/tidegate"},
			"compatibility": object{"platforms": []string{system}}, "tools_generated": true, "prompts_generated": true,
			"server": object{"type": "binary", "entry_point": program, "mcp_config": object{
				"command": "${__dirname}/" + program, "args": []string{"mcp", "--alone", "--root", "${user_config.folder}", "--project", "${user_config.folder}"},
				"env": object{"TIDEGATE_HOME": "${user_config.folder}/.tidegate"},
			}},
			"user_config": object{"folder": object{"type": "directory", "title": "Folder", "description": "The folder that agents may touch; runs are kept in it, too.", "required": true}},
		})
		if err != nil {
			return err
		}
		entries := []entry{{"manifest.json", manifest, 0o644}, {program, r.programs[t], 0o755}}
		for _, e := range r.share {
			if e.name == "LICENSE" || e.name == "LICENSES-OF-OTHERS.txt" {
				entries = append(entries, e)
			}
		}
		data, err := zipped(entries, r.time)
		if err != nil {
			return err
		}
		if err := r.write(r.bundleName(t), data); err != nil {
			return err
		}
	}
	return r.registered()
}

// registered writes server.json for the MCP registry: that of the sources with this version,
// and with the bundles by their digests.
func (r *release) registered() error {
	var server object
	if err := json.Unmarshal(r.server, &server); err != nil {
		return fmt.Errorf("server.json: %w", err)
	}
	packages := server["packages"].([]any) // the tests of package skills hold its form
	server["version"] = r.number()
	for _, p := range packages {
		p.(object)["version"] = r.number()
	}
	for _, t := range r.targets {
		digest, _ := r.digestOf(r.bundleName(t))
		packages = append(packages, object{
			"registryType": "mcpb", "identifier": "https://github.com/tidegate/tidegate/releases/download/" + r.version + "/" + r.bundleName(t), "version": r.number(),
			"fileSha256": digest, "transport": object{"type": "stdio"},
		})
	}
	server["packages"] = packages
	data, err := codec.MarshalFile(server)
	if err != nil {
		return err
	}
	return r.write("server.json", data)
}
