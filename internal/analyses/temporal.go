package analyses

// DeviceTime says what one device did between its first and its last operation of the window. The parts sum to the span.
type DeviceTime struct {
	Device        int64 `json:"device" unit:"id"`
	Span          int64 `json:"span_ns" unit:"ns" about:"first to last operation of the window"`
	Computation   int64 `json:"computation_ns" unit:"ns" about:"wins where several run at once"`
	Communication int64 `json:"communication_ns" unit:"ns"`
	Copies        int64 `json:"copies_ns" unit:"ns"`
	Idle          int64 `json:"idle_ns" unit:"ns"`
}

// temporal is HTA's temporal breakdown a device (breakdown_analysis.py, get_temporal_breakdown), with what it calls
// non-compute time split into communication and copies.
func temporal(s *Set, _ Options) []DeviceTime {
	var out []DeviceTime
	s.devices(func(device int64, ops []Op) {
		t := DeviceTime{Device: device}
		last := ops[0].End
		for i := range ops {
			last = max(last, ops[i].End)
		}
		t.Span = last - ops[0].Start
		comp := ofTypes(ops, 1<<Computation)
		work := ofTypes(ops, 1<<Computation|1<<CommunicationType)
		all := ofTypes(ops, 1<<numTypes-1)
		t.Computation = length(comp)
		t.Communication = length(work) - t.Computation
		t.Copies = length(all) - length(work)
		t.Idle = t.Span - length(all)
		out = append(out, t)
	})
	return out
}

// ofTypes is the union of the operations of some types, a bit each.
func ofTypes(ops []Op, types int) []Interval {
	return union(len(ops), func(i int) (Interval, bool) {
		return Interval{ops[i].Start, ops[i].End}, types>>ops[i].Type&1 == 1
	})
}

// DeviceOverlap says how much of a device's communication computation hides.
type DeviceOverlap struct {
	Device        int64   `json:"device" unit:"id"`
	Communication int64   `json:"communication_ns" unit:"ns" about:"some communication kernel runs"`
	Hidden        int64   `json:"hidden_ns" unit:"ns" about:"some computation kernel runs, too"`
	Exposed       int64   `json:"exposed_ns" unit:"ns"`
	Ratio         float64 `json:"ratio" unit:"share" about:"hidden over communication"`
}

// overlap is HTA's communication-computation overlap (communication_analysis.py).
func overlap(s *Set, _ Options) []DeviceOverlap {
	var out []DeviceOverlap
	s.devices(func(device int64, ops []Op) {
		comm := ofTypes(ops, 1<<CommunicationType)
		hidden := length(intersect(ofTypes(ops, 1<<Computation), comm))
		c := length(comm)
		out = append(out, DeviceOverlap{device, c, hidden, c - hidden, ratio(hidden, c)})
	})
	return out
}
