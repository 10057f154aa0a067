package analyses

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/trace"
)

// Group sums events of one name.
type Group struct {
	Name     string `json:"name"`
	GPU      bool   `json:"gpu"`
	Stats    Stats  `json:"stats" unit:"ns"` // of the durations
	Critical int64  `json:"critical_ns" unit:"ns"`
}

// KernelGroup is the operations of one type, with the names that take most of their time.
type KernelGroup struct {
	Type   string  `json:"type" key:"yes"`
	NS     int64   `json:"ns" unit:"ns" about:"sum of durations"`
	Share  float64 `json:"share" unit:"share" about:"of the durations of all operations"`
	Names  []Group `json:"names" about:"operations by name, most time first"`
	Others int     `json:"others" unit:"count" about:"names left out"`
}

// kernels groups operations by type and name (breakdown_analysis.py, get_gpu_kernel_breakdown). Unlike HTA it keeps
// the figures of a name as they are when the list is cut.
func kernels(s *Set, o Options) []KernelGroup {
	var out []KernelGroup
	var total int64
	for t := range numTypes {
		var list []sample
		for i := range s.Ops {
			if op := &s.Ops[i]; op.Type == t {
				list = append(list, sample{op.Name, op.End - op.Start, s.criticalOf(op.Event)})
			}
		}
		if len(list) == 0 {
			continue
		}
		g := KernelGroup{Type: t.String(), Names: groups(s.Trace, list, true)}
		for i := range g.Names {
			g.NS += int64(g.Names[i].Stats.Sum)
		}
		total += g.NS
		n := len(g.Names)
		g.Names = head(g.Names, o.withDefaults().Top)
		g.Others = n - len(g.Names)
		out = append(out, g)
	}
	for i := range out {
		out[i].Share = ratio(out[i].NS, total)
	}
	return out
}

// annotations groups user annotations and their shadows on the GPU by name.
func annotations(s *Set, _ Options) []Group {
	var cpu, gpu []sample
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		if e.Ph != 'X' || !s.inside(e.Start) {
			continue
		}
		switch e.Kind {
		case trace.Annotation:
			cpu = append(cpu, sample{e.Name, s.Trace.Dur(e), s.criticalOf(trace.EventID(i))})
		case trace.GPUAnnotation:
			gpu = append(gpu, sample{e.Name, s.Trace.Dur(e), 0})
		}
	}
	return append(groups(s.Trace, cpu, false), groups(s.Trace, gpu, true)...)
}

type sample struct {
	name     trace.Sym
	ns       int64
	critical int64
}

// groups sums by name, most time first, then by name.
func groups(tr *trace.Trace, list []sample, gpu bool) []Group {
	slices.SortStableFunc(list, func(a, b sample) int { return cmp.Compare(a.name, b.name) })
	var out []Group
	for i := 0; i < len(list); {
		g := Group{Name: tr.Str(list[i].name), GPU: gpu}
		var values []int64
		j := i
		for ; j < len(list) && list[j].name == list[i].name; j++ {
			values = append(values, list[j].ns)
			g.Critical += list[j].critical
		}
		g.Stats = Describe(values)
		out = append(out, g)
		i = j
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Stats.Sum, a.Stats.Sum), strings.Compare(a.Name, b.Name))
	})
	return out
}
