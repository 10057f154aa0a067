package replay

import (
	"maps"
	"slices"

	"overlay/internal/ranks"
	"overlay/internal/stat"
)

// alike are collectives whose transfers follow one law: latency, and bytes at a rate.
type alike struct {
	coll ranks.Coll
	size int32
	near bool // all members are on one host
}

// apartLeast is how many times the bytes of the smallest collectives the largest must have, for a law to be found.
const apartLeast = 2

func (m *Model) alike(in *ranks.Instance) alike {
	a := alike{in.Coll, in.N + in.Missing, true}
	host := m.Job.Members[m.Job.Of[in.First].Member].Host
	for _, r := range m.Job.Of[in.First : in.First+in.N] {
		a.near = a.near && m.Job.Members[r.Member].Host == host
	}
	return a
}

// bytes is the size of a collective, 0 when the traces do not say.
func (m *Model) bytes(in *ranks.Instance) int64 {
	return m.Job.Members[m.Job.Of[in.First].Member].Kinds[in.Kind].Bytes()
}

// latencies says of each instance how much of its transfer has nothing to do with its bytes: what the line through the transfers of its like shows at no bytes, each
// size with its median. It is -1 where these have one size only, or do not say. Of an instance the operation that took least waited least, and no clock matters in it.
func (m *Model) latencies() []int64 {
	seen, of := map[alike]map[int64][]int64{}, make([]alike, len(m.Job.Instances))
	for i := range m.Job.Instances {
		in := &m.Job.Instances[i]
		of[i] = m.alike(in)
		n := m.bytes(in)
		if n <= 0 || in.Missing > 0 || in.Skewed {
			continue
		}
		took := int64(1) << 62
		for _, r := range m.Job.Of[in.First : in.First+in.N] {
			op := &m.Job.Members[r.Member].Ops[r.Op]
			took = min(took, op.End-op.Start)
		}
		if seen[of[i]] == nil {
			seen[of[i]] = map[int64][]int64{}
		}
		seen[of[i]][n] = append(seen[of[i]][n], took)
	}
	latency := map[alike]int64{}
	for a, sizes := range seen {
		latency[a] = atNoBytes(sizes)
	}
	list := make([]int64, len(of))
	for i := range list {
		list[i] = -1
		if l, ok := latency[of[i]]; ok {
			list[i] = l
		}
	}
	return list
}

// atNoBytes is where the line through what sizes took begins: the one with the least sum of squares of errors, each a share of what that size took. -1: there is none.
func atNoBytes(sizes map[int64][]int64) int64 {
	all := slices.Sorted(maps.Keys(sizes))
	if all[len(all)-1] < apartLeast*all[0] {
		return -1
	}
	var w, x, y, xx, xy float64
	for _, n := range all {
		took := float64(max(stat.Median(sizes[n]), 1))
		weight := float64(len(sizes[n])) / (took * took)
		w, x, y = w+weight, x+weight*float64(n), y+weight*took
		xx, xy = xx+weight*float64(n)*float64(n), xy+weight*float64(n)*took
	}
	rate := max((w*xy-x*y)/(w*xx-x*x), 0)
	return max(int64((y-rate*x)/w), 0)
}
