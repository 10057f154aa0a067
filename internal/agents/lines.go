package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"overlay/internal/limits"
)

// agentLines is a transport of messages, one a line. A line that is no message is answered by an error, and the next one is read:
// the library's own transport ends with it.
type agentLines struct {
	in  io.Reader
	out io.Writer

	messages chan jsonrpc.Message // closed at the end of in
	closed   chan struct{}
	once     sync.Once
	writing  sync.Mutex
}

func (t *agentLines) Connect(context.Context) (mcp.Connection, error) {
	t.messages, t.closed = make(chan jsonrpc.Message), make(chan struct{})
	go t.readLines()
	return t, nil
}

func (t *agentLines) readLines() {
	defer close(t.messages)
	lines := bufio.NewReaderSize(t.in, 64<<10)
	for {
		line, err := readLine(lines, limits.AgentLine)
		if errors.Is(err, errLongLine) {
			t.refuse(nil, jsonrpc.CodeParseError, err.Error())
			continue
		}
		if m := t.message(line); m != nil {
			select {
			case t.messages <- m:
			case <-t.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// message is the message of a line; nil of one that was refused, and of an empty one.
func (t *agentLines) message(line []byte) jsonrpc.Message {
	var head struct {
		ID json.RawMessage `json:"id"`
	}
	var wrong *json.SyntaxError
	switch err := json.Unmarshal(line, &head); {
	case len(line) == 0:
		return nil
	case errors.As(err, &wrong):
		t.refuse(nil, jsonrpc.CodeParseError, fmt.Sprintf("no JSON at byte %d of the line: %v", wrong.Offset, err))
		return nil
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		if len(head.ID) > 0 && (head.ID[0] == '{' || head.ID[0] == '[') {
			head.ID = nil
		}
		t.refuse(head.ID, jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0: "+err.Error())
		return nil
	}
	return m
}

// errLongLine is that a line is longer than a message may be.
var errLongLine = fmt.Errorf("a message has %d bytes at most", limits.AgentLine)

// readLine reads a line without its end, and passes over one that is longer than most.
func readLine(r *bufio.Reader, most int) (line []byte, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > most; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, errLongLine
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		return line, err
	}
}

// refuse answers what is no message. id is JSON, nil where nobody knows it.
func (t *agentLines) refuse(id json.RawMessage, code int, text string) {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	if err == nil {
		t.write(b)
	}
}

func (t *agentLines) write(line []byte) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	_, err := t.out.Write(append(line, '\n'))
	return err
}

func (t *agentLines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-t.messages:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-t.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *agentLines) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return t.write(b)
}

func (t *agentLines) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

func (t *agentLines) SessionID() string { return "" }
