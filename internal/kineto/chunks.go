package kineto

import (
	"bytes"

	"overlay/internal/par"
	"overlay/internal/trace"
)

// chunkSize is about how many bytes of the list one piece holds.
const chunkSize = 4 << 20

// piece is one part of the event list. All but the first start where a cheap look finds the border of an event; the
// piece before proves it by ending exactly there.
type piece struct {
	from, to int    // bytes: the first event's '{' (or anything before it), and where the next piece starts
	view     []byte // the input up to the first byte of the next piece, while more of it is unpacked
	done     bool   // it was scanned while the input was unpacked
	*chunkParser
	events  []trace.Event
	spans   []Span  // per event
	exts    []int32 // per event, see trace.Trace.Ext
	end     int     // position after the piece: to when it fits, behind it when not
	lastEnd int     // position after the last event, or where the next one starts
	closed  bool    // the list ends in this piece; end is at its ']' or at the end of the input
	cut     bool    // the input ends inside the list
	waste   int     // bytes that were scanned in broken events and have to be scanned again
	budget  int     // of waste; what comes after it is taken for cut
}

// wasteFactor bounds the time that broken input can cost: times its length, beyond reading it once.
const wasteFactor = 32

// scanList scans the elements from the byte after the list's bracket on, but for those that ahead has.
func scanList(src []byte, from, size int, ahead *Ahead) []*piece {
	pieces := ahead.pieces(src, from, size)
	if pieces == nil {
		pieces = cutList(src, from, size)
	}
	budget := wasteFactor*len(src) + 1<<20
	par.Each(len(pieces), func(i int) {
		if p := pieces[i]; !p.done {
			p.budget = budget
			p.scan(src)
		}
	})
	return prove(src, pieces, budget)
}

// prove keeps the pieces that start where the one before ends. Where none does, the cut was inside a string or an
// object that looks like an event, or the bytes there are broken: the gap is scanned in one go up to the next piece.
func prove(src []byte, pieces []*piece, budget int) []*piece {
	var out []*piece
	p := pieces[0]
	for next := 1; ; {
		if p.waste > budget {
			p.budget = budget
			p.scan(src)
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
		gap.scan(src)
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

// usualEvent is how many bytes an event takes about.
const usualEvent = 256

// scan reads the elements from from to to.
func (p *piece) scan(src []byte) {
	p.chunkParser = newChunkParser(src)
	p.closed, p.cut, p.waste = false, false, 0
	n := (p.to - p.from) / usualEvent
	p.events, p.spans, p.exts = make([]trace.Event, 0, n), make([]Span, 0, n), make([]int32, 0, n)
	p.trie = takeTrie()
	defer tries.Put(p.trie)
	i := skipSpace(src, p.from)
	for {
		if i >= len(src) {
			p.end, p.closed, p.cut = len(src), true, true
			return
		}
		switch c := src[i]; {
		case c == ']' || c == 0 && onlyZeros(src[i:]):
			p.end, p.closed, p.cut = i, true, c == 0
			return
		case c == ',':
			p.mend(RepairComma, i)
			i = skipSpace(src, i+1)
			continue
		case i >= p.to:
			p.end = i
			return
		}
		i = p.element(i)
		if i < 0 {
			p.end, p.closed, p.cut = len(src), true, true
			return
		}
		p.lastEnd = i
		i = skipSpace(src, i)
		if i < len(src) && src[i] == ',' {
			i = skipSpace(src, i+1)
			if i < len(src) && src[i] == ']' {
				p.mend(RepairComma, i)
			}
		}
	}
}

// onlyZeros reports whether nothing but NULs is left, as in a file whose last blocks were never written.
func onlyZeros(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// element scans the element at i; -1 when the input is cut inside it.
func (p *piece) element(i int) int {
	var e trace.Event
	p.far = i
	if p.s[i] == '{' {
		if end := p.event(i, &e); end >= 0 {
			if e.Ph == 'M' {
				p.metas = append(p.metas, int32(len(p.events)))
			}
			p.add(i, e)
			return end
		}
	} else {
		p.dirty, p.ext, p.fit = false, 0, 0
		if end := p.skipValue(i, false, 1); end >= 0 && end < len(p.s) {
			p.mend(RepairNoObject, i)
			e := trace.Event{Track: trace.NoTrack}
			if p.dirty {
				e.Flags |= trace.Dirty
			}
			p.add(i, e)
			return end
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
	p.add(i, trace.Event{Track: trace.NoTrack, Flags: trace.Dirty | trace.Repaired})
	return next
}

func (p *piece) add(i int, e trace.Event) {
	p.events = append(p.events, e)
	p.spans = append(p.spans, SpanAt(int64(i))|Span(p.fit))
	p.exts = append(p.exts, p.ext)
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
