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
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
)

// exported makes a run and its bundle.
func exported(t *testing.T) (runs string, data []byte) {
	t.Helper()
	runs = filepath.Join(t.TempDir(), "runs")
	if _, err := run.Create(t.Context(), desk(), runs, run.InitInput{Query: "Why do tides turn?", RunID: "tides"}); err != nil {
		t.Fatal(err)
	}
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
	data, err := codec.MarshalFile(list)
	if err != nil {
		t.Fatal(err)
	}
	return zipped(append([]seal.File{{Name: seal.BundleName, Data: data}}, files...)...)
}

// snapshot is every file below a folder, with what is in it.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
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
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestImportBringsTheWholeRun moves a run to a home that does not have it: the same files,
// which verify, and the same bundle again.
func TestImportBringsTheWholeRun(t *testing.T) {
	_, data := exported(t)
	runs := filepath.Join(t.TempDir(), "runs")
	out, err := library.Import(t.Context(), desk(), runs, data)
	if err != nil {
		t.Fatal(err)
	}
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
	b, err := seal.OpenBundle(data)
	if err != nil {
		t.Fatal(err)
	}
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
		"nothing":               nil,
		"no bundle":             []byte("a text"),
		"no files":              listed(t, "run", "tides"),
		"a part":                data[:len(data)/2],
		"something behind":      append(slices.Clone(data), 0),
		"a way out":             listed(t, "run", "tides", with(seal.File{Name: "../../escaped", Data: bad})...),
		"an absolute path":      listed(t, "run", "tides", with(seal.File{Name: "/tmp/escaped", Data: bad})...),
		"a backslash":           listed(t, "run", "tides", with(seal.File{Name: `..\escaped`, Data: bad})...),
		"a control character":   listed(t, "run", "tides", with(seal.File{Name: "a\x1b[2J", Data: bad})...),
		"a name twice":          listed(t, "run", "tides", with(seal.File{Name: "manifest.json", Data: bad})...),
		"a file and a folder":   listed(t, "run", "tides", with(seal.File{Name: "manifest.json/x", Data: bad})...),
		"a lock":                listed(t, "run", "tides", with(seal.File{Name: ".tidegate.lock", Data: bad})...),
		"a transaction":         listed(t, "run", "tides", with(seal.File{Name: ".tidegate.tx/commit", Data: bad})...),
		"a lease":               listed(t, "run", "tides", with(seal.File{Name: ".lock", Data: bad})...),
		"a list in it":          listed(t, "run", "tides", with(seal.File{Name: "Bundle.json", Data: bad})...),
		"files out of order":    listed(t, "run", "tides", append(slices.Clone(b.Files[1:]), b.Files[0])...),
		"another kind":          listed(t, "change", "tides", b.Files...),
		"no kind":               listed(t, "", "tides", b.Files...),
		"another id":            listed(t, "run", "ebbs", b.Files...),
		"an id that leads out":  listed(t, "run", "../tides", b.Files...),
		"no id":                 listed(t, "run", "", b.Files...),
		"a run as an audit":     listed(t, "audit", "tides", b.Files...),
		"a run as an answer":    listed(t, "answer", "tides", b.Files...),
		"no manifest":           listed(t, "run", "tides", without("manifest.json")...),
		"no log":                listed(t, "run", "tides", without("logs/audit.jsonl")...),
		"no head":               listed(t, "run", "tides", without("logs/audit.head")...),
		"another question":      listed(t, "run", "tides", edited("manifest.json", func(s string) string { return strings.ReplaceAll(s, "tides turn", "tides burn") })...),
		"a manifest of nothing": listed(t, "run", "tides", edited("manifest.json", func(string) string { return "{}" })...),
		"deep json":             listed(t, "run", "tides", edited("manifest.json", func(string) string { return strings.Repeat("[", 1<<20) })...),
		"another log":           listed(t, "run", "tides", edited("logs/audit.jsonl", func(s string) string { return strings.Replace(s, `"created"`, `"creaked"`, 1) })...),
		"an empty log":          listed(t, "run", "tides", edited("logs/audit.jsonl", func(string) string { return "" })...),
		"another digest":        bytes.Replace(data, []byte(codec.DigestBytes(b.Files[0].Data)), []byte(codec.DigestBytes(nil)), 1),
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			runs := filepath.Join(home, "runs")
			if err := os.Mkdir(runs, 0o700); err != nil {
				t.Fatal(err)
			}
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
	made, err := audit.Make(t.Context(), desk(), pages.again(nil), audit.Input{Report: "The ferry carries 120 cars [1].\n\n# References\n\n[1] The ferry Ampere: " + url + "\n", Home: audit.Home(runs), Dir: runs})
	if err != nil {
		t.Fatal(err)
	}
	item, err := library.Open(t.Context(), desk(), runs, runs, made.AuditID)
	if err != nil {
		t.Fatal(err)
	}
	defer item.Close()
	updated, err := library.Update(t.Context(), desk(), runs, pages.again, item)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := library.Import(t.Context(), desk(), other, bundles[made.AuditID]); err != nil {
		t.Fatal(err)
	}
	out, err := library.Import(t.Context(), desk(), other, bundles[updated.UpdateID])
	if err != nil {
		t.Fatal(err)
	}
	verified, err := library.Verify(t.Context(), desk(), other, out.Path)
	if err != nil || len(verified.Wrong) > 0 {
		t.Errorf("the update is wrong by %v, %v", verified.Wrong, err)
	}
	// A result that the log does not record is no result.
	b, err := seal.OpenBundle(bundles[updated.UpdateID])
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Files {
		if b.Files[i].Name == "result.json" {
			var result map[string]any
			if err := json.Unmarshal(b.Files[i].Data, &result); err != nil {
				t.Fatal(err)
			}
			result["pass"] = !updated.Pass
			b.Files[i].Data, _ = json.Marshal(result)
		}
	}
	third := filepath.Join(t.TempDir(), "runs")
	if _, err := library.Import(t.Context(), desk(), third, bundles[made.AuditID]); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Import(t.Context(), desk(), third, listed(t, "update", b.ID, b.Files...)); tidegate.CodeOf(err) != tidegate.Tampered {
		t.Errorf("another result is imported: %v", err)
	}
}
