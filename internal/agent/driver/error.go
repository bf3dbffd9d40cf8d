package driver

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
)

// Kind is the kind of a failure. It decides what happens next.
type Kind string

// The kinds of failures.
const (
	Auth        Kind = "auth"        // the client or the key is not logged in: a person must act
	Rate        Kind = "rate"        // too many requests: wait
	Unavailable Kind = "unavailable" // no client, no connection, a model that cannot answer at the moment
	Refused     Kind = "refused"     // the model or its provider will not do this task
	Idle        Kind = "idle"        // nothing came for too long
	Deadline    Kind = "deadline"    // the time, or the number of steps, is used up
	Flood       Kind = "flood"       // more was written than an answer may have
	Died        Kind = "died"        // the client ended without an answer
	Empty       Kind = "empty"       // the client ended normally, but its answer is empty
)

var kinds = []Kind{Auth, Rate, Unavailable, Refused, Idle, Deadline, Flood, Died, Empty}

// Known reports whether k is one of these.
func (k Kind) Known() bool { return slices.Contains(kinds, k) }

// Error is why a task has no answer. It crosses machines as it is.
type Error struct {
	Kind    Kind          `json:"kind"`
	Message string        `json:"message"`           // lower case, names the client
	Wait    time.Duration `json:"wait_ns,omitempty"` // of Rate: how long, where the provider said
	Help    string        `json:"help,omitempty"`    // what a person types to remove the cause: a command, or a flag for the same one
	// SessionGone says that Task.Session cannot be continued here: the task has
	// to begin afresh.
	SessionGone bool `json:"session_gone,omitempty"`
	// Lasting says of Unavailable that waiting does not help: the client is not
	// there, or cannot be started, until a person does something about it.
	Lasting bool `json:"lasting,omitempty"`
	// Code is that of a fault in the configuration of an endpoint: MODEL_REQUIRED or
	// ENDPOINT_INVALID. Choices are the models that a person can name instead.
	Code    tidegate.Code `json:"code,omitempty"`
	Choices []string      `json:"choices,omitempty"`
}

// NeedsPerson reports whether the same agent fails again until a person has acted.
func (e *Error) NeedsPerson() bool { return e.Kind == Auth || e.Lasting }

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// CannotStart is the failure of a client that cannot be started.
func CannotStart(name string, why any) *Error {
	return &Error{Kind: Unavailable, Message: fmt.Sprintf("%s cannot be started: %v", name, why), Lasting: true}
}

func Failf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}
