package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// load is what a server is asked for.
type load struct {
	tool     string
	args     map[string]any
	calls    int
	inFlight int
}

// cost is what the calls of a load took.
type cost struct {
	median, p99 time.Duration
	perSecond   float64
	warm, end   int64 // resident memory in bytes after the first tenth, and at the end
}

// drive starts a server, makes the calls and ends it. It fails when one of the
// calls fails.
func drive(ctx context.Context, command []string, transport, dir string, l load) (cost, error) {
	server := exec.CommandContext(ctx, command[0], command[1:]...)
	server.Dir = dir
	server.Env = append(os.Environ(), "TIDEGATE_HOME="+dir)
	var client mcp.Transport = &mcp.CommandTransport{Command: server}
	if transport == "http" {
		url, err := start(server)
		if err != nil {
			return cost{}, err
		}
		defer func() {
			_ = server.Process.Signal(os.Interrupt)
			_ = server.Wait()
		}()
		connections := http.DefaultTransport.(*http.Transport).Clone()
		connections.MaxIdleConnsPerHost = l.inFlight
		client = &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: connections}, DisableStandaloneSSE: true}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, client, nil)
	if err != nil {
		return cost{}, err
	}
	defer session.Close()
	warmUp := l
	warmUp.calls = l.calls / 10
	if _, err := warmUp.run(ctx, session); err != nil {
		return cost{}, err
	}
	warm, err := residentMemory(server.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	l.calls -= warmUp.calls
	begin := time.Now()
	times, err := l.run(ctx, session)
	if err != nil {
		return cost{}, err
	}
	took := time.Since(begin)
	end, err := residentMemory(server.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	slices.Sort(times)
	return cost{
		median: times[len(times)/2], p99: times[len(times)*99/100], perSecond: float64(len(times)) / took.Seconds(), warm: warm, end: end,
	}, nil
}

// start starts a server that prints its address on stderr.
func start(server *exec.Cmd) (url string, err error) {
	stderr, err := server.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := server.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if found := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(lines.Text()); found != nil {
			go io.Copy(io.Discard, stderr)
			return found[1], nil
		}
	}
	return "", errors.New("the server does not say where it is")
}

// run makes the calls, inFlight of them at a time, and returns how long each took.
func (l load) run(ctx context.Context, session *mcp.ClientSession) ([]time.Duration, error) {
	times := make([]time.Duration, l.calls)
	var (
		next    atomic.Int64
		workers sync.WaitGroup
		failed  = make(chan error, l.inFlight)
	)
	for range l.inFlight {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(times) {
					return
				}
				begin := time.Now()
				result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: l.tool, Arguments: l.args})
				times[i] = time.Since(begin)
				if err == nil && result.IsError {
					err = fmt.Errorf("call %d is an error: %v", i, result.Content[0])
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	workers.Wait()
	select {
	case err := <-failed:
		return nil, err
	default:
		return times, nil
	}
}
