package sandbox

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/fetch"
)

// door is the way out of one cell: a proxy for one attempt, which knows the hosts
// that its agent may reach, resolves their names and refuses private addresses as
// fetching does. An endpoint of the person's own machine is reached beside it, at
// its own address: agents find it on the loopback of their cell, and what they say
// there is carried over. An agent without a network has a door that refuses
// everything, and so is known to want what it cannot have.
type door struct {
	network     cell.Network
	hosts       []string // of the agent's model; * stands for what is no dot
	models      []string // hosts of the models of every agent that is known
	endpoints   []string // host:port, that a person configured
	only        string   // the one that a person named by its address; "" for none
	local       []string // of these, the ones on this machine's loopback
	token       string
	at          string    // where the agent finds it
	handover    *handover // the listeners come from the cell; nil: they are this machine's
	reach       *fetch.Client
	tools       func(ctx context.Context, agent io.ReadWriter) // of the home; nil: none
	relays      chan struct{}                                  // has a value for each that is at work
	connections chan struct{}                                  // has a value for each connection of the agent's
	ends        context.Context
	end         context.CancelFunc
	all         sync.WaitGroup

	mu      sync.Mutex
	passed  map[string]int // what was let through, by host:port
	refused map[string]int
	wanted  func(address string) // hears of the model that an agent without a network asks for; nil: nobody listens
}

// maxConnections is how many connections an agent may have through its door at once. Each
// costs the home a file or two, which it needs for its work.
const maxConnections = 128

// bounded is a listener of which no more than maxConnections connections are open at once;
// further ones wait.
type bounded struct {
	net.Listener
	*door
}

func (l bounded) Accept() (net.Conn, error) {
	select {
	case l.connections <- struct{}{}:
	case <-l.ends.Done():
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	tcp, ok := conn.(*net.TCPConn)
	if err != nil || !ok {
		<-l.connections
		return conn, err
	}
	return &connection{TCPConn: tcp, closed: sync.OnceFunc(func() { <-l.connections })}, nil
}

// connection is a connection of the agent's.
type connection struct {
	*net.TCPConn
	closed func()
}

func (g *connection) Close() error {
	g.closed()
	return g.TCPConn.Close()
}

// doorPort is where an agent with a network of its own finds the door, and nobody
// else's server.
const doorPort = 47823

// endpointVariables end the names of variables by which people tell clients where
// their model is.
var endpointVariables = []string{"_BASE_URL", "_ENDPOINT", "_HOST"}

// endpointsIn are the addresses, host:port, that an agent is told by its environment.
func endpointsIn(env []string) []string {
	var list []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if !slices.ContainsFunc(endpointVariables, func(end string) bool { return strings.HasSuffix(name, end) }) {
			continue
		}
		at, err := url.Parse(value)
		if err != nil || at.Hostname() == "" || at.Scheme != "http" && at.Scheme != "https" {
			continue
		}
		list = append(list, net.JoinHostPort(strings.ToLower(at.Hostname()), portOf(at)))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func portOf(at *url.URL) string {
	switch {
	case at.Port() != "":
		return at.Port()
	case at.Scheme == "http":
		return "80"
	}
	return "443"
}

// openDoor opens the door of an attempt. Where the agent has no network of its own,
// apart from this machine's, it listens on this machine. What the person's environment
// names as proxies lies behind it. Only is the model on this machine that is all of the
// agent's network; "" for none.
func openDoor(apart bool, network cell.Network, hosts, models, endpoints, environ []string, only string) (*door, error) {
	if only != "" {
		endpoints = []string{only}
	}
	allow, err := fetch.ParseAllow(endpoints)
	if err != nil {
		return nil, err
	}
	d := &door{
		network: network, hosts: hosts, models: models, endpoints: endpoints, only: only, token: rand.Text(),
		reach:  fetch.New(fetch.Options{Allow: allow, Proxy: true, Getenv: func(name string) string { return driver.Variable(environ, name) }}),
		relays: make(chan struct{}, maxRelays), connections: make(chan struct{}, maxConnections), passed: map[string]int{}, refused: map[string]int{},
	}
	for _, endpoint := range endpoints {
		if onLoopback(endpoint) && !slices.ContainsFunc(d.local, func(known string) bool { return inCell(known) == inCell(endpoint) }) {
			d.local = append(d.local, endpoint)
		}
	}
	d.ends, d.end = context.WithCancel(context.Background())
	if apart {
		port := doorPort
		for slices.ContainsFunc(d.local, func(at string) bool { return strings.HasSuffix(at, ":"+strconv.Itoa(port)) }) {
			port++
		}
		d.at = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if d.handover, err = newHandover(); err != nil {
			d.end()
			return nil, err
		}
		d.all.Go(d.receive)
		return d, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.end()
		return nil, err
	}
	d.at = listener.Addr().String()
	d.all.Go(func() { d.serve(listener) })
	return d, nil
}

func onLoopback(endpoint string) bool {
	host, _, _ := net.SplitHostPort(endpoint)
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

// inCell is where a cell with a network of its own listens for an endpoint on this
// machine's loopback, which may have more names than one.
func inCell(endpoint string) string {
	host, port, _ := net.SplitHostPort(endpoint)
	if host == "localhost" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// close closes the door and every connection through it.
func (d *door) close() {
	if d == nil {
		return
	}
	d.end()
	d.handover.close()
	d.all.Wait()
}

// url is how the agent is told of the door; "" where it has none.
func (d *door) url() string {
	if d == nil {
		return ""
	}
	return "http://agent:" + d.token + "@" + d.at
}

// ports are those that an agent connects to, where it has no network of its own.
func (d *door) ports() []int {
	var list []int
	for _, at := range append([]string{d.at}, d.local...) {
		_, port, _ := net.SplitHostPort(at)
		if n, err := strconv.Atoi(port); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// addresses are those on which a cell with a network of its own listens for d.
func (d *door) addresses() []string {
	if d.handover == nil {
		return nil
	}
	list := []string{d.at}
	for _, endpoint := range d.local {
		list = append(list, inCell(endpoint))
	}
	return list
}

// receive takes the listeners from the cell and serves them until the door closes.
func (d *door) receive() {
	listeners, err := d.handover.take()
	if err != nil {
		return // the program was not started, or never will be
	}
	for i, listener := range listeners {
		if i == 0 {
			d.all.Go(func() { d.serve(listener) })
		} else if i <= len(d.local) {
			d.all.Go(func() { d.carry(listener, d.local[i-1]) })
		}
	}
}

// serve is the proxy.
func (d *door) serve(listener net.Listener) {
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL, r.Out.Host = r.In.URL, r.In.URL.Host
			r.Out.Header.Del("Proxy-Authorization")
		},
		Transport:     &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return d.connect(ctx, address) }, DisableKeepAlives: true},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			address, ok := d.admit(w, r)
			switch {
			case !ok:
			case address == relayAddress:
				d.relay(w)
			case r.Method == http.MethodConnect:
				d.tunnel(w, r, address)
			default:
				forward.ServeHTTP(w, r)
			}
		}),
		ReadHeaderTimeout: time.Minute,
		MaxHeaderBytes:    64 << 10, // of each of many
		BaseContext:       func(net.Listener) context.Context { return d.ends },
	}
	stop := context.AfterFunc(d.ends, func() { server.Close() })
	defer stop()
	server.Serve(bounded{listener, d})
}

