package roofline

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Class says what holds an operator back.
type Class uint8

// The classes.
const (
	Underused    Class = iota // neither units nor memory are near their peak
	ComputeBound              // the units are
	MemoryBound               // the memory is
	Unjudged                  // what it computes or moves is not known well enough
	NumClasses
)

func (c Class) String() string {
	return [NumClasses]string{"underused", "compute_bound", "memory_bound", "not_judged"}[c]
}

// nearPeak is the share of a peak from which on an operator counts as bound by it.
const nearPeak = 0.7

// Row is an operator with the kernels that it launched itself.
type Row struct {
	Op      cdg.ActID // of a replayed graph the call that launched it
	Name    string    // of the operator, where a capture recorded it; "": that of Op
	Kernels []cdg.ActID
	Main    cdg.ActID // the longest of them
	NS      int64     // in which at least one of them ran
	Work
	Device  int64
	Peak    float64 // of what computes it, FLOP/ns; 0 for a device that is not known
	Compute float64 // share of Peak; -1 where that cannot be said
	Memory  float64 // share of the memory's bandwidth; -1 where that cannot be said
	Ideal   int64   // ns that it would take at the peaks
	Class   Class
	Assumed bool // that products of fp32 use TF32 units is assumed: the kernel's name does not say
}

// Meter measures the operators of a graph.
type Meter struct {
	g      *graph.Graph
	names  []nameFlag          // per name: what it says; 0 before it is asked for
	inner  []cdg.ActID         // per activity: the innermost operator with a model at or above it; nil until it is asked for
	byExt  map[int64]cdg.ActID // operators by their External id; NoAct where several have one; nil until it is asked for
	device func(int64) *Device // by its number
	calls  map[callText]Call   // those of one text are read once
	grads  map[int32][]int64   // shapes of the gradients of convolutions, by the sequence number of the forward operator; nil until then

	threads map[*trace.Trace][]trace.EventID // operators by thread and start, of the traces that were asked what an operator calls
}

// NewMeter makes a meter.
func NewMeter(g *graph.Graph) *Meter {
	return &Meter{g: g, names: make([]nameFlag, len(g.Trace.Syms)), device: Devices(g.Trace), calls: map[callText]Call{}}
}

// nameFlag is what a name says of an operator or a call.
type nameFlag uint8

const (
	nameAsked    nameFlag = 1 << iota
	nameModelled          // there is a model of the operator
	nameProduct           // it multiplies matrices
	nameGraph             // the call launches a CUDA graph
)

func (m *Meter) named(s trace.Sym) nameFlag {
	if m.names[s] == 0 {
		name, f := m.g.Trace.Str(s), nameAsked
		switch model, product := modelOf(name); {
		case model == nil:
		case product:
			f |= nameModelled | nameProduct
		default:
			f |= nameModelled
		}
		if vendors.VerbOf(name) == vendors.GraphLaunch {
			f |= nameGraph
		}
		m.names[s] = f
	}
	return m.names[s]
}

// Rows are the operators that launched kernels in the window and have a model, in order of the graph.
func (m *Meter) Rows() []Row {
	return append(m.rows(func(cdg.ActID) bool { return true }), m.recorded()...)
}

// RowsOf are those of Rows that launched one of some kernels.
func (m *Meter) RowsOf(kernels []cdg.ActID) []Row {
	of := make([]bool, len(m.g.Acts))
	for _, k := range kernels {
		if op := m.opOf(k); op != cdg.NoAct {
			of[op] = true
		}
	}
	return m.rows(func(op cdg.ActID) bool { return of[op] })
}

// rows measures the operators that are wanted.
func (m *Meter) rows(want func(op cdg.ActID) bool) []Row {
	g := m.g
	type launched struct{ op, kernel cdg.ActID }
	var list []launched
	mixed := make(mixture, len(g.Acts))
	for l := range g.Lanes {
		if !g.Lanes[l].Stream {
			continue
		}
		for k := g.Lanes[l].First; k < g.Lanes[l].Limit; k++ {
			if at := g.Acts[k].Start; at < g.Window.Start || at >= g.Window.End {
				continue
			}
			op := m.opOf(k)
			if op == cdg.NoAct {
				continue
			}
			mixed.launches(m, op)
			if want(op) {
				list = append(list, launched{op, k})
			}
		}
	}
	cdg.SortRuns(list, func(x, y *launched) bool { return x.op < y.op })
	kernels := make([]cdg.ActID, len(list))
	for i := range list {
		kernels[i] = list[i].kernel
	}
	var out []Row
	for from, to := 0, 0; from < len(list); from = to {
		op := list[from].op
		for to < len(list) && list[to].op == op {
			to++
		}
		if mixed.has(m, op) {
			continue
		}
		if r, ok := m.row(op, kernels[from:to:to]); ok {
			out = append(out, r)
		}
	}
	return out
}

