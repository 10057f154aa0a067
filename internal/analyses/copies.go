package analyses

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"overlay/internal/memory"
)

// Copies is what memory operations moved, and what the allocator did.
type Copies struct {
	Kinds  []CopyKind  `json:"kinds" about:"memory operations by kind"`
	Memory []MemoryUse `json:"memory" about:"memory that the allocator held, by device"`

	use []memory.Use
}

// CopyKind is one kind of copy: "Memcpy HtoD", "Memset". GB/s figures are those of the operations themselves.
type CopyKind struct {
	Kind      string  `json:"kind"`
	Count     int     `json:"count" unit:"count"`
	NS        int64   `json:"ns" unit:"ns"`
	Bytes     int64   `json:"bytes" unit:"bytes"`
	GBs       float64 `json:"gb_per_s" unit:"gb_per_s" about:"bytes over time"`
	Bandwidth Stats   `json:"bandwidth" unit:"gb_per_s"` // of all running copies of the kind, after each change, where above 0 (HTA)

	series []level
}

// MemoryUse follows the allocator of one device ("cpu" for the host) by its [memory] events.
type MemoryUse struct {
	Device   string `json:"device"`
	Events   int    `json:"events" unit:"count"`
	Peak     int64  `json:"peak_allocated_bytes" unit:"bytes"`
	Reserved int64  `json:"peak_reserved_bytes" unit:"bytes"`
}

type level struct {
	ts int64
	v  float64
}

// copyStats follows HTA's memory bandwidth (trace_counters.py, _get_memory_bw_time_series_for_rank): an operation
// without length counts as 1 µs long.
func copyStats(s *Set, _ Options) *Copies {
	kinds := map[string]*CopyKind{}
	for i := range s.Ops {
		op := &s.Ops[i]
		if op.Type != Memory {
			continue
		}
		name := copyKind(s.Trace.Str(op.Name))
		k := kinds[name]
		if k == nil {
			k = &CopyKind{Kind: name}
			kinds[name] = k
		}
		bytes, _ := s.Trace.ArgInt(op.Event, "bytes")
		k.Count++
		k.NS += op.End - op.Start
		k.Bytes += bytes
		bw, _ := s.Trace.ArgFloat(op.Event, "memory bandwidth (GB/s)")
		end := op.End
		if end == op.Start {
			end += 1000
		}
		k.series = append(k.series, level{op.Start, bw}, level{end, -bw})
	}
	c := &Copies{Kinds: []CopyKind{}}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[name]
		k.GBs = ratio(k.Bytes, k.NS)
		k.Bandwidth = cumulate(k.series)
		c.Kinds = append(c.Kinds, *k)
	}
	c.use, c.Memory = memory.Of(s.Trace, s.Start, s.End), []MemoryUse{}
	for i := range c.use {
		u := &c.use[i]
		c.Memory = append(c.Memory, MemoryUse{u.Device, u.Events, u.Peak, u.Reserved})
	}
	return c
}

// copyKind is the first 11 characters of the name, HTA's grouping: "Memcpy HtoD", "Memset (Dev" becomes "Memset".
func copyKind(name string) string {
	if strings.HasPrefix(name, "Memset") {
		return "Memset"
	}
	characters := 0
	for i := range name {
		if characters == 11 {
			return name[:i]
		}
		characters++
	}
	return name
}

// cumulate turns changes into levels and summarises those above 0. At one time ends come before starts (HTA adds
// first, which counts copies that follow each other twice), and what floats leave when nothing runs is 0.
func cumulate(series []level) Stats {
	slices.SortStableFunc(series, func(a, b level) int { return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(a.v, b.v)) })
	sum, running := 0.0, 0
	var positive []float64
	for i := range series {
		sum += series[i].v
		switch {
		case series[i].v > 0:
			running++
		case series[i].v < 0:
			running--
		}
		if running == 0 {
			sum = 0
		}
		series[i].v = sum
		if sum > 0 {
			positive = append(positive, sum)
		}
	}
	return Describe(positive)
}
