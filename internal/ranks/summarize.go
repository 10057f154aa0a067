package ranks

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Identity says which rank a trace is of.
type Identity struct {
	Source string // name for messages
	Rank   Rank
	By     string // how that is known
	Host   string // "" to take what the trace says

	Names *trace.Trace // gives the names of events, where they are not to be those of the trace itself; nil as a rule
}

// Summarize makes the summary of one rank from its graph and its exact path. It keeps nothing of them.
func Summarize(g *graph.Graph, p *critpath.Path, id Identity) *Summary {
	tr := g.Trace
	s := &Summary{Source: id.Source, Bytes: tr.Source.Size(), Events: len(tr.Events), Rank: id.Rank, RankBy: id.By,
		World: int32(min(max(tr.Distributed.World, 0), math.MaxInt32)), Host: strings.Clone(cmp.Or(id.Host, tr.Distributed.Host)), Device: -1,
		Threads: g.Threads.String(), Window: [2]int64{g.Window.Start, g.Window.End}, Quality: maps.Clone(p.Quality)}
	z := &summarizer{g: g, tr: tr, s: s, named: cmp.Or(id.Names, tr), names: newNames(), said: map[saidKind]int32{}, kinds: map[Kind]int32{}, collectives: tr.Collectives()}
	z.symbol = make([]Name, len(z.named.Syms))
	z.steps()
	z.operations()
	z.stubs()
	z.spend(p)
	z.give()
	s.Names = z.names.list
	z.shift(tr.Base)
	return s
}

// summarizer is what the parts of the work share.
type summarizer struct {
	g      *graph.Graph
	tr     *trace.Trace
	s      *Summary
	named  *trace.Trace // where names come from
	names  *names
	symbol []Name // per symbol of named: its name plus 1, 0 when not asked

	step        int // that was found last
	said        map[saidKind]int32
	kinds       map[Kind]int32
	groups      map[string]int32
	key         []byte // of a group
	collectives *trace.Collectives
	acts        []cdg.ActID // of the operations, by start
	host        map[cdg.ActID]*cdg.HostCollective
}

// name is the name of an event as the summary keeps it.
func (z *summarizer) name(id trace.EventID) Name {
	if id == trace.NoEvent {
		return 0
	}
	sym := z.named.Events[id].Name
	if z.symbol[sym] == 0 {
		name := critpath.NormalName(z.named.Str(sym))
		if strings.HasPrefix(name, trace.StepPrefix) { // its own time is compared over steps
			name = stepName
		}
		z.symbol[sym] = 1 + z.names.of(strings.Clone(name))
	}
	return z.symbol[sym] - 1
}

// steps takes the steps of the trace.
func (z *summarizer) steps() {
	counted := func(st cdg.Step) bool { return trace.IsStep(st.Name) || st.Of.Number >= 0 }
	some := slices.ContainsFunc(z.g.Steps, counted)
	for _, st := range z.g.Steps {
		number := st.Number
		if number < 0 || number >= 1<<31 || st.End <= st.Start || some && !counted(st) {
			continue
		}
		if !some { // it is the place in its trace
			number = -1 - number
		}
		z.s.Steps = append(z.s.Steps, Step{Number: int32(number), Type: st.Of.Type, Start: st.Start, End: st.End})
	}
}

// stepAt is the index of the step in which a moment lies, -1 for none.
func (z *summarizer) stepAt(t int64) int {
	if i := z.step; i < len(z.s.Steps) && t >= z.s.Steps[i].Start && t < z.s.Steps[i].End && (i+1 == len(z.s.Steps) || t < z.s.Steps[i+1].Start) {
		return i
	}
	i, found := slices.BinarySearchFunc(z.s.Steps, t, func(s Step, t int64) int { return cmp.Compare(s.Start, t) })
	if !found {
		i--
	}
	if i < 0 || t >= z.s.Steps[i].End {
		return -1
	}
	z.step = i
	return i
}

// shift turns times of the trace into times since 1970, as far as the trace knows them.
func (z *summarizer) shift(base int64) {
	s := z.s
	s.Window[0] += base
	s.Window[1] += base
	for i := range s.Ops {
		s.Ops[i].Start += base
		s.Ops[i].End += base
		s.Ops[i].Launch += base
	}
	for i := range s.Steps {
		s.Steps[i].Start += base
		s.Steps[i].End += base
	}
}

// operations takes the operations that communicate.
func (z *summarizer) operations() {
	g, s := z.g, z.s
	z.acts = operations(g)
	z.host = hostCollectives(g)
	if i := slices.IndexFunc(z.acts, func(a cdg.ActID) bool { return g.Lanes[g.Acts[a].Lane].Stream }); i >= 0 {
		if d := g.Trace.Procs[g.Lanes[g.Acts[z.acts[i]].Lane].Proc].Device; d >= 0 && d <= math.MaxInt32 {
			s.Device = int32(d)
		}
	}
	z.describe()
}

