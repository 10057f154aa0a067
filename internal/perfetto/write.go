package perfetto

import (
	"bufio"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"overlay/internal/par"
)

// Write writes a trace. It encodes as many rows at a time as there are processors; the bytes do not depend on that. It
// sorts the items of the tracks in place. The error is the first one of w; after it nothing more is written.
func Write(w io.Writer, t *Trace) (Stats, error) {
	return writePieces(w, t, pieceItems)
}

func writePieces(w io.Writer, t *Trace, size int) (Stats, error) {
	bw := bufio.NewWriterSize(w, chunkSize)
	st, _, err := writePart(bw, t, size, identity(t), newChunks())
	if err == nil {
		err = bw.Flush()
	}
	return st, err
}

// Stream writes a trace in parts, one after the other, so that one of them is in memory at a time. The tracks of a part
// have no parents in others; flows may go from part to part.
type Stream struct {
	to        *bufio.Writer
	st        Stats
	sequences uint32
	free      chunks
}

// NewStream begins a trace: its UUID and Attrs are said here.
func NewStream(w io.Writer, t *Trace) (*Stream, error) {
	s := &Stream{to: bufio.NewWriterSize(w, chunkSize), free: newChunks()}
	n, err := s.to.Write(identity(t))
	s.st.Bytes = int64(n)
	return s, err
}

// Part writes the tracks of a part. Each part needs a number of its own; its times are on the clock of all parts.
func (s *Stream) Part(t *Trace) (Stats, error) {
	t.before = s.sequences
	st, sequences, err := writePart(s.to, t, pieceItems, nil, s.free)
	s.sequences += uint32(sequences)
	s.st.Add(&st)
	return st, err
}

// Close ends the trace and says what was written of it in all.
func (s *Stream) Close() (Stats, error) { return s.st, s.to.Flush() }

// Add sums what was written.
func (st *Stats) Add(o *Stats) {
	st.Slices += o.Slices
	st.Instants += o.Instants
	st.Points += o.Points
	st.Lanes += o.Lanes
	st.Deep += o.Deep
	st.Stages += o.Stages
	st.Bytes += o.Bytes
}

// writePart writes the tracks of a part, and what is to be said of the trace between its clocks and its tracks. It tells how many sequences that were.
func writePart(bw *bufio.Writer, t *Trace, size int, said []byte, free chunks) (st Stats, sequenced int, err error) {
	lanes, st := plan(t, size)
	start := firstTime(t)
	par.Each(len(lanes), func(i int) { lanes[i].findUnit(&t.Tracks[lanes[i].track], start) })
	for _, b := range [][]byte{sequences(t, lanes, start), said, descriptors(t, lanes)} {
		n, err := bw.Write(b)
		st.Bytes += int64(n)
		if err != nil {
			return st, len(lanes), err
		}
	}
	each(lanes, t, start, free, func(chunk []byte) bool {
		// A chunk that does not fit goes out by itself: to fill up the buffer first would be a copy of it.
		if len(chunk) > bw.Available() {
			if err = bw.Flush(); err != nil {
				return false
			}
		}
		var n int
		n, err = bw.Write(chunk)
		st.Bytes += int64(n)
		return err == nil
	})
	if t.Stages == nil || err != nil {
		return st, len(lanes), err
	}
	st.Stages = len(t.Stages.List)
	n, err := t.Stages.write(bw, t.sequence(len(lanes)), start)
	st.Bytes += n
	return st, len(lanes) + 1, err
}

