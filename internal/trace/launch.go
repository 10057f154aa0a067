package trace

import "iter"

// Launch is the runtime or driver call with the correlation of a device operation, else NoEvent. In traces without correlation
// (LaunchByFlow) it is the host slice in which the operation's flow begins.
//
// An operation has the correlation of its call, so it keeps the call in its place. Where it has another one, both stand in Wide.
func (t *Trace) Launch(op EventID) EventID {
	e := &t.Events[op]
	switch {
	case !e.launched():
		return NoEvent
	case e.Flags&wideCorr != 0:
		return EventID(t.Wide[e.corr+1])
	}
	return EventID(e.corr)
}

// Launches visits the operations that were launched by a call, each with that.
func (t *Trace) Launches() iter.Seq2[EventID, EventID] {
	return func(yield func(op, call EventID) bool) {
		for op := range EventID(len(t.Events)) {
			if call := t.Launch(op); call != NoEvent && !yield(op, call) {
				return
			}
		}
	}
}

func (e *Event) launched() bool { return e.Flags&launched != 0 && e.Ph == 'X' }

// SetLaunch says what launched a device operation, a complete event; its correlation stays.
func (t *Trace) SetLaunch(op, call EventID) {
	e := &t.Events[op]
	corr := t.Corr(e)
	e.Flags &^= launched
	switch {
	case call == NoEvent:
		t.SetCorr(e, corr)
	case t.Corr(&t.Events[call]) == corr:
		e.corr, e.Flags = int32(call), e.Flags&^wideCorr|launched
	default:
		e.corr, e.Flags = t.add(corr), e.Flags|wideCorr|launched
		t.add(int64(call))
	}
}

// Corr is what joins an event with others: args.correlation; for flow and async events the integer id, or -1-Sym when
// the id is no integer.
func (t *Trace) Corr(e *Event) int64 {
	if e.launched() && e.Flags&wideCorr == 0 {
		e = &t.Events[e.corr]
	}
	return t.Wide.Corr(e)
}

// Unlaunched is an event of another trace, whose numbers t.Wide begins with, as one of t that nothing launched.
func (t *Trace) Unlaunched(of *Trace, id EventID) Event {
	e := of.Events[id]
	if e.launched() {
		corr := of.Corr(&e)
		e.Flags &^= launched
		t.SetCorr(&e, corr)
	}
	return e
}
