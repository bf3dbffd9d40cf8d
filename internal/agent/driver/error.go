package driver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
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

// Some clients say what went wrong only in words. The HTTP status of the
// model's provider is nearly always among them.
var (
	statusInWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:status(?: code)?:? |"code": ?|\[|\berror:? )([45]\d\d)\b`)
	})
	waitInWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:(?:try again|retry) (?:in|after)|retryDelay":) ?"?(\d+(?:\.\d+)?) ?(ms|s|m|h)?`)
	})
)

// phrases are how failures without a status are recognized; the first match counts.
var phrases = []struct {
	kind  Kind
	words []string
}{
	{Unavailable, []string{"connection refused", "econnrefused"}}, // not what a model refuses
	{Auth, []string{"not logged in", "please run /login", "missing environment variable", "api key not valid", "invalid api key", "invalid x-api-key", "incorrect api key", "invalid bearer token", "invalid authentication", "log in again", "sign in again"}},
	{Rate, []string{"usage limit", "rate limit", "hit your limit", "quota", "too many requests"}},
	{Refused, []string{"refus", "safeguards flagged", "content policy", "content_filter", "content filter", "flagged as", "blocked due to safety"}},
	{Unavailable, []string{"internal server error", "server had an error", "internal error has occurred", "high demand", "overloaded", "stream disconnected", "stream closed", "stream ended", "network error", "connection", "terminated", "timed out", "fetch failed", "econn", "malformed response"}},
}

// LongestWait is how long a provider may let an agent wait: limits of an account
// end after some hours, and a person decides about a longer wait.
const LongestWait = 6 * time.Hour

// FailureIn is the failure that a client described.
func FailureIn(name, words string) *Error {
	failure := &Error{Kind: Died, Message: name + ": " + Shown(words)}
	if match := statusInWords().FindStringSubmatch(words); match != nil {
		status, _ := strconv.Atoi(match[1])
		failure.Kind = KindOf(status)
	} else {
		lower := strings.ToLower(words)
	search:
		for _, row := range phrases {
			for _, phrase := range row.words {
				if strings.Contains(lower, phrase) {
					failure.Kind = row.kind
					break search
				}
			}
		}
	}
	if failure.Kind == Rate {
		failure.Wait = WaitIn(words)
	}
	return failure
}

// WaitIn is how long a text says that one has to wait; 0 where it does not say so.
func WaitIn(words string) time.Duration {
	match := waitInWords().FindStringSubmatch(words)
	if match == nil {
		return 0
	}
	number, _ := strconv.ParseFloat(match[1], 64)
	unit := map[string]time.Duration{"ms": time.Millisecond, "": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour}[strings.ToLower(match[2])]
	return time.Duration(min(number*float64(unit), float64(LongestWait)))
}

// KindOf is the kind of failure that an HTTP status of a model's provider
// stands for.
func KindOf(status int) Kind {
	switch {
	case status == 401, status == 403:
		return Auth
	case status == 402, status == 429:
		return Rate
	case status == 404, status == 408, status >= 500:
		return Unavailable
	}
	return Died
}

// LastLine is the last line of text that is not blank, to follow a message.
func LastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return ": " + Shown(line)
		}
	}
	return ""
}

// Shown is what a message quotes of the words of another program: cut, and
// without anything that a terminal would act on.
func Shown(words string) string { return tidegate.Cut(markdown.Show(words)) }

// Marshal is v as JSON. It panics for what has none.
func Marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is made of strings, numbers and what was read as JSON
	}
	return data
}

// Variable is the value that a list of variables has for name; the last counts.
func Variable(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
