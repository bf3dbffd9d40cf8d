package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/tool"
)

// maxMessage bounds one message, on stdio and over HTTP.
const maxMessage = 16 << 20

// ServeStdio serves one client on in and out until in ends and everything that
// was asked by then is answered, or until ctx ends. A line that is not a message,
// or too long for one, is answered with an error; the server goes on.
func ServeStdio(ctx context.Context, tools []*tool.Tool, in io.Reader, out io.Writer, options Options) error {
	err := New(tools, options).Run(withCarrier(ctx, ctx), &lines{in: in, out: out})
	if errors.Is(err, context.Canceled) {
		return nil // a request to stop is a normal end
	}
	return err
}

// lines is a transport with one JSON-RPC message per line. The SDK's own ends at
// the first line that it cannot decode, and drops the answers that are under way
// when the input ends.
type lines struct {
	in  io.Reader
	out io.Writer
}

func (t *lines) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConnection{out: t.out, incoming: make(chan jsonrpc.Message), closed: make(chan struct{}), asked: map[jsonrpc.ID]bool{}}
	c.answered = sync.NewCond(&c.mu)
	go c.read(t.in)
	return c, nil
}

type lineConnection struct {
	incoming chan jsonrpc.Message
	closed   chan struct{}
	once     sync.Once

	writing sync.Mutex
	out     io.Writer

	mu       sync.Mutex
	answered *sync.Cond
	asked    map[jsonrpc.ID]bool // not answered yet
	ended    bool
}

func (c *lineConnection) SessionID() string { return "" }

func (c *lineConnection) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.mu.Lock()
		c.ended = true
		c.mu.Unlock()
		c.answered.Broadcast()
	})
	return nil
}

func (c *lineConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message, ok := <-c.incoming:
		if !ok {
			return nil, io.EOF
		}
		return message, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *lineConnection) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	err = c.writeLine(data)
	if response, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.asked, response.ID)
		c.mu.Unlock()
		c.answered.Broadcast()
	}
	return err
}

func (c *lineConnection) writeLine(data []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	return err
}

// read hands on one message after the other. At the end of the input it waits
// for the answers to what was asked before.
func (c *lineConnection) read(in io.Reader) {
	defer close(c.incoming)
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(reader, maxMessage)
		switch line = bytes.TrimSpace(line); {
		case tooLong:
			c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message may have at most %d bytes", maxMessage))
		case len(line) > 0:
			message, ok := c.decode(line)
			if !ok {
				break
			}
			select {
			case c.incoming <- message:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.asked) > 0 && !c.ended {
		c.answered.Wait()
	}
}

// maxAsked is how many requests are worked at at once. The next is read when one of them
// is answered: whoever asks without end fills its own pipe, and not our memory.
const maxAsked = 64

// subscribe is the one request that is not answered before the connection ends.
const subscribe = "subscriptions/listen"

// decode makes a message from a line, or refuses it.
func (c *lineConnection) decode(line []byte) (jsonrpc.Message, bool) {
	if !json.Valid(line) {
		return nil, c.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON; a message is one JSON object on one line")
	}
	if line[0] == '[' {
		return nil, c.refuse(nil, jsonrpc.CodeInvalidRequest, "batches are not supported; send one message per line")
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, c.refuse(idOf(line), jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message: "+err.Error())
	}
	request, ok := message.(*jsonrpc.Request)
	if !ok || !request.IsCall() || request.Method == subscribe {
		return message, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[request.ID] {
		return nil, c.refuse(nil, jsonrpc.CodeInvalidRequest, "the id is that of a request that is not answered yet")
	}
	for len(c.asked) >= maxAsked && !c.ended {
		c.answered.Wait()
	}
	c.asked[request.ID] = true
	return message, true
}

// idOf is the id of a message that is otherwise wrong, nil when it has no usable
// one.
func idOf(line []byte) any {
	var message struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(line, &message) != nil {
		return nil
	}
	switch message.ID.(type) {
	case string, float64:
		return message.ID
	}
	return nil
}

// refuse answers a line that is not a request, and returns false.
func (c *lineConnection) refuse(id any, code int64, reason string) bool {
	data, err := codec.MarshalLine(tidegate.Pairs("jsonrpc", "2.0", "id", id, "error", tidegate.Pairs("code", code, "message", reason)))
	if err == nil {
		_ = c.writeLine(data) // a closed output shows with the next answer
	}
	return false
}

// readLine reads up to the next line end. It keeps nothing of a line longer than
// limit.
func readLine(reader *bufio.Reader, limit int) (line []byte, tooLong bool, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > limit; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, tooLong, err
		}
	}
}