// admit says whether a request may pass, and where to; where it may not, it has
// answered it.
func (d *door) admit(w http.ResponseWriter, r *http.Request) (address string, ok bool) {
	if !d.knows(r.Header.Get("Proxy-Authorization")) {
		w.Header().Set("Proxy-Authenticate", "Basic")
		http.Error(w, "this is the door of another agent", http.StatusProxyAuthRequired)
		return "", false
	}
	host, port := r.URL.Hostname(), r.URL.Port()
	switch {
	case r.Method == http.MethodConnect && host == "":
		host, port, _ = net.SplitHostPort(r.Host)
	case r.URL.Scheme == "http" && port == "":
		port = "80"
	}
	address = net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), port)
	if address == relayAddress && r.Method == http.MethodConnect && d.tools != nil {
		return address, true
	}
	if host == "" || !d.allows(address) {
		d.refuse(address)
		http.Error(w, fmt.Sprintf("the network of this agent is %q, and %s is not in it", d.network, address), http.StatusForbidden)
		return "", false
	}
	return address, true
}

func (d *door) knows(header string) bool {
	kind, value, _ := strings.Cut(header, " ")
	if strings.EqualFold(kind, "Basic") {
		pair, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return false
		}
		_, value, _ = strings.Cut(string(pair), ":")
	}
	return subtle.ConstantTimeCompare([]byte(value), []byte(d.token)) == 1
}

// allows reports whether the agent may ask for an address.
func (d *door) allows(address string) bool {
	_, port, _ := net.SplitHostPort(address)
	switch {
	case d.network == cell.None:
		return false
	case d.network == cell.Web && (port == "443" || port == "80"):
		return true
	}
	return slices.Contains(d.endpoints, address) || Among(d.hosts, address)
}

// Among reports whether an address is that of one of the hosts, by HTTPS.
func Among(hosts []string, address string) bool {
	host, port, _ := net.SplitHostPort(address)
	return port == "443" && slices.ContainsFunc(hosts, func(known string) bool {
		// Dots are to a * what slashes are.
		fits, _ := path.Match(strings.ReplaceAll(known, ".", "/"), strings.ReplaceAll(host, ".", "/"))
		return fits && !strings.Contains(host, "/")
	})
}

// refuse notes that the agent asked for what it may not have. One that has no network
// and asks for its model cannot work: some clients would try for minutes in silence.
func (d *door) refuse(address string) {
	d.note(d.refused, address)
	d.mu.Lock()
	tell := d.wanted
	d.mu.Unlock()
	if tell != nil && d.network == cell.None && (slices.Contains(d.endpoints, address) || Among(d.models, address)) {
		tell(address)
	}
}

