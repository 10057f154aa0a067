package cdg

import (
	"overlay/internal/par"
	"overlay/internal/stat"
)

// Lag is a kind of delay that replays give to what did not bind in the recording.
type Lag uint8

// The kinds of delays.
const (
	LaunchLag  Lag = iota // start of a launch call to the start of its operation, on an idle stream
	GraphLag              // the same of the first of several operations
	KernelLag             // end of an operation to the start of the next of its stream
	EventLag              // end of an operation to the start of one of another stream that waited for it
	ReturnLag             // end of an operation to the return of a call that waited for it
	EmptyCall             // a blocking call that had nothing to wait for
	LaunchCall            // a launch call of one operation that nothing held up
	NumLags
)

// Usual is what a delay is as a rule, ns.
type Usual struct {
	Median, Low, High int64 // one in twenty is shorter than Low, one in twenty longer than High
	Samples           int   // with fewer than EnoughSamples it is what is usual elsewhere
}

// EnoughSamples are those of which a median is taken.
const EnoughSamples = enough

var elsewhere = [NumLags]int64{LaunchLag: 7 * us, KernelLag: 1200, EventLag: 2500, ReturnLag: 4 * us, EmptyCall: 3 * us, LaunchCall: 5 * us}

// samples are delays of some operations or calls, by kind.
type samples [NumLags][]int64

func (s *samples) add(of Lag, ns int64) { s[of] = append(s[of], ns) }

// sample adds the delays of an operation that a wait has released.
func (b *binder) sample(k ActID, w *Wait) {
	call, to := b.launchOf(k), &b.lags
	if call != NoAct && !b.graph[k] {
		to.add(LaunchCall, b.d.Acts[call].End-b.d.Acts[call].Start)
	}
	switch {
	case w.Note != Explained:
	case w.Rule == Launch && b.graph[k]:
		to.add(GraphLag, w.Lag)
	case w.Rule == Launch && w.Evidence == ByCorrelation:
		to.add(LaunchLag, w.Lag)
	case call != NoAct && b.d.Acts[call].Start+b.d.Delays.Launch.Max >= w.At: // its launch may have been what it waited for
	case w.Rule == StreamOrder:
		to.add(KernelLag, w.Lag)
	case w.Rule == EventWait:
		to.add(EventLag, w.Lag)
	}
}

// measureUsual puts together what operations say, and adds what calls say that wait.
func (b *builder) measureUsual() {
	d, calls := b.d, &samples{}
	waited := map[ActID]bool{} // calls at whose end a thread is known to have waited
	for l := range d.Lanes {
		for i := int(d.PieceFirst[l]) + 1; i < int(d.PieceFirst[l+1]); i++ {
			if id := d.Pieces[i].Begun; id != NoWait && d.Waits[id].Rule == Sync {
				calls.add(ReturnLag, d.Waits[id].Lag)
				for c := d.Pieces[i-1].Owner; c != NoAct && d.Call(c); c = d.Parent[c] {
					waited[c] = true
				}
			}
		}
	}
	for i, h := range d.holds {
		if c := &d.Acts[h.Call]; (i == 0 || d.holds[i-1].Call != h.Call) && !waited[h.Call] {
			calls.add(EmptyCall, c.End-c.Start)
		}
	}
	par.Each(int(NumLags), func(of int) {
		list := calls[of]
		for i := range b.lags {
			list = append(list, b.lags[i][of]...)
		}
		n, ns := len(list), elsewhere[of]
		d.Usual[of] = Usual{ns, ns / 2, 2 * ns, n}
		if n >= enough {
			d.Usual[of] = Usual{stat.Median(list), stat.Nth(list, n/20), stat.Nth(list, n-1-n/20), n}
		}
	})
	if g, l := &d.Usual[GraphLag], &d.Usual[LaunchLag]; g.Samples < enough { // at least as slow as other launches
		*g = Usual{2 * l.Median, l.Low, 4 * l.High, g.Samples}
	}
}
