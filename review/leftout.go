package review

import (
	"path"
	"regexp"
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
func (f File) LeftOut() string {
	switch {
	case len(f.Before) > largest || len(f.After) > largest:
		return "larger than 1 MiB"
	case isBinary(f.Before) || isBinary(f.After):
		return "binary"
	case isVendored(f.Name):
		return "vendored"
	case isLockFile(f.Name):
		return "a lock file"
	case f.Before != nil && saysGenerated(f.Before):
		return "generated"
	}
	return ""
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

var generatedMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[^A-Za-z0-9\n]{0,8}(?:Code generated .* DO NOT EDIT\.?|@generated\b)`)
})

// saysGenerated looks where generators leave their mark, at the beginning.
func saysGenerated(text []byte) bool { return generatedMark().Match(text[:min(len(text), 2048)]) }
