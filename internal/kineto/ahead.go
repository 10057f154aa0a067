package kineto

import (
	"cmp"
	"io"
	"runtime"
	"slices"
	"sync"

	"overlay/internal/par"
)

// Ahead is what was read of the events while the rest of the input was unpacked: pieces of the list, as far as they hold
// nothing broken. Parse takes them where it comes to the list, and reads the rest. They make no difference to the trace,
// since a piece is believed only where the one before it ended.
type Ahead struct {
	to    steady
	size  int  // bytes a piece
	from  int  // the byte after the bracket of the list; 0 while the list was not found
	look  int  // when so much is there, the list is looked for again
	at    int  // where the next piece starts
	stuck bool // no border of an event is found after at

	mu     sync.Mutex // guards the rest
	list   []*piece   // in order, each up to where the next one starts
	change sync.Cond  // of the rest
	next   int        // the first piece of the list that nobody took
	busy   int        // pieces that somebody took and has not scanned yet
	ended  bool       // no more pieces come
}

// The list is looked for when firstLook bytes of the input are there, then at twice of it and so on up to lastLook.
const (
	firstLook = 64 << 10
	lastLook  = 16 << 20
)

// steady is a Spool whose bytes can be read while more are written.
type steady interface {
	Spool
	// Held returns all that was written so far, and whether it stays where it is while so many bytes more are written.
	Held(more int) ([]byte, bool)
}

// unpackBeside calls unpack, which writes the input into a spool and says whether it is worth reading, and scans pieces
// on the processors that are left, at the end on all. Where the spool moves what it has, or there is one processor, the
// result is nil.
func unpackBeside(to Spool, o Options, unpack func(to io.Writer) bool) *Ahead {
	s, ok := to.(steady)
	if !ok || runtime.GOMAXPROCS(0) == 1 {
		unpack(to)
		return nil
	}
	a := &Ahead{to: s, size: cmp.Or(o.chunk, chunkSize), look: min(firstLook, cmp.Or(o.chunk, firstLook))}
	a.change.L = &a.mu
	worth := false
	par.Each(runtime.GOMAXPROCS(0), func(i int) {
		if i == 0 {
			defer a.end() // also when it panics: the others wait for more
			if worth = unpack(a); worth {
				a.grown(true)
			} else {
				a.pause()
			}
			a.end()
		}
		for a.scanNext() {
		}
	})
	if !worth {
		a.drop()
	}
	return a
}

// Write keeps more of the input, and lets others scan what became whole pieces.
func (a *Ahead) Write(b []byte) (int, error) {
	if _, ok := a.to.Held(len(b)); !ok {
		a.pause()
	}
	n, err := a.to.Write(b)
	a.grown(false)
	return n, err
}

// grown cuts pieces off the input, of which more is there now, or all. The last pieces are smaller, so that all
// processors end at about the same time.
func (a *Ahead) grown(all bool) {
	src, ok := a.to.Held(0)
	if !ok {
		return
	}
	if a.from == 0 {
		if len(src) < a.look && !all || a.look > lastLook {
			return
		}
		a.look = 2 * len(src)
		i := listStart(src)
		if i < 0 {
			return
		}
		a.from, a.at = i+1, i+1
	}
	a.cut(src, a.size)
	if all {
		a.cut(src, max(1, a.size/4))
	}
}

// cut cuts pieces off what is there.
func (a *Ahead) cut(src []byte, size int) {
	for len(src)-a.at > size+size/2 && !a.stuck {
		b := border(src, a.at+size, size/2)
		if b < 0 {
			a.stuck = true
			return
		}
		p := &piece{from: a.at, to: b, view: src[:b+1]}
		a.at = b
		a.mu.Lock()
		a.list = append(a.list, p)
		a.mu.Unlock()
		a.change.Signal()
	}
}

// end says that no more pieces come.
func (a *Ahead) end() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.change.Broadcast()
}

// pause forgets the pieces that nobody took and waits until none is being scanned: then the bytes may move.
func (a *Ahead) pause() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next < len(a.list) {
		a.at = a.list[a.next].from
		a.list = a.list[:a.next]
	}
	for a.busy > 0 {
		a.change.Wait()
	}
}

// scanNext waits for a piece and scans it; false when no more come.
func (a *Ahead) scanNext() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.next == len(a.list) && !a.ended {
		a.change.Wait()
	}
	if a.next == len(a.list) {
		return false
	}
	p := a.list[a.next]
	a.next++
	a.busy++
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.busy--
		a.change.Broadcast()
	}()
	p.scanEarly()
	return true
}

// scanEarly scans a piece of which no more is there than up to the bracket of the next event. It is done when all
// events in it are whole: then nothing that comes later can change what was read, since whatever looks for more comes to
// the end of what is there and finds no end of its event.
func (p *piece) scanEarly() {
	p.budget = -1 // the first broken event is the end
	p.scan(p.view)
	p.done = !p.closed && p.end == p.to
	if !p.done {
		p.drop()
	}
	p.view, p.s, p.seen = nil, nil, nil // the bytes may move
}

// drop lets go of the events of a piece.
func (p *piece) drop() {
	p.events, p.spans, p.exts, p.done = nil, nil, nil, false
}

// pieces are those of the list that starts at from, the last one up to the end of src, when that is the list that was
// found; else nil.
func (a *Ahead) pieces(src []byte, from, size int) []*piece {
	if a == nil || a.from != from {
		return nil
	}
	return append(slices.Clip(a.list), cutList(src, a.at, size)...)
}

// drop lets go of all pieces.
func (a *Ahead) drop() {
	if a == nil {
		return
	}
	for _, p := range a.list {
		p.drop()
	}
	a.from, a.list, a.next = 0, nil, 0
}

// listStart is the bracket of the list of events, -1 when src does not come that far.
func listStart(src []byte) int {
	i := documentStart(src)
	if i < len(src) && src[i] == '[' {
		return i
	}
	if i >= len(src) || src[i] != '{' {
		return -1
	}
	p := scanner{s: src}
	m := members{p: &p, at: i}
	for m.next() {
		if string(m.key) == "traceEvents" {
			if m.at < len(src) && src[m.at] == '[' {
				return m.at
			}
			return -1
		}
		if !m.skip() {
			return -1
		}
	}
	return -1
}
