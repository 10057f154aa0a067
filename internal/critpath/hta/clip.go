package hta

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// window returns the peer's window, ns (critical_path_analysis, 1.2 of its rules: rows in frame order, never by time).
func (in *input) window(o Options) (int64, int64, error) {
	if o.Annotation == "" {
		return in.minTS, math.MaxInt64, nil
	}
	match := make([]bool, len(in.tr.Syms))
	found := false
	for i, name := range in.tr.Syms {
		match[i] = strings.Contains(name, o.Annotation)
	}
	var spans [][2]int64
	for i := range in.rows {
		if r := &in.rows[i]; match[r.name] {
			spans = append(spans, [2]int64{r.ts, r.end()})
			found = true
		}
	}
	if !found {
		return 0, 0, fmt.Errorf("%w: no event name contains %q", ErrNoInstance, o.Annotation)
	}
	first, last := o.First, o.Last
	if first < 0 {
		first, last = 0, 0
	}
	if first >= len(spans) || last < first {
		return 0, 0, fmt.Errorf("%w: %q has %d instances, asked for %d to %d", ErrNoInstance, o.Annotation, len(spans), first, last)
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range spans[first:min(last+1, len(spans))] {
		lo, hi = min(lo, s[0]), max(hi, s[1])
	}
	return lo, hi, nil
}

// clip chooses the rows of the window: CPU rows that start inside, the GPU rows that they launched, and every
// Stream Wait Event of the trace.
func (g *Graph) clip() error {
	in := &g.in
	lo, hi, err := in.window(g.opts)
	if err != nil {
		return err
	}
	take := make([]uint8, len(in.tr.Events))
	for i := range in.rows {
		r := &in.rows[i]
		if r.stream != -1 {
			if in.is(r, isStreamWait) {
				take[r.ev] |= 1
			}
			continue
		}
		if r.ts < lo || r.ts > hi || r.dur <= 0 {
			continue
		}
		take[r.ev] |= 1
		if r.partner < 0 {
			continue
		}
		if p := in.at[r.partner]; p >= 0 && in.rows[p].stream != -1 {
			if take[r.partner]&2 != 0 {
				return raises("two calls point at the operation at position %d", r.partner)
			}
			take[r.partner] |= 2
		}
	}
	for i, t := range take {
		if t != 0 {
			in.clip = append(in.clip, in.at[i])
		}
	}
	if in.dup {
		calls := map[int64]int{} // per correlation
		for i := range in.rows {
			if r := &in.rows[i]; !r.gpuish {
				calls[r.corr]++
			}
		}
		for _, p := range in.clip {
			if r := &in.rows[p]; r.gpuish && calls[r.corr] > 1 {
				return raises("its step filter duplicates the row at position %d", r.ev)
			}
		}
	}
	return nil
}

// nodes makes the start and end nodes of the events that the peer gives nodes, in its order.
func (g *Graph) nodes() []bool {
	in := &g.in
	cats := make([]bool, len(in.tr.Syms))
	loads := make([]bool, len(in.tr.Syms))
	for i, s := range in.tr.Syms {
		cats[i] = s == "cpu_op" || s == "cuda_runtime" || s == "cuda_driver"
		loads[i] = slices.ContainsFunc(g.opts.DataLoad, func(d string) bool { return strings.Contains(s, d) })
	}
	has := make([]bool, len(in.rows))
	for _, p := range in.clip {
		r := &in.rows[p]
		if !cats[r.cat] && !loads[r.name] && (r.stream == -1 || r.partner < 0) {
			continue
		}
		has[p] = true
		g.Nodes = append(g.Nodes, Node{r.ts, r.ev, false}, Node{r.end(), r.ev, true})
	}
	slices.SortStableFunc(g.Nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.Event, b.Event), bool2int(a.End)-bool2int(b.End))
	})
	return has
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}
