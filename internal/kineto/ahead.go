package kineto

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"overlay/internal/par"
)

// Ahead is what was read of the events while the input was unpacked: pieces of the list that hold nothing broken, one behind the other. Their
// text is gone: a spool has what stands before them and behind them. They make no difference to the trace.
type Ahead struct {
	to     Spool
	size   int    // bytes a piece
	block  []byte // what is not in the spool yet, nor in pieces
	off    int64  // where it begins in the input
	look   int    // when so much is there, the list is looked for
	from   int    // where the first event begins; 0 while that is not found
	plain  bool   // the rest goes to the spool
	length int64  // of what was unpacked
	sums   [2]uint32
	gone   int64 // bytes of the pieces, when all are unpacked

	mu     sync.Mutex // guards the rest
	change sync.Cond  // of the rest
	list   []*piece   // in order
	next   int        // the first piece of the list that nobody took
	busy   int        // pieces that somebody took and has not scanned yet
	whole  int        // so many from the first on are done
	broken bool       // one is not
	ended  bool       // no more pieces come
	free   [][]byte   // blocks to be filled again
}

// The list is looked for when firstLook bytes of the input are there, then at twice of it and so on up to lastLook.
const (
	firstLook = 64 << 10
	lastLook  = 16 << 20
)

// mostWaiting is how many pieces may wait for the other processors.
const mostWaiting = 2

// atOnce is how much of the input is unpacked at a time.
const atOnce = 1 << 20

// unpackBeside calls unpack, which copies the input and says whether it is worth reading, and scans pieces on the processors that are left.
func unpackBeside(to Spool, o Options, unpack func(to *Ahead) bool) (*Ahead, error) {
	size := cmp.Or(o.chunk, aheadSize)
	a := &Ahead{to: to, size: size, look: min(firstLook, size)}
	a.change.L = &a.mu
	var err error
	par.Each(runtime.GOMAXPROCS(0), func(i int) {
		if i == 0 {
			defer a.end() // also when it panics: the others wait for more
			if unpack(a) {
				err = a.finish()
			}
			return
		}
		for a.scanNext(true) {
		}
	})
	return a, err
}

// room is where more of the input may be written, until took.
func (a *Ahead) room() []byte {
	if a.from == 0 || a.plain { // else a block has room for a piece and more
		a.block = slices.Grow(a.block, atOnce)
	}
	n := len(a.block)
	return a.block[n:min(cap(a.block), n+atOnce)]
}

// took takes what was written to the beginning of the room.
func (a *Ahead) took(n int) error {
	b := a.block[len(a.block):][:n]
	a.length += int64(n)
	if !a.plain || len(a.list) > 0 {
		a.sums = checksums(a.sums, b)
	}
	if a.plain {
		_, err := a.to.Write(b)
		return err
	}
	a.block = a.block[:len(a.block)+n]
	return a.grown(false)
}

// grown looks for the list in what is there, and cuts pieces off it; all says that no more comes.
func (a *Ahead) grown(all bool) error {
	if a.from == 0 {
		if len(a.block) < a.look && !all {
			return nil
		}
		a.look = 2 * len(a.block)
		i, other := firstEvent(a.block)
		if i < 0 && (other || all || a.look > lastLook) {
			return a.stop()
		}
		if i < 0 {
			return nil
		}
		if _, err := a.to.Write(a.block[:i]); err != nil {
			return err
		}
		a.from, a.off, a.block = i, int64(i), append(a.take(len(a.block)-i), a.block[i:]...)
	}
	for reach := a.size / 8; len(a.block) > a.size+reach; {
		if len(a.block) == cap(a.block) {
			reach = a.size / 2
		}
		at := border(a.block, a.size, reach)
		if at < 0 && len(a.block) < cap(a.block) {
			return nil
		}
		if at < 0 {
			return a.stop()
		}
		rest := append(a.take(len(a.block)-at), a.block[at:]...)
		p := &piece{to: at, view: a.block[:at+1], off: a.off}
		a.off, a.block = a.off+int64(at), rest
		if !a.add(p) {
			return a.stop()
		}
	}
	return nil
}

