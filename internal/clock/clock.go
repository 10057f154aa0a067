// Package clock finds where the clock of a device was off against that of the host, and puts the times of its operations right.
//
// Times of a trace come from two clocks. Two witnesses bound how far they are apart: L, the least time from the start of a launch call to
// the start of its operation, and R, the least time from the end of an operation to the return of a call that blocked for it. A clock of
// the device that is late by d adds d to L and takes it from R, so L + R stays as it is. Neither can be negative, since no
// operation runs before it was launched, and no call returns before the operation that it waited for ended.
package clock

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

const (
	usualLeast = 2 * us  // no smaller witness has been recorded where clocks agree
	usualMost  = 16 * us // nor a larger one that had not to wait for anything else
	usualHalf  = 10 * us // nor half of two that together were more, of recordings whose clocks agree
	usual      = 7 * us  // of one witness where the other one says nothing
	agree      = 3 * us  // by as much the same witness differs from one stretch of a trace to the next; no smaller error is corrected
	fastest    = 100e-6  // drift of a clock, at most
)

// Correction is what is added to the times of the operations of one device in a stretch of the trace.
type Correction struct {
	Device   int64 // its number
	From, To int64 // ns, of starts of operations as recorded: [From, To)
	By       int64 // ns, at From
	Drift    int64 // ns by which By grows in 1000 s
	Grain    int64 // ns: what is added is a multiple, as times of the trace are
	Error    int64 // ns by which the correction may be wrong, either way
	Launch   int64 // L as recorded, ns; NoWitness: none that says something
	Return   int64 // R as recorded, ns
}

// NoWitness stands for a witness that a stretch lacks, or that says nothing there.
const NoWitness = int64(1) << 62

// At is what is added to a time.
func (c *Correction) At(t int64) int64 {
	by := float64(c.By) + float64(c.Drift)*1e-12*float64(t-c.From)
	return int64(math.Round(by/float64(c.Grain))) * c.Grain
}

// Solve finds the corrections that a trace needs, by device and time; nil where nothing is wrong or nothing is known.
func Solve(tr *trace.Trace) []Correction {
	x := &collector{tr: tr, verbs: map[trace.Sym]vendors.Verb{}, of: map[trace.ProcID]*witnesses{}}
	x.ask()
	x.launched()
	x.answer()
	var list []Correction
	for p := range trace.ProcID(len(tr.Procs)) {
		w := x.of[p]
		if w == nil || !w.suspect() || x.shared(p) {
			continue
		}
		w.launches = x.launches(p)
		for _, s := range w.solve() {
			list = append(list, Correction{Device: tr.Procs[p].Device, From: s.from, To: s.to, By: -s.late, Drift: int64(math.Round(-s.drift * 1e12)), Grain: w.grain, Error: s.err, Launch: s.launch.least(), Return: s.ret.least()})
		}
	}
	return list
}

// Apply returns the trace with corrected times of operations; the trace itself where there is nothing to correct. Only events differ.
func Apply(tr *trace.Trace, list []Correction) *trace.Trace {
	if len(list) == 0 {
		return tr
	}
	x := *tr
	x.Events = trace.Room[trace.Event](tr.Lend, len(tr.Events))
	copy(x.Events, tr.Events)
	for i := range x.Events {
		e := &x.Events[i]
		if e.Track == trace.NoTrack || e.Flags&trace.ClampedTS != 0 || !e.Kind.Device() && e.Kind != trace.DeviceMark && e.Kind != trace.GPUAnnotation {
			continue
		}
		device := tr.Procs[tr.Tracks[e.Track].Proc].Device
		if n := slices.IndexFunc(list, func(c Correction) bool { return c.Device == device && c.From <= e.Start && e.Start < c.To }); n >= 0 {
			e.Start += list[n].At(e.Start)
		}
	}
	return &x
}

// Recorded returns a trace with the times of another one of the same events, which has them as they were read.
func Recorded(tr, read *trace.Trace) *trace.Trace {
	x := *tr
	x.Events = slices.Clone(tr.Events)
	for i := range x.Events {
		x.Events[i].Start = read.Events[i].Start
	}
	return &x
}

// Text writes corrections for the record of a run on a part of the trace.
func Text(list []Correction) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%d %d %d %d %d %d %d %d %d;", c.Device, c.From, c.To, c.By, c.Drift, c.Grain, c.Error, c.Launch, c.Return)
	}
	return b.String()
}

// ParseText reads what Text wrote.
func ParseText(s string) (list []Correction, err error) {
	for one := range strings.SplitSeq(strings.TrimSuffix(s, ";"), ";") {
		var c Correction
		if _, err = fmt.Sscanf(one, "%d %d %d %d %d %d %d %d %d", &c.Device, &c.From, &c.To, &c.By, &c.Drift, &c.Grain, &c.Error, &c.Launch, &c.Return); err != nil || c.Grain <= 0 {
			return nil, fmt.Errorf("%q is no correction of a clock", one)
		}
		list = append(list, c)
	}
	return list, nil
}
