package ranks

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"overlay/internal/stat"
)

// When a link counts as slow.
const (
	slowLink  = 1.4
	slowLeast = 10_000 // ns
	slowCount = 3      // instances

	faultTimes = 4 // a transfer has to be longer than the error of clocks so many times to say something of bandwidth
)

// tiny is the size below which a collective says nothing of bandwidth: its time is that of the messages.
const tiny = 64 << 10

type linkClass struct {
	coll     Coll
	bytes    int64
	size     int
	topology string
}

// links compares the transfers of groups that do the same.
func (j *Job) links(expected Expected) ([]Link, []Bandwidth) {
	byClass, hosts := map[linkClass]map[int32][]int64{}, j.hosts()
	type bucket struct {
		coll     Coll
		topology string
		size     int
		log      int
	}
	rates := map[bucket][]float64{}
	faults := map[int32]int64{} // per group
	for i := range j.Instances {
		in := &j.Instances[i]
		if !in.Solved || in.Skewed || in.Missing > 0 || in.Transfer <= 0 || in.Arrive < j.Window[0] || in.Arrive >= j.Window[1] {
			continue
		}
		first := j.Of[in.First]
		k := &j.Members[first.Member].Kinds[in.Kind]
		bytes := k.Bytes()
		topology := j.topology(in, hosts)
		class := linkClass{in.Coll, bytes, int(in.N), topology}
		if byClass[class] == nil {
			byClass[class] = map[int32][]int64{}
		}
		if bytes > 0 && bytes < tiny { // its time is that of the messages
			continue
		}
		fault := int64(0) // that clocks may add to a transfer, or take from it
		for _, r := range j.refs(i) {
			fault = max(fault, j.Members[r.Member].Clock.Error)
		}
		if faults[in.Group] = max(faults[in.Group], fault); in.Transfer <= faultTimes*fault {
			fault = -1
		}
		byClass[class][in.Group] = append(byClass[class][in.Group], in.Transfer)
		if bytes > 0 && fault >= 0 {
			b := bucket{in.Coll, topology, int(in.N), bits.Len64(uint64(bytes - 1))}
			rates[b] = append(rates[b], float64(bytes)*busFactor(in.Coll, float64(in.N))/float64(in.Transfer))
		}
	}
	var slow []Link
	for class, groups := range byClass {
		if len(groups) < 2 {
			continue
		}
		mids := map[int32]int64{}
		for g, list := range groups {
			if len(list) >= slowCount {
				mids[g] = stat.Median(list)
			}
		}
		all := slices.Sorted(maps.Values(mids))
		for g, mid := range mids {
			if len(all) < 2 {
				break
			}
			best := stat.MedianBut(all, mid)
			if float64(mid) > slowLink*float64(best) && mid-best > max(slowLeast, faults[g]) {
				slow = append(slow, Link{class.coll, class.bytes, class.topology, g, mid, best, len(groups[g])})
			}
		}
	}
	slices.SortFunc(slow, func(a, b Link) int {
		return cmp.Or(cmp.Compare((b.Median-b.Best)*int64(b.Count), (a.Median-a.Best)*int64(a.Count)), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Coll, b.Coll), cmp.Compare(a.Bytes, b.Bytes),
			strings.Compare(a.Topology, b.Topology))
	})
	var out []Bandwidth
	top := map[string]float64{}
	for b, list := range rates {
		slices.Sort(list)
		x := Bandwidth{Coll: b.coll, Topology: b.topology, Size: b.size, Bytes: 1 << b.log, Count: len(list), Median: stat.Quantile(list, 0.5), Best: list[len(list)-1]}
		if len(list) >= slowCount { // few say little
			top[b.topology] = max(top[b.topology], x.Median)
		}
		out = append(out, x)
	}
	for i := range out {
		x := &out[i]
		x.Expected = max(top[x.Topology], x.Median)
		switch {
		case x.Topology == "intra" && expected.Intra > 0:
			x.Expected = expected.Intra
		case x.Topology == "inter" && expected.Inter > 0:
			x.Expected = expected.Inter
		}
	}
	slices.SortFunc(out, func(a, b Bandwidth) int {
		return cmp.Or(cmp.Compare(a.Coll, b.Coll), strings.Compare(a.Topology, b.Topology), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Bytes, b.Bytes))
	})
	return slow, out
}

// topology says whether all members of an instance are on one host.
func (j *Matched) topology(in *Instance, hosts []string) string {
	topology, refs := "intra", j.Of[in.First:in.First+in.N]
	for _, r := range refs {
		switch h := hosts[r.Member]; {
		case h == "":
			return "unknown"
		case h != hosts[refs[0].Member]:
			topology = "inter"
		}
	}
	return topology
}

// Bytes is the size of a collective as bus bandwidths count it: of the whole data.
func (k *Kind) Bytes() int64 {
	size := dtypeBytes(k.Dtype)
	elems := max(k.In, k.Out)
	if size == 0 || elems <= 0 {
		return 0
	}
	return size * elems
}

// busFactor is what part of the data each link carries.
func busFactor(c Coll, n float64) float64 {
	switch c {
	case AllReduce:
		return 2 * (n - 1) / n
	case AllGather, ReduceScatter, AllToAll, Gather, Scatter:
		return (n - 1) / n
	}
	return 1
}

// dtypeBytes is the size of an element, 0 for a type that is not known.
func dtypeBytes(dtype string) int64 {
	switch strings.ToLower(dtype) {
	case "float", "int", "float32", "int32":
		return 4
	case "double", "long", "float64", "int64", "complexfloat":
		return 8
	case "half", "bfloat16", "float16", "short", "int16":
		return 2
	case "byte", "char", "bool", "uint8", "int8", "float8_e4m3fn", "float8_e5m2":
		return 1
	}
	return 0
}
