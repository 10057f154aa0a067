package ranks

import (
	"math/rand/v2"
	"testing"
)

// madeLists are what two ranks recorded of one sequence of collectives: by clocks that are apart, with noise, from and to other
// moments, with lost records. The op of an item is its place in the sequence.
type madeLists struct {
	steps, each  int
	apart, noise int64
	cut          int  // the first lacks that many at its begin, the second at its end
	lost         int  // in a hundred, on each side
	even         bool // operations follow each other at equal distances
	onCPU        bool // collectives of the CPU, of 10 ms: beside the noise one end in eight comes 5 to 10 ms late
	seed         uint64
}

func (m madeLists) make() (a, b []item) {
	rng := rand.New(rand.NewPCG(m.seed, 3))
	n := m.steps * m.each
	at := int64(0)
	for i := range n {
		gap := 300_000 + rng.Int64N(600_000)
		if m.even {
			gap = 400_000 + rng.Int64N(30_000)
		}
		at += gap
		x := item{token: 1<<56 | uint64(1+i%m.each%3), dur: 50_000, steps: steps(10 + i/m.each), seq: -1, op: int32(i)}
		if m.onCPU {
			at += 20_000_000 + rng.Int64N(80_000_000)
			x.dur, x.token = 10_000_000, x.token|loose
		}
		one, two := x, x
		one.end = at + int64(rng.NormFloat64()*float64(m.noise))
		two.end = at + m.apart + int64(rng.NormFloat64()*float64(m.noise))
		if m.onCPU && rng.IntN(8) == 0 {
			two.end += 5_000_000 + rng.Int64N(5_000_000)
		}
		if i < (m.cut+m.each-1)/m.each*m.each { // the step that is cut has no record
			one.steps = upTo(int32(9 + (m.cut+m.each-1)/m.each))
		}
		if i >= m.cut && rng.IntN(100) >= m.lost {
			a = append(a, one)
		}
		if i < n-m.cut && rng.IntN(100) >= m.lost {
			b = append(b, two)
		}
	}
	return a, b
}

// TestAlign: what is paired is one collective, and nearly all that both ranks recorded is paired.
func TestAlign(t *testing.T) {
	for name, m := range map[string]madeLists{
		"whole":                {steps: 5, each: 12, noise: 1000},
		"clocks by seconds":    {steps: 5, each: 12, noise: 1000, apart: -2_900_000_000},
		"noise":                {steps: 5, each: 12, noise: 6000},
		"other windows":        {steps: 5, each: 12, noise: 1000, cut: 7},
		"lost":                 {steps: 5, each: 30, noise: 1000, lost: 4},
		"lost, even distances": {steps: 5, each: 30, noise: 1000, lost: 4, even: true},
		"one a step":           {steps: 12, each: 1, noise: 1000},
		"on the CPU":           {steps: 6, each: 10, noise: 100_000, apart: 8_000_000, onCPU: true},
		"on the CPU, one":      {steps: 8, each: 1, noise: 3_000_000, onCPU: true},
		"on the CPU, windows":  {steps: 6, each: 10, noise: 100_000, cut: 10, onCPU: true},
	} {
		right, paired, there := 0, 0, 0
		for m.seed = range 20 {
			a, b := m.make()
			pairs := alignSteps(a, b)
			both := map[int32]bool{}
			for _, x := range a {
				both[x.op] = true
			}
			for _, x := range b {
				if both[x.op] {
					there++
				}
			}
			last := pair{-1, -1}
			for _, p := range pairs {
				if p.a <= last.a || p.b <= last.b {
					t.Fatalf("%s: %v after %v", name, p, last)
				}
				last = p
				paired++
				if a[p.a].op == b[p.b].op {
					right++
				}
			}
		}
		if right < paired || right*100 < there*97 {
			t.Errorf("%s: %d of %d pairs are right, %d there are", name, right, paired, there)
		}
	}
}

// TestSteps: bounds of steps meet where one number lies in both.
func TestSteps(t *testing.T) {
	all := []steps{anyStep}
	for n := range int32(6) {
		all = append(all, steps(n), upTo(n), fromOn(n))
	}
	for _, s := range all {
		for _, u := range all {
			a, b := s.bounds()
			c, d := u.bounds()
			want := false
			for n := range int32(10) {
				want = want || n >= a && n <= b && n >= c && n <= d
			}
			if s.meet(u) != want || u.meet(s) != want {
				t.Errorf("%d and %d: %v", s, u, !want)
			}
		}
	}
}

// TestLevelOfStep: one end that is far off spoils a step, but of collectives of the CPU only where most of the others are, too.
func TestLevelOfStep(t *testing.T) {
	for _, c := range []struct {
		token uint64
		far   int
		even  bool
	}{{1 << 56, 0, true}, {1 << 56, 1, false}, {1<<56 | loose, 1, true}, {1<<56 | loose, 2, true}, {1<<56 | loose, 3, false}} {
		var x aligner
		for i := range int64(6) {
			one := item{end: i * 50_000_000, dur: 10_000_000, token: c.token}
			two := one
			if two.end += 400_000; int(i) < c.far {
				two.end += 20_000_000 * (i + 1)
			}
			x.a, x.b = append(x.a, one), append(x.b, two)
		}
		if mid, even := x.levelOf(&candidate{a1: 6}); even != c.even || even && mid != 400_000 {
			t.Errorf("%+v: level %d, %v", c, mid, even)
		}
	}
}

// TestLateReceiver: a rank that comes to a broadcast when the others have left it ends later by as much, which spoils no step.
// In an all-reduce it does.
func TestLateReceiver(t *testing.T) {
	for _, c := range []struct {
		coll Coll
		dur  uint32 // of the late broadcast
		even bool
	}{{Broadcast, 50_000, true}, {Broadcast, 2_990_000, true}, {AllReduce, 50_000, false}} {
		for _, late := range []int{0, 1} {
			var x aligner
			for i := range int64(6) {
				one := item{end: i * 10_000_000, dur: 50_000, token: uint64(AllReduce) << 56}
				two := one
				if i == 0 {
					one.token, two.token = uint64(c.coll)<<56, uint64(c.coll)<<56
					both := []*item{&one, &two}
					both[late].end, both[late].dur = both[late].end+3_000_000, c.dur
				}
				two.end += 400_000
				x.a, x.b = append(x.a, one), append(x.b, two)
			}
			if mid, even := x.levelOf(&candidate{a1: 6}); even != c.even || even && mid != 400_000 {
				t.Errorf("%v of %d ns, late on side %d: level %d, even %v", c.coll, c.dur, late, mid, even)
			}
		}
	}
}
