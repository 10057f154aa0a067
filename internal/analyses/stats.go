package analyses

import (
	"math"
	"slices"

	"overlay/internal/stat"
)

// Stats summarises values: sample standard deviation, quartiles with linear interpolation. Empty: Count 0, all 0.
type Stats struct {
	Count int     `json:"count" unit:"count"`
	Sum   float64 `json:"sum" unit:"*"`
	Mean  float64 `json:"mean" unit:"*"`
	Std   float64 `json:"std" unit:"*" about:"0 with fewer than two values"`
	Min   float64 `json:"min" unit:"*"`
	P25   float64 `json:"p25" unit:"*"`
	P50   float64 `json:"p50" unit:"*"`
	P75   float64 `json:"p75" unit:"*"`
	Max   float64 `json:"max" unit:"*"`
}

type number interface{ ~int64 | ~float64 }

// Describe summarises values, and sorts them.
func Describe[T number](values []T) Stats {
	n := len(values)
	if n == 0 {
		return Stats{}
	}
	slices.Sort(values)
	s := Stats{Count: n, Min: float64(values[0]), Max: float64(values[n-1])}
	for _, v := range values {
		s.Sum += float64(v)
	}
	s.Mean = s.Sum / float64(n)
	if n > 1 {
		sq := 0.0
		for _, v := range values {
			sq += (float64(v) - s.Mean) * (float64(v) - s.Mean)
		}
		s.Std = math.Sqrt(sq / float64(n-1))
	}
	s.P25, s.P50, s.P75 = stat.Quantile(values, 0.25), stat.Quantile(values, 0.5), stat.Quantile(values, 0.75)
	return s
}

// Interval is [Start, End], ns.
type Interval struct{ Start, End int64 }

// union is the union of the intervals, which must come in order of Start.
func union(n int, at func(int) (Interval, bool)) (dst []Interval) {
	for i := range n {
		v, ok := at(i)
		if !ok || v.End <= v.Start {
			continue
		}
		if k := len(dst); k > 0 && v.Start <= dst[k-1].End {
			dst[k-1].End = max(dst[k-1].End, v.End)
		} else {
			dst = append(dst, v)
		}
	}
	return dst
}

func length(v []Interval) int64 {
	var n int64
	for _, i := range v {
		n += i.End - i.Start
	}
	return n
}

// intersect returns what two unions share, in order.
func intersect(a, b []Interval) []Interval {
	var out []Interval
	for i, j := 0, 0; i < len(a) && j < len(b); {
		v := Interval{max(a[i].Start, b[j].Start), min(a[i].End, b[j].End)}
		if v.Start < v.End {
			out = append(out, v)
		}
		if a[i].End < b[j].End {
			i++
		} else {
			j++
		}
	}
	return out
}

// subtract returns what of a is not in b.
func subtract(a, b []Interval) []Interval {
	var out []Interval
	j := 0
	for _, v := range a {
		for j < len(b) && b[j].End <= v.Start {
			j++
		}
		at := v.Start
		for k := j; k < len(b) && b[k].Start < v.End; k++ {
			if b[k].Start > at {
				out = append(out, Interval{at, b[k].Start})
			}
			at = max(at, b[k].End)
		}
		if at < v.End {
			out = append(out, Interval{at, v.End})
		}
	}
	return out
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