// opOf is the innermost operator with a model around the launch of a kernel. The operations of a CUDA graph are not those of
// the operator that launches it.
func (m *Meter) opOf(k cdg.ActID) cdg.ActID {
	tr := m.g.Trace
	id, from := m.g.Acts[k].Event, cdg.NoAct
	switch l := tr.Launch(id); {
	case l == trace.NoEvent: // the record of the launch is lost, not that of the operator
		from = m.external(tr.ExternalID(id))
	case m.named(tr.Events[l].Name)&nameGraph == 0:
		from = m.g.ActOf[l]
	}
	return m.innermost(from)
}

// innermost is the innermost operator with a model at or above an activity of a thread, NoAct for none.
func (m *Meter) innermost(a cdg.ActID) cdg.ActID {
	if a == cdg.NoAct {
		return a
	}
	if m.inner == nil { // a walk for each launch would cost its depth
		m.inner = make([]cdg.ActID, len(m.g.Acts))
		for i, parent := range m.g.Parent { // a parent comes before what it encloses
			switch a := cdg.ActID(i); {
			case m.modelled(a):
				m.inner[a] = a
			case parent == cdg.NoAct:
				m.inner[a] = cdg.NoAct
			default:
				m.inner[a] = m.inner[parent]
			}
		}
	}
	return m.inner[a]
}

// mixture knows the operators inside of which another one with a model launches, by activity: what is left for them? A product that
// first copies its inputs still is that product.
type mixture []uint8

// What an operator encloses a launch by.
const (
	aboveOther   = 1 << iota // an operator that is no product
	aboveProduct             // one that is
)

// launches notes that an operator launches. What encloses it is walked once for each of the two kinds.
func (x mixture) launches(m *Meter, op cdg.ActID) {
	above := uint8(aboveOther)
	if m.product(op) {
		above = aboveProduct
	}
	for p := m.innermost(m.g.Parent[op]); p != cdg.NoAct && x[p]&above == 0; p = m.innermost(m.g.Parent[p]) {
		x[p] |= above
	}
}

func (x mixture) has(m *Meter, op cdg.ActID) bool {
	return x[op]&aboveProduct != 0 || x[op]&aboveOther != 0 && !m.product(op)
}

// external is the operator with an External id, NoAct for none.
func (m *Meter) external(id int64) cdg.ActID {
	if id <= 0 {
		return cdg.NoAct
	}
	if m.byExt == nil {
		const unseen = cdg.NoAct - 1
		m.byExt = map[int64]cdg.ActID{}
		tr := m.g.Trace
		for a := range m.g.Acts { // those that are asked for
			if e := m.g.Acts[a].Event; tr.Events[e].Kind.Device() && tr.Launch(e) == trace.NoEvent {
				m.byExt[tr.ExternalID(e)] = unseen
			}
		}
		for a := range m.g.Acts {
			if e := m.g.Acts[a].Event; tr.Events[e].Kind == trace.CPUOp {
				switch of, asked := m.byExt[tr.ExternalID(e)]; {
				case !asked:
				case of == unseen:
					m.byExt[tr.ExternalID(e)] = cdg.ActID(a)
				default:
					m.byExt[tr.ExternalID(e)] = cdg.NoAct
				}
			}
		}
	}
	if a, ok := m.byExt[id]; ok && a >= 0 {
		return a
	}
	return cdg.NoAct
}

// gradient is the shape of what backward has for the result of a convolution, nil where that is not known.
func (m *Meter) gradient(op cdg.ActID) []int64 {
	if m.grads == nil {
		m.grads = map[int32][]int64{}
		for a := range m.g.Acts {
			id := m.g.Acts[a].Event
			at, ok := gradientOf[m.g.Trace.Name(id)]
			if !ok || m.g.Trace.Events[id].Kind != trace.CPUOp {
				continue
			}
			if c, ok := ReadCall(m.g.Trace, id); ok && len(c.In) > at {
				m.grads[m.sequence(cdg.ActID(a))] = c.In[at].Dims
			}
		}
		delete(m.grads, 0)
	}
	return m.grads[m.sequence(op)]
}

