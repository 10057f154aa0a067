package perfetto

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// table numbers the strings of one interned field from 1. Its tag is the field of InternedData.
//
// Most strings were numbered before. They are found by a cheap hash of what they say, and only the rest by the map.
type table struct {
	ids   map[string]uint64
	tag   uint64
	round uint32 // of the sequence: what was remembered in earlier ones does not count

	seen [recentSlots]recent
}

// recent is a string that was seen in some round, and its number there.
type recent struct {
	s     string
	id    uint32
	round uint32
}

const (
	recentBits  = 9
	recentSlots = 1 << recentBits
	spread      = 0x9E3779B97F4A7C15
)

// textSlot is a cheap hash: its length, its first and its last bytes.
func textSlot(s string) uint64 {
	h := uint64(len(s))
	if len(s) >= 8 {
		h ^= load64(s, 0) ^ load64(s, len(s)-8)<<1
	} else {
		for i := range len(s) {
			h = h<<8 ^ uint64(s[i])
		}
	}
	return h * spread >> (64 - recentBits)
}

func load64(s string, at int) uint64 {
	b := s[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// reset forgets the strings: a new sequence begins.
func (t *table) reset(tag uint64) {
	t.tag = tag
	if t.round++; t.round == 0 { // it went once around
		clear(t.seen[:])
		t.round = 1
	}
	// Emptying a map costs its capacity, and a trace may have thousands of small sequences after a large one.
	if t.ids == nil || len(t.ids) > 256 {
		t.ids = make(map[string]uint64)
		return
	}
	clear(t.ids)
}

// intern returns the number of a string, and sends the string with the packet when it is new. No string that was interned
// may change later.
func (b *Body) intern(t *table, s string) uint64 {
	r := &t.seen[textSlot(s)]
	if r.s == s && r.round == t.round {
		return uint64(r.id)
	}
	id, ok := t.ids[s]
	if !ok {
		id = b.number(t, s)
	}
	*r = recent{s, uint32(id), t.round}
	return id
}

// internBytes is intern for a text that may change later.
func (b *Body) internBytes(t *table, s []byte) uint64 {
	if id, ok := t.ids[string(s)]; ok {
		return id
	}
	return b.number(t, string(s))
}

// number gives a new string its number.
func (b *Body) number(t *table, s string) uint64 {
	id := uint64(len(t.ids)) + 1
	t.ids[s] = id
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b.in = protowire.AppendVarint(b.in, t.tag)
	b.in = protowire.AppendVarint(b.in, uint64(1+protowire.SizeVarint(id)+1+protowire.SizeBytes(len(s))))
	b.in = append(b.in, 1<<3)
	b.in = protowire.AppendVarint(b.in, id)
	b.in = append(b.in, 2<<3|2)
	b.in = protowire.AppendString(b.in, s)
	return id
}
