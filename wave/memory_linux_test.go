package wave_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/bench/sample"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/wave"
)

// judgeKind makes the test binary judge one huge output, as a process of its own.
const judgeKind = "WAVE_TEST_JUDGE"

// waveFolder makes the test binary review the wave in that folder, likewise.
const waveFolder = "WAVE_TEST_FOLDER"

func TestMain(m *testing.M) {
	switch kind, dir := os.Getenv(judgeKind), os.Getenv(waveFolder); {
	case kind != "":
		os.Exit(tellingMemory(func() int { return judgeHuge(kind) }))
	case dir != "":
		debug.SetGCPercent(40) // as the program does
		os.Exit(tellingMemory(func() int { return reviewFolder(dir) }))
	}
	os.Exit(m.Run())
}

// mostMemory is what a process may use, in KiB.
const mostMemory = 64 << 10

// repeated gives a text over and over, up to a size.
type repeated struct {
	text string
	at   int
	left int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	r.left -= n
	return n, nil
}

// judgeHuge prints the verdict on an output that no memory could hold.
func judgeHuge(kind string) int {
	var middle io.Reader
	switch kind {
	case "1 GiB":
		const line = "- a line of an output that is far too long, see https://example.org\n"
		middle = &repeated{text: line, left: (1<<30/len(line) + 1) * len(line)}
	default:
		middle = &repeated{text: "- https://example.org and so on ", left: 100 << 20}
	}
	output := io.MultiReader(strings.NewReader("# Sources\n"), middle, strings.NewReader("\n# Findings\n"))
	verdict, err := new(wave.Judge).Judge(wave.Contract{MaxWords: 1e12, MaxSources: 1e12, Sections: []string{"Findings", "Sources"}}, output)
	if err != nil || verdict.Failure() != nil {
		fmt.Print(err, verdict.Failure())
		return 1
	}
	fmt.Printf("%d words, %d sources", verdict.Words, verdict.Sources)
	return 0
}

// reviewFolder reviews the wave in a folder.
func reviewFolder(dir string) int {
	document, err := os.ReadFile(filepath.Join(dir, "perspectives.json"))
	if err != nil {
		fmt.Print(err)
		return 1
	}
	outputs, err := outputsIn(dir, document)
	if err == nil {
		_, err = wave.Review(context.Background(), outputs)
	}
	if err != nil {
		fmt.Print(err)
		return 1
	}
	fmt.Print("done")
	return 0
}

// tellingMemory does what a process is for and then writes the most memory that
// the process used, in KiB, to stderr. The process has to say so itself: what the
// system counts for it in the end includes the memory of its parent.
func tellingMemory(do func() int) (status int) {
	defer tellMemory()
	return do()
}

func tellMemory() {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for line := range strings.Lines(string(status)) {
		if size, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Fprintln(os.Stderr, strings.Fields(size)[0])
		}
	}
}

// raceDetector reports whether the tests were built with -race.
func raceDetector() bool {
	build, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// peak runs the test binary in another role and returns what it printed and the
// most memory it used, in KiB.
func peak(t *testing.T, variable, value string) (said string, memory int64) {
	t.Helper()
	if raceDetector() {
		t.Skip("the race detector takes memory of its own")
	}
	exe := must.Get(os.Executable())(t)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), variable+"="+value, "GOGC=100")
	var peak strings.Builder
	cmd.Stderr = &peak
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, peak.String())
	}
	memory = must.Get(strconv.ParseInt(strings.TrimSpace(peak.String()), 10, 64))(t)
	return string(out), memory
}

func TestHugeOutputIsJudgedInBoundedMemory(t *testing.T) {
	full.Story(t)
	for kind, want := range map[string]string{
		"1 GiB":             "205274177 words, 15790321 sources",
		"a line of 100 MiB": "16384004 words, 1 sources",
	} {
		t.Run(kind, func(t *testing.T) {
			if kind == "1 GiB" && !full.Asked() {
				t.Skip("a gibibyte is for -full")
			}
			said, memory := peak(t, judgeKind, kind)
			if said != want {
				t.Errorf("%s, want %s", said, want)
			}
			if memory > mostMemory {
				t.Errorf("%d KiB, want at most %d", memory, mostMemory)
			}
			t.Logf("%s in %d KiB", said, memory)
		})
	}
}

func TestWaveOf10000IsReviewedInBoundedMemory(t *testing.T) {
	full.Story(t)
	dir := t.TempDir()
	must.Do(t, (sample.Wave{Outputs: 10000, Words: 100, Failing: 0.5}).Write(dir))
	said, memory := peak(t, waveFolder, dir)
	if said != "done" {
		t.Error(said)
	}
	if memory > mostMemory {
		t.Errorf("%d KiB, want at most %d", memory, mostMemory)
	}
	t.Logf("%d KiB", memory)
}
