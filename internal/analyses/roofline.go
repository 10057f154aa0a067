package analyses

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/roofline"
	"overlay/internal/trace"
)

// Roofline compares what operators compute and move, by their shapes, with what their device can do (internal/roofline).
type Roofline struct {
	Devices []RooflineDevice `json:"devices"`
	Kernels []RooflineKernel `json:"kernels" about:"operators by the longest kernel that they launch, most time first"`
	Steps   []RooflineStep   `json:"steps" about:"products by step"`
	Record  string           `json:"record,omitempty" about:"what to record so that there are figures, or more of them"`
}

// RooflineDevice is one device. Classes sum to the time of its kernels.
type RooflineDevice struct {
	Device     int64    `json:"device" unit:"id"`
	Name       string   `json:"name" about:"as the profiler writes it"`
	Model      string   `json:"model" about:"as the table of peaks knows it; empty for one that is not in it"`
	NS         int64    `json:"ns" unit:"ns" about:"sum of the durations of its operations, copies from and to the host left out"`
	Shaped     float64  `json:"shaped_share" unit:"share" about:"of them, those of operators whose work is known"`
	Flops      float64  `json:"flops" unit:"flop" about:"of products: matrices, convolutions, attention"`
	Type       string   `json:"type" about:"type of the inputs with most of these"`
	Peak       float64  `json:"peak_flops_per_s" unit:"flop" about:"of products of that type; 0 for a device that is not known"`
	Bandwidth  float64  `json:"gb_per_s" unit:"gb_per_s" about:"of its memory"`
	Use        *float64 `json:"flops_use_share" unit:"share" about:"model FLOPs use: of what the peak would compute in the window, without work from before recording; recomputed products count; at least, where shaped_share is small; null without a peak"`
	InProducts *float64 `json:"product_peak_share" unit:"share" about:"of what the peaks would compute while products run, those left out that do less than the direct form; null without any"`
	Compute    float64  `json:"compute_bound_share" unit:"share" about:"of the kernels' time: operators near the peak of the units"`
	Memory     float64  `json:"memory_bound_share" unit:"share" about:"near the bandwidth of the memory"`
	Underused  float64  `json:"underused_share" unit:"share" about:"near neither"`
	Unjudged   float64  `json:"not_judged_share" unit:"share" about:"work counted, but it may lie in the cache, or the algorithm does less"`
	Unmodelled float64  `json:"not_modelled_share" unit:"share" about:"operators without a model or without shapes"`

	peak float64 // TFLOP/s
}

// RooflineKernel is the operators of one name whose longest kernel has one name.
type RooflineKernel struct {
	Device    int64    `json:"device" unit:"id"`
	Kernel    string   `json:"kernel"`
	Operator  string   `json:"operator"`
	Type      string   `json:"type"`
	Calls     int      `json:"calls" unit:"count"`
	NS        int64    `json:"ns" unit:"ns" about:"in which kernels of these operators ran"`
	Critical  int64    `json:"critical_ns" unit:"ns" about:"of their kernels"`
	Flops     float64  `json:"flops" unit:"flop"`
	Bytes     int64    `json:"bytes" unit:"bytes" about:"at least: each input and each output once"`
	OfCompute *float64 `json:"compute_peak_share" unit:"share" about:"of the peak of what computes it; null where that cannot be said"`
	OfMemory  *float64 `json:"memory_peak_share" unit:"share" about:"of the memory's bandwidth; null where that cannot be said"`
	Class     string   `json:"class" about:"compute_bound, memory_bound, underused or not_judged"`
	Ideal     int64    `json:"ideal_ns" unit:"ns" about:"at the peaks"`
	TF32      bool     `json:"assumed_tf32" unit:"flag" about:"the name does not say whether fp32 is computed with TF32: assumed"`
	classNS   [roofline.NumClasses]int64
	compute   sums
	memory    sums
}

