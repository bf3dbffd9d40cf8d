package client_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/agents"
	"github.com/tidegate/tidegate/internal/test/must"
	"golang.org/x/sys/unix"
)

// scripted is a claude that does what its prompt says, and answers with its folder
// and what is in there.
const scripted = `#!/bin/sh
case "$1" in
--version) echo '2.1.325 (Claude Code)'; exit;;
auth) exit;;
esac
found="$(ls -A . "$TMPDIR" .. | tr '\n' ' ')"
. /dev/stdin
printf '{"type":"system","subtype":"init","session_id":"s1"}\n'
printf '{"type":"result","subtype":"success","session_id":"s1","result":"%s|%s"}\n' "$PWD" "$found"
`

// kept is a driver of scripted agents with a folder for temporary files.
type kept struct {
	driver driver.Driver
	temp   string
	path   string // for programs
}

func newKept(t *testing.T) kept {
	t.Helper()
	bin, temp := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(scripted), 0o700))
	path := "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	d := must.Get(client.New(driver.Settings{Driver: "claude"}, driver.Host{Temp: temp, Environ: []string{path}}))(t)
	return kept{d, temp, path}
}

// run runs one turn, and returns the session, where the agent worked and what it
// found there.
func (k kept) run(t *testing.T, turn int, session, prompt string) (next, place, found string) {
	t.Helper()
	asked := task()
	asked.Turn, asked.Session, asked.Prompt = turn, session, prompt+"\n"
	answer := must.Get(k.driver.Run(t.Context(), asked, func(driver.Event) {}))(t)
	place, found, _ = strings.Cut(answer.Text, "|")
	return answer.Session, place, found
}

func (k kept) folders(t *testing.T) int {
	t.Helper()
	entries := must.Get(os.ReadDir(k.temp))(t)
	return len(entries)
}

// TestRepairFindsWhatItsAgentLeft follows the folder of an attempt: the repair finds
// the files of the first turn, but nothing that a client could take for its
// configuration, and nothing is left after it.
func TestRepairFindsWhatItsAgentLeft(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	session, first, found := k.run(t, 1, "", `
mkdir notes .claude
echo 1 > notes/one; echo 1 > mine; echo 1 > "$TMPDIR/scratch"; echo 1 > ../beside
echo '{"hooks":{}}' > .claude/settings.json; echo KEY=1 > .env; echo '{}' > .mcp.json; echo '{}' > opencode.jsonc`)
	if strings.Contains(found, "mine") {
		t.Errorf("the folder was not empty at first: %s", found)
	}
	if k.folders(t) != 1 {
		t.Errorf("%d folders are kept, want that of the attempt", k.folders(t))
	}
	_, second, found := k.run(t, 2, session, `cat notes/one > read || exit 1`)
	if second != first {
		t.Errorf("the repair was in %s, the first turn in %s", second, first)
	}
	for _, name := range []string{"mine", "notes", "scratch"} {
		if !strings.Contains(found, name) {
			t.Errorf("the repair does not find %s: %s", name, found)
		}
	}
	for _, name := range []string{".claude", ".env", ".mcp.json", "opencode", "beside"} {
		if strings.Contains(found, name) {
			t.Errorf("the repair finds %s: %s", name, found)
		}
	}
	if k.folders(t) != 0 {
		t.Error("the folder is still there after the repair")
	}
}

// TestNoOtherAttemptFindsTheFolder lets several attempts be repaired at once.
func TestNoOtherAttemptFindsTheFolder(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	one, _, _ := k.run(t, 1, "", "echo 1 > one")
	two, _, found := k.run(t, 1, "", "echo 1 > two")
	if strings.Contains(found, "one") || one == two {
		t.Errorf("the second attempt has session %s and finds %s", two, found)
	}
	if _, _, found = k.run(t, 2, two, ""); !strings.Contains(found, "two") || strings.Contains(found, "one") {
		t.Errorf("the repair of the second attempt finds %s", found)
	}
	driver.Forget(k.driver, "1/s1") // of no attempt
	if k.folders(t) != 1 {
		t.Errorf("%d folders are kept, want that of the first attempt", k.folders(t))
	}
	driver.Forget(k.driver, one)
	if k.folders(t) != 0 {
		t.Error("the folder of an attempt that has ended is still there")
	}
	// Another program has the session, but not the folder.
	if _, _, found = k.run(t, 2, one, ""); strings.Contains(found, "one") {
		t.Errorf("a folder that is gone had %s", found)
	}
	k.run(t, 1, "", "")
	k.run(t, 1, "", "")
	driver.Forget(k.driver, "")
	if k.folders(t) != 0 {
		t.Error("not everything was forgotten")
	}
}

