package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"

	"overlay/internal/perfetto"
	"overlay/internal/tables"
)

// check says what a file holds: a .pftrace by our own reader of that format, everything else as a Kineto trace.
func (j *job) check() error {
	name := j.files[0]
	if name != "-" {
		ours, err := isPerfetto(name)
		if err != nil {
			return err
		}
		if ours {
			return j.checkPerfettoFile(name)
		}
	}
	return j.checkKineto(name)
}

func (j *job) checkPerfettoFile(name string) error {
	j.stages.start("reading")
	im, size, err := readPerfetto(name)
	if err != nil {
		return err
	}
	j.stages.start("checking")
	c := checkPerfetto(name, size, im)
	if j.opts.strict && len(c.Problems) > 0 {
		first := sortedKeys(c.Problems)[0]
		return fmt.Errorf("%s: %s, the first is %s (%d times); run without --strict to see all",
			name, tables.Counted(len(c.Problems), "kind")+" of problems", first, c.Problems[first])
	}
	j.result = c.writeText
	if j.opts.json {
		j.result = func(w io.Writer) error { return writeJSON(w, c) }
	}
	return nil
}

// readPerfetto reads a .pftrace, plain or gzipped.
func readPerfetto(name string) (*perfetto.Imported, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, inputError(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, inputError(name, err)
	}
	im, err := perfetto.Read(f)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	return im, info.Size(), nil
}

// isPerfetto tells a .pftrace from JSON by its first bytes. Both may begin with a line feed, which is the tag of a
// packet there and blank space here: what follows it decides.
func isPerfetto(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, inputError(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, nil // the reader of JSON says what is wrong, or reads a FIFO from its first byte
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, inputError(name, err)
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return false, inputError(name, err)
		}
		g, err := gzip.NewReader(f)
		if err != nil {
			return false, nil
		}
		head = make([]byte, 512)
		n, _ = io.ReadFull(g, head)
		head = head[:n]
	}
	return looksPerfetto(head), nil
}

func looksPerfetto(head []byte) bool {
	if len(head) < 2 || head[0] != '\n' {
		return false
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	if len(text) == 0 {
		return false
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	json := (text[0] == '{' || text[0] == '[') && (len(rest) == 0 || bytes.IndexByte([]byte(`"{}[]`), rest[0]) >= 0)
	return !json
}

// writeJSON writes an indented JSON document.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