// isHostCollective tells the annotation of a collective that the CPU does.
func isHostCollective(name string) bool {
	backend, word, ok := vendors.BackendCall(name)
	return ok && backend == vendors.HostBackend && collOf(word) != Other
}

// hostCollectives are what threads do of collectives, by activity.
func hostCollectives(g *graph.Graph) map[cdg.ActID]*cdg.HostCollective {
	m := make(map[cdg.ActID]*cdg.HostCollective, len(g.HostCollectives))
	for i := range g.HostCollectives {
		m[g.HostCollectives[i].Act] = &g.HostCollectives[i]
	}
	return m
}

// span is when an operation meets the other ranks: of a thread without the copies from and to its device.
func span(g *graph.Graph, host map[cdg.ActID]*cdg.HostCollective, a cdg.ActID) cdg.Span {
	if x := host[a]; x != nil {
		return x.Span
	}
	return cdg.Span{Start: g.Acts[a].Start, End: g.Acts[a].End}
}

// operations finds the operations of the window that communicate, by start: kernels, and where the CPU does it, its annotations.
func operations(g *graph.Graph) []cdg.ActID {
	var acts []cdg.ActID
	tr := g.Trace
	onStream, onThread := tr.ByName(vendors.IsCollective), tr.ByName(isHostCollective)
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit; a++ {
			e := &tr.Events[g.Acts[a].Event]
			if lane.Stream != (e.Kind == trace.Kernel) || g.Acts[a].End <= g.Window.Start || g.Acts[a].Start >= g.Window.End {
				continue
			}
			if lane.Stream && onStream(e.Name) || !lane.Stream && onThread(e.Name) {
				acts = append(acts, a)
			}
		}
	}
	host := hostCollectives(g)
	slices.SortFunc(acts, func(x, y cdg.ActID) int {
		a, b := span(g, host, x), span(g, host, y)
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(x, y))
	})
	return acts
}

// stubs walks back from every operation and from the end of the window.
func (z *summarizer) stubs() {
	s := z.s
	limit := min(max(maxRuns/(len(z.acts)+1), leastRuns), mostRuns)
	stub, f := 0, folder{limit: limit}
	flush := func(to int) {
		for ; stub < to; stub++ {
			s.First = append(s.First, int32(len(s.Runs)))
			s.Runs = f.take(s.Runs)
		}
	}
	s.First, s.Stubs = make([]int32, 0, len(z.acts)+2), make([]Stub, 0, len(z.acts)+1)
	s.Runs = make([]Run, 0, 4*len(z.acts))
	stubs := critpath.Stubs(z.g, z.acts, func(i int, seg *critpath.Segment) {
		flush(i)
		f.add(Run{seg.End - seg.Start, seg.Event, z.name(seg.Event), seg.Kind})
	})
	flush(len(stubs))
	s.First = append(s.First, int32(len(s.Runs)))
	s.Runs = slices.Clip(s.Runs)
	for _, b := range stubs {
		s.Stubs = append(s.Stubs, MakeStub(b.End, b.Ref))
	}
}

// How many runs a summary keeps of a stub: about maxRuns in all, within these bounds.
const (
	maxRuns   = 2048
	leastRuns = 16
	mostRuns  = 256
)

// folder joins what is alike in a stub, and what is small to its larger neighbour.
type folder struct {
	limit int
	runs  []Run
}

func (f *folder) add(r Run) {
	if n := len(f.runs); n > 0 && f.runs[n-1].Kind == r.Kind && f.runs[n-1].Name == r.Name {
		f.runs[n-1].Dur += r.Dur
		return
	}
	f.runs = append(f.runs, r)
}

// take appends the runs of the stub, at most limit, and forgets them. The longest are kept; those between two that are kept go to
// the longer of the two.
func (f *folder) take(to []Run) []Run {
	runs := f.runs
	f.runs = f.runs[:0]
	if len(runs) <= f.limit {
		return append(to, runs...)
	}
	order := make([]int32, len(runs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(runs[b].Dur, runs[a].Dur), cmp.Compare(a, b))
	})
	kept := order[:f.limit]
	slices.Sort(kept)
	first := len(to)
	for _, i := range kept {
		to = append(to, runs[i])
	}
	between := int64(0)
	for i, k := 0, 0; i < len(runs); i++ {
		if k < len(kept) && kept[k] == int32(i) {
			k++
			if k > 1 && runs[kept[k-2]].Dur >= runs[i].Dur {
				to[first+k-2].Dur += between
			} else {
				to[first+k-1].Dur += between
			}
			between = 0
			continue
		}
		between += runs[i].Dur
	}
	to[len(to)-1].Dur += between
	return to
}