// TestFolderThatAnAgentTurnedIntoATrap lets an agent leave what its repair would
// follow, wait for or write to.
func TestFolderThatAnAgentTurnedIntoATrap(t *testing.T) {
	t.Parallel()
	for name, trap := range map[string]string{
		"files that wait":         `mkfifo ../x; for f in prompt stdout stderr mcp.json relay; do rm -f ../$f; mkfifo ../$f; done`,
		"links to outside":        `for f in prompt mcp.json relay; do rm -f ../$f; ln -s "$VICTIM/file" ../$f; done`,
		"another place to work":   `mv ../work ../elsewhere; ln -s "$VICTIM" ../work`,
		"another temporary place": `mv ../tmp ../elsewhere; ln -s "$VICTIM" ../tmp`,
		"another folder":          `here=$(dirname "$PWD"); mv "$here" "$here.moved"; ln -s "$VICTIM" "$here"; mkdir -p "$here/work" "$here/tmp"`,
		"nowhere to work":         `chmod 0 .`,
		"no folder at all":        `rm -rf "$(dirname "$PWD")"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKept(t)
			victim := t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(victim, "file"), []byte("theirs"), 0o600))
			asked := task()
			asked.Prompt = "VICTIM=" + victim + "\n" + trap + "\n"
			first := must.Get(k.driver.Run(t.Context(), asked, func(driver.Event) {}))(t)
			asked.Turn, asked.Session, asked.Prompt = 2, first.Session, "echo > ours; pwd -P > at; [ \"$(pwd -P)\" != "+victim+" ]\n"
			if _, err := k.driver.Run(t.Context(), asked, func(driver.Event) {}); err != nil {
				if failure := agents.CheckKind(t, err, driver.Unavailable); failure == nil || !failure.SessionGone {
					t.Errorf("the repair: %v", err)
				}
			}
			for _, file := range []string{"ours", "at"} {
				if _, err := os.Lstat(filepath.Join(victim, file)); err == nil {
					t.Errorf("the repair worked in the folder of somebody else, and made %s", file)
				}
			}
			if text, err := os.ReadFile(filepath.Join(victim, "file")); err != nil || string(text) != "theirs" {
				t.Errorf("the file of somebody else has %q, %v", text, err)
			}
		})
	}
}

// TestSweepEndsWhatAKilledProgramLeft leaves processes in the folder of a dead attempt:
// by their working folder, by an open file and by their environment. They have changed
// the times of its claim, and who may look at it, which no cell keeps an agent from.
// Whoever wants to sweep the folder, too, is not one of them.
func TestSweepEndsWhatAKilledProgramLeft(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	folder := filepath.Join(temp, "tidegate-77")
	claim, future := filepath.Join(folder, "claim"), time.Now().Add(time.Hour)
	for _, err := range []error{
		os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "file"), nil, 0o600),
		os.WriteFile(claim, fmt.Appendf(nil, `{"process":1,"since":%d}`, time.Now().UnixMilli()), 0o600), os.Chtimes(claim, future, future),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	start := func(script string, env ...string) *exec.Cmd {
		command := exec.Command("sh", "-c", script)
		command.Env = append(env, "PATH="+os.Getenv("PATH"))
		command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if slices.Contains(env, "TERM=xterm") {
			command.Stdin, command.SysProcAttr.Setctty = newTerminal(t), true
		}
		ready := must.Get(command.StdoutPipe())(t)
		must.Do(t, command.Start())
		ready.Read(make([]byte, 1))
		t.Cleanup(func() { command.Process.Kill(); command.Wait() })
		return command
	}
	left := []*exec.Cmd{
		start("cd " + folder + "; echo; exec sleep 1000"),
		start("exec 3<" + folder + "/file; echo; exec sleep 1000"),
		start("echo; exec sleep 1000", "TMPDIR="+folder+"/tmp"),
		start("cd "+folder+"; echo; exec sleep 1000", "TMPDIR="+folder+"/tmp", "TERM=xterm"),
	}
	person := start("cd "+folder+"; echo; exec sleep 1000", "TERM=xterm", "PWD="+folder)
	stranger := start("echo; exec sleep 1000", "TMPDIR="+folder+"7/tmp")
	sweeper := start("exec 3<" + folder + " 4<" + folder + "/claim; echo; exec sleep 1000")
	os.Chmod(claim, 0)
	os.Chmod(folder, 0)
	sandbox.Sweep(temp)
	for i, command := range left {
		if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("process %d: %v", i, err)
		}
	}
	for name, command := range map[string]*exec.Cmd{"a stranger": stranger, "another sweeper": sweeper, "a person at a terminal": person} {
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", command.Process.Pid)); err != nil || strings.Contains(string(state), ") Z ") {
			t.Errorf("%s was ended: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "file")); err != nil {
		t.Errorf("a person looks into the folder: %v", err)
	}
	person.Process.Kill()
	person.Wait()
	long := time.Now().Add(-time.Hour) // the claim is one that nobody has, as that of a folder which is being made
	must.Do(t, os.Chtimes(filepath.Join(folder, artifact.ScratchClaim), long, long))
	sandbox.Sweep(temp)
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder is still there")
	}
}

// newTerminal makes a terminal.
func newTerminal(t *testing.T) *os.File {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal
}

// TestSweepRemovesWhatAKilledProgramLeft kills a program between two turns of its
// agent.
func TestSweepRemovesWhatAKilledProgramLeft(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	program := exec.Command(os.Args[0])
	program.Args[0] = "keeper"
	program.Env = []string{"STANDIN=keeper", "TMPDIR=" + k.temp, k.path}
	program.Stderr = os.Stderr
	said := must.Get(program.StdoutPipe())(t)
	must.Do(t, program.Start())
	defer program.Wait()
	defer program.Process.Kill()
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		t.Fatalf("the program said %q, %v", line, err)
	}
	own, _, _ := k.run(t, 1, "", "echo 1 > mine")
	victim := newVictim(t)
	for _, err := range []error{
		os.WriteFile(filepath.Join(victim, "claim"), nil, 0o600),
		os.Symlink(victim, filepath.Join(k.temp, "tidegate-7")),
		os.Mkdir(filepath.Join(k.temp, "tidegate-8"), 0o700), // another program is just making it
		os.Mkdir(filepath.Join(k.temp, "tidegate-demo-9"), 0o700),
		os.WriteFile(filepath.Join(k.temp, "tidegate-demo-9", "claim"), nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	sandbox.Sweep(k.temp)
	if n := k.folders(t); n != 5 {
		t.Errorf("%d folders are left, want all: their programs live, or they are not of an attempt", n)
	}
	program.Process.Signal(syscall.SIGKILL)
	program.Wait()
	sandbox.Sweep(k.temp)
	if n := k.folders(t); n != 4 {
		t.Errorf("%d folders are left, want all but that of the killed program", n)
	}
	if _, _, found := k.run(t, 2, own, ""); !strings.Contains(found, "mine") {
		t.Errorf("the folder of a program that lives has %s", found)
	}
	if _, err := os.Stat(filepath.Join(victim, "folder", "file")); err != nil {
		t.Error(err)
	}
}

// TestSweepKnowsEveryKind looks for the temporary folders of every kind that the program
// makes, and has a killed program leave one of each.
func TestSweepKnowsEveryKind(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	made := regexp.MustCompile(`Scratch\("(tidegate-[a-z]+-)"\)`)
	kinds := 0
	if err := filepath.WalkDir("../../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range made.FindAllStringSubmatch(string(text), -1) {
			kinds++
			folder := filepath.Join(temp, found[1]+fmt.Sprint(kinds))
			if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "claim"), []byte(`{"since":1}`), 0o600), os.WriteFile(filepath.Join(folder, "file"), nil, 0o600)); err != nil {
				return err
			}
		}
		return err
	}); err != nil || kinds < 5 {
		t.Fatalf("%d kinds, %v", kinds, err)
	}
	sandbox.Sweep(temp)
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestSweepLeavesWhatIsBeingMade: between the making of a claim and its note nobody holds
// it, and the folder is not one that a killed program left.
func TestSweepLeavesWhatIsBeingMade(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	folder := filepath.Join(temp, "tidegate-4711")
	claim := filepath.Join(folder, artifact.ScratchClaim)
	must.Do(t, errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(claim, nil, 0o600)))
	sandbox.Sweep(temp)
	if _, err := os.Stat(claim); err != nil {
		t.Error(err)
	}
	long := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(claim, long, long))
	sandbox.Sweep(temp)
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was never claimed stays: %v", err)
	}
}