// connect connects to an address that the agent may ask for.
func (d *door) connect(ctx context.Context, address string) (net.Conn, error) {
	conn, err := d.reach.Connect(ctx, address)
	if err == nil && d.only != "" && ownListener(address) != nil {
		conn.Close()
		err = errOwnListener
	}
	if err != nil {
		d.note(d.refused, address)
		return nil, err
	}
	d.note(d.passed, address)
	return conn, nil
}

// tunnel answers CONNECT and carries what both sides say.
func (d *door) tunnel(w http.ResponseWriter, r *http.Request, address string) {
	there, err := d.connect(r.Context(), address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		there.Close()
		return
	}
	d.join(here, buffered, there)
}

// carry carries what is said to a listener to an endpoint on this machine.
func (d *door) carry(listener net.Listener, endpoint string) {
	stop := context.AfterFunc(d.ends, func() { listener.Close() })
	defer stop()
	for {
		here, err := bounded{listener, d}.Accept()
		if err != nil {
			return
		}
		if d.network == cell.None {
			here.Close()
			d.refuse(endpoint)
			continue
		}
		d.all.Go(func() {
			there, err := (&net.Dialer{}).DialContext(d.ends, "tcp", endpoint)
			if err != nil {
				here.Close()
				return
			}
			if d.only != "" && ownListener(endpoint) != nil { // which was not there when the cell was made
				here.Close()
				there.Close()
				d.refuse(endpoint)
				return
			}
			d.note(d.passed, endpoint)
			d.join(here, here, there)
		})
	}
}

// join carries what both sides say until one has ended or the door closes.
func (d *door) join(here net.Conn, said io.Reader, there net.Conn) {
	stop := context.AfterFunc(d.ends, func() { here.Close(); there.Close() })
	defer stop()
	defer here.Close()
	defer there.Close()
	var back sync.WaitGroup
	back.Go(func() {
		io.Copy(here, there)
		halfClose(here)
	})
	io.Copy(there, said)
	halfClose(there)
	back.Wait()
}

// halfClose says that nothing more comes, so that the other side can end its part.
func halfClose(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
		return
	}
	conn.Close()
}

// listen has hear told of the model that an agent without a network asks for.
func (d *door) listen(hear func(address string)) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = hear
}

// withoutNetwork is the failure of an agent that asks for its model in a cell without
// a network: it fails again until a person gives it one.
func withoutNetwork(name, address string) *driver.Error {
	return &driver.Error{
		Kind: driver.Unavailable, Lasting: true, Help: "--agent-network model",
		Message: fmt.Sprintf("%s asks for its model at %s, and its cell has no network; network = \"model\" under its role in your own tidegate.toml gives it one", name, driver.Shown(address)),
	}
}

func (d *door) note(where map[string]int, address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := where[address]; known || len(where) < 1000 {
		where[address]++
	}
}

// record is what the door let through and what it refused, for the attempt's record.
func (d *door) record(event func(driver.Event)) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, list := range []struct {
		what string
		of   map[string]int
	}{{"let through", d.passed}, {"refused", d.refused}} {
		for _, address := range slices.Sorted(maps.Keys(list.of)) {
			event(driver.Event{Kind: driver.Other, Text: fmt.Sprintf("the door %s %s (%d)", list.what, driver.Shown(address), list.of[address])})
		}
	}
}

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

// mayReach returns NOT_CONFINED for an address that no agent reaches, although a person names
// it as its model: one that is not of this machine alone, or on which a process of this
// program listens.
func mayReach(address string) error {
	if address == "" {
		return nil
	}
	refuse := func(why string) error {
		return tidegate.Errorf(tidegate.NotConfined, tidegate.Pairs("flag", "--agent-model-address", "address", address, "reason", why),
			"--agent-model-address %s: %s", tidegate.Cut(address), why)
	}
	at, err := netip.ParseAddrPort(address)
	switch ip := at.Addr().Unmap(); {
	case err != nil || at.Port() == 0:
		return refuse("it is no IP address with a port, such as 127.0.0.1:8080")
	case ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip.IsUnspecified():
		return refuse("link-local, shared and unspecified addresses lead to whoever answers there")
	case !ip.IsLoopback() && !ofThisMachine(ip):
		return refuse("it is not an address of this machine")
	}
	if err := ownListener(address); err != nil {
		return refuse(err.Error())
	}
	return nil
}

func ofThisMachine(ip netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
		own, err := netip.ParsePrefix(a.String())
		return err == nil && own.Addr().Unmap() == ip
	})
}

var errOwnListener = errors.New("tidegate itself listens there")

// ownListener says that a process of this program listens at an address of this machine. No
// agent reaches a page, a server of tools or the door of another agent.
func ownListener(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() && !ofThisMachine(at.Addr().Unmap()) || !listensHere(at) {
		return nil
	}
	return errOwnListener
}
