package ranks

import "math"

// Before anything is known of them clocks are expected to drift by usualDrift, and that counts as much as so many drifts that were seen.
const (
	usualDrift = 20e-6
	usualSeen  = 2
)

// minimise solves the weighted least squares for offsets and drifts by conjugate gradients with the diagonal as
// preconditioner. The moment of each instance is eliminated: it is the weighted mean of what its members say. Nothing is stored but
// vectors; each product is a pass over the observations. The order of all sums is fixed, so the result is the same
// on any number of processors.
func (o *observations) minimise() {
	n := len(o.x)
	dim := 2 * n
	diag := make([]float64, dim)
	r := make([]float64, dim) // right side less the product with the present solution
	total := make([]float64, len(o.cases))
	large := make([]float64, n) // the largest of the numbers that residuals of a node are differences of
	for c := range o.cases {
		for i := o.first[c]; i < o.first[c+1]; i++ {
			total[c] += float64(o.w[i])
		}
	}
	for c := range o.cases {
		mean := o.mean(c)
		for i := o.first[c]; i < o.first[c+1]; i++ {
			k, w := o.node[i], float64(o.w[i])
			v := w * (o.global(i) - mean)
			tau := o.tau(i) * o.slope
			r[k] += v
			r[n+int(o.lead[k])] += v * tau
			large[k] = max(large[k], math.Abs(o.end[i])+math.Abs(o.x[k]))
			own := w * (1 - w/total[c])
			diag[k] += own
			diag[n+int(o.lead[k])] += own * tau * tau
		}
	}
	// A common offset of all nodes changes nothing, so once residuals are no more than what rounding makes of such numbers,
	// further steps would only follow the rounding, without an end where times are far apart.
	least := 1e-18
	for k := range n { // drifts are unknown in units of the slope that is expected
		r[n+k] -= o.firm * o.d[k] / o.slope
		diag[n+k] += o.firm
		least += diag[k] * large[k] * large[k] * 0x1p-100
		if diag[k] == 0 {
			diag[k] = 1
		}
	}
	z, p, q, step := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim)
	rho := 0.0
	for k := range z {
		z[k] = r[k] / diag[k]
		rho += r[k] * z[k]
	}
	copy(p, z)
	start := rho
	for range 400 {
		if rho <= start*1e-24 || rho < least {
			break
		}
		o.product(p, q, total)
		pq := 0.0
		for k := range p {
			pq += p[k] * q[k]
		}
		if pq <= 0 {
			break
		}
		alpha := rho / pq
		next := 0.0
		for k := range p {
			step[k] += alpha * p[k]
			r[k] -= alpha * q[k]
			z[k] = r[k] / diag[k]
			next += r[k] * z[k]
		}
		beta := next / rho
		rho = next
		for k := range p {
			p[k] = z[k] + beta*p[k]
		}
	}
	for k := range n {
		if math.IsNaN(step[k]) || math.IsNaN(step[n+k]) {
			panic("ranks: internal error: clocks cannot be solved")
		}
		o.x[k] += step[k]
		o.vague[k] = o.slope * math.Sqrt(o.firm/diag[n+k])
		o.d[k] += step[n+k] * o.slope
	}
}

// expect sets by how much clocks drift to what is seen of those of this job, where as many count as their ends tell of. Which drift all have in common no end tells.
func (o *observations) expect(components *sets) {
	sum, known, own, apart := usualSeen*sq(usualDrift), 0.0, 0.0, 0.0
	for k, d := range o.d {
		if o.lead[k] == int32(k) {
			own++
			known += 1 - sq(o.vague[k]/o.slope)
			sum += sq(d)
			if components.find(int32(k)) != int32(k) {
				apart++
			}
		}
	}
	o.slope = math.Sqrt(sum / (usualSeen + known*apart/own))
}

// shareDrifts gives ranks of a host one drift, as they read one counter. Where their drifts are told apart, hosts only have one name.
func (o *observations) shareDrifts(members []Member) {
	const told = 1.5
	first := map[string][]int32{}
	for n := range members {
		host, lead := members[n].Host, int32(n)
		for _, l := range first[host] {
			if d := math.Abs(o.d[n] - o.d[l]); d <= told*(o.vague[n]+o.vague[l]) && (lead == int32(n) || d < math.Abs(o.d[n]-o.d[lead])) {
				lead = l
			}
		}
		if o.lead[n] = lead; lead == int32(n) && host != "" {
			first[host] = append(first[host], lead)
		}
	}
}

// product is the matrix of the least squares times p.
func (o *observations) product(p, q, total []float64) {
	n := len(o.x)
	for k := range n {
		q[k], q[n+k] = 0, o.firm*p[n+k]
	}
	for c := range o.cases {
		lo, hi := o.first[c], o.first[c+1]
		sum := 0.0
		for i := lo; i < hi; i++ {
			k := o.node[i]
			sum += float64(o.w[i]) * (p[k] + p[n+int(o.lead[k])]*o.tau(i)*o.slope)
		}
		mean := sum / total[c]
		for i := lo; i < hi; i++ {
			k := o.node[i]
			tau := o.tau(i) * o.slope
			v := float64(o.w[i]) * (p[k] + p[n+int(o.lead[k])]*tau - mean)
			q[k] += v
			q[n+int(o.lead[k])] += v * tau
		}
	}
}
