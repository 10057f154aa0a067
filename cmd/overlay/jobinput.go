package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"overlay/internal/kineto"
	"overlay/internal/ranks/roster"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// ranked is what was made of the traces of a job, and what they say of themselves: Of[i] belongs to Entries[i].
type ranked[T any] struct {
	Entries []roster.Entry
	Of      []T
}

// eachTrace reads every trace that was found, makes something of it, and lets go of it: of the trace, its text and its
// strings that belong to the input nothing may be kept. With n jobs n/2 traces are in work at a time, on goroutines of
// their own, of small ones twice as many. A trace that cannot be read, or of which use can make nothing, becomes an entry
// with a fault.
//
// The order of the entries is that of the inputs, and of an archive that of its members.
func eachTrace[T any](j *job, f *found, use func(name string, tr *trace.Trace) (T, error)) *ranked[T] {
	all := &ranked[T]{}
	w := &readers{j: j, slots: make(chan struct{}, slotsEach*max(1, j.opts.jobs/2))}
	add := func(name, member string, small bool, load func() (*input, error)) {
		w.mu.Lock()
		all.Entries, all.Of = append(all.Entries, roster.Entry{}), append(all.Of, *new(T))
		i := len(all.Entries) - 1
		w.mu.Unlock()
		w.start(small, func() {
			e, of := one(w, name, member, load, use)
			w.mu.Lock()
			all.Entries[i], all.Of[i] = e, of
			w.mu.Unlock()
		})
	}
	for k := range f.traces {
		t := &f.traces[k]
		if t.archive == noArchive {
			add(inputName(t.path), t.member, w.small(t), func() (*input, error) {
				return openInput(t.path, j.stdin, w.options(), w.room())
			})
			continue
		}
		n := 0
		err := t.eachMember(cmp.Or(j.opts.maxExpand, 64<<30), func(name string, r io.Reader, cut func() bool) error {
			n++
			shown := t.path + "/" + name
			w.wait() // so that no more members than are in work lie in memory
			in, err := spoolInput(r, shown, w.options(), w.room())
			if errors.Is(err, errExpands) {
				return errExpands
			}
			if in != nil {
				in.cut = in.cut || cut()
			}
			add(shown, name, false, func() (*input, error) { return in, err })
			return nil
		})
		if errors.Is(err, errExpands) {
			err = fmt.Errorf("%s: %w", report.Plain(t.path), errExpands)
		}
		if err == nil && n == 0 {
			err = noMembers(t.path)
		}
		if err != nil {
			add(t.path, t.member, true, func() (*input, error) { return nil, err })
		}
	}
	w.all.Wait()
	if w.trap != nil {
		panic(w.trap)
	}
	return all
}