// plan splits all tracks into lanes, one for each track that has events and those that overlaps need, and long lanes
// into pieces of size items. It sorts the items of the tracks.
func plan(t *Trace, size int) ([]lane, Stats) {
	var st Stats
	split := make([]splitTrack, len(t.Tracks))
	par.Each(len(t.Tracks), func(i int) { split[i] = t.Tracks[i].split(size) })
	var lanes []lane
	next := t.uuid(len(t.Tracks))
	for i := range t.Tracks {
		tr, sp := &t.Tracks[i], &split[i]
		st.Deep += sp.deep
		st.Points += len(tr.Points)
		st.Instants += sp.instants
		st.Slices += len(tr.Items) - sp.instants
		if len(tr.Points) > 0 {
			lanes = append(lanes, lane{track: i, uuid: t.uuid(i)})
		}
		for k, pieces := range sp.lanes {
			uuid := t.uuid(i)
			if k > 0 {
				uuid = next
				next++
				st.Lanes++
			}
			for _, l := range pieces {
				l.track, l.uuid = i, uuid
				lanes = append(lanes, l)
			}
		}
	}
	return lanes, st
}

// firstTime is the earliest time stamp of a planned trace: where every sequence's clock starts.
func firstTime(t *Trace) int64 {
	first := int64(math.MaxInt64)
	for i := range t.Tracks {
		if items := t.Tracks[i].Items; len(items) > 0 {
			first = min(first, items[0].Start)
		}
		for _, p := range t.Tracks[i].Points {
			first = min(first, p.TS)
		}
	}
	if first == math.MaxInt64 {
		return 0
	}
	return first
}

// task is a lane being encoded. Its chunks arrive in order.
type task struct {
	lane   int
	chunks chan []byte
}

// ahead is how many chunks a lane may be encoded before it is its turn to be written.
const ahead = 32

// chunks are buffers that were written and can be filled again.
type chunks chan []byte

func newChunks() chunks { return make(chunks, ahead) }

func (c chunks) get() []byte {
	select {
	case b := <-c:
		return b[:0]
	default:
		return make([]byte, 0, chunkSize+chunkSlack)
	}
}

func (c chunks) put(b []byte) {
	if cap(b) == 0 {
		return
	}
	select {
	case c <- b:
	default:
	}
}

// each encodes the lanes and hands their chunks to write in order, until write returns false.
func each(lanes []lane, t *Trace, start int64, free chunks, write func([]byte) bool) {
	workers := runtime.GOMAXPROCS(0)
	encode := func(e *encoder, i int, flush func([]byte) []byte) {
		l := &lanes[i]
		tr := &t.Tracks[l.track]
		if tr.Kind == Counter {
			e.points(l, tr.Points, t.sequence(i), start, flush)
			return
		}
		e.items(l, tr.Fill(), t.sequence(i), start, flush)
	}
	if workers <= 1 || len(lanes) <= 1 {
		e := &encoder{body: newBody()}
		for i := range lanes {
			ok := true
			encode(e, i, func(b []byte) []byte {
				if ok = write(b); !ok {
					return nil
				}
				return b[:0]
			})
			if !ok {
				return
			}
		}
		return
	}

	var stop atomic.Bool
	var fault atomic.Pointer[any] // what a worker panicked with
	queue := make(chan *task)
	order := make(chan *task, 4*workers)
	go func() {
		for i := range lanes {
			tk := &task{lane: i, chunks: make(chan []byte, ahead)}
			order <- tk
			queue <- tk // the oldest unfinished task always has a worker, so its chunks always come
		}
		close(order)
		close(queue)
	}()
	for range workers {
		go func() {
			e := &encoder{body: newBody()}
			debug.SetPanicOnFault(true) // the input may be a mapped file that shrinks
			for tk := range queue {
				func() {
					defer close(tk.chunks)
					defer func() {
						if x := recover(); x != nil {
							fault.CompareAndSwap(nil, &x)
							stop.Store(true)
						}
					}()
					if stop.Load() {
						return
					}
					if e.out == nil {
						e.out = free.get()
					}
					encode(e, tk.lane, func(b []byte) []byte {
						tk.chunks <- b
						if stop.Load() {
							return nil
						}
						return free.get()
					})
				}()
			}
			free.put(e.out)
		}()
	}
	for tk := range order {
		for chunk := range tk.chunks {
			if !stop.Load() && !write(chunk) {
				stop.Store(true)
			}
			free.put(chunk)
		}
	}
	if x := fault.Load(); x != nil {
		panic(*x)
	}
}
