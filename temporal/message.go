package temporal

import (
	"fmt"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// Version is that of the messages between a home and its workers. Programs that
// speak another one refuse each other.
const Version = 2

// taskMessage is a task on its way to a worker.
type taskMessage struct {
	Version int         `json:"version"`
	Program string      `json:"program"` // of the home, for messages
	Driver  string      `json:"driver"`  // which agent, without command, address or folder
	Task    driver.Task `json:"task"`
	// Ended says that there is nothing to do but to forget the session of the task:
	// its attempt has ended.
	Ended bool `json:"ended,omitempty"`
}

// answerMessage is what a worker returns: an answer, or the failure of its agent.
type answerMessage struct {
	Version int            `json:"version"`
	Program string         `json:"program"`
	Worker  string         `json:"worker"` // in words
	TaskID  string         `json:"task_id"`
	Answer  driver.Answer  `json:"answer"`
	Bytes   []byte         `json:"bytes,omitempty"` // the text of the answer where it is not UTF-8, which JSON would change
	Error   *driver.Error  `json:"error,omitempty"`
	Events  []driver.Event `json:"events,omitempty"`
	Cut     int            `json:"cut,omitempty"` // events at the end that were left out, because there were too many
}

// beat is what a worker says about a task that goes on.
type beat struct {
	TaskID string       `json:"task_id"`
	N      int          `json:"n"` // events so far
	Event  driver.Event `json:"event"`
}

// setText puts the text of the answer where it keeps its bytes.
func (m *answerMessage) setText() {
	if !utf8.ValidString(m.Answer.Text) {
		m.Bytes, m.Answer.Text = []byte(m.Answer.Text), ""
	}
}

func (m *answerMessage) text() string {
	if m.Bytes != nil {
		return string(m.Bytes)
	}
	return m.Answer.Text
}

// versionError says what has to be upgraded where two programs speak different
// versions; nil where they do not. Ours is on machine here, theirs on machine
// there.
func versionError(theirs int, program, here, there string) *driver.Error {
	if theirs == Version {
		return nil
	}
	older := there
	if theirs > Version {
		older = here
	}
	return &driver.Error{
		Kind: driver.Unavailable, Lasting: true, Help: upgradeHelp,
		Message: fmt.Sprintf("%s speaks version %d of the messages between home and worker (%s), and %s version %d: the program on %s is too old",
			there, theirs, shown(program), here, Version, older),
	}
}
