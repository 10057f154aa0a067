package agents

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"overlay/internal/limits"
)

// transport reads and writes messages, one a line. A line that is no message is answered by an error and not passed on: the library's
// transport ends with it.
func transport(in io.Reader, out io.Writer) mcp.Transport {
	lines := &agentLines{out: out}
	messages, passed := io.Pipe()
	go func() { passed.CloseWithError(lines.pass(bufio.NewReaderSize(in, 64<<10), passed)) }()
	return &mcp.IOTransport{Reader: messages, Writer: lines}
}

// agentLines is what goes to the agent, a line a write.
type agentLines struct {
	mu  sync.Mutex
	out io.Writer
}

func (t *agentLines) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(line)
}

func (t *agentLines) Close() error { return nil }

// pass passes on the lines that are messages.
func (t *agentLines) pass(lines *bufio.Reader, to io.Writer) error {
	for {
		line, err := readLine(lines, limits.AgentLine)
		if errors.Is(err, errLongLine) {
			t.refuse(nil, jsonrpc.CodeParseError, err.Error())
			continue
		}
		if t.message(line) {
			if _, err := to.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// message reports whether a line is a message; one that is not, and not empty, is refused.
func (t *agentLines) message(line []byte) bool {
	var head struct {
		ID json.RawMessage `json:"id"`
	}
	var wrong *json.SyntaxError
	switch err := json.Unmarshal(line, &head); {
	case len(line) == 0:
		return false
	case errors.As(err, &wrong):
		t.refuse(nil, jsonrpc.CodeParseError, fmt.Sprintf("no JSON at byte %d of the line: %v", wrong.Offset, err))
		return false
	}
	_, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		if len(head.ID) > 0 && (head.ID[0] == '{' || head.ID[0] == '[') {
			head.ID = nil
		}
		t.refuse(head.ID, jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0: "+err.Error())
	}
	return err == nil
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
		t.Write(append(b, '\n'))
	}
}
