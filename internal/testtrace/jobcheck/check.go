// Package jobcheck holds jobs to their invariants, for tests.
package jobcheck

import (
	"fmt"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
)

// Check verifies the invariants of a job: the path tiles the window, its segments lie in the windows of their ranks, it
// jumps only at instances and to the rank from which they were waited for; an operation is in at most one instance, an
// instance has at most one of a rank; waits and transfers are the durations; all charges sum to all waits.
func Check(j *ranks.Job) error {
	if err := path(j); err != nil {
		return err
	}
	seen := make([]map[int32]bool, len(j.Members))
	for m := range j.Members {
		seen[m] = map[int32]bool{}
	}
	total, caused := int64(0), int64(0)
	for i := range j.Instances {
		in := &j.Instances[i]
		last := int32(-1)
		for _, r := range j.Of[in.First : in.First+in.N] {
			if r.Member <= last {
				return fmt.Errorf("ranks: instance %d: members out of order", i)
			}
			if last = r.Member; seen[r.Member][r.Op] || j.Members[r.Member].In[r.Op] != int32(i) {
				return fmt.Errorf("ranks: instance %d: operation %d of rank %d twice", i, r.Op, j.Members[r.Member].Rank)
			}
			seen[r.Member][r.Op] = true
			m := &j.Members[r.Member]
			s := m.Clock.Global(m.Ops[r.Op].Start)
			if e := max(m.Clock.Global(m.Ops[r.Op].End), s); in.Solved && (s > in.Arrive || j.Wait(in, r) > e-s) {
				return fmt.Errorf("ranks: instance %d: rank %d came after the last, or waits longer than it takes", i, j.Members[r.Member].Rank)
			}
		}
		if in.N < 2 || in.Wait < 0 || in.Transfer < 0 {
			return fmt.Errorf("ranks: instance %d: %+v", i, *in)
		}
		if in.Arrive >= j.Window[0] && in.Arrive < j.Window[1] {
			total += in.Wait
			if in.Solved {
				caused += in.Wait
			}
		}
	}
	w := &j.Waits
	charged := w.Transfer + w.Unrec + w.Missing
	for _, c := range w.Charged {
		charged += c.NS
	}
	if total != w.Total || charged != caused {
		return fmt.Errorf("ranks: waits of %d, told as %d, charged as %d", total, w.Total, charged)
	}
	for m := range j.Members {
		sum := int64(0)
		for _, step := range w.ByStep {
			sum += step[m]
		}
		if sum != w.ByMember[m].Caused {
			return fmt.Errorf("ranks: for member %d others waited %d, in steps %d", m, w.ByMember[m].Caused, sum)
		}
	}
	return nil
}

// path holds the path of a job to them.
func path(j *ranks.Job) error {
	t := j.Window[0]
	jumps := map[int64]bool{}
	for i := range j.Jumps {
		jumps[j.Jumps[i].At] = true
	}
	for i := range j.Path {
		s := &j.Path[i]
		if s.Start != t || s.End <= s.Start {
			return fmt.Errorf("ranks: segment %d of the path: [%d, %d] after %d", i, s.Start, s.End, t)
		}
		t = s.End
		m := &j.Members[s.Member]
		if s.Kind != critpath.Unrecorded && s.Kind != critpath.Untraced && (s.Start < m.Start || s.End > m.End) {
			return fmt.Errorf("ranks: segment %d of the path: [%d, %d] outside of rank %d, [%d, %d]", i, s.Start, s.End, m.Rank, m.Start, m.End)
		}
		if i == 0 || j.Path[i-1].Member == s.Member {
			continue
		}
		// A collective of which nothing is on the path, since by the clocks it began when the path had left it, is a jump all
		// the same.
		if !jumps[s.Start] || s.Instance >= 0 && !j.Instances[s.Instance].Solved {
			return fmt.Errorf("ranks: the path jumps from rank %d to %d outside of collectives", j.Members[j.Path[i-1].Member].Rank, m.Rank)
		}
	}
	at := j.Window[0]
	for _, st := range j.Stays {
		if st.Start != at || st.End <= st.Start {
			return fmt.Errorf("ranks: a stay of the path: [%d, %d] after %d", st.Start, st.End, at)
		}
		at = st.End
	}
	if t != j.Window[1] || at != t {
		return fmt.Errorf("ranks: the path ends at %d, the window at %d", t, j.Window[1])
	}
	return nil
}
