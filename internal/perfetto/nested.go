package perfetto

// kept is what nested arguments became, by the text that they were made of. The same few come with thousands of events:
// shapes and types of tensors. What they became holds for one sequence, which numbers its strings.
type kept struct {
	ids    map[string]uint32
	recent [keptSlots]recent // spares most look-ups in ids
	round  uint32
	spans  []span
	bytes  []byte
}

// span is a range of kept.bytes.
type span struct{ from, to uint32 }

const (
	keptBits  = 10
	keptSlots = 1 << keptBits
	mostKept  = 1 << 12
	mostBytes = 1 << 19 // what is longer than all the others together is not worth it
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
	k.spans = append(k.spans, span{uint32(len(k.bytes)), uint32(len(k.bytes) + len(ev))})
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
		*r = recent{text, id, k.round}
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
