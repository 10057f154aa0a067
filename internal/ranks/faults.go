package ranks

import (
	"math"
	"math/rand/v2"
)

// deviations is how far off a clock may be, in standard deviations of what noise does to the fit.
const deviations = 3.5

// tie is what the ends say of the clock of a node beside a hub, which is a group, or the transfers of two ranks: the precision of offset and drift, from sums of
// weights, of weights by time, and of weights by time squared. Times count in units in which clocks drift by 1 ns as a rule.
type tie struct {
	node, hub     int32 // hubs have the numbers after those of nodes
	sum           symmetric
	low, by, high float64 // the root of sum, a triangle: offset, drift by offset, drift
}

// symmetric is a matrix of offset and drift.
type symmetric struct{ offset, both, drift float64 }

// faults are standard deviations of the clock of each node against that of the reference of its component, ns, at the end of the window that is known less. They are those of what the fit makes of noise that is drawn at random, as large in each hub as is seen there: each
// way over groups to the reference counts for what it says. When an instance ended nobody knows, so a hub has an offset and a drift to be found as nodes have.
func (o *observations) faults(j *Matched, components *sets) []float64 {
	n := int32(len(o.x))
	zero := func(k int32) float64 { ref := components.find(k); return o.mid[ref] - o.x[ref] }
	ties, of, all := o.ties(j, zero)
	noise := o.noises(of, int(all-n))
	diag := make([]symmetric, all)
	for k := range diag[:n] {
		diag[k].drift = o.firm
	}
	for i := range ties {
		t := &ties[i]
		for _, k := range [...]int32{t.node, t.hub} {
			diag[k].offset += t.sum.offset
			if o.leader(k) == k {
				diag[k].both += t.sum.both
			}
			diag[o.leader(k)].drift += t.sum.drift
		}
	}
	early, late := make([]float64, n), make([]float64, n)
	draws := min(max(1<<18/(len(ties)+1), 32), 256)
	rng := rand.New(rand.NewPCG(1, 2))
	r := make([][2]float64, all)
	for range draws {
		clear(r)
		for k := range r[:n] {
			if o.lead[k] == int32(k) {
				r[k][1] = o.firm * rng.NormFloat64()
			}
		}
		for i := range ties {
			t := &ties[i]
			a, b := rng.NormFloat64(), rng.NormFloat64()
			q := noise[t.hub-n]
			a, b = q*t.low*a, q*(t.by*a+t.high*b)
			r[t.node][0] += a
			r[o.lead[t.node]][1] += b
			r[t.hub][0] -= a
			r[t.hub][1] -= b
		}
		x := o.settle(ties, diag, r)
		for k := range n {
			ref := x[components.find(k)]
			offset, slope := x[k][0]-ref[0], x[o.lead[k]][1]-x[o.lead[components.find(k)]][1]
			from := (-o.x[k] - zero(k)) * o.slope
			to := from + float64(j.Members[k].Window[1]-j.Members[k].Window[0])*o.slope
			early[k] += sq(offset + slope*from)
			late[k] += sq(offset + slope*to)
		}
	}
	for k := range early {
		early[k] = math.Sqrt(max(early[k], late[k]) / float64(draws))
	}
	return early
}

// settle solves for offsets and drifts of nodes and hubs by conjugate gradients, with what each knows of itself as preconditioner. It uses up r.
func (o *observations) settle(ties []tie, diag []symmetric, r [][2]float64) [][2]float64 {
	x, z, p, q := make([][2]float64, len(r)), make([][2]float64, len(r)), make([][2]float64, len(r)), make([][2]float64, len(r))
	old, least := 1.0, 0.0
	for range 400 {
		rho := 0.0
		for k := range r {
			d := &diag[k]
			if det := d.offset*d.drift - sq(d.both); det > 1e-12*d.offset*d.drift {
				z[k] = [2]float64{(d.drift*r[k][0] - d.both*r[k][1]) / det, (d.offset*r[k][1] - d.both*r[k][0]) / det}
			} else {
				z[k] = [2]float64{r[k][0] / max(d.offset, 1e-30), r[k][1] / max(d.drift, 1e-30)}
			}
			rho += r[k][0]*z[k][0] + r[k][1]*z[k][1]
		}
		least = max(least, rho*1e-10)
		if !(rho > least) {
			break
		}
		for k := range p {
			p[k] = [2]float64{z[k][0] + rho/old*p[k][0], z[k][1] + rho/old*p[k][1]}
			q[k] = [2]float64{}
			if k < len(o.x) {
				q[k][1] = o.firm * p[k][1]
			}
		}
		for i := range ties {
			t := &ties[i]
			a, b := p[t.node][0]-p[t.hub][0], p[o.lead[t.node]][1]-p[t.hub][1]
			a, b = t.sum.offset*a+t.sum.both*b, t.sum.both*a+t.sum.drift*b
			q[t.node][0] += a
			q[o.lead[t.node]][1] += b
			q[t.hub][0] -= a
			q[t.hub][1] -= b
		}
		pq := 0.0
		for k := range p {
			pq += p[k][0]*q[k][0] + p[k][1]*q[k][1]
		}
		if !(pq > 0) {
			break
		}
		for k := range x {
			for i := range x[k] {
				x[k][i] += rho / pq * p[k][i]
				r[k][i] -= rho / pq * q[k][i]
			}
		}
		old = rho
	}
	return x
}

// ties sums up the observations by node and group. of is the hub of each case, and hubs is how many nodes and hubs there are.
func (o *observations) ties(j *Matched, zero func(node int32) float64) (list []tie, of []int32, hubs int32) {
	type key struct{ hub, low, high int32 }
	pairs := map[key]int32{} // transfers between two ranks of a group tie only these
	at := map[[2]int32]int32{}
	hubs = int32(len(o.x))
	last, group := int32(-1), int32(-1)
	for c := range o.cases {
		in := &j.Instances[o.cases[c]]
		lo, hi := o.first[c], o.first[c+1]
		hub := last
		switch {
		case in.Coll == SendRecv && hi-lo == 2:
			k := key{in.Group, o.node[lo], o.node[lo+1]}
			h, ok := pairs[k]
			if !ok {
				h = hubs
				hubs++
				pairs[k] = h
			}
			hub = h
		case in.Group != group:
			group, last = in.Group, hubs
			hub = hubs
			hubs++
		}
		of = append(of, hub-int32(len(o.x)))
		from := zero(o.node[lo])
		for i := lo; i < hi; i++ {
			k, ok := at[[2]int32{o.node[i], hub}]
			if !ok {
				k = int32(len(list))
				at[[2]int32{o.node[i], hub}] = k
				list = append(list, tie{node: o.node[i], hub: hub})
			}
			w, t := float64(o.w[i]), (o.global(i)-from)*o.slope
			list[k].sum.offset += w
			list[k].sum.both += w * t
			list[k].sum.drift += w * t * t
		}
	}
	for i := range list {
		t := &list[i]
		t.low = math.Sqrt(t.sum.offset)
		t.by = t.sum.both / t.low
		t.high = math.Sqrt(max(t.sum.drift-sq(t.by), 0))
	}
	return list, of, hubs
}

// leader is the node whose drift a node or a hub has.
func (o *observations) leader(k int32) int32 {
	if int(k) < len(o.lead) {
		return o.lead[k]
	}
	return k
}
