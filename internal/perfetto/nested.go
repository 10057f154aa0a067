package perfetto

import (
	"encoding/binary"
	"hash/crc32"
	"unsafe"
)

// kept is what nested arguments became, by the text that they were made of. The same few come with thousands of events:
// shapes and types of tensors. What they became holds for one sequence, which numbers its strings.
type kept struct {
	ids    map[string]uint32
	recent [keptSlots]recent // spares most look-ups in ids
	round  uint32
	spans  []span
	bytes  []byte
	key    []byte            // of the row that was looked for last
	seen   [keptSlots]uint32 // rows that were looked for once, by a hash
}

// span is a range of kept.bytes, and the text that it was made of.
type span struct {
	text     string
	from, to uint32
}

const (
	keptBits  = 12
	keptSlots = 1 << keptBits
	mostKept  = 1 << 14
	mostBytes = 1 << 21 // what is longer than all the others together is not worth it
)

func (k *kept) reset() {
	if k.round++; k.round == 0 { // it went once around
		clear(k.recent[:])
		k.round = 1
	}
	k.spans, k.bytes = k.spans[:0], k.bytes[:0]
	if k.ids == nil || len(k.ids) > 256 { // see table.reset
		k.ids = make(map[string]uint32)
		return
	}
	clear(k.ids)
}

// add keeps what a text became; when there is no more room, those before it are forgotten.
func (k *kept) add(text string, ev []byte) {
	if len(k.spans) == mostKept || len(k.bytes)+len(ev) > mostBytes {
		k.reset()
	}
	k.ids[text] = uint32(len(k.spans))
	k.spans = append(k.spans, span{text, uint32(len(k.bytes)), uint32(len(k.bytes) + len(ev))})
	k.bytes = append(k.bytes, ev...)
}

// find returns what a text became, nil when that is not known.
func (k *kept) find(text string) []byte {
	r := &k.recent[keptSlot(text)]
	if r.round != k.round || r.s != text {
		id, ok := k.ids[text]
		if !ok {
			return nil
		}
		*r = recent{k.spans[id].text, id, k.round}
	}
	at := k.spans[r.id]
	return k.bytes[at.from:at.to]
}

// keptSlot is a cheap hash: its length, its first and last bytes and those in the middle.
func keptSlot(s string) uint64 {
	n := len(s)
	if n < 8 {
		return textSlot(s)
	}
	h := load64(s, 0)*spread ^ load64(s, n-8) ^ uint64(n)<<56
	h = h*spread ^ load64(s, n/2-4)
	return h * spread >> (64 - keptBits)
}

// EndKeep is End, and remembers what the Dict or Array became by a text, which says all that is in it. Of Dicts and Arrays
// with one text all are alike.
func (b *Body) EndKeep(text string) { b.end(text) }

// Again adds a Dict or Array whose text was given to EndKeep. It reports false when that was not so, or is forgotten.
func (b *Body) Again(key, text string) bool {
	ev := b.nested.find(text)
	if ev == nil {
		return false
	}
	at := b.begin(key)
	b.ev = append(b.ev, ev...)
	b.finish(at)
	return true
}

// AgainRow adds Dicts and Arrays that were given to KeepRow. It reports false when that was not so, or is forgotten. Those with the same two
// names are alike.
func (b *Body) AgainRow(of uint32, numbers string) bool {
	k := &b.nested
	k.key = append(binary.LittleEndian.AppendUint32(append(k.key[:0], 0), of), numbers...)
	ev := k.find(unsafe.String(unsafe.SliceData(k.key), len(k.key)))
	b.ev = append(b.ev, ev...)
	return ev != nil
}

// KeepRow keeps what was added since the length was from, as what was looked for last. Many never come again: they are kept at the second time.
func (b *Body) KeepRow(from int) {
	k := &b.nested
	hash := crc32.ChecksumIEEE(k.key)
	if slot := &k.seen[hash%keptSlots]; *slot != hash {
		*slot = hash
	} else if len(b.ev) > from {
		k.add(string(k.key), b.ev[from:])
	}
}

// Len is how long the description is so far.
func (b *Body) Len() int { return len(b.ev) }
