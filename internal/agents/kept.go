// Package agents offers what commands print as tools of the Model Context Protocol. It runs no command itself: whoever serves says how.
package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"overlay/internal/inputs"
)

// Kept keeps the beginning of what is written to it and counts the rest.
type Kept struct {
	bytes.Buffer
	Most int
	all  int64
}

func (b *Kept) Write(p []byte) (int, error) {
	b.all += int64(len(p))
	b.Buffer.Write(p[:max(0, min(len(p), b.Most-b.Len()))])
	return len(p), nil
}

// text is what was kept; what is not all ends with a whole line, and says so.
func (b *Kept) text() string {
	if b.all <= int64(b.Most) {
		return b.String()
	}
	cut := b.Bytes()
	if i := bytes.LastIndexByte(cut, '\n'); i > 0 {
		cut = cut[:i+1]
	}
	for len(cut) > 0 && !utf8.Valid(cut) {
		cut = cut[:len(cut)-1]
	}
	return fmt.Sprintf("%s… cut: %d of %d bytes are shown; ask for less, with limit, top or a step\n", cut, len(cut), b.all)
}

// Agents answers calls of tools by what commands print.
type Agents struct {
	Files   *inputs.Below // that agents may read
	Version string
	Schema  string // of the tables, for people

	// Run runs a command and gives what it prints, of which it keeps the first keep bytes; of an answer in SQL the first rows. A failure is what
	// the command says.
	Run func(ctx context.Context, keep, rows int, arguments ...string) (*Kept, error)
}

// answer is what a tool answers. Tools whose answer is data give it twice, as the protocol asks for: as text, and in the form of
// their output schema.
type answer struct {
	text string
	data json.RawMessage // nil of tools whose answer is a text for readers
}
