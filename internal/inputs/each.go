package inputs

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"

	"overlay/internal/kineto"
	"overlay/internal/ranks/roster"
	"overlay/internal/trace"
)

// Item is one of several traces while it is in use. Of the trace, its text and its strings that belong to the input nothing may be
// kept, unless How says so.
type Item struct {
	Name   string // for messages: the path, or the archive and the name in it
	Format string // kineto or perfetto
	Trace  *trace.Trace
}

// How says how traces are gone through.
type How struct {
	InTurn bool // one after the other, up to the first that cannot be read or used
	Keep   bool // what is made of a trace holds on to it
}

// Made is what was made of the traces of a job, and what they say of themselves: Of[i] and File[i] belong to Entries[i].
type Made[T any] struct {
	Entries []roster.Entry
	Of      []T
	File    []int // which of the files that were found a trace is, or lies in
	Err     error // what ended it, of traces that are read in turn
}

// one is what was made of one trace.
type one[T any] struct {
	entry roster.Entry
	of    T
}

// Each reads every trace that was found, makes something of it, and lets go of it. With n jobs n/2 traces are in work at a time, on
// goroutines of their own, of small ones twice as many. A trace that cannot be read, or of which use can make nothing, becomes an entry
// with a fault. A file in which several processes launched GPU work counts as an archive from then on.
//
// The order of the entries is that of the inputs, and of an archive that of its members.
func Each[T any](r *Reader, f *Found, how How, use func(x *Item) (T, error)) *Made[T] {
	w := &work{r: r, how: how, slots: make(chan struct{}, slotsEach*max(1, r.Jobs/2))}
	var places []*[]one[T] // what becomes of a file or of a member of an archive
	var file []int
	add := func(k int, name, member string, small bool, load func() (*Input, error)) {
		place := &[]one[T]{}
		places, file = append(places, place), append(file, k)
		w.start(small, func() {
			*place = all(w, name, member, load, use, func(err error) bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				return f.Split(k, err)
			})
		})
	}
	for k := 0; k < len(f.Files) && w.stop == nil; k++ {
		t := &f.Files[k]
		if t.archive == noArchive {
			add(k, Name(t.Path), t.member, w.small(t), func() (*Input, error) { return w.open(t) })
			continue
		}
		n := 0
		err := t.eachMember(r.Options.MaxExpand, func(m *archiveMember) error {
			n++
			w.wait() // so that no more members than are in work lie in memory
			in, err := m.spool(r.Options, w.room())
			if m.meter.Err() != nil {
				return err
			}
			add(k, m.shown, m.name, false, func() (*Input, error) { return in, err })
			return w.stop
		})
		if err == nil && n == 0 {
			err = noMembers(t.Path)
		}
		if err != nil && w.stop == nil {
			add(k, t.Path, t.member, true, func() (*Input, error) { return nil, err })
		}
	}
	w.all.Wait()
	if w.trap != nil {
		panic(w.trap)
	}
	made := &Made[T]{Err: w.stop}
	for p, place := range places {
		for _, x := range *place {
			made.Entries, made.Of, made.File = append(made.Entries, x.entry), append(made.Of, x.of), append(made.File, file[p])
		}
	}
	return made
}

// all makes something of a trace, or of each process of one in which several launched GPU work.
func all[T any](w *work, name, member string, load func() (*Input, error), use func(x *Item) (T, error), split func(err error) bool) (list []one[T]) {
	whole := w.read(name, load)
	if !split(whole.err) {
		return []one[T]{made(w, member, &whole, use)}
	}
	defer w.leave(whole.in)
	several := (*kineto.Several)(nil)
	errors.As(whole.err, &several)
	for i := 0; i < len(several.Parts) && w.stop == nil; i++ {
		p := &several.Parts[i]
		part := w.read(name+"/"+p.Name, func() (*Input, error) { return readPart(p, w.r.Options, w.room()) })
		list = append(list, made(w, p.Name, &part, use))
	}
	return list
}

// made makes something of one trace and lets go of that.
func made[T any](w *work, member string, r *reading, use func(x *Item) (T, error)) (x one[T]) {
	err := r.use(w, func() (err error) {
		x.entry = roster.Describe(r.name, member, r.tr)
		x.of, err = use(&Item{r.name, r.format, r.tr})
		return err
	})
	if err != nil {
		x = one[T]{entry: roster.Entry{Name: r.name, Member: member, Fault: err.Error()}}
		if w.how.InTurn {
			w.stop = err
		}
	}
	return x
}

