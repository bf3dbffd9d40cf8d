package proof_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// cost is what a process took.
type cost struct {
	Memory     int64         // peak, in bytes
	Took       time.Duration // by the clock
	Processors time.Duration // of all processors together
}

// measureVariable makes the test binary run a command and report its cost.
const measureVariable = "PROOF_MEASURE"

// Linux counts the memory that a process had before exec, which is its parent's,
// towards its own maximum. So the parent of the measured process must be small, and
// a test that laid out something large is not: another process of this binary
// starts the command, before anything else happens there.
func init() {
	if os.Getenv(measureVariable) == "" {
		return
	}
	os.Unsetenv(measureVariable)
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	err := command.Run()
	took := time.Since(start)
	if command.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	state := command.ProcessState
	spent := cost{state.SysUsage().(*syscall.Rusage).Maxrss << 10, took, state.UserTime() + state.SystemTime()}
	if err := json.NewEncoder(os.NewFile(3, "cost")).Encode(spent); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(state.ExitCode())
}

// measured runs a command and returns what it took.
func measured(command *exec.Cmd) (cost, error) {
	self, err := os.Executable()
	if err != nil {
		return cost{}, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return cost{}, err
	}
	defer read.Close()
	command.Args = append([]string{self}, command.Args...)
	command.Path = self
	command.Env = append(command.Env, measureVariable+"=1")
	command.ExtraFiles = []*os.File{write}
	err = command.Start()
	write.Close()
	if err != nil {
		return cost{}, err
	}
	var spent cost
	decodeErr := json.NewDecoder(read).Decode(&spent)
	if err := command.Wait(); err != nil {
		return spent, err
	}
	return spent, decodeErr
}
