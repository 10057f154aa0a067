package testtrace

import "testing"

// BenchmarkSimulate runs a program of about 200 events.
func BenchmarkSimulate(b *testing.B) {
	p := Random("ddp", 1)
	var r Run
	for b.Loop() {
		r.Simulate(p)
	}
	events := 0
	for key := range r.slice {
		if r.recorded(int32(key)) {
			events++
		}
	}
	b.ReportMetric(float64(events), "events")
}

// The path of a run must tile the time to its end, and each step must go forward.
func TestTruthTiles(t *testing.T) {
	for i, class := range Classes {
		for seed := range uint64(20) {
			p := Random(class, seed*100+uint64(i))
			var r Run
			r.Simulate(p)
			at := int64(-1)
			for _, x := range r.Path() {
				if at >= 0 && x.Start != at || x.End < x.Start {
					t.Fatalf("%s seed %d: piece [%d, %d] after %d", class, seed, x.Start, x.End, at)
				}
				at = x.End
			}
			if at < r.End || at > r.End {
				t.Errorf("%s seed %d: path ends at %d, run at %d", class, seed, at, r.End)
			}
		}
	}
}