// Again reads the traces of some entries once more, one at a time: files in the order of want's numbers, then the members of
// archives as they stand there. While a small one is used the next small one is read.
func (r *Reader) Again(f *Found, want map[string]int32, use func(i int32, tr *trace.Trace) error) error {
	w := &work{r: r, slots: make(chan struct{}, slotsEach)}
	var files []*File
	for k := range f.Files {
		if _, ok := want[Name(f.Files[k].Path)]; ok && f.Files[k].archive == noArchive {
			files = append(files, &f.Files[k])
		}
	}
	slices.SortStableFunc(files, func(a, b *File) int { return cmp.Compare(want[Name(a.Path)], want[Name(b.Path)]) })
	read := func(k int) reading {
		t := files[k]
		return w.read(Name(t.Path), func() (*Input, error) { return w.open(t) })
	}
	var ahead chan reading
	for k, t := range files {
		var one reading
		if ahead != nil {
			one = <-ahead
		} else {
			one = read(k)
		}
		if ahead = nil; k+1 < len(files) && w.small(t) && w.small(files[k+1]) {
			ahead = make(chan reading, 1)
			go func() { ahead <- read(k + 1) }()
		}
		if err := one.use(w, func() error { return use(want[one.name], one.tr) }); err != nil {
			if ahead != nil {
				<-ahead
			}
			return err
		}
	}
	for k := range f.Files {
		t := &f.Files[k]
		if t.archive == noArchive {
			continue
		}
		err := t.eachMember(r.Options.MaxExpand, func(m *archiveMember) error {
			i, ok := want[m.shown]
			if !ok {
				return nil
			}
			one := w.read(m.shown, func() (*Input, error) { return m.spool(r.Options, w.room()) })
			return one.use(w, func() error { return use(i, one.tr) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reading is a trace that was read, and what went wrong.
type reading struct {
	name   string
	format string
	in     *Input
	tr     *trace.Trace
	err    error
}

func (w *work) read(name string, load func() (*Input, error)) (r reading) {
	r.name, r.format = name, "kineto"
	r.err = Guard(name, func() (err error) {
		if r.in, err = load(); err != nil {
			return err
		}
		if kineto.IsPerfetto(r.in.Bytes[:min(len(r.in.Bytes), 512)]) {
			r.format = "perfetto"
		}
		held := r.in.held
		w.hold(held)
		r.tr, err = decode(name, r.in, r.in.options(w.r.Options), w.room())
		w.hold(r.in.held - held) // reading may put another text in the place of the input
		return err
	})
	return r
}

// use calls work with the trace and lets go of that.
func (r *reading) use(w *work, work func() error) error {
	if r.in != nil && !w.how.Keep {
		defer w.leave(r.in)
	}
	if r.err != nil {
		return r.err
	}
	return Guard(r.name, work)
}

// work is traces in work.
type work struct {
	r     *Reader
	how   How
	slots chan struct{}
	all   sync.WaitGroup
	stop  error // what ended traces that are read in turn

	mu   sync.Mutex // guards the rest
	held int64      // bytes of inputs in memory
	left int64      // bytes that were let go since garbage was collected
	trap any        // a panic of one of them
}

func (w *work) open(t *File) (*Input, error) {
	return openInput(t.Path, w.r.Stdin, w.r.Options, w.room())
}

// room is how much of a decompressed input stays in memory, when several are there at once.
func (w *work) room() int64 { return RoomFor(w.r.Memory) / int64(cap(w.slots)/slotsEach) }

// slotsEach is how many slots a trace takes. A small one takes one: linking and summing up keep one processor busy, and
// another one meanwhile the other.
const slotsEach = 2

// smallText is how many bytes of text a small trace has at most. In a container it is less, so that small traces in all
// slots take half of its memory: each takes about four times its text.
const smallText = 32 << 20

// small reports whether a trace takes little memory.
func (w *work) small(t *File) bool {
	most := int64(smallText)
	if w.r.Memory > 0 {
		most = min(most, w.r.Memory/int64(8*cap(w.slots)))
	}
	if t.archive != noArchive {
		return false
	}
	n := textSize(t.Path)
	return 0 < n && n <= most
}

// wait waits until there is room for another trace in work.
func (w *work) wait() {
	for range slotsEach {
		w.slots <- struct{}{}
	}
	for range slotsEach {
		<-w.slots
	}
}

// start does work beside the rest, as soon as there is room, or at once where traces are read in turn. It is called from one goroutine only.
func (w *work) start(small bool, work func()) {
	if w.how.InTurn {
		work()
		return
	}
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
func (w *work) hold(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held += n
	w.r.Held(w.held)
}

// leave lets go of an input and of what was made of it.
func (w *work) leave(in *Input) {
	w.hold(-in.held)
	size := max(in.text, int64(len(in.Bytes)))
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