// sums are a ratio over those that have it.
type sums struct{ part, whole float64 }

func (s *sums) add(part, whole float64) { s.part += part; s.whole += whole }

func (s *sums) ratio() *float64 {
	if s.whole == 0 {
		return nil
	}
	x := s.part / s.whole
	return &x
}

// use is what part of a peak, TFLOP/s, so many FLOPs in so many ns are; nil without a peak.
func use(flops, peak float64, ns int64) *float64 {
	s := sums{flops, peak * 1000 * float64(ns)}
	return s.ratio()
}

// RooflineStep is the products that a step launched, on one device.
type RooflineStep struct {
	Step   string   `json:"step"`
	Device int64    `json:"device" unit:"id"`
	NS     int64    `json:"duration_ns" unit:"ns"`
	Flops  float64  `json:"flops" unit:"flop" about:"of products that it launched"`
	Use    *float64 `json:"flops_use_share" unit:"share" about:"of what the peak would compute in its time, without work from before recording"`
}

// rooflineOf measures operators of known work.
func rooflineOf(s *Set, o Options) *Roofline {
	out := &Roofline{Devices: []RooflineDevice{}, Kernels: []RooflineKernel{}, Steps: []RooflineStep{}}
	if s.graph == nil {
		return out
	}
	tr := s.Trace
	rows := roofline.NewMeter(s.graph).Rows()
	s.devices(func(device int64, ops []Op) {
		d := RooflineDevice{Device: device, Name: tr.DeviceNames[device]}
		for i := range ops {
			if roofline.OnDevice(tr, ops[i].Event) {
				d.NS += ops[i].End - ops[i].Start
			}
		}
		if d.NS > 0 {
			s.rooflineDevice(&d, rows, out)
		}
	})
	slices.SortStableFunc(out.Kernels, func(a, b RooflineKernel) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), strings.Compare(a.Kernel, b.Kernel), strings.Compare(a.Operator, b.Operator))
	})
	out.Kernels = head(out.Kernels, o.withDefaults().Top)
	switch {
	case !tr.Shapes:
		out.Record = "profile(record_shapes=True): FLOPs and bytes follow from the shapes of inputs"
	case slices.ContainsFunc(out.Devices, func(d RooflineDevice) bool { return d.Model == "" }):
		out.Record = "the device is not in the table of peaks, or its name was not recorded"
	}
	return out
}

// rooflineDevice sums up the rows of one device.
func (s *Set) rooflineDevice(d *RooflineDevice, rows []roofline.Row, out *Roofline) {
	g, tr := s.graph, s.Trace
	type key struct {
		kernel trace.Sym
		op     string
	}
	at := map[key]int{}
	var kernels []RooflineKernel
	byType := map[string]float64{} // FLOPs of products
	var classes [roofline.NumClasses]int64
	var shaped int64
	var products sums
	for i := range rows {
		r := &rows[i]
		if r.Device != d.Device {
			continue
		}
		k := key{tr.Events[g.Acts[r.Main].Event].Name, cmp.Or(r.Name, tr.Name(g.Acts[r.Op].Event))}
		n, ok := at[k]
		if !ok {
			n = len(kernels)
			at[k] = n
			kernels = append(kernels, RooflineKernel{Device: d.Device, Kernel: tr.Str(k.kernel), Operator: k.op, Type: typeWord(r.Type)})
		}
		x := &kernels[n]
		x.add(r, s)
		shaped += r.NS
		classes[r.Class] += r.NS
		if r.Matrix {
			byType[r.Type] += float64(r.Flops)
			d.Flops += float64(r.Flops)
			if r.Compute >= 0 {
				products.add(float64(r.Flops), r.Peak*float64(r.NS))
			}
		}
	}
	for i := range kernels {
		kernels[i].finish()
	}
	out.Kernels = append(out.Kernels, kernels...)
	d.Shaped = ratio(shaped, d.NS)
	d.Compute, d.Memory = ratio(classes[roofline.ComputeBound], d.NS), ratio(classes[roofline.MemoryBound], d.NS)
	d.Underused, d.Unjudged = ratio(classes[roofline.Underused], d.NS), ratio(classes[roofline.Unjudged], d.NS)
	d.Unmodelled = max(1-d.Shaped, 0)
	typ := ""
	for t, n := range byType {
		if typ == "" || n > byType[typ] || n == byType[typ] && t < typ {
			typ = t
		}
	}
	d.Type = typeWord(typ)
	if known := roofline.Of(tr, d.Device); known != nil {
		d.Model, d.Bandwidth = known.Name, known.GBs
		if typ != "" {
			d.peak = known.Products(typ)
			d.Peak = d.peak * 1e12
			d.Use, d.InProducts = use(d.Flops, d.peak, s.own(s.Start, s.End)), products.ratio()
		}
	}
	out.Devices = append(out.Devices, *d)
	s.rooflineSteps(d, rows, out)
}

