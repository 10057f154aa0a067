package chrome

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Document is what stands around the list of events: Head ends with '[', Tail starts with ']'.
type Document struct {
	Head, Tail []byte
}

// Valid reports whether the two make a JSON text around an empty list.
func (d *Document) Valid() bool {
	b := make([]byte, 0, len(d.Head)+len(d.Tail))
	return valid(append(append(b, d.Head...), d.Tail...))
}

// valid reports whether b is JSON. That is UTF-8, which json.Valid does not look at.
func valid(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

// Field is a top-level member of the object form.
type Field struct {
	Key   string
	Value []byte // JSON
}

// NewDocument builds the object form from members before and after the list. A value that is no JSON becomes a string.
func NewDocument(before, after []Field) Document {
	var d Document
	d.Head = append(d.Head, '{')
	for _, f := range before {
		d.Head = append(appendField(append(d.Head, '\n'), f), ',')
	}
	d.Head = append(d.Head, "\n\"traceEvents\": ["...)
	d.Tail = append(d.Tail, ']')
	for _, f := range after {
		d.Tail = appendField(append(d.Tail, ",\n"...), f)
	}
	d.Tail = append(d.Tail, "\n}\n"...)
	return d
}

func appendField(dst []byte, f Field) []byte {
	dst = AppendString(dst, f.Key)
	dst = append(dst, ": "...)
	if valid(f.Value) {
		return append(dst, f.Value...)
	}
	return AppendString(dst, string(f.Value))
}

// Set adds a member at the end of the object form, or replaces the value of one that is there.
func (d *Document) Set(key string, value []byte) {
	for _, part := range []*[]byte{&d.Head, &d.Tail} {
		if m, ok := d.find(part, key); ok {
			out := append([]byte(nil), (*part)[:m.At]...)
			out = append(out, value...)
			*part = append(out, (*part)[m.End:]...)
			return
		}
	}
	end := bytes.LastIndexByte(d.Tail, '}')
	for end > 0 && SkipSpace(d.Tail[end-1:end], 0) == 1 {
		end--
	}
	out := append([]byte(nil), d.Tail[:end]...)
	out = append(out, ",\n"...)
	out = appendField(out, Field{key, value})
	out = append(out, d.Tail[end:]...)
	d.Tail = out
}

// Get returns the value of a member; nil when there is none.
func (d *Document) Get(key string) []byte {
	for _, part := range []*[]byte{&d.Head, &d.Tail} {
		if m, ok := d.find(part, key); ok {
			return (*part)[m.At:m.End]
		}
	}
	return nil
}

// find looks for a top-level member in the head or the tail.
func (d *Document) find(part *[]byte, key string) (Member, bool) {
	b := *part
	i := 1 // behind the brace, or behind the list's bracket
	if part == &d.Head {
		i = SkipSpace(b, 0) + 1
	}
	for {
		m, ok := NextMember(b, i)
		if !ok || m.End >= len(b) { // the list itself
			return m, false
		}
		if string(m.Key) == key {
			return m, true
		}
		i = m.End
	}
}
