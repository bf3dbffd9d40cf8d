package planted

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// pipe is a connection in memory. What the server writes is buffered, as on a real
// connection: client and server may both write at the same time.
func pipe() (near, far net.Conn, err error) {
	near, inner := net.Pipe()
	b := &buffered{Conn: inner, out: make(chan []byte, 64), ended: make(chan struct{}), failed: make(chan struct{})}
	go b.write()
	return near, b, nil
}

// buffered writes in the background.
type buffered struct {
	net.Conn
	out    chan []byte
	once   sync.Once
	ended  chan struct{} // nothing more will be written
	failed chan struct{} // nothing more can be written
}

func (b *buffered) write() {
	defer b.Conn.Close()
	defer close(b.failed)
	for {
		select {
		case data := <-b.out:
			if _, err := b.Conn.Write(data); err != nil {
				return
			}
		case <-b.ended:
			if len(b.out) == 0 {
				return
			}
		}
	}
}

func (b *buffered) Write(p []byte) (int, error) {
	select {
	case <-b.ended:
		return 0, net.ErrClosed
	case <-b.failed:
		return 0, net.ErrClosed
	case b.out <- bytes.Clone(p):
		return len(p), nil
	}
}

// Close sends what was written first.
func (b *buffered) Close() error {
	b.once.Do(func() { close(b.ended) })
	return b.Conn.SetReadDeadline(time.Unix(0, 1))
}

func (b *buffered) SetDeadline(t time.Time) error      { return b.SetReadDeadline(t) }
func (b *buffered) SetWriteDeadline(t time.Time) error { return nil }

// loopback is a connection over loopback.
func loopback() (near, far net.Conn, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	if near, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		return nil, nil, err
	}
	if far, err = listener.Accept(); err != nil {
		near.Close()
		return nil, nil, err
	}
	return near, far, nil
}