// sequence is the sequence number of an operator or of what encloses it, 0 for none.
func (m *Meter) sequence(a cdg.ActID) int32 {
	for ; a != cdg.NoAct; a = m.g.Parent[a] {
		if n, _ := m.g.Trace.Sequence(m.g.Acts[a].Event); n > 0 {
			return n
		}
	}
	return 0
}

func (m *Meter) product(a cdg.ActID) bool {
	return m.named(m.g.Trace.Events[m.g.Acts[a].Event].Name)&nameProduct != 0
}

func (m *Meter) modelled(a cdg.ActID) bool {
	e := &m.g.Trace.Events[m.g.Acts[a].Event]
	return e.Kind == trace.CPUOp && m.named(e.Name)&nameModelled != 0
}

// row measures one operator.
func (m *Meter) row(op cdg.ActID, kernels []cdg.ActID) (Row, bool) {
	work, ok := m.work(op)
	if !ok || work.Bytes <= 0 {
		return Row{}, false
	}
	return m.rowOf(op, work, kernels)
}

// MemoryLimited reports whether at the peaks of its device memory would take longer than the units.
func (r *Row) MemoryLimited() bool {
	return r.Peak > 0 && r.Memory > max(r.Compute, 0)
}

// iteration is that of a server at a time, nil for none.
func (m *Meter) iteration(at int64) *trace.Iteration {
	steps := m.g.Steps
	i := sort.Search(len(steps), func(i int) bool { return steps[i].Start > at }) - 1
	if i < 0 || at >= steps[i].End || steps[i].Of.Type == trace.NoIteration {
		return nil
	}
	return &steps[i].Of
}

// rowOf compares work with what kernels took for it.
func (m *Meter) rowOf(op cdg.ActID, work Work, kernels []cdg.ActID) (Row, bool) {
	g, tr := m.g, m.g.Trace
	r := Row{Op: op, Kernels: kernels, Main: kernels[0], Work: work, Compute: -1, Memory: -1, Class: Unjudged}
	slices.SortFunc(kernels, func(a, b cdg.ActID) int {
		return cmp.Or(cmp.Compare(g.Acts[a].Start, g.Acts[b].Start), cmp.Compare(a, b))
	})
	until, names := int64(0), ""
	for _, k := range kernels {
		x := &g.Acts[k]
		e := &tr.Events[x.Event]
		if !OnDevice(tr, x.Event) {
			return Row{}, false
		}
		r.NS += max(x.End-max(x.Start, until), 0)
		until = max(until, x.End)
		if x.End-x.Start > g.Acts[r.Main].End-g.Acts[r.Main].Start {
			r.Main = k
		}
		names += tr.Str(e.Name) + "\n"
	}
	track := &tr.Tracks[g.Lanes[g.Acts[r.Main].Lane].Track]
	r.Device = tr.Procs[track.Proc].Device
	if d := m.device(r.Device); d != nil && r.NS > 0 {
		r.rate(d, names)
	}
	return r, true
}

// Of is the device with a number, nil for one that is not known. A device without a name in the trace is of
// the model of the named ones where these are all of one model.
func Of(tr *trace.Trace, device int64) *Device {
	if name, ok := tr.DeviceNames[device]; ok {
		return Known(name)
	}
	var same *Device
	for _, name := range tr.DeviceNames {
		d := Known(name)
		if d == nil || same != nil && d != same {
			return nil
		}
		same = d
	}
	return same
}

// Work counts what an operator computes and moves; false without a model, or where its shapes were not recorded.
func (m *Meter) Work(op cdg.ActID) (Work, bool) {
	if !m.modelled(op) {
		return Work{}, false
	}
	return m.work(op)
}

// Devices is Of for who asks again and again: the devices of all processes are looked up when one is asked for.
func Devices(tr *trace.Trace) func(device int64) *Device {
	all := sync.OnceValue(func() map[int64]*Device {
		of := map[int64]*Device{}
		for i := range tr.Procs {
			if n := tr.Procs[i].Device; of[n] == nil {
				of[n] = Of(tr, n)
			}
		}
		return of
	})
	return func(device int64) *Device { return all()[device] }
}

