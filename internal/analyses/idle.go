package analyses

import "overlay/internal/trace"

// IdleCause says why a stream idled.
type IdleCause uint8

// The causes, HTA's.
const (
	HostWait   IdleCause = iota // the next operation was launched after the one before it had ended
	KernelWait                  // it was queued; a short gap between kernels
	OtherWait                   // it was queued and still waited: for another stream, or for an unknown launch
	numCauses
)

var causeNames = [numCauses]string{"host_wait", "kernel_wait", "other"}

func (c IdleCause) String() string { return causeNames[c] }

// StreamIdle is the idle time of one stream between its operations.
type StreamIdle struct {
	Device int64       `json:"device" unit:"id" key:"yes"`
	Stream int64       `json:"stream" unit:"id" key:"yes"`
	Idle   int64       `json:"idle_ns" unit:"ns"`
	Causes []CauseTime `json:"causes" about:"idle time of a stream by its cause"`

	gaps []gap
}

// CauseTime is the idle time of one cause. Stats are of the gaps, gaps of no length included.
type CauseTime struct {
	Cause string  `json:"cause"`
	NS    int64   `json:"ns" unit:"ns"`
	Share float64 `json:"share" unit:"share" about:"of the idle time of the stream"`
	Stats Stats   `json:"stats" unit:"ns"`
}

type gap struct {
	Interval
	cause IdleCause
}

// idle is HTA's idle time breakdown (breakdown_analysis.py, get_idle_time_breakdown). Where operations of a stream
// overlap, a gap counts from the latest end so far; HTA counts from the end of the operation before, below 0 too.
func idle(s *Set, o Options) []StreamIdle {
	o = o.withDefaults()
	out := make([]StreamIdle, 0, len(s.Streams))
	for i := range s.Streams {
		st := &s.Streams[i]
		idle := StreamIdle{Device: st.Device, Stream: st.Stream}
		var values [numCauses][]int64
		end := s.Ops[st.Ops[0]].End
		for _, id := range st.Ops[1:] {
			op := &s.Ops[id]
			if d := op.Start - end; d >= 0 {
				c := cause(op, end, d, o.IdleThreshold)
				values[c] = append(values[c], d)
				if d > 0 {
					idle.gaps = append(idle.gaps, gap{Interval{end, op.Start}, c})
				}
			}
			end = max(end, op.End)
		}
		for c := range values {
			t := CauseTime{Cause: IdleCause(c).String()}
			for _, v := range values[c] {
				t.NS += v
			}
			t.Stats = Describe(values[c])
			idle.Idle += t.NS
			idle.Causes = append(idle.Causes, t)
		}
		for c := range idle.Causes {
			idle.Causes[c].Share = ratio(idle.Causes[c].NS, idle.Idle)
		}
		out = append(out, idle)
	}
	return out
}

func cause(op *Op, prevEnd, d, threshold int64) IdleCause {
	switch {
	case op.Launch != trace.NoEvent && op.LaunchStart > prevEnd:
		return HostWait
	case d < threshold:
		return KernelWait
	}
	return OtherWait
}
