package perfetto

import (
	"bufio"
	"io"
	"math"

	"overlay/internal/par"
)

// Write writes a trace. It encodes as many rows at a time as there are processors; the bytes do not depend on that. It
// sorts the items of the tracks in place. The error is the first one of w; after it nothing more is written.
func Write(w io.Writer, t *Trace) (Stats, error) {
	return writePieces(w, t, pieceItems)
}

func writePieces(w io.Writer, t *Trace, size int) (Stats, error) {
	bw := bufio.NewWriterSize(w, chunkSize)
	st, _, err := writePart(bw, t, size, identity(t))
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
}

// NewStream begins a trace: its UUID and Attrs are said here.
func NewStream(w io.Writer, t *Trace) (*Stream, error) {
	s := &Stream{to: bufio.NewWriterSize(w, chunkSize)}
	n, err := s.to.Write(identity(t))
	s.st.Bytes = int64(n)
	return s, err
}

// Part writes the tracks of a part. Each part needs a number of its own; its times are on the clock of all parts.
func (s *Stream) Part(t *Trace) (Stats, error) {
	t.before = s.sequences
	st, sequences, err := writePart(s.to, t, pieceItems, nil)
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
func writePart(bw *bufio.Writer, t *Trace, size int, said []byte) (st Stats, sequenced int, err error) {
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
	each(lanes, t, start, func(chunk []byte) bool {
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
	n := int64(0)
	sequenced = len(lanes)
	if t.Stages != nil && err == nil {
		st.Stages = len(t.Stages.List)
		n, err = t.Stages.write(bw, t.sequence(sequenced), start)
		st.Bytes += n
		sequenced++
	}
	if t.Samples != nil && err == nil {
		n, err = t.Samples.write(bw, t.sequence(sequenced), start)
		st.Bytes += n
		sequenced++
	}
	return st, sequenced, err
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

// each encodes the lanes and hands their chunks to write in order, until write returns false.
func each(lanes []lane, t *Trace, start int64, write func([]byte) bool) {
	par.InOrder(len(lanes), chunkSize+chunkSlack, func() par.Maker {
		e := &encoder{body: newBody()}
		return func(i int, buf []byte, put func([]byte) []byte) []byte {
			l := &lanes[i]
			e.out = buf
			if tr := &t.Tracks[l.track]; tr.Kind == Counter {
				e.points(l, tr.Points, t.sequence(i), start, put)
			} else {
				e.items(l, tr.Fill(), t.sequence(i), start, put)
			}
			return e.out
		}
	}, write)
}
