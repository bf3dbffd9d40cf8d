package sandbox

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestADoorHasRoomForSoMany: an agent that opens connection after connection waits for
// its own to close, and does not use up the files of the home.
func TestADoorHasRoomForSoMany(t *testing.T) {
	t.Parallel()
	d := must.Get(openDoor(false, cell.Model, nil, nil, nil, nil, ""))(t)
	defer d.close()
	knock := func() net.Conn {
		conn := must.Get(net.Dial("tcp", d.at))(t)
		t.Cleanup(func() { conn.Close() })
		fmt.Fprint(conn, "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
		return conn
	}
	answered := func(conn net.Conn) error {
		_, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
		return err
	}
	var inside []net.Conn
	for range maxConnections {
		conn := knock()
		must.Do(t, answered(conn))
		inside = append(inside, conn)
	}
	waits := knock()
	answer := make(chan error, 1)
	go func() { answer <- answered(waits) }()
	select {
	case err := <-answer:
		t.Fatalf("more than %d were let in: %v", maxConnections, err)
	default:
	}
	if n := len(d.connections); n != maxConnections {
		t.Errorf("%d are inside", n)
	}
	inside[0].Close()
	if err := <-answer; err != nil {
		t.Errorf("the next was not let in: %v", err)
	}
}
