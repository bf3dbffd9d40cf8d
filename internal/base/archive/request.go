package archive

import (
	"context"
	"time"
)

// Request is one request to a service that a person named, such as a search.
type Request struct {
	Method, URL string
	Header      []Field
	Body        []byte
	Secrets     []string      // what of it, and of its echo in the answer, is kept nowhere
	Named       bool          // a person named the address: it is allowed as it stands
	Pause       time.Duration // that the service wants before the next request
}

// Call sends a request to a service by the name that records have; its only error is that
// of ctx.
type Call func(ctx context.Context, name string, r Request) (Capture, error)

// MaxAnswer is how many bytes the answer to a request may have.
const MaxAnswer = 4 << 20
