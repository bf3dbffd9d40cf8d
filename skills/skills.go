// Package skills holds what teaches agents to use the tools: a SKILL.md for research, one
// for audits and one for reviews. The folder is also the plugin for Claude Code and Codex;
// the manifests are checked against the skills by the tests of this package, which write
// them anew with -update.
package skills

import (
	"embed"
	"io/fs"
	"path"
)

// File is the name of the file of a skill, in a folder of the skill's name.
const File = "SKILL.md"

//go:embed tidegate-*/SKILL.md
var files embed.FS

// All are the skills by their names.
func All() map[string][]byte {
	found, err := fs.Glob(files, "*/"+File)
	if err != nil {
		panic("skills: " + err.Error())
	}
	all := map[string][]byte{}
	for _, name := range found {
		if all[path.Dir(name)], err = files.ReadFile(name); err != nil {
			panic("skills: " + err.Error())
		}
	}
	return all
}
