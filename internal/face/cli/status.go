package cli

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
)

// exitStatus ends a command that has printed what it had to say.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Exit ends a command with a status, once it has printed what it had to say.
func Exit(status int) error { return exitStatus(status) }

const statusNotPassed = 1

var statuses = []struct {
	class  tidegate.Class
	status int
	when   string
}{
	{tidegate.NotMet, statusNotPassed, "judged, and not passed"},
	{tidegate.Invalid, 2, "wrong arguments or a malformed document"},
	{tidegate.NotFound, 3, "a named file, output or id does not exist"},
	{tidegate.Conflict, 4, "the state of the run or change forbids it"},
	{tidegate.Denied, 5, "a path leaves the folders it must stay in"},
	{tidegate.Failed, 70, "the machine or the program failed"},
	{tidegate.Stopped, 130, "interrupted"},
}

// Status is the exit status of an error of that class.
func Status(class tidegate.Class) int {
	for _, s := range statuses {
		if s.class == class {
			return s.status
		}
	}
	return 70
}

// statusTable is the help about exit statuses.
func statusTable() string {
	var b strings.Builder
	b.WriteString("Exit status:\n    0  done, and passed where something was judged\n")
	for _, s := range statuses {
		fmt.Fprintf(&b, "  %3d  %s\n", s.status, s.when)
	}
	return b.String()
}
