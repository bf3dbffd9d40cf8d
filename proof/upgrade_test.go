package proof_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// upgradedPage is what the outputs of the kept runs cite. It is in their archives.
const upgradedPage = "http://127.0.0.1:8765/port"

// TestRunsOfEarlierProgramsGoOn: testdata/upgrade.tar.gz has two runs as the program
// of commit b6f6fb6 left them, the first that takes a question to its report by
// jobs. One is completed; the other was in its first wave, with a job leased, when the
// program was killed. Both open and verify; gate A passes again although prompts are
// worded otherwise; the second goes on to its report.
func TestRunsOfEarlierProgramsGoOn(t *testing.T) {
	t.Parallel()
	home := shortFolder(t)
	unpack(t, "testdata/upgrade.tar.gz", filepath.Join(home, "runs"))
	typed := func(words ...string) string {
		t.Helper()
		command := exec.Command(binary, words...)
		command.Env, command.Dir = append(os.Environ(), "TIDEGATE_HOME="+home, "COLUMNS=400"), home
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("tidegate %s: %v\n%s", strings.Join(words, " "), err, out)
		}
		return string(out)
	}
	o := newOffice(t)
	done, half := o.run("finished").at(filepath.Join(home, "runs", "finished")), o.run("halfway").at(filepath.Join(home, "runs", "halfway"))
	for _, f := range []folder{done, half} {
		if pass, findings := f.verify(t); !pass {
			t.Fatalf("%s does not verify:\n%s", f.id, findings)
		}
	}
	if got := counting(t, done); strings.Join(got, "") != "ABCDEF" {
		t.Errorf("of the gates of the completed run %v count", got)
	}
	if objection := refused(t, half, "A"); objection != "" {
		t.Errorf("its judge does not pass gate A again, because prompts are worded otherwise: %s", objection)
	}
	half.spoilt(t, "wave-1/wave1-plan.json", func(text string) string { return strings.Replace(text, "source", "sauce", 1) }, func() {
		if objection := refused(t, half, "A"); !strings.Contains(objection, "PLAN_PROMPT_MISMATCH") {
			t.Errorf("an edited prompt passes gate A: %q", objection)
		}
	})
	typed("report", "finished")
	accepted := half.read(t, "wave-1/doubts.md")

	typed("run", "continue", "halfway", "--agent", obedient(upgradedPage))

	if status := half.json(t, "manifest.json").Get("status").Str(); status != "completed" {
		t.Errorf("the run is %s", status)
	}
	if pass, findings := half.verify(t); !pass {
		t.Errorf("it does not verify:\n%s", findings)
	}
	if got := counting(t, half); strings.Join(got, "") != "ABCDEF" {
		t.Errorf("of its gates %v count", got)
	}
	if string(half.read(t, "wave-1/doubts.md")) != string(accepted) {
		t.Error("an output that was accepted before was written again")
	}
	if half.has("jobs/wave1.doubts/003") || half.has("jobs/perspectives/002") || half.has("jobs/wave1.records/002") {
		t.Error("a job was asked for again that was accepted, or the kill used a try")
	}
	if report := typed("report", "halfway"); !strings.Contains(report, upgradedPage) {
		t.Errorf("the report does not cite its source:\n%s", report)
	}
}

// spoilt calls look while a file of the run is edited.
func (f folder) spoilt(t *testing.T, name string, edit func(text string) string, look func()) {
	t.Helper()
	before := f.read(t, name)
	after := edit(string(before))
	if after == string(before) {
		t.Fatalf("%s is not edited", name)
	}
	f.write(t, name, after)
	look()
	f.write(t, name, string(before))
}

// unpack writes the files of a compressed archive below dir.
func unpack(t *testing.T, name, dir string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
