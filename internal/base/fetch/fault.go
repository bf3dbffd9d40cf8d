package fetch

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/tidegate/tidegate/internal/base/archive"
)

// fault is why a fetch has no response, or not a whole one.
type fault struct {
	kind    archive.Kind
	address string
	detail  string
}

func newFault(kind archive.Kind, address, detail string) *fault { return &fault{kind, address, detail} }

func (f *fault) Error() string { return f.detail }

// faultOf says what an error of a connection to an address means. HandshakeFailed
// says that it came while the server should have proved who it is.
func faultOf(err error, address string, handshakeFailed bool) *fault {
	var known *fault
	switch {
	case errors.As(err, &known):
		return known
	case isTimeout(err):
		return newFault(archive.TimedOut, address, "the answer did not come in time")
	case handshakeFailed:
		return newFault(archive.BadTLS, address, err.Error())
	}
	return newFault(archive.Broken, address, err.Error())
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
