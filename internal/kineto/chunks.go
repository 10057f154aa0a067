package kineto

import (
	"bytes"
	"slices"

	"overlay/internal/par"
	"overlay/internal/trace"
)

// chunkSize is about how many bytes of the list one piece holds, aheadSize of one that is scanned while more is unpacked.
const (
	chunkSize = 4 << 20
	aheadSize = 2 << 20
)

// piece is one part of the event list. All but the first start where a cheap look finds the border of an event; the
// piece before proves it by ending exactly there.
type piece struct {
	from, to int    // bytes: the first event's '{' (or anything before it), and where the next piece starts
	view     []byte // of a piece that is scanned while more is unpacked: its bytes up to the first of the next piece
	off      int64  // where they begin
	done     bool   // it was scanned while the input was unpacked
	*chunkParser
	lists
	first  int  // where the first event begins
	end    int  // position after the piece: to when it fits, behind it when not
	last   int  // position after the last event and its gap
	closed bool // the list ends in this piece; end is at its ']' or at the end of the input
	cut    bool // the input ends inside the list
	waste  int  // bytes that were scanned in broken events and have to be scanned again
	budget int  // of waste; what comes after it is taken for cut
}

// lists is what a piece has of its events.
type lists struct {
	events  []trace.Event
	spans   []Span
	exts    []int32 // see trace.Trace.Ext
	numbers []byte  // of all of them
}

// mostRoom is up to how many events their room stays for the next piece.
const mostRoom = 1 << 16

// wasteFactor bounds the time that broken input can cost: times its length, beyond reading it once.
const wasteFactor = 32

// scanList scans the elements from the byte after the list's bracket on. base is what to add to their places for messages.
func scanList(src []byte, from, size int, base int64) []*piece {
	pieces := cutList(src, from, size)
	budget := wasteFactor*len(src) + 1<<20
	par.Each(len(pieces), func(i int) {
		p := pieces[i]
		p.budget = budget
		p.scan(src, base)
	})
	return prove(src, pieces, budget, base)
}

// prove keeps the pieces that start where the one before ends. Where none does, the cut was inside a string or an
// object that looks like an event, or the bytes there are broken: the gap is scanned in one go up to the next piece.
func prove(src []byte, pieces []*piece, budget int, base int64) []*piece {
	var out []*piece
	p := pieces[0]
	for next := 1; ; {
		if p.waste > budget {
			p.budget = budget
			p.scan(src, base)
		}
		budget -= p.waste
		out = append(out, p)
		if p.closed {
			return out
		}
		for next < len(pieces) && pieces[next].from < p.end {
			next++
		}
		if next < len(pieces) && pieces[next].from == p.end {
			p = pieces[next]
			continue
		}
		gap := &piece{from: p.end, to: len(src), budget: budget}
		if next < len(pieces) {
			gap.to = pieces[next].from
		}
		gap.scan(src, base)
		p = gap
	}
}

// cutList proposes the borders of pieces.
func cutList(src []byte, from, size int) []*piece {
	var out []*piece
	at := from
	for len(src)-at > size+size/2 {
		b := border(src, at+size, size/2)
		if b < 0 {
			break
		}
		out = append(out, &piece{from: at, to: b})
		at = b
	}
	return append(out, &piece{from: at, to: len(src)})
}

// border finds, within reach, the '{' of what looks like the next event after i: "}", a comma, and an object that starts with a key
// that events start with.
func border(src []byte, i, reach int) int {
	limit := min(len(src), i+reach)
	for i < limit {
		n := bytes.IndexByte(src[i:limit], '}')
		if n < 0 {
			return -1
		}
		i += n + 1
		j := skipSpace(src, i)
		if j >= len(src) || src[j] != ',' {
			continue
		}
		j = skipSpace(src, j+1)
		if looksLikeEvent(src, j) {
			return j
		}
	}
	return -1
}

// looksLikeEvent reports whether an object that could be an event starts at j.
func looksLikeEvent(src []byte, j int) bool {
	if j >= len(src) || src[j] != '{' {
		return false
	}
	j = skipSpace(src, j+1)
	if j+4 > len(src) || src[j] != '"' {
		return false
	}
	for _, key := range [...]string{`"ph"`, `"name"`, `"cat"`, `"pid"`, `"ts"`, `"tid"`} {
		if len(src)-j >= len(key) && string(src[j:j+len(key)]) == key {
			return true
		}
	}
	return false
}

