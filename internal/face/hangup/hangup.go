// Package hangup lets an HTTP server shut down although callers have connected and
// asked nothing.
package hangup

import (
	"net"
	"net/http"
	"sync"
)

// Unused has the server, when it shuts down, close the connections on which nothing
// was ever sent. Browsers and other clients open some in advance, and net/http waits
// five seconds for what may come. It sets the server's ConnState.
func Unused(server *http.Server) {
	var mu sync.Mutex
	unused := map[net.Conn]bool{}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if state == http.StateNew {
			unused[conn] = true
		} else {
			delete(unused, conn)
		}
	}
	server.RegisterOnShutdown(func() {
		mu.Lock()
		defer mu.Unlock()
		for conn := range unused {
			conn.Close()
		}
	})
}
