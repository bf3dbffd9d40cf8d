package library_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// exported makes a run and its bundle.
func exported(t *testing.T) (runs string, data []byte) {
	t.Helper()
	runs = filepath.Join(t.TempDir(), "runs")
	must.Get(run.Create(t.Context(), desk(), runs, run.InitInput{Query: "Why do tides turn?", RunID: "tides"}))(t)
	id, data, err := library.Export(t.Context(), desk(), runs, runs, "tides")
	if err != nil || id != "tides" {
		t.Fatalf("exported %q: %v", id, err)
	}
	return runs, data
}

// zipped is a container of files whatever their names are, as an adversary writes it.
func zipped(files ...seal.File) []byte {
	var out, directory []byte
	le := binary.LittleEndian
	for _, f := range files {
		var about []byte
		about = le.AppendUint16(about, 10)
		about = le.AppendUint16(about, 1<<11)
		about = append(about, 0, 0, 0, 0)
		about = le.AppendUint16(about, 1<<5|1)
		about = le.AppendUint32(about, crc32.ChecksumIEEE(f.Data))
		about = le.AppendUint32(about, uint32(len(f.Data)))
		about = le.AppendUint32(about, uint32(len(f.Data)))
		about = le.AppendUint16(about, uint16(len(f.Name)))
		about = append(about, 0, 0)
		directory = le.AppendUint32(directory, 0x02014b50)
		directory = le.AppendUint16(directory, 10)
		directory = append(append(directory, about...), make([]byte, 10)...)
		directory = append(le.AppendUint32(directory, uint32(len(out))), f.Name...)
		out = append(append(append(le.AppendUint32(out, 0x04034b50), about...), f.Name...), f.Data...)
	}
	at := len(out)
	out = append(out, directory...)
	out = append(le.AppendUint32(out, 0x06054b50), 0, 0, 0, 0)
	out = le.AppendUint16(out, uint16(len(files)))
	out = le.AppendUint16(out, uint16(len(files)))
	out = le.AppendUint32(out, uint32(len(directory)))
	return append(le.AppendUint32(out, uint32(at)), 0, 0)
}

// listed is a bundle of files with a list that fits them.
func listed(t *testing.T, kind, id string, files ...seal.File) []byte {
	t.Helper()
	type file struct {
		Name   string `json:"name"`
		Digest string `json:"digest"`
	}
	list := struct {
		Schema string `json:"schema_version"`
		Kind   string `json:"kind"`
		ID     string `json:"id"`
		Files  []file `json:"files"`
	}{"bundle.v1", kind, id, []file{}}
	for _, f := range files {
		list.Files = append(list.Files, file{f.Name, codec.DigestBytes(f.Data)})
	}
	data := must.Get(codec.MarshalFile(list))(t)
	return zipped(append([]seal.File{{Name: seal.BundleName, Data: data}}, files...)...)
}

// snapshot is every file below a folder, with what is in it.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	must.Do(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		out.WriteString(path + "\n")
		if err == nil && entry.Type().IsRegular() {
			data, err := os.ReadFile(path)
			out.WriteString(codec.DigestBytes(data) + "\n")
			return err
		}
		return nil
	}))
	return out.String()
}

// TestImportBringsTheWholeRun moves a run to a home that does not have it: the same files,
// which verify, and the same bundle again.
func TestImportBringsTheWholeRun(t *testing.T) {
	_, data := exported(t)
	runs := filepath.Join(t.TempDir(), "runs")
	out := must.Get(library.Import(t.Context(), desk(), runs, data))(t)
	for _, name := range run.Folders {
		if info, err := os.Stat(filepath.Join(out.Path, name)); err != nil || !info.IsDir() {
			t.Errorf("the folder %s is not there", name)
		}
	}
	verified, err := run.Verify(t.Context(), desk(), run.VerifyInput{ManifestPath: filepath.Join(out.Path, run.ManifestFile)})
	if err != nil || !verified.Pass || verified.Log.Head != out.Head {
		t.Errorf("the imported run does not verify: %v %v", verified.Findings, err)
	}
	_, again, err := library.Export(t.Context(), desk(), runs, runs, "tides")
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("it is exported with other bytes: %v", err)
	}
	list, err := run.List(t.Context(), desk(), runs, run.ListInput{})
	if err != nil || len(list.Runs) != 1 || list.Runs[0].Query != "Why do tides turn?" {
		t.Errorf("the list has %v, %v", list.Runs, err)
	}
}

