package cdg

import "overlay/internal/par"

// calibrateLaunches measures launch latency on idle streams, and the gap between operations that were queued
// back to back.
func (b *builder) calibrateLaunches() {
	d := b.d
	operations := len(d.Acts) - int(b.firstOp)
	parts := make([]latencies, ranges(operations, 0))
	call := int64(0)
	called := par.Beside(func() { call = b.usualCall() })
	par.EachRange(operations, len(parts), func(part, from, to int) {
		parts[part] = b.latenciesOf(b.firstOp+ActID(from), b.firstOp+ActID(to))
	})
	var launch, gap []int64
	var behind []queued
	for i := range parts {
		launch, gap, behind = append(launch, parts[i].launch...), append(gap, parts[i].gap...), append(behind, parts[i].behind...)
	}
	c := &d.Delays
	called()
	c.Call = call
	c.Launch.Samples, c.Launch.Spread = len(launch), spreadOf(launch)
	c.Launch.Min, c.Launch.Max = 5*us, 20*us
	if len(launch) >= enough {
		c.Launch.Min = min(quantile(launch, 0.1), 20*us)
		c.Launch.Max = min(quantile(launch, 0.9)*13/10, max(4*c.Launch.Min, 15*us))
	}
	var certain []int64 // launched so long before that nothing but the queue can have held them
	for _, q := range behind {
		if q.ahead > c.Launch.Max {
			certain = append(certain, q.gap)
		}
	}
	if len(certain) < enough {
		certain = gap
	}
	c.Kernel.Samples, c.Kernel.Spread = len(gap), spreadOf(certain)
	c.Kernel.Min, c.Kernel.Max = 1*us, 5*us
	if len(gap) >= enough {
		c.Kernel.Min = min(quantile(gap, 0.25), 5*us)
		c.Kernel.Max = min(quantile(gap, 0.9)*13/10+300+b.clockGrain, max(4*c.Kernel.Min, 5*us))
	}
	c.Event.Min, c.Event.Max = c.Kernel.Min, 30*us
	b.recall()
}

// latencies are delays of some operations, in their order.
type latencies struct {
	launch []int64 // of those on idle streams, from the start of their call
	gap    []int64 // of those that were queued, from the end of the one before
	behind []queued
}

// queued is an operation that was queued: its gap, and how long before the one before it ended it was launched.
type queued struct{ gap, ahead int64 }

func (b *builder) latenciesOf(from, to ActID) (x latencies) {
	d := b.d
	for a := from; a < to; a++ {
		call, p, act := b.launch[a], b.pred[a], &d.Acts[a]
		if call == NoAct || b.graph[a] || act.Start < d.Acts[call].Start {
			continue
		}
		waited := len(b.waits) > 0 && len(b.waitCalls(a)) > 0
		switch {
		case (p == NoAct || d.Acts[p].End <= d.Acts[call].Start) && !waited:
			x.launch = append(x.launch, act.Start-d.Acts[call].Start)
		case p != NoAct && d.Acts[call].End+2*us < d.Acts[p].End && act.Start >= d.Acts[p].End && !waited:
			x.gap = append(x.gap, act.Start-d.Acts[p].End)
			x.behind = append(x.behind, queued{act.Start - d.Acts[p].End, d.Acts[p].End - d.Acts[call].Start})
		}
	}
	return x
}

// calibrateWaits measures the delay of operations that waited for another stream: of waits that were satisfied after
// everything else that is known of the operation.
func (b *builder) calibrateWaits() {
	d, cal := b.d, &b.d.Delays
	var delay, certain []int64 // certain: launched so long before that nothing else can have held them
	for i := range b.found {
		f := &b.found[i]
		if f.Rule != EventWait {
			continue
		}
		end := d.Acts[f.From].End
		if p := b.pred[f.to]; p != NoAct && d.Acts[p].End > end {
			continue
		}
		if l := b.launch[f.to]; l != NoAct && d.Acts[l].Start > end {
			continue
		}
		if dt := d.Acts[f.to].Start - end; dt >= 0 && dt <= cal.Event.Max {
			delay = append(delay, dt)
			if l := b.launch[f.to]; l == NoAct || d.Acts[l].Start+cal.Launch.Max <= end {
				certain = append(certain, dt)
			}
		}
	}
	if len(certain) < enough {
		certain = delay
	}
	cal.Event.Samples, cal.Event.Spread = len(delay), spreadOf(certain)
	if len(delay) >= enough {
		cal.Event.Min = min(quantile(delay, 0.1), 30*us)
	}
	b.recall()
}

// usualCall is the median duration of calls that launch one operation each.
func (b *facts) usualCall() int64 {
	d := b.d
	var lasted []int64
	for a := b.firstOp; int(a) < len(d.Acts); a++ {
		if c := b.launch[a]; c != NoAct && !b.graph[a] {
			lasted = append(lasted, d.Acts[c].End-d.Acts[c].Start)
		}
	}
	if len(lasted) < enough {
		return 5 * us
	}
	return quantile(lasted, 0.5)
}
