package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

func TestHolderOf(t *testing.T) {
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, dir := range []string{"runs/tides/wave-1", "bare/wave-1", "change", "project"} {
		must.Do(t, os.MkdirAll(at(dir), 0o700))
	}
	for _, file := range []string{"runs/tides/manifest.json", "runs/tides/gates.json", "bare/manifest.json", "change/STATE.yaml"} {
		must.Do(t, os.WriteFile(at(file), nil, 0o600))
	}
	for name, to := range map[string]string{"wave": "runs/tides/wave-1", "file": "runs/tides/manifest.json", "nowhere": "not/there"} {
		must.Do(t, os.Symlink(at(to), at(name)))
	}
	deep := strings.Repeat("/n", 3000)
	for path, want := range map[string]run.Holder{
		"runs/tides":                       {}, // the folder itself lies in none
		"runs/tides/x":                     {Run: at("runs/tides")},
		"runs/tides/wave-1/x":              {Run: at("runs/tides")},
		"runs/tides/not/there":             {Run: at("runs/tides")},
		"runs/tides" + deep:                {Run: at("runs/tides")},
		"runs/other/x":                     {},
		"bare/wave-1/x":                    {},
		"wave/x":                           {Run: at("runs/tides")},
		"wave/not/there/yet":               {Run: at("runs/tides")},
		"file":                             {Run: at("runs/tides")},
		"nowhere/x":                        {},
		"change/x":                         {Changes: at("change")},
		"change/not/there":                 {Changes: at("change")},
		"project/agentd/changes/c1":        {Changes: at("project/agentd/changes")},
		"project/agentd/changes/c1" + deep: {Changes: at("project/agentd/changes")},
		"project/agentd/x":                 {},
		"project" + deep:                   {},
	} {
		if got := run.HolderOf(run.Desk{}, at(path)); got != want {
			t.Errorf("%.60s lies in %.200s, want %+v", path, fmt.Sprint(got), want)
		}
	}
	elsewhere := run.Desk{Reach: artifact.Within(at("project"))}
	if got := run.HolderOf(elsewhere, at("runs/tides/x")); !got.Free() {
		t.Errorf("a caller who may not look there is told %+v", got)
	}
}