// TestImportRefusesHostileBundles changes a bundle in every way that an adversary might:
// each is refused with a typed error, and the home is as it was.
func TestImportRefusesHostileBundles(t *testing.T) {
	_, data := exported(t)
	b := must.Get(seal.OpenBundle(data))(t)
	if !bytes.Equal(listed(t, "run", "tides", b.Files...), data) {
		t.Fatal("the adversary does not write what a bundle is")
	}
	with := func(more ...seal.File) []seal.File {
		files := append(slices.Clone(b.Files), more...)
		slices.SortStableFunc(files, func(a, b seal.File) int { return strings.Compare(a.Name, b.Name) })
		return files
	}
	edited := func(name string, edit func(string) string) []seal.File {
		files := slices.Clone(b.Files)
		for i := range files {
			if files[i].Name == name {
				files[i].Data = []byte(edit(string(files[i].Data)))
			}
		}
		return files
	}
	without := func(name string) []seal.File {
		return slices.DeleteFunc(slices.Clone(b.Files), func(f seal.File) bool { return f.Name == name })
	}
	bad := []byte("x")
	for name, hostile := range map[string][]byte{
		"nothing":                   nil,
		"no bundle":                 []byte("a text"),
		"no files":                  listed(t, "run", "tides"),
		"a part":                    data[:len(data)/2],
		"something behind":          append(slices.Clone(data), 0),
		"a way out":                 listed(t, "run", "tides", with(seal.File{Name: "../../escaped", Data: bad})...),
		"an absolute path":          listed(t, "run", "tides", with(seal.File{Name: "/tmp/escaped", Data: bad})...),
		"a backslash":               listed(t, "run", "tides", with(seal.File{Name: `..\escaped`, Data: bad})...),
		"a control character":       listed(t, "run", "tides", with(seal.File{Name: "a\x1b[2J", Data: bad})...),
		"a name twice":              listed(t, "run", "tides", with(seal.File{Name: "manifest.json", Data: bad})...),
		"a file and a folder":       listed(t, "run", "tides", with(seal.File{Name: "manifest.json/x", Data: bad})...),
		"a lock":                    listed(t, "run", "tides", with(seal.File{Name: ".tidegate.lock", Data: bad})...),
		"a transaction":             listed(t, "run", "tides", with(seal.File{Name: ".tidegate.tx/commit", Data: bad})...),
		"a lease":                   listed(t, "run", "tides", with(seal.File{Name: ".lock", Data: bad})...),
		"a list in it":              listed(t, "run", "tides", with(seal.File{Name: "Bundle.json", Data: bad})...),
		"files out of order":        listed(t, "run", "tides", append(slices.Clone(b.Files[1:]), b.Files[0])...),
		"another kind":              listed(t, "change", "tides", b.Files...),
		"no kind":                   listed(t, "", "tides", b.Files...),
		"another id":                listed(t, "run", "ebbs", b.Files...),
		"an id that leads out":      listed(t, "run", "../tides", b.Files...),
		"no id":                     listed(t, "run", "", b.Files...),
		"a run as an audit":         listed(t, "audit", "tides", b.Files...),
		"a run as an answer":        listed(t, "answer", "tides", b.Files...),
		"no manifest":               listed(t, "run", "tides", without("manifest.json")...),
		"no log":                    listed(t, "run", "tides", without("logs/audit.jsonl")...),
		"no head":                   listed(t, "run", "tides", without("logs/audit.head")...),
		"another question":          listed(t, "run", "tides", edited("manifest.json", func(s string) string { return strings.ReplaceAll(s, "tides turn", "tides burn") })...),
		"a manifest of nothing":     listed(t, "run", "tides", edited("manifest.json", func(string) string { return "{}" })...),
		"deep json":                 listed(t, "run", "tides", edited("manifest.json", func(string) string { return strings.Repeat("[", 1<<20) })...),
		"another log":               listed(t, "run", "tides", edited("logs/audit.jsonl", func(s string) string { return strings.Replace(s, `"created"`, `"creaked"`, 1) })...),
		"an empty log":              listed(t, "run", "tides", edited("logs/audit.jsonl", func(string) string { return "" })...),
		"a file that no line names": listed(t, "run", "tides", with(seal.File{Name: "wave-1/more.md", Data: bad})...),
		"another digest":            bytes.Replace(data, []byte(codec.DigestBytes(b.Files[0].Data)), []byte(codec.DigestBytes(nil)), 1),
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			runs := filepath.Join(home, "runs")
			must.Do(t, os.Mkdir(runs, 0o700))
			before := snapshot(t, filepath.Dir(home))
			_, err := library.Import(t.Context(), desk(), runs, hostile)
			if tidegate.CodeOf(err) != tidegate.Tampered {
				t.Errorf("the error is %v", err)
			}
			if after := snapshot(t, filepath.Dir(home)); after != before {
				t.Errorf("the home was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// TestABundleHasNoNameThatIsObeyed has a log name files that systems and programs obey, or that
// one file system takes for another: the run is not exported, and a bundle of it is refused.
func TestABundleHasNoNameThatIsObeyed(t *testing.T) {
	for _, name := range []string{
		".git/config", "wave-1/.git/config", "CLAUDE.md", "wave-1/claude.MD", "AGENTS.md", "GEMINI.md", "QWEN.md", "wave-1/Crush.md", "warp.md", "copilot-instructions.md", "skills/x/SKILL.md", ".mcp.json", ".envrc", "tidegate.toml",
		".vscode/tasks.json", "opencode.json", "wave-1/CON", "nul.md", "Lpt1.txt", "jobs/aux/x", "a:b", "wave-1/dot.", "wave-1/blank ", "Wave-1/x.md", "MANIFEST.json", "what?.md",
		"wave-1/cafe\u0301.md", "wave-1/CAF\u00c9.md", "CLA\u200cUDE.md", "wave-1/soft\u00adly.md",
	} {
		t.Run(name, func(t *testing.T) {
			runs, _ := exported(t)
			manifest := filepath.Join(runs, "tides", run.ManifestFile)
			must.Do(t, os.WriteFile(filepath.Join(runs, "tides", "wave-1", "x"), nil, 0o600)) // no folder is empty
			r := must.Get(run.Open(t.Context(), desk(), manifest))(t)
			defer r.Close()
			must.Get(r.Update(t.Context(), func(u *run.Update) error {
				must.Do(t, u.Write("wave-1/x.md", nil))
				must.Do(t, u.Write("wave-1/caf\u00e9.md", nil))
				return u.Write(name, []byte("[core]\n\tfsmonitor = touch /tmp/escaped\n"))
			}))(t)
			named := must.Get(r.Named())(t)
			files, _, err := seal.FilesOf(r.Folder(), "", named)
			if _, known := named[name]; err != nil || !known {
				t.Fatalf("the log does not name it: %v", err)
			}
			if _, _, err := library.Export(t.Context(), desk(), runs, runs, "tides"); tidegate.CodeOf(err) != tidegate.InvalidArgs {
				t.Errorf("it is exported: %v", err)
			}
			home := filepath.Join(t.TempDir(), "runs")
			if _, err := library.Import(t.Context(), desk(), home, listed(t, "run", "tides", files...)); tidegate.CodeOf(err) != tidegate.Tampered {
				t.Errorf("it is imported: %v", err)
			}
		})
	}
}

// TestWhatNoLineRecordsStaysBehind leaves what lies in a folder by chance, and names it.
func TestWhatNoLineRecordsStaysBehind(t *testing.T) {
	runs, data := exported(t)
	root := filepath.Join(runs, "tides")
	must.Do(t, os.WriteFile(filepath.Join(root, "wave-1", "notes.txt"), []byte("mine"), 0o600))
	must.Do(t, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(root, ".git", "config"), []byte("x"), 0o600))
	_, again, err := library.Export(t.Context(), desk(), runs, runs, "tides")
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("the bundle is another: %v", err)
	}
	verified := must.Get(run.Verify(t.Context(), desk(), run.VerifyInput{ManifestPath: filepath.Join(root, run.ManifestFile)}))(t)
	var named []string
	for _, f := range verified.Findings {
		if f.Rule == "file-unrecorded" {
			named = append(named, f.File)
		}
	}
	if !slices.Equal(named, []string{".git/config", "wave-1/notes.txt"}) || !verified.Pass {
		t.Errorf("named are %v", named)
	}
}

// TestEveryByteOfABundleCounts flips bytes: none goes unnoticed.
func TestEveryByteOfABundleCounts(t *testing.T) {
	_, data := exported(t)
	runs := filepath.Join(t.TempDir(), "runs")
	for at := 0; at < len(data); at += len(data)/200 + 1 {
		flipped := slices.Clone(data)
		flipped[at] ^= 1
		if _, err := library.Import(t.Context(), desk(), runs, flipped); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
	if there, _ := os.ReadDir(runs); len(there) > 0 {
		t.Errorf("something is in the home: %v", there)
	}
}

// TestImportJudgesAgain has a result say more than follows from what was fetched, and a log
// that records that result: an audit that passes, and an update in which nothing has changed.
func TestImportJudgesAgain(t *testing.T) {
	home := filepath.Join(t.TempDir(), "runs")
	id, later := plant(t, home)
	u := must.Get(library.Update(t.Context(), desk(), home, later.again, open(t, home, id)))(t)
	honest := filepath.Join(t.TempDir(), "runs")
	for _, forged := range []struct{ kind, id, was, is string }{
		{store.Audits.Noun, id, `"outcome": "no_error_by_rule"`, `"outcome": "pass"`},
		{store.Updates.Noun, u.UpdateID, `"pass": false`, `"pass": true`},
	} {
		_, data, err := library.Export(t.Context(), desk(), home, home, forged.id)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		files := must.Get(seal.OpenBundle(data))(t).Files
		digests := strings.NewReplacer()
		for _, f := range files {
			text := string(f.Data)
			if f.Name == store.ResultFile {
				text = strings.Replace(text, forged.was, forged.is, 1)
				if text == string(f.Data) {
					t.Fatalf("the %s does not say %s", forged.kind, forged.was)
				}
				digests = strings.NewReplacer(codec.DigestBytes(f.Data), codec.DigestBytes([]byte(text)), forged.was, forged.is)
			}
			runs.Put(t, dir, f.Name, text)
		}
		runs.Rechain(t, dir, digests.Replace)
		for i, f := range files {
			files[i].Data = []byte(must.Read(t, filepath.Join(dir, f.Name)))
		}
		_, err = library.Import(t.Context(), desk(), honest, listed(t, forged.kind, forged.id, files...))
		if tidegate.CodeOf(err) != tidegate.Tampered || !strings.Contains(err.Error(), store.ResultFile+" ") && !strings.Contains(err.Error(), "another result") {
			t.Errorf("a forged %s is imported: %v", forged.kind, err)
		}
		must.Get(library.Import(t.Context(), desk(), honest, data))(t)
	}
}

// TestImportReplacesNothing refuses an id that the home has, whatever lies there, and one
// that was given up leaves nothing.
func TestImportReplacesNothing(t *testing.T) {
	runs, data := exported(t)
	before := snapshot(t, runs)
	if _, err := library.Import(t.Context(), desk(), runs, data); tidegate.CodeOf(err) != tidegate.AlreadyExistsConflict {
		t.Errorf("the error is %v", err)
	}
	if after := snapshot(t, runs); after != before {
		t.Error("the run was touched")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	other := filepath.Join(t.TempDir(), "runs")
	if _, err := library.Import(ctx, desk(), other, data); err == nil {
		t.Error("it was imported although it was given up")
	}
	if there, _ := os.ReadDir(other); len(there) > 0 {
		t.Errorf("something is in the home: %v", there)
	}
}

// TestImportOfWhatIsBound moves an audit and an update of it: the update needs its audit.
func TestImportOfWhatIsBound(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	url := "https://a.example/ferry"
	pages := web{url: shows(document("The ferry Ampere", "The ferry carries 120 cars."))(url)}
	made, err := audit.Make(t.Context(), desk(), pages.again(nil), audit.Input{Report: "The ferry carries 120 cars [1].\n\n# References\n\n[1] The ferry Ampere: " + url + "\n", Home: store.Audits.Home(runs), Dir: runs})
	if err != nil {
		t.Fatal(err)
	}
	item := must.Get(library.Open(t.Context(), desk(), runs, runs, made.AuditID))(t)
	defer item.Close()
	updated := must.Get(library.Update(t.Context(), desk(), runs, pages.again, item))(t)
	bundles := map[string][]byte{}
	for _, id := range []string{made.AuditID, updated.UpdateID} {
		if _, bundles[id], err = library.Export(t.Context(), desk(), runs, runs, id); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(t.TempDir(), "runs")
	if _, err := library.Import(t.Context(), desk(), other, bundles[updated.UpdateID]); tidegate.CodeOf(err) != tidegate.FileNotFound {
		t.Errorf("without its audit, the update is imported: %v", err)
	}
	must.Get(library.Import(t.Context(), desk(), other, bundles[made.AuditID]))(t)
	out := must.Get(library.Import(t.Context(), desk(), other, bundles[updated.UpdateID]))(t)
	verified, err := library.Verify(t.Context(), desk(), other, out.Path)
	if err != nil || len(verified.Wrong) > 0 {
		t.Errorf("the update is wrong by %v, %v", verified.Wrong, err)
	}
	// A result that the log does not record is no result.
	b := must.Get(seal.OpenBundle(bundles[updated.UpdateID]))(t)
	for i := range b.Files {
		if b.Files[i].Name == "result.json" {
			var result map[string]any
			must.Do(t, json.Unmarshal(b.Files[i].Data, &result))
			result["pass"] = !updated.Pass
			b.Files[i].Data, _ = json.Marshal(result)
		}
	}
	third := filepath.Join(t.TempDir(), "runs")
	// The archive ends with its last record, and a file that no line names is none of an audit.
	whole := must.Get(seal.OpenBundle(bundles[made.AuditID]))(t)
	longer := slices.Clone(whole.Files)
	for i := range longer {
		if longer[i].Name == store.ArchiveFile {
			longer[i].Data = append(slices.Clone(longer[i].Data), longer[i].Data...)
		}
	}
	for _, files := range [][]seal.File{longer, append(slices.Clone(whole.Files), seal.File{Name: "z.txt"})} {
		if _, err := library.Import(t.Context(), desk(), third, listed(t, "audit", whole.ID, files...)); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("more than the log records is imported: %v", err)
		}
	}
	must.Get(library.Import(t.Context(), desk(), third, bundles[made.AuditID]))(t)
	if _, err := library.Import(t.Context(), desk(), third, listed(t, "update", b.ID, b.Files...)); tidegate.CodeOf(err) != tidegate.Tampered {
		t.Errorf("another result is imported: %v", err)
	}
}
