// Package tidegate holds the words that every other package speaks: the error
// type, its codes and their classes, and the one table that explains them.
//
// A judgement that goes against an output is data, not an error: it is returned
// as a result. An [Error] is a failure to produce a judgement, or, for the
// tools that judge a single thing, the refusal itself (class [NotMet]).
//
// The package knows no files, no JSON documents and no faces.
package tidegate

import (
	"context"
	"errors"
	"fmt"
)

// Error is what every failing operation returns. Its three public parts are the
// three keys of the error envelope.
type Error struct {
	Code    Code
	Message string  // lower case, names the thing, says what was expected; at most 200 characters
	Details Details // never nil in an envelope: an empty list prints {}
	cause   error
}

// Errorf makes an [*Error]. A %w verb keeps the cause for [errors.Is]. The
// message is cut to [MaxText] characters. It returns error, so that a nil
// *Error can never hide in a non-nil interface.
func Errorf(code Code, details Details, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: Cut(err.Error()), Details: details, cause: errors.Unwrap(err)}
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause that Errorf was handed with %w, or nil.
func (e *Error) Unwrap() error { return e.cause }

// AsError turns any error into an *Error: what already is one is returned as it
// is, an ended context becomes CANCELLED, and everything else INTERNAL. It
// returns nil for nil.
func AsError(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Cancelled, Message: "the call was cancelled before it finished", cause: err}
	}
	return &Error{Code: Internal, Message: Cut(err.Error()), cause: err}
}

// CodeOf is the code of err: "" for nil, INTERNAL for an error of unknown kind.
func CodeOf(err error) Code {
	if e := AsError(err); e != nil {
		return e.Code
	}
	return ""
}

// WithDetails is err with other details: those that tell its reader what it is
// about. Code, message and cause stay. It returns nil for nil.
func WithDetails(err error, details Details) error {
	e := AsError(err)
	if e == nil {
		return nil
	}
	return &Error{Code: e.Code, Message: e.Message, Details: details, cause: e.cause}
}

// Details is a JSON object whose keys keep the order in which they were
// written; the codec package writes it.
type Details []Detail

// Detail is one key of [Details].
type Detail struct {
	Key   string
	Value any
}

// Pairs builds Details from alternating keys and values: D("section", title).
func Pairs(pairs ...any) Details {
	details := make(Details, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		details = append(details, Detail{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return details
}

// Get returns the value of the first detail with that key.
func (d Details) Get(key string) (any, bool) {
	for _, detail := range d {
		if detail.Key == key {
			return detail.Value, true
		}
	}
	return nil, false
}

// MaxText is the length, in Unicode code points, to which free text in results
// and errors is cut.
const MaxText = 200

// Cut keeps the first [MaxText] code points of s and adds no mark. A byte that
// is not UTF-8 counts as one.
func Cut(s string) string {
	if len(s) <= MaxText {
		return s
	}
	n := 0
	for i := range s {
		if n == MaxText {
			return s[:i]
		}
		n++
	}
	return s
}
