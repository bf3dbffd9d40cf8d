package change

import (
	"github.com/tidegate/tidegate/internal/work/git"
	"path"
	"strings"
	"unicode"
)

// UnnamedIn are the files that documents do not name: neither by path, nor by a name with an
// extension, nor by a folder above them that ends with a slash or has one in it.
func UnnamedIn(documents []git.Document, files []string) []string {
	words := map[string]bool{}
	for _, d := range documents {
		for _, word := range strings.FieldsFunc(d.Text, func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("_-./+@~", r)
		}) {
			words[strings.TrimPrefix(strings.TrimRight(word, "."), "./")] = true
		}
	}
	named := func(file string) bool {
		if base := path.Base(file); words[file] || words[base] && path.Ext(base) != "" {
			return true
		}
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if words[dir+"/"] || words[dir] && strings.Contains(dir, "/") {
				return true
			}
		}
		return false
	}
	var unnamed []string
	for _, file := range files {
		if !named(file) {
			unnamed = append(unnamed, file)
		}
	}
	return unnamed
}
