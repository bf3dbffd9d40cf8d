package cli

import "runtime/debug"

// Released is the version of a release, which its build sets.
var Released string

// Version is the version of the program, "(devel)" for one that was built out of a
// folder that git does not know.
func Version() string {
	if Released != "" {
		return Released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
