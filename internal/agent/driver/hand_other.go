//go:build !linux

package driver

import (
	"errors"
	"net"
	"os"
)

// hand is for cells with a network of their own, which there are none of here.
type hand struct{}

func newHand() (*hand, error)               { return nil, errors.ErrUnsupported }
func (*hand) take() ([]net.Listener, error) { return nil, errors.ErrUnsupported }
func (*hand) file() *os.File                { return nil }
func (*hand) close()                        {}
