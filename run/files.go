package run

import (
	"strings"

	"github.com/tidegate/tidegate/codec"
)

// Outputs lists the outputs in a folder of the run, in byte order, as names in
// the run: regular files <id>.md whose id asked holds, or any where asked is
// empty. Plans, sidecars, notes, folders and hidden files are none. A folder
// that is not there has none. It returns PATH_NOT_ALLOWED and READ_FAILED.
func (r *Run) Outputs(dir string, asked map[string]bool) ([]string, error) {
	entries, err := r.folder.List(dir)
	if err != nil {
		return nil, err
	}
	var outputs []string
	for _, e := range entries {
		id, markdown := strings.CutSuffix(e.Name(), ".md")
		if e.Type().IsRegular() && markdown && !strings.HasPrefix(id, ".") && (len(asked) == 0 || asked[id]) {
			outputs = append(outputs, dir+"/"+e.Name())
		}
	}
	return outputs, nil
}

// PerspectiveIDs are the ids in a document of contracts of the run, none when it
// is not there or cannot be read: whoever needs it whole says why.
func (r *Run) PerspectiveIDs(name string) map[string]bool {
	ids := map[string]bool{}
	data, err := r.folder.Read(name)
	if err != nil {
		return ids
	}
	doc, err := codec.Parse(data)
	if err != nil {
		return ids
	}
	for _, p := range doc.Get("perspectives").Elems() {
		if id := p.Get("id").Str(); id != "" {
			ids[id] = true
		}
	}
	return ids
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