// again reads the traces of some entries once more, one at a time: files in the order of want's numbers, then the members of
// archives as they stand there. While a small one is used the next small one is read.
func (j *job) again(f *found, want map[string]int32, use func(i int32, tr *trace.Trace) error) error {
	w := &readers{j: j, slots: make(chan struct{}, slotsEach)}
	var files []*traceFile
	for k := range f.traces {
		if _, ok := want[inputName(f.traces[k].path)]; ok && f.traces[k].archive == noArchive {
			files = append(files, &f.traces[k])
		}
	}
	slices.SortStableFunc(files, func(a, b *traceFile) int { return cmp.Compare(want[inputName(a.path)], want[inputName(b.path)]) })
	read := func(k int) reading {
		t := files[k]
		return w.read(inputName(t.path), func() (*input, error) { return openInput(t.path, j.stdin, w.options(), w.room()) })
	}
	var ahead chan reading
	for k, t := range files {
		var r reading
		if ahead != nil {
			r = <-ahead
		} else {
			r = read(k)
		}
		if ahead = nil; k+1 < len(files) && w.small(t) && w.small(files[k+1]) {
			ahead = make(chan reading, 1)
			go func() { ahead <- read(k + 1) }()
		}
		if err := r.use(w, want[r.name], use); err != nil {
			if ahead != nil {
				<-ahead
			}
			return err
		}
	}
	for k := range f.traces {
		t := &f.traces[k]
		if t.archive == noArchive {
			continue
		}
		err := t.eachMember(cmp.Or(j.opts.maxExpand, 64<<30), func(name string, r io.Reader, cut func() bool) error {
			shown := t.path + "/" + name
			i, ok := want[shown]
			if !ok {
				return nil
			}
			one := w.read(shown, func() (*input, error) {
				in, err := spoolInput(r, shown, w.options(), w.room())
				if in != nil {
					in.cut = in.cut || cut()
				}
				return in, err
			})
			return one.use(w, i, use)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reading is a trace that was read, and what went wrong.
type reading struct {
	name string
	in   *input
	tr   *trace.Trace
	err  error
}

func (w *readers) read(name string, load func() (*input, error)) (r reading) {
	r.name = name
	r.err = guardInput(name, func() (err error) {
		if r.in, err = load(); err != nil {
			return err
		}
		held := r.in.held
		w.hold(held)
		r.tr, err = decode(name, r.in, r.in.options(w.options()), w.room())
		w.hold(r.in.held - held) // reading may put another text in the place of the input
		return err
	})
	return r
}

// use hands the trace to somebody and lets go of it.
func (r *reading) use(w *readers, i int32, use func(i int32, tr *trace.Trace) error) error {
	if r.in != nil {
		defer w.leave(r.in)
	}
	if r.err != nil {
		return r.err
	}
	return guardInput(r.name, func() error { return use(i, r.tr) })
}

// one reads a trace, uses it and lets go of it.
func one[T any](w *readers, name, member string, load func() (*input, error), use func(name string, tr *trace.Trace) (T, error)) (e roster.Entry, of T) {
	r := w.read(name, load)
	err := r.use(w, 0, func(_ int32, tr *trace.Trace) (err error) {
		e = roster.Describe(name, member, tr)
		of, err = use(name, tr)
		return err
	})
	if err != nil {
		e = roster.Entry{Name: name, Member: member, Fault: err.Error()}
	}
	return e, of
}

// readers are the traces in work.
type readers struct {
	j     *job
	slots chan struct{}
	all   sync.WaitGroup

	mu   sync.Mutex // guards the rest
	held int64      // bytes of inputs in memory
	left int64      // bytes that were let go since garbage was collected
	trap any        // a panic of one of them
}

// options are those of reading a trace.
func (w *readers) options() kineto.Options { return w.j.readOptions() }

// room is how much of a decompressed input stays in memory, when several are there at once.
func (w *readers) room() int64 { return roomFor(w.j.memory) / int64(cap(w.slots)/slotsEach) }

// slotsEach is how many slots a trace takes. A small one takes one: linking and summing up keep one processor busy, and
// another one meanwhile the other.
const slotsEach = 2

// smallText is how many bytes of text a small trace has at most. In a container it is less, so that small traces in all
// slots take half of its memory: each takes about four times its text.
const smallText = 32 << 20

// small reports whether a trace takes little memory.
func (w *readers) small(t *traceFile) bool {
	most := int64(smallText)
	if w.j.memory > 0 {
		most = min(most, w.j.memory/int64(8*cap(w.slots)))
	}
	if t.archive != noArchive {
		return false
	}
	n := textSize(t.path)
	return 0 < n && n <= most
}

// wait waits until there is room for another trace in work.
func (w *readers) wait() {
	for range slotsEach {
		w.slots <- struct{}{}
	}
	for range slotsEach {
		<-w.slots
	}
}

// start does work beside the rest, as soon as there is room. It is called from one goroutine only.
func (w *readers) start(small bool, work func()) {
	n := slotsEach
	if small {
		n = 1
	}
	for range n {
		w.slots <- struct{}{}
	}
	w.all.Add(1)
	go func() {
		defer func() {
			if trap := recover(); trap != nil {
				w.mu.Lock()
				w.trap = trap
				w.mu.Unlock()
			}
			for range n {
				<-w.slots
			}
			w.all.Done()
		}()
		work()
	}()
}

// hold counts bytes that the collector does not know.
func (w *readers) hold(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held += n
	limitHeap(w.j.memory, w.held)
}

// leave lets go of an input and of what was made of it.
func (w *readers) leave(in *input) {
	w.hold(-in.held)
	size := int64(len(in.bytes))
	in.close()
	w.mu.Lock()
	w.left += size
	collect := w.left >= collectFrom
	if collect {
		w.left = 0
	}
	w.mu.Unlock()
	if collect {
		runtime.GC() // else the garbage of one trace lies beside the next
	}
}

// collectFrom is how many bytes of traces may have been let go before garbage is collected.
const collectFrom = 32 << 20
