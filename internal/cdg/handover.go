package cdg

import "slices"

// ended returns the last border of a thread before t, or t, if it ended an op or call in (from, t] and is idle at t.
func (s *turns) ended(i int32, from, t int64) (int64, bool) {
	busy := s.b.threads[s.lanes[i]].busy
	for int(s.busy[i]) < len(busy) && busy[s.busy[i]].Start < t {
		s.busy[i]++
	}
	if s.busy[i] == 0 {
		return 0, false
	}
	switch end := busy[s.busy[i]-1].End; {
	case end > t || end <= from:
		return 0, false
	case end == t:
		return t, true
	}
	return s.b.d.Pieces[s.next[i]-1].Start, true
}

// fewPartners are tried one by one.
const fewPartners = 8

// handoffAt finds the thread that ended a wait of another: the wait lasted over (from, t], and its owner is the
// slice that waited, NoAct in a gap. It returns the thread and its last border h <= t: of several the latest, then the
// one that takes turns with the waiting thread, then the first.
func (s *turns) handoffAt(lane LaneID, owner ActID, from, t int64) (to LaneID, h int64, ok bool) {
	if t-from <= handoffGap {
		return NoLane, 0, false
	}
	to, h, ok = s.turnAt(lane, owner, from, t)
	if s.b.enders == nil || len(s.b.enders[lane]) == 0 || owner != NoAct && s.b.locks.recorded(s.b.d, lane) || s.border(s.index[lane]) != t || s.piece(s.index[lane]) < 0 {
		return to, h, ok
	}
	here, waits := s.b.placeOf(lane, s.piece(s.index[lane]))
	for _, p := range s.b.enders[lane] {
		if !waits || p.place != here {
			continue
		}
		if at, good := p.endOf(from); good && p.ends(at, from, t) && (!ok || at > h) {
			to, h, ok = p.lane, at, true
		}
	}
	return to, h, ok
}

// turnAt is handoffAt without the threads that hand results on.
func (s *turns) turnAt(lane LaneID, owner ActID, from, t int64) (to LaneID, h int64, ok bool) {
	partners := s.b.d.Partners[lane]
	partner := false
	try := func(i int32, takesTurns bool) {
		at, good := s.ended(i, from, t)
		if good && (!ok || at > h || at == h && (takesTurns && !partner || takesTurns == partner && s.lanes[i] < to)) {
			to, h, ok, partner = s.lanes[i], at, true, takesTurns
		}
	}
	other := s.others(owner)
	if other == nil && len(partners) <= fewPartners {
		for _, p := range partners {
			try(s.index[p], true)
		}
		return to, h, ok
	}
	tryAny := func(i int32) {
		p := s.lanes[i]
		if _, is := slices.BinarySearch(partners, p); is || p != lane && other != nil && other(i) {
			try(i, is)
		}
	}
	for _, i := range s.batch { // those that end something just now
		tryAny(i)
	}
	if ok && h == t {
		return to, h, ok
	}
	for i := s.last; i >= 0; i = s.older[i] {
		border := s.b.d.Pieces[s.next[i]-1].Start
		if ok && border < h || border <= from && s.tornCount == 0 {
			break // whoever comes now passed its last border earlier still
		}
		tryAny(i)
	}
	return to, h, ok
}

// others tells which threads may have ended a wait besides those that take turns with the waiting one; nil for none.
func (s *turns) others(owner ActID) func(i int32) bool {
	b := s.b
	if owner == NoAct {
		if b.blocking == nil {
			return nil
		}
		return func(i int32) bool { // a thread that blocks at t may have given its work to this one
			if p := s.piece(i); p >= 0 && b.threads[s.lanes[i]].blocks && b.d.Pieces[p].Owner != NoAct {
				return b.blocking[b.event(b.d.Pieces[p].Owner).Name]
			}
			return false
		}
	}
	blocks := b.blocking != nil && b.blocking[b.event(owner).Name]
	if !blocks && !b.d.WaitsForLoader(owner) {
		return nil
	}
	return func(i int32) bool {
		x := &b.threads[s.lanes[i]]
		return x.ops > 0 && (blocks && (x.blocks || x.autograd || b.lonely) || x.pinMemory)
	}
}