// scan reads the elements from from to to.
func (p *piece) scan(src []byte, base int64) {
	p.chunkParser = newChunkParser(src)
	p.base = base
	p.closed, p.cut, p.waste = false, false, 0
	p.trie = takeTrie()
	defer p.trie.leave()
	room := &p.trie.room
	p.events, p.spans, p.exts, p.numbers = room.events[:0], room.spans[:0], room.exts[:0], room.numbers[:0]
	defer func() { // what the next piece will need is known, and this one has no more than it needs
		if len(p.events) < mostRoom {
			*room = p.lists
		}
		p.lists = lists{slices.Clone(p.events), slices.Clone(p.spans), slices.Clone(p.exts), slices.Clone(p.numbers)}
	}()
	i := p.commas(skipSpace(src, p.from))
	p.first, p.last = i, i
	for !p.closed {
		switch {
		case i >= len(src) || src[i] == 0 && onlyZeros(src[i:]):
			p.closed, p.cut = true, true
		case src[i] == ']':
			p.closed = true
		case i >= p.to:
			p.end = i
			return
		default:
			if i = p.element(i); i < 0 {
				i, p.closed, p.cut = len(src), true, true
			}
		}
	}
	p.end = i
}

// gap goes from the end of an element to the next one, or to the end of the list.
func (p *piece) gap(i int) int {
	i = skipSpace(p.s, i)
	if i < len(p.s) && p.s[i] == ',' {
		i = skipSpace(p.s, i+1)
		if i < len(p.s) && p.s[i] == ']' {
			p.mend(RepairComma, i)
		}
	}
	return p.commas(i)
}

// commas skips commas with nothing before them.
func (p *piece) commas(i int) int {
	for i < len(p.s) && p.s[i] == ',' {
		p.mend(RepairComma, i)
		i = skipSpace(p.s, i+1)
	}
	return i
}

// onlyZeros reports whether nothing but NULs is left, as in a file whose last blocks were never written.
func onlyZeros(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// element scans the element at i and goes to the next one; -1 when the input is cut inside it.
func (p *piece) element(i int) int {
	var e trace.Event
	p.far = i
	if p.s[i] == '{' {
		if end := p.event(i, &e); end >= 0 {
			if e.Ph == 'M' {
				p.metas = append(p.metas, int32(len(p.events)))
			}
			return p.add(i, end, p.gap(end), &e)
		}
	} else {
		p.dirty, p.ext, p.fit = false, 0, 0
		if end := p.skipValue(i, false, 1); end >= 0 && end < len(p.s) {
			p.mend(RepairNoObject, i)
			e := trace.Event{Track: trace.NoTrack}
			if p.dirty {
				e.Flags |= trace.Dirty
			}
			return p.add(i, end, p.gap(end), &e)
		}
	}
	next := p.resync(i)
	if next < 0 {
		return -1
	}
	if p.waste += max(0, p.far-next); p.waste > p.budget {
		return -1
	}
	p.mend(RepairBroken, i)
	p.ext, p.fit = 0, 0
	return p.add(i, next, next, &trace.Event{Track: trace.NoTrack, Flags: trace.Dirty | trace.Repaired})
}

// add keeps the event at i, which ends at end, and what stands between it and the next one.
func (p *piece) add(i, end, next int, e *trace.Event) int {
	p.events = append(p.events, *e)
	p.exts = append(p.exts, p.ext)
	x := &p.used[p.fit]
	switch gap := p.s[end:next]; {
	case p.fit > 0 && x.gap == "" && len(gap) > 0:
		x.gap = string(gap)
	case x.gap != string(gap) || len(gap) == 0: // an empty one says that it is not known
		p.fit = 0
	}
	p.spans = append(p.spans, Span(len(p.numbers))<<spanFit|Span(p.fit))
	switch {
	case p.fit > 0:
		numbers := p.trie.numbers[:len(x.tp.kinds)]
		for k, first := range x.tp.first {
			numbers[k] = fold(numbers[k] - first)
		}
		p.numbers = appendNumbers(p.numbers, numbers...)
	case p.view != nil:
		p.numbers = appendNumbers(p.numbers, uint64(len(p.raw)), uint64(next-i))
		p.raw = append(p.raw, p.s[i:next]...)
	default:
		p.numbers = appendNumbers(p.numbers, uint64(i), uint64(next-i))
	}
	p.last = next
	return next
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// resync finds where the next event starts after a broken one; -1 when there is none.
func (p *piece) resync(i int) int {
	for j := i + 1; j < len(p.s); {
		n := bytes.IndexByte(p.s[j:], '{')
		if n < 0 {
			return -1
		}
		j += n
		if looksLikeEvent(p.s, j) {
			return j
		}
		j++
	}
	return -1
}
