package review

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// largest is how many bytes a version of a file may have to be reviewed line by
// line.
const largest = 1 << 20

// LeftOut says why a file is not reviewed line by line, "" when it is. A file
// counts as generated only if its earlier version said so: one that begins to say
// so would hide what it has become.
//
// Unseen says that the file holds text, or a program, that somebody wrote and no
// reviewer reads, and that no rule of the project leaves out: a person decides.
func (f File) LeftOut() (why string, unseen bool) {
	written := f.After != nil
	switch {
	case isLockFile(f.Name):
		return "a lock file", false
	case isBinary(f.After) && f.isProgram():
		return "a program that is not UTF-8", true
	case isBinary(f.Before) || isBinary(f.After):
		return "binary", written && !isBinary(f.After)
	case f.Large || len(f.Before) > largest || len(f.After) > largest:
		return "larger than 1 MiB", written
	case !f.Ours && isVendored(f.Name):
		return "vendored", written
	case !f.Ours && f.Before != nil && saysGenerated(f.Before):
		return "generated", written
	}
	return "", false
}

//go:embed programs.txt
var programList string

// programNames are the names of programs: whole ones, and endings with their dot.
var programNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(programList) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
			names[name] = true
		}
	}
	return names
})

// isProgram reports whether the later version is something that can be run, by its
// name, its mode or its first line.
func (f File) isProgram() bool {
	base := strings.ToLower(path.Base(f.Name))
	return f.ModeAfter == "100755" || strings.HasPrefix(string(f.After[:min(len(f.After), 2)]), "#!") || programNames()[base] || programNames()[path.Ext(base)]
}

// isBinary holds for what has more than one byte in ten that is no text: controls,
// and what is not UTF-8. A single such byte, in a comment or in another encoding,
// would hide a program.
func isBinary(text []byte) bool {
	strange := 0
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || r < ' ' && !strings.ContainsRune("\t\n\f\r", r) {
			strange++
		}
		rest = rest[size:]
	}
	return 10*strange > len(text)
}

// vendored are the folders in which package managers put the code of others.
var vendored = []string{"vendor", "node_modules", "third_party", "bower_components"}

func isVendored(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(vendored, dir) })
}

// lockFiles are what package managers write.
var lockFiles = []string{
	"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "Cargo.lock", "poetry.lock", "uv.lock",
	"Pipfile.lock", "Gemfile.lock", "composer.lock", "mix.lock", "flake.lock",
}

func isLockFile(name string) bool { return slices.Contains(lockFiles, path.Base(name)) }

var generatedMark = pattern(`(?m)^[^A-Za-z0-9\n]{0,8}(?:Code generated .* DO NOT EDIT\.?|@generated\b)`)

// saysGenerated looks where generators leave their mark, at the beginning.
func saysGenerated(text []byte) bool { return generatedMark().Match(text[:min(len(text), 2048)]) }
