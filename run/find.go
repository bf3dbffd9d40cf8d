package run

import (
	"os"
	"path/filepath"

	"github.com/tidegate/tidegate"
)

// Find is the path of the manifest of the run that a person names: by the path
// of its manifest or folder, by its id under home, or by a path relative to
// workdir. An id goes before a relative path. It returns NOT_FOUND with what
// was named, and where it was looked for.
func Find(home, workdir, name string) (string, error) {
	if err := CheckText("run", name); err != nil {
		return "", err
	}
	var candidates []string
	if filepath.IsAbs(name) {
		candidates = []string{filepath.Clean(name)}
	} else {
		if CheckID(name) == nil {
			candidates = append(candidates, filepath.Join(home, name))
		}
		candidates = append(candidates, filepath.Join(workdir, name))
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if !info.IsDir() {
			return path, nil
		}
		if manifest := filepath.Join(path, ManifestFile); isFile(manifest) {
			return manifest, nil
		}
	}
	return "", tidegate.Errorf(tidegate.FileNotFound, tidegate.D("run", name, "searched", candidates),
		"there is no run %q: neither an id under %s nor a run's folder", tidegate.Cut(name), home)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// runsIn lists the folders in home that hold a manifest, in byte order.
func runsIn(home string) ([]string, error) {
	entries, err := os.ReadDir(home)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.D("home", home), "cannot read the runs home (%w): %s", err, home)
	}
	var manifests []string
	for _, e := range entries {
		if path := filepath.Join(home, e.Name(), ManifestFile); CheckID(e.Name()) == nil && isFile(path) {
			manifests = append(manifests, path)
		}
	}
	return manifests, nil
}
