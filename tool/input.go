package tool

import (
	"context"
	"io"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// Stdin is what a person types in the place of a file to have standard input read.
const Stdin = "-"

// ReadInput reads standard input, which may be a person who types, to its end.
// Errors call it what. It returns CANCELLED when ctx ends first; the reader must
// not be used any more then. It also returns READ_FAILED.
func ReadInput(ctx context.Context, in io.Reader, what string) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, artifact.MaxDocument+1))
		done <- read{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, tidegate.Errorf(tidegate.Cancelled, nil, "interrupted before %s was read from stdin (%w)", what, context.Cause(ctx))
	case r := <-done:
		if r.err != nil {
			return nil, tidegate.Errorf(tidegate.ReadFailed, nil, "%s cannot be read from stdin: %w", what, r.err)
		}
		if len(r.data) > artifact.MaxDocument {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, nil, "%s must not have more than %d MiB on stdin", what, artifact.MaxDocument>>20)
		}
		return r.data, nil
	}
}
