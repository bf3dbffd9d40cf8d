package sandbox

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// The tools of the home reach an agent through the door of its cell: a client starts a
// relay as its MCP server, which asks the door for relayAddress and then carries what
// both sides say. Which run and which lease the tools work for follows from the door.

// RelayArg among the arguments of a server stands for the file by which a relay finds
// its door.
const RelayArg = "{relay}"

// relayFile is that file. It lies in the attempt's folder, where an agent can read and
// not write, and holds what a door says of itself.
const relayFile = "relay"

// relayAddress is what a relay asks a door for. No host can have that name.
const relayAddress = "tools.invalid:1"

// maxRelays is how many relays an agent may have at once.
const maxRelays = 8

// relays reports whether an agent that works in f has a server that is a relay, and h
// has tools to offer there.
func (m Machine) relays(f *Folder, task driver.Task) bool {
	return m.Tools != nil && slices.ContainsFunc(task.Tools.MCP, func(s driver.Server) bool { return slices.Contains(s.Args, f.In(relayFile)) })
}

// relay answers a relay, for as long as it and the door are there.
func (d *door) relay(w http.ResponseWriter) {
	select {
	case d.relays <- struct{}{}:
		defer func() { <-d.relays }()
	default:
		http.Error(w, fmt.Sprintf("an agent may have %d relays at once", maxRelays), http.StatusTooManyRequests)
		return
	}
	w.WriteHeader(http.StatusOK)
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(d.ends, func() { conn.Close() })
	defer stop()
	d.tools(d.ends, struct {
		io.Reader
		io.Writer
	}{buffered, conn})
}

// Relay is the way of an agent to the tools of its home: it connects in and out to the
// door that a file names. It returns INVALID_ARGS for a file that names none, and
// INVALID_STATE where the door is closed.
func Relay(ctx context.Context, file string, in io.Reader, out io.Writer) error {
	said, err := artifact.Everywhere.ReadFile("relay", file)
	if err != nil {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("relay", file), "--relay is for the clients of agents that tidegate starts, and %s cannot be read: %w", tidegate.Cut(file), err)
	}
	at, err := url.Parse(strings.TrimSpace(string(said)))
	if err != nil || at.Host == "" || at.User == nil {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("relay", file), "--relay must name a file that names a door, got %s", tidegate.Cut(file))
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("relay", file), "the home does not answer: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	answers, err := knock(conn, at)
	if err != nil {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("relay", file), "the home does not answer: %w", err)
	}
	go func() {
		io.Copy(conn, in)
		halfClose(conn)
	}()
	_, err = io.Copy(out, answers)
	return err
}

// knock asks a door for the tools of its home.
func knock(conn net.Conn, at *url.URL) (*bufio.Reader, error) {
	password, _ := at.User.Password()
	bearer := base64.StdEncoding.EncodeToString([]byte(at.User.Username() + ":" + password))
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n", relayAddress, relayAddress, bearer); err != nil {
		return nil, err
	}
	answers := bufio.NewReader(conn)
	answer, err := http.ReadResponse(answers, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it says %s", answer.Status)
	}
	return answers, nil
}
