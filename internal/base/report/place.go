package report

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// relative names file from root when it lies below it, otherwise as it is given.
// It looks at the names only.
func relative(root, file string) string {
	if root == "" || !filepath.IsAbs(file) {
		return file
	}
	rel, err := filepath.Rel(root, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return file
	}
	return filepath.ToSlash(rel)
}

// show is file:line, or the file alone where no line is known.
func (p Place) show(root string) string {
	file := relative(root, p.File)
	if p.Line < 1 || file == "" {
		return file
	}
	return file + ":" + strconv.Itoa(p.Line)
}

// fileURI is a file as a URI reference: relative for a relative name, with the
// scheme file for an absolute one.
func fileURI(file string) string {
	u := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		u.Path = "/" + strings.TrimLeft(u.Path, "/")
	}
	return u.String()
}

// show is the text of a cell on one line, not yet made visible.
func (c Cell) show(root string) string {
	if c.Place.File != "" {
		return c.Place.show(root)
	}
	return c.Text
}
