package kineto

import (
	"bytes"
	"math/rand"
	"reflect"
	"sync"
	"testing"
	"time"
)

// mover is a spool that moves what it has when it is full, and leaves other numbers where it was: events that are scanned there
// afterwards are whole, and wrong. It is full when somebody scans; who scans is held up until the bytes have moved, or until the writer has
// had time to do so.
type mover struct {
	unsteady
	begin, fill sync.Once
	begun       chan struct{} // closed when somebody scans
	full        chan struct{} // closed when there is no room for more
	gone        chan struct{} // closed when the bytes have moved
}

func (m *mover) Held(more int) ([]byte, bool) {
	b, ok := m.unsteady.Held(more)
	if !ok {
		<-m.begun
		m.fill.Do(func() { close(m.full) })
	}
	return b, ok
}

// scan is called by the first to scan, who wait.
func (m *mover) scan() any {
	m.begin.Do(func() { close(m.begun) })
	<-m.full
	select {
	case <-m.gone:
	case <-time.After(20 * time.Millisecond):
	}
	return &trie{nodes: make([]node, 1)}
}

func (m *mover) Write(p []byte) (int, error) {
	if m.moved == nil && len(m.held)+len(p) > m.room {
		m.moved = bytes.Clone(m.held)
		for i, c := range m.held {
			if c >= '0' && c <= '9' {
				m.held[i] = '0' + (c-'0'+1)%10
			}
		}
		close(m.gone)
	}
	return m.unsteady.Write(p)
}

// TestBytesMove: before bytes move those who scan them come to their end, and what nobody scans yet is scanned where it is
// then. With two processors one piece is being scanned and others wait, with four several are.
func TestBytesMove(t *testing.T) {
	src := generated(400)
	want, err := Parse(src, "x", Options{chunk: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 4} {
		workers(t, n)
		m := &mover{unsteady: unsteady{room: len(src) / 2, held: make([]byte, 0, len(src)/2)},
			begun: make(chan struct{}), full: make(chan struct{}), gone: make(chan struct{})}
		defer func(new func() any) { tries = sync.Pool{New: new} }(tries.New)
		tries = sync.Pool{New: m.scan}
		o := Options{chunk: 1000}
		in, err := Decompress(&blocks{src, rand.New(rand.NewSource(1))}, "x", o, m)
		if err != nil {
			t.Fatal(err)
		}
		if m.moved == nil || in.Ahead == nil || len(in.Ahead.list) == 0 {
			t.Fatalf("%d processors: nothing moved, or nothing was scanned before", n)
		}
		o.Cut, o.Ahead = in.Cut, in.Ahead
		got, err := Parse(in.Bytes, "x", o)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Events, want.Events) {
			t.Errorf("%d processors: events were scanned while their bytes moved", n)
		}
	}
}
