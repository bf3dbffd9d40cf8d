package artifact

import "path/filepath"

// NameOf is the name in f of a file at path, which is absolute or relative to
// f; "" when it does not lie in f. Two spellings of one folder, by a symbolic
// link, are one folder. The file need not be there.
func (f *Folder) NameOf(path string) string {
	if !filepath.IsAbs(path) {
		return localPath(path)
	}
	if name := below(f.path, path); name != "" {
		return name
	}
	root, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return ""
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	return below(root, filepath.Join(dir, filepath.Base(path)))
}

func below(root, path string) string {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return ""
	}
	return localPath(name)
}

func localPath(name string) string {
	if !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(name))
}
