// Package agents offers what commands print as tools of the Model Context Protocol. It runs no command itself: whoever serves says how.
package agents

import (
	"bytes"
	"fmt"
	"unicode/utf8"
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