// firstEvent is where the first event begins. Without one, other says that none will be found in more either.
func firstEvent(src []byte) (i int, other bool) {
	if i = documentStart(src); i < len(src) && src[i] != '[' && src[i] != '{' {
		return -1, true
	}
	if i = listStart(src); i < 0 {
		return -1, false
	}
	if i = skipSpace(src, i+1); looksLikeEvent(src, i) {
		return i, false
	}
	return -1, len(src) > i+firstLook
}

// take is an empty block with room for so many bytes and the usual ones.
func (a *Ahead) take(least int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.free); n > 0 && cap(a.free[n-1]) > least {
		b := a.free[n-1]
		a.free = a.free[:n-1]
		return b[:0]
	}
	return make([]byte, 0, max(a.size+a.size/2, least+1))
}

// add hands out a piece. When enough of them wait, one is scanned at once. It reports false when one held something broken.
func (a *Ahead) add(p *piece) bool {
	a.mu.Lock()
	a.list = append(a.list, p)
	waiting := len(a.list) - a.next
	a.mu.Unlock()
	a.change.Signal()
	if waiting > mostWaiting || runtime.GOMAXPROCS(0) == 1 {
		a.scanNext(false)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.broken
}

// stop gives what is there to the spool, but for the pieces that are done, and all that comes.
func (a *Ahead) stop() error {
	a.mu.Lock()
	a.next = len(a.list) // nobody takes more
	for a.busy > 0 {
		a.change.Wait()
	}
	var err error
	for _, p := range a.list[a.whole:] {
		if err == nil {
			_, err = a.to.Write(p.view[:p.to])
		}
	}
	a.list, a.next = a.list[:a.whole], a.whole
	a.mu.Unlock()
	if err == nil {
		_, err = a.to.Write(a.block)
	}
	a.block, a.free, a.plain = nil, nil, true
	return err
}

// finish is called when all is unpacked.
func (a *Ahead) finish() error {
	if !a.plain {
		if err := a.grown(true); err != nil {
			return err
		}
	}
	a.end()
	for a.scanNext(false) {
	}
	if a.plain {
		return nil
	}
	return a.stop()
}

// end says that no more pieces come.
func (a *Ahead) end() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.change.Broadcast()
}

// scanNext scans a piece, and may wait for one; false when there is none.
func (a *Ahead) scanNext(wait bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for wait && a.next == len(a.list) && !a.ended {
		a.change.Wait()
	}
	if a.next == len(a.list) {
		return false
	}
	p := a.list[a.next]
	a.next++
	a.busy++
	a.mu.Unlock()
	done := false
	defer func() { // also when it panics
		a.mu.Lock()
		a.busy--
		p.done = done // others look at it, so it is written under the lock, and last
		a.broken = a.broken || !done
		for a.whole < len(a.list) && a.list[a.whole].done {
			p := a.list[a.whole]
			a.free = append(a.free, p.view)
			a.gone += int64(p.to)
			p.view, p.s = nil, nil
			a.whole++
		}
		a.change.Broadcast()
	}()
	done = p.scanEarly()
	return true
}

// scanEarly scans a piece of which no more is there than up to the bracket of the next event. It reports whether all
// events in it are whole: then nothing that comes later can change what was read, since whatever looks for more comes to
// the end of what is there and finds no end of its event.
func (p *piece) scanEarly() bool {
	p.budget = -1 // the first broken event is the end
	p.scan(p.view, p.off)
	p.seen = nil // it has tokens of the text
	return !p.closed && p.end == p.to
}

// pieces are those of the list whose bracket stands before from, and where Src goes on.
func (a *Ahead) pieces(from int) (int, []*piece) {
	if a == nil || len(a.list) == 0 {
		return from, nil
	}
	return a.from, a.list
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
