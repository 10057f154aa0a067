package ranks

import (
	"math/rand/v2"
	"testing"
)

// TestShareClocks: ranks of one host keep one clock where ends of collectives scatter, and those of hosts of one name do not where ends contradict.
func TestShareClocks(t *testing.T) {
	const n, ms = 4, 1_000_000
	for name, c := range map[string]struct {
		hosts   [n]string
		scatter float64  // ns, of ends
		apart   [n]int64 // true clocks
		shared  int      // ranks that have the clock of the first
	}{
		"one host":                      {[n]string{"a", "a", "a", "a"}, ms, [n]int64{}, 3},
		"two hosts of one name":         {[n]string{"a", "a", "a", "a"}, ms, [n]int64{2: 50 * ms, 3: 50 * ms}, 1},
		"two hosts of one name, nearer": {[n]string{"a", "a", "a", "a"}, ms, [n]int64{2: 5 * ms, 3: 5 * ms}, 1},
		"two hosts":                     {[n]string{"a", "a", "b", "b"}, ms, [n]int64{}, 1},
		"hosts without a name":          {[n]string{}, ms, [n]int64{}, 0},
	} {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 7))
			j := &Matched{}
			for m, host := range c.hosts {
				s := &Summary{Host: host, Kinds: []Kind{{Coll: AllReduce}}}
				s.Window = [2]int64{c.apart[m], c.apart[m] + 1000*ms}
				j.Members = append(j.Members, Member{Summary: s})
			}
			for i := range int64(12) {
				j.Instances = append(j.Instances, Instance{Coll: AllReduce, First: int32(len(j.Of)), N: n})
				for m := range j.Members {
					x := &j.Members[m]
					end := c.apart[m] + (i+1)*60*ms + int64(rng.NormFloat64()*c.scatter)
					j.Of = append(j.Of, Ref{int32(m), int32(len(x.Ops))})
					x.Ops = append(x.Ops, Op{Start: end - 10*ms, End: end})
				}
			}
			j.solveClocks(false)
			shared := 0
			for m := range j.Members {
				x := &j.Members[m]
				if d := abs(x.Clock.Offset - c.apart[m]); d > x.Clock.Error {
					t.Errorf("%s, seed %d: rank %d is %d ns off, stated are %d", name, seed, m, d, x.Clock.Error)
				}
				if x.Clock.Offset == 0 && x.Clock.Error == readings {
					shared++
				}
			}
			if c.shared == n-1 && j.Clocks.Largest > 0 {
				t.Errorf("%s, seed %d: clocks that are one are corrected by %d ns", name, seed, j.Clocks.Largest)
			}
			if shared != c.shared {
				t.Errorf("%s, seed %d: %d ranks have the clock of the first, want %d", name, seed, shared, c.shared)
			}
		}
	}
}

// TestDrifts: ranks of one host have one drift, those of hosts that only share a name each their own, and clocks are within what is stated at both ends of the window.
func TestDrifts(t *testing.T) {
	const n, ms, drift = 4, 1_000_000, 60e-6
	for name, hosts := range map[string][n]string{"two hosts": {"a", "a", "b", "b"}, "two hosts of one name": {"a", "a", "a", "a"}} {
		one := 0
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 8))
			j := &Matched{}
			at := func(m int, t int64) int64 {
				if m >= n/2 {
					t += int64(drift * float64(t))
				}
				return t
			}
			for _, host := range hosts {
				s := &Summary{Host: host, Kinds: []Kind{{Coll: AllReduce}}}
				s.Window = [2]int64{0, 210 * ms}
				j.Members = append(j.Members, Member{Summary: s})
			}
			for i := range int64(100) {
				j.Instances = append(j.Instances, Instance{Coll: AllReduce, First: int32(len(j.Of)), N: n})
				for m := range j.Members {
					x := &j.Members[m]
					end := at(m, (i+1)*2*ms) + int64(rng.NormFloat64()*5000)
					j.Of = append(j.Of, Ref{int32(m), int32(len(x.Ops))})
					x.Ops = append(x.Ops, Op{Start: end - ms, End: end})
				}
			}
			j.solveClocks(false)
			if j.Members[2].Clock.Drift == j.Members[3].Clock.Drift && j.Members[1].Clock.Drift == 0 {
				one++
			}
			for m := range j.Members {
				x := &j.Members[m]
				for _, when := range x.Window {
					if d := abs(x.Clock.Global(at(m, when)) - when); d > x.Clock.Error {
						t.Errorf("%s, seed %d: rank %d is %d ns off at %d ms, stated are %d", name, seed, m, d, when/ms, x.Clock.Error)
					}
				}
			}
		}
		if one < 17 {
			t.Errorf("%s: in %d of 20 jobs the ranks of each have one drift", name, one)
		}
	}
}