// work counts what an operator with a model computes and moves.
func (m *Meter) work(op cdg.ActID) (Work, bool) {
	tr, id := m.g.Trace, m.g.Acts[op].Event
	c, ok := m.call(id)
	if !ok {
		return Work{}, false
	}
	if len(c.Concrete) == 0 && strings.Contains(c.Name, "convolution") && !strings.Contains(c.Name, "backward") {
		c.Gradient = m.gradient(op)
	}
	c.Iteration = m.iteration(m.g.Acts[op].Start)
	c.Within = func() []Call { return m.within(tr, id) }
	model, _ := modelOf(c.Name)
	return model(&c)
}

// call is ReadCall, by which each text is read once.
func (m *Meter) call(id trace.EventID) (Call, bool) {
	x, ok := textOf(m.g.Trace, id)
	if !ok {
		return Call{}, false
	}
	c, known := m.calls[x]
	if !known {
		c = Call{Name: m.g.Trace.Name(id)}
		c.read(&x)
		x.dims, x.types, x.strides, x.concrete = strings.Clone(x.dims), strings.Clone(x.types), strings.Clone(x.strides), strings.Clone(x.concrete)
		m.calls[x] = c
	}
	return c, len(c.In) > 0
}

// rate compares with a device. names are those of the kernels.
func (r *Row) rate(d *Device, names string) {
	names = strings.ToLower(names)
	peak, assumed := d.peak(r.Type, names)
	if !r.Matrix {
		peak, assumed = d.Vector, false
	}
	r.Peak, r.Assumed = peak*1000, assumed // TFLOP/s are 1,000 FLOP/ns
	bandwidth := d.GBs                     // GB/s are bytes/ns
	flops, bytes := float64(r.Flops), float64(r.Bytes)
	r.Compute = flops / float64(r.NS) / r.Peak
	r.Memory = bytes / float64(r.NS) / bandwidth
	r.Ideal = int64(max(flops/r.Peak, bytes/bandwidth))
	if contains(names, "winograd", "fft") {
		r.Compute = -1 // these compute less than the direct form
	}
	// What lies in the cache does not go through memory; without strides an expanded tensor counts in full.
	if r.Memory > 1 && (bytes < 2e6*d.CacheMB || !r.Exact) {
		r.Memory = -1
	}
	near := nearPeak
	if r.Matrix && d.Achievable > 0 {
		near *= d.Achievable
	}
	computes := flops*bandwidth > bytes*r.Peak // right of the ridge
	switch {
	case computes && r.Compute < 0, !computes && r.Memory < 0:
		r.Class = Unjudged
	case computes && r.Compute >= near:
		r.Class = ComputeBound
	case !computes && r.Memory >= nearPeak:
		r.Class = MemoryBound
	default:
		r.Class = Underused
	}
}

func contains(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// peak is that of products with inputs of a type, TFLOP/s. What a product of fp32 is computed with stands in the names of
// its kernels, in lower case, or is assumed.
func (d *Device) peak(typ, kernels string) (tflops float64, assumed bool) {
	switch t := strings.TrimPrefix(strings.ToLower(typ), "c10::"); {
	case strings.HasPrefix(t, "float4"):
		if tflops = d.FP4; tflops == 0 { // made sixteen bits before
			tflops = d.BF16
		}
	case strings.HasPrefix(t, "float8"):
		tflops = d.FP8
	case t == "signed char", t == "char", t == "int8": // units with TF32 have eight-bit integers at four times its rate
		tflops = max(d.FP8, 4*d.TF32)
	case t == "bfloat16":
		tflops = d.BF16
	case t == "half", t == "float16":
		tflops = d.FP16
	case t == "double", t == "float64":
		tflops = d.FP64
	case contains(kernels, "tf32", "s1688", "h1688", "bf16x"):
		tflops = d.TF32
	case contains(kernels, "sgemm", "ffma", "simt", "scudnn", "winograd", "f32f32_f32f32"):
		return d.Vector, false
	default:
		return max(d.TF32, d.Vector), d.TF32 > 0
	}
	if tflops == 0 { // no units for it
		tflops = d.Vector
	}
	return tflops, false
}

// Products is the peak of products of a type, TFLOP/s: with TF32 units for fp32 where there are some.
func (d *Device) Products(typ string) float64 {
	tflops, _ := d.peak(typ, "")
	return tflops
}

// OnDevice reports whether an operation stays on its device, as all do but copies over the bus of the host.
func OnDevice(tr *trace.Trace, id trace.EventID) bool {
	return tr.Events[id].Kind != trace.Memcpy || strings.Contains(tr.Name(id), "DtoD")
}
