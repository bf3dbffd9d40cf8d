package research

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
)

// TestACommandThatTakesTooLongChangesNothing stops a command of --notify at once:
// the program reports that and goes on.
func TestACommandThatTakesTooLongChangesNothing(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	call := cli.Invocation{Program: cli.Program{Dir: t.TempDir(), Stdout: io.Discard, Stderr: &said}, Flags: map[string][]string{"notify": {"sleep 1000"}}}
	s := &session{notifyTime: time.Nanosecond, Session: screen.NewSession(&dispatch.Env{}, call)}
	if err := s.tellOthers(t.Context(), Result{RunID: "tugs"}); err != nil {
		t.Errorf("the program does not go on: %v", err)
	}
	if want := "--notify sleep 1000: it took longer than 1ns and was stopped"; !strings.Contains(said.String(), want) {
		t.Errorf("it says %q, want %q", said.String(), want)
	}
}