// own is how long a part of the window is without work from before recording, of which nothing is known.
func (s *Set) own(from, to int64) int64 {
	return to - from - critpath.Earlier(s.graph, s.path, from, to)
}

// rooflineSteps sums up products by the step that launched them.
func (s *Set) rooflineSteps(d *RooflineDevice, rows []roofline.Row, out *Roofline) {
	if d.Flops == 0 {
		return
	}
	type product struct{ at, flops int64 }
	var products []product // by start, so that a step looks at its own only
	for k := range rows {
		if r := &rows[k]; r.Device == d.Device && r.Matrix {
			products = append(products, product{s.graph.Acts[r.Op].Start, r.Flops})
		}
	}
	slices.SortStableFunc(products, func(a, b product) int { return cmp.Compare(a.at, b.at) })
	for i := range s.Steps {
		st := &s.Steps[i]
		x := RooflineStep{Step: st.Name, Device: d.Device, NS: st.End - st.Start}
		k, _ := slices.BinarySearchFunc(products, st.Start, func(p product, t int64) int { return cmp.Compare(p.at, t) })
		for ; k < len(products) && products[k].at < st.End; k++ {
			x.Flops += float64(products[k].flops)
		}
		x.Use = use(x.Flops, d.peak, s.own(st.Start, st.End))
		out.Steps = append(out.Steps, x)
	}
}

// add counts one operator.
func (k *RooflineKernel) add(r *roofline.Row, s *Set) {
	k.Calls++
	k.NS += r.NS
	k.Flops += float64(r.Flops)
	k.Bytes += r.Bytes
	k.Ideal += r.Ideal
	k.TF32 = k.TF32 || r.Assumed && r.Matrix
	k.classNS[r.Class] += r.NS
	if r.Compute >= 0 {
		k.compute.add(r.Compute*float64(r.NS), float64(r.NS))
	}
	if r.Memory >= 0 {
		k.memory.add(r.Memory*float64(r.NS), float64(r.NS))
	}
	for _, a := range r.Kernels {
		k.Critical += s.criticalOf(s.graph.Acts[a].Event)
	}
}

// finish tells the class with most of the time.
func (k *RooflineKernel) finish() {
	k.OfCompute, k.OfMemory = k.compute.ratio(), k.memory.ratio()
	most := roofline.Class(0)
	for c, ns := range k.classNS {
		if ns > k.classNS[most] {
			most = roofline.Class(c)
		}
	}
	k.Class = most.String()
}

// typeWord is the short name of a type.
func typeWord(t string) string {
	t = strings.ToLower(strings.TrimPrefix(t, "c10::"))
	if word := typeWords[t]; word != "" {
		return word
	}
	return t
}

var typeWords = map[string]string{"float": "fp32", "float32": "fp32", "half": "fp16", "float16": "fp16", "bfloat16": "bf16", "double": "fp64", "float64": "fp64"}
