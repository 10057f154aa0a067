package clock_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/clock"
	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// program is a thread that launches a kernel every 100 µs and waits for the device after every fifth; clock says by how many µs the one of the
// device is late at a time.
type program struct {
	launch, sync string
	queued       float64 // µs that operations wait in the queue
	syncs        bool
	clock        func(at float64) float64
	rounds       int
}

func (p program) trace(t *testing.T) *trace.Trace {
	var b strings.Builder
	b.WriteString(`{"traceEvents":[`)
	at, corr := 1000.0, 0
	event := func(cat, name string, pid, tid int, ts, dur float64, args string) {
		if b.Len() > 20 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{%s}}`, cat, name, pid, tid, ts, dur, args)
	}
	for r := range p.rounds {
		end := 0.0
		for i := range 5 {
			corr++
			start := at + 5 + float64(r%3) + p.queued
			event("cuda_runtime", p.launch, 1, 1, at, 4, fmt.Sprintf(`"correlation":%d`, corr))
			event("kernel", "k", 0, 7, start+p.clock(start), 40+60*float64(i/4), fmt.Sprintf(`"device":0,"stream":7,"correlation":%d`, corr))
			end = start + 40 + 60*float64(i/4)
			at += 60
		}
		if p.syncs {
			corr++
			at -= 40
			event("cuda_runtime", p.sync, 1, 1, at, end+7+float64(r%2)-at, fmt.Sprintf(`"correlation":%d`, corr))
		}
		at = end + 50
	}
	b.WriteString("]}")
	tr, err := kineto.Parse([]byte(b.String()), "made", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func late(us float64) func(float64) float64 { return func(float64) float64 { return us } }

func TestSolve(t *testing.T) {
	cuda := program{launch: "cudaLaunchKernel", sync: "cudaDeviceSynchronize", syncs: true, rounds: 50}
	with := func(p program, change func(*program)) program {
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		program
		want int // corrections, right to within 8 µs, and their errors
	}{
		"queued a little and late": {with(cuda, func(p *program) { p.queued, p.clock = 20, late(13) }), 1},
		"right":                    {with(cuda, func(p *program) { p.clock = late(0) }), 0},
		"a little late":            {with(cuda, func(p *program) { p.clock = late(3) }), 0},
		"late":                     {with(cuda, func(p *program) { p.clock = late(13) }), 1},
		"early":                    {with(cuda, func(p *program) { p.clock = late(-13) }), 1},
		"far off":                  {with(cuda, func(p *program) { p.clock = late(40_000) }), 1},
		"early on HIP":             {with(cuda, func(p *program) { p.launch, p.sync, p.clock = "hipLaunchKernel", "hipDeviceSynchronize", late(-30) }), 1},
		"on Level Zero": {with(cuda, func(p *program) {
			p.launch, p.sync, p.clock = "zeCommandListAppendLaunchKernel", "zeEventHostSynchronize", late(-30)
		}), 1},
		"graphs":           {with(cuda, func(p *program) { p.launch, p.clock = "cudaGraphLaunch", late(25) }), 1},
		"queued":           {with(cuda, func(p *program) { p.queued, p.clock = 500, late(0) }), 0},
		"queued and late":  {with(cuda, func(p *program) { p.queued, p.clock = 500, late(30) }), 1},
		"queued and early": {with(cuda, func(p *program) { p.queued, p.clock = 500, late(-30) }), 0}, // nothing says so
		"no waits":         {with(cuda, func(p *program) { p.syncs, p.clock = false, late(0) }), 0},
		"no waits, late":   {with(cuda, func(p *program) { p.syncs, p.clock = false, late(30) }), 0}, // nothing says so
		"no waits, early":  {with(cuda, func(p *program) { p.syncs, p.clock = false, late(-30) }), 1},
		"steps":            {with(cuda, func(p *program) { p.clock = func(at float64) float64 { return 14 * float64(int(at)/9000%2) } }), 1},
		"steps both ways":  {with(cuda, func(p *program) { p.clock = func(at float64) float64 { return -20 + 40*float64(int(at)/9000%2) } }), 3},
		"drifts":           {with(cuda, func(p *program) { p.rounds, p.clock = 2000, func(at float64) float64 { return 20e-6 * at } }), 1},
		"one operation":    {with(cuda, func(p *program) { p.rounds, p.syncs, p.clock = 1, false, late(0) }), 0},
		"one round, late":  {with(cuda, func(p *program) { p.rounds, p.clock = 1, late(20) }), 1},
	} {
		t.Run(name, func(t *testing.T) {
			tr := c.trace(t)
			list := clock.Solve(tr)
			if len(list) != c.want {
				t.Fatalf("%d corrections, want %d: %+v", len(list), c.want, list)
			}
			fixed := clock.Apply(tr, list)
			for i := range tr.Events {
				if e := &tr.Events[i]; e.Kind.Device() && c.want > 0 {
					truth := float64(e.Start) / 1000
					for range 3 { // the clock is a function of the true time
						truth = float64(e.Start)/1000 - c.clock(truth)
					}
					off := float64(fixed.Events[i].Start)/1000 - truth
					if bound := min(8, float64(list[0].Error)/1000); off > bound || off < -bound {
						t.Fatalf("operation at %.1f µs is off by %.1f, more than %.1f: %+v", truth, off, bound, list)
					}
				} else if fixed.Events[i].Start != e.Start {
					t.Fatal("an event of the host moved")
				}
			}
			if text := clock.Text(list); len(list) > 0 {
				if back, err := clock.ParseText(text); err != nil || clock.Text(back) != text {
					t.Errorf("%q read as %+v, %v", text, back, err)
				}
			}
		})
	}
}
