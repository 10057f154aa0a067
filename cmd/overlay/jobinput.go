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
// their own. A trace that cannot be read, or of which use can make nothing, becomes an entry with a fault.
//
// The order of the entries is that of the inputs, and of an archive that of its members.
func eachTrace[T any](j *job, f *found, use func(name string, tr *trace.Trace) (T, error)) *ranked[T] {
	all := &ranked[T]{}
	w := &readers{j: j, slots: make(chan struct{}, max(1, j.opts.jobs/2))}
	add := func(name, member string, load func() (*input, error)) {
		w.mu.Lock()
		all.Entries, all.Of = append(all.Entries, roster.Entry{}), append(all.Of, *new(T))
		i := len(all.Entries) - 1
		w.mu.Unlock()
		w.start(func() {
			e, of := one(w, name, member, load, use)
			w.mu.Lock()
			all.Entries[i], all.Of[i] = e, of
			w.mu.Unlock()
		})
	}
	for k := range f.traces {
		t := &f.traces[k]
		if t.archive == noArchive {
			add(inputName(t.path), t.member, func() (*input, error) {
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
			add(shown, name, func() (*input, error) { return in, err })
			return nil
		})
		if errors.Is(err, errExpands) {
			err = fmt.Errorf("%s: %w", report.Plain(t.path), errExpands)
		}
		if err == nil && n == 0 {
			err = noMembers(t.path)
		}
		if err != nil {
			add(t.path, t.member, func() (*input, error) { return nil, err })
		}
	}
	w.all.Wait()
	if w.trap != nil {
		panic(w.trap)
	}
	return all
}

// again reads the traces of some entries once more, one at a time: files in the order of want's numbers, then the members of
// archives as they stand there.
func (j *job) again(f *found, want map[string]int32, use func(i int32, tr *trace.Trace) error) error {
	w := &readers{j: j, slots: make(chan struct{}, 1)}
	visit := func(name string, i int32, load func() (*input, error)) error {
		return guardInput(name, func() error {
			in, err := load()
			if err != nil {
				return err
			}
			defer w.leave(in)
			w.hold(in.held)
			o := w.options()
			o.Cut = in.cut
			tr, err := decode(name, in, o, w.room())
			if err != nil {
				return err
			}
			return use(i, tr)
		})
	}
	var files []*traceFile
	for k := range f.traces {
		if _, ok := want[inputName(f.traces[k].path)]; ok && f.traces[k].archive == noArchive {
			files = append(files, &f.traces[k])
		}
	}
	slices.SortStableFunc(files, func(a, b *traceFile) int { return cmp.Compare(want[inputName(a.path)], want[inputName(b.path)]) })
	for _, t := range files {
		err := visit(inputName(t.path), want[inputName(t.path)], func() (*input, error) { return openInput(t.path, j.stdin, w.options(), w.room()) })
		if err != nil {
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
			return visit(shown, i, func() (*input, error) {
				in, err := spoolInput(r, shown, w.options(), w.room())
				if in != nil {
					in.cut = in.cut || cut()
				}
				return in, err
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// one reads a trace, uses it and lets go of it.
func one[T any](w *readers, name, member string, load func() (*input, error), use func(name string, tr *trace.Trace) (T, error)) (e roster.Entry, of T) {
	err := guardInput(name, func() error {
		in, err := load()
		if err != nil {
			return err
		}
		defer w.leave(in)
		held := in.held
		w.hold(held)
		o := w.options()
		o.Cut = in.cut
		tr, err := decode(name, in, o, w.room())
		w.hold(in.held - held) // reading may put another text in the place of the input
		if err != nil {
			return err
		}
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
	trap any        // a panic of one of them
}

// options are those of reading a trace.
func (w *readers) options() kineto.Options { return w.j.readOptions() }

// room is how much of a decompressed input stays in memory, when several are there at once.
func (w *readers) room() int64 { return roomFor(w.j.memory) / int64(cap(w.slots)) }

// wait waits until there is room for another trace in work.
func (w *readers) wait() {
	w.slots <- struct{}{}
	<-w.slots
}

// start does work beside the rest, as soon as there is room.
func (w *readers) start(work func()) {
	w.slots <- struct{}{}
	w.all.Add(1)
	go func() {
		defer func() {
			if trap := recover(); trap != nil {
				w.mu.Lock()
				w.trap = trap
				w.mu.Unlock()
			}
			<-w.slots
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
	in.close()
	runtime.GC() // else the garbage of one trace lies beside the next
}
