package stat

import (
	"math"
	"testing"
)

// TestTail compares with the tables of Student's distribution, and far out with what one degree of freedom gives exactly.
func TestTail(t *testing.T) {
	for _, c := range []struct{ t, free, want float64 }{{12.706, 1, 0.05}, {2.228, 10, 0.05}, {3.169, 10, 0.01}, {4.587, 10, 0.001}, {1.96, 1e7, 0.05}, {2.009, 50, 0.05}, {0, 5, 1}} {
		if got := Tail(c.t, c.free); math.Abs(got-c.want) > 0.002*c.want {
			t.Errorf("t %v with %v: %v, want %v", c.t, c.free, got, c.want)
		}
		if c.want < 1 {
			if got := Beyond(c.want, c.free); math.Abs(got-c.t) > 0.001*c.t {
				t.Errorf("beyond %v with %v: %v, want %v", c.want, c.free, got, c.t)
			}
		}
	}
	for _, x := range []float64{3, 300, 3e6} {
		if got, want := Tail(x, 1), 2*math.Atan(1/x)/math.Pi; math.Abs(got-want) > 1e-9*want {
			t.Errorf("t %v with 1: %v, want %v", x, got, want)
		}
	}
}
