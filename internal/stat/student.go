package stat

import "math"

// Tail is how probable it is that Student's t lies beyond t or -t, with so many degrees of freedom.
func Tail(t, free float64) float64 { return beta(free/(free+t*t), free/2, 0.5) }

// Beyond is the t beyond which, or -t, lies so small a part of Student's distribution.
func Beyond(tail, free float64) float64 {
	low, high := 0., 1.
	for Tail(high, free) > tail && high < 1e12 {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; Tail(mid, free) > tail {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// beta is the regularized incomplete beta function, by its continued fraction (Lentz).
func beta(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	if x > (a+1)/(a+b+2) {
		return 1 - beta(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	const tiny = 1e-300
	apart := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1., 1/apart(1-(a+b)*x/(a+1))
	f := d
	for i := 1; i <= 300; i++ {
		m := float64(i)
		for _, k := range [2]float64{m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))} {
			d = 1 / apart(1+k*d)
			c = apart(1 + k/c)
			f *= c * d
		}
		if math.Abs(c*d-1) < 1e-14 {
			break
		}
	}
	return math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a * f
}
