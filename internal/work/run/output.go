package run

import (
	"path"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Outputs lists the outputs in a folder of the run, in byte order, as names in
// the run: regular files <id>.md whose id is in asked, or all where asked is
// empty. Plans, sidecars, notes, folders and hidden files are left out. A folder
// that does not exist has none. It returns PATH_NOT_ALLOWED and READ_FAILED.
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
// does not exist or is not JSON: callers that need all of it report why. It returns
// READ_FAILED and PATH_NOT_ALLOWED.
func (r *Run) PerspectiveIDs(name string) (map[string]bool, error) {
	ids := map[string]bool{}
	data, err := r.folder.Read(name)
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return ids, nil
	case err != nil:
		return nil, err
	}
	doc, err := codec.Parse(data)
	if err != nil {
		return ids, nil
	}
	for _, p := range doc.Get("perspectives").Elems() {
		if id := p.Get("id").Str(); id != "" {
			ids[id] = true
		}
	}
	return ids, nil
}

// HasFolder reports whether the run has a folder of that name.
func (r *Run) HasFolder(name string) (bool, error) {
	entries, err := r.folder.List(name)
	return entries != nil, err
}

// Output is the name in the run of the output of a perspective of a wave, Wave1
// or Wave2. Nothing else forms that name.
func (r *Run) Output(wave Stage, perspectiveID string) string {
	return r.WaveDir(wave) + "/" + perspectiveID + ".md"
}

// Sidecar is the name of the file beside an output that records what its agent
// used.
func Sidecar(output string) string { return strings.TrimSuffix(output, ".md") + ".meta.json" }

// Accepted is the name of the copy that the run keeps of an output as it was
// taken.
func Accepted(output string) string { return path.Dir(output) + "/.accepted/" + path.Base(output) }

// WaveDir is the folder of a wave.
func (r *Run) WaveDir(wave Stage) string {
	if wave == Wave2 {
		return r.layout.Wave2Dir
	}
	return r.layout.Wave1Dir
}

// ContractsOf is the name of the contracts of a wave.
func (r *Run) ContractsOf(wave Stage) string {
	if wave == Wave2 {
		return r.layout.Wave2Perspectives()
	}
	return r.layout.Perspectives
}

// Summary is where the summary of a perspective lies.
func (r *Run) Summary(perspectiveID string) string {
	return path.Join(r.layout.SummariesDir, perspectiveID+".md")
}

// Waves lists the waves that the run has had contracts for: the second one as soon
// as it was planned.
func (r *Run) Waves() ([]Stage, error) {
	there, err := r.folder.Exists(r.layout.Wave2Perspectives())
	if err != nil || !there {
		return []Stage{Wave1}, err
	}
	return []Stage{Wave1, Wave2}, nil
}
