package run

import "strings"

// Outputs lists the outputs in a folder of the run, in byte order, as names in
// the run: regular files <perspective id>.md. Plans, sidecars, folders and
// hidden files are none. A folder that is not there has none. It returns
// PATH_NOT_ALLOWED and READ_FAILED.
func (r *Run) Outputs(dir string) ([]string, error) {
	entries, err := r.folder.List(dir)
	if err != nil {
		return nil, err
	}
	var outputs []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".md") && !strings.HasPrefix(e.Name(), ".") {
			outputs = append(outputs, dir+"/"+e.Name())
		}
	}
	return outputs, nil
}

// HasFolder reports whether the run has a folder of that name.
func (r *Run) HasFolder(name string) (bool, error) {
	entries, err := r.folder.List(name)
	return entries != nil, err
}

// PerspectivesOf is the name of the contracts of a wave, wave1 or wave2. Those
// of a second wave stand in its folder; where there are none, the perspectives of
// the run are its contracts too.
func (r *Run) PerspectivesOf(wave string) string {
	if wave == "wave2" {
		if there, err := r.folder.Exists(r.layout.Wave2Perspectives()); err == nil && there {
			return r.layout.Wave2Perspectives()
		}
	}
	return r.layout.Perspectives
}
