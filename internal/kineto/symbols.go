package kineto

import (
	"bytes"
	"encoding/binary"
)

// table numbers strings by first appearance.
type table struct {
	ids    map[string]uint32
	list   []string
	recent [256]uint32 // by slot: 1 + the last string without backslash seen there; spares most look-ups in ids
}

func (t *table) id(b []byte) uint32 {
	r := &t.recent[slot(b)]
	if *r > 0 && t.list[*r-1] == string(b) {
		return *r - 1
	}
	id, ok := t.ids[string(b)]
	if !ok {
		id = t.add(string(b))
	}
	if bytes.IndexByte(b, '\\') < 0 {
		*r = id + 1
	}
	return id
}

// slot is a cheap hash: of the length, the first and the last bytes.
func slot(b []byte) uint8 {
	h := uint64(len(b))
	if n := len(b); n >= 8 {
		h ^= binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64(b[n-8:])<<1
	} else {
		for _, c := range b {
			h = h<<8 ^ uint64(c)
		}
	}
	return uint8(h * 0x9E3779B97F4A7C15 >> 56)
}

func (t *table) idString(s string) uint32 {
	if id, ok := t.ids[s]; ok {
		return id
	}
	return t.add(s)
}

func (t *table) add(s string) uint32 {
	if t.ids == nil {
		t.ids = map[string]uint32{}
	}
	id := uint32(len(t.list))
	t.ids[s] = id
	t.list = append(t.list, s)
	return id
}

// idOf interns the text between quotes.
func (t *table) idOf(raw []byte) uint32 {
	r := &t.recent[slot(raw)]
	if *r > 0 && t.list[*r-1] == string(raw) {
		return *r - 1
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		return t.idString(unquote(raw))
	}
	id, ok := t.ids[string(raw)]
	switch {
	case ok:
	case plain(raw):
		id = t.add(string(raw))
	default:
		return t.idString(unquote(raw))
	}
	*r = id + 1
	return id
}

// plain reports whether a string means its own bytes.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}
