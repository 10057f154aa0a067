package ranks

import "testing"

// TestUndo: an instance that somebody left before another came is taken apart, but where clocks may be off by that, and where the root may leave; the others stay as they are.
func TestUndo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *Matched)
		undone int
	}{
		"apart":     {func(*Matched) {}, 1},
		"clocks":    {func(j *Matched) { j.Members[1].Clock.Error = 200_000 }, 0},
		"broadcast": {func(j *Matched) { j.Instances[0].Coll = Broadcast }, 0},
		"trusted":   {func(j *Matched) { j.Clocks.Trusted = true }, 0},
	} {
		j := &Matched{Matching: Matching{Instances: 2, Complete: 2}, Of: []Ref{{0, 0}, {1, 0}, {0, 1}, {1, 1}}}
		for m := range int64(2) {
			ops := []Op{{Start: 100_000 * m, End: 100_000*m + 10}, {Start: 300_000, End: 300_010}}
			j.Members = append(j.Members, Member{Summary: &Summary{Ops: ops}, In: make([]int32, 2)})
		}
		j.Instances = []Instance{{Coll: AllReduce, N: 2}, {Coll: AllReduce, First: 2, N: 2}}
		c.change(j)
		j.undo()
		m := &j.Matching
		if m.Undone != c.undone || m.Instances != 2-c.undone || len(j.Instances) != 2-c.undone || m.Unmatched != 2*c.undone {
			t.Errorf("%s: %+v", name, m)
		}
		if last := j.refs(len(j.Instances) - 1); last[1] != (Ref{1, 1}) || c.undone > 0 && (j.Members[0].In[0] != -1 || j.Members[1].In[1] != 0) {
			t.Errorf("%s: %v, %v", name, last, j.Members)
		}
	}
}
