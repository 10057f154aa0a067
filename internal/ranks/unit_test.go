package ranks

import (
	"slices"
	"testing"

	"overlay/internal/trace"
)

// TestUnit: where groups do not say what they are for, any of them may be what is slow; but groups that are named; nor are ranks that are slow for
// different reasons or at different times.
func TestUnit(t *testing.T) {
	j := &judge{Job: &Job{}}
	for r := range 4 {
		j.Members = append(j.Members, Member{Summary: &Summary{Rank: Rank(r), Device: -1}})
	}
	both := []spell{{member: 0, to: 5, what: SlowGPU}, {member: 1, to: 5, what: SlowGPU}}
	for name, c := range map[string]struct {
		by   string
		with func(x *spell)
		want []int32
	}{
		"times":      {"times", nil, []int32{0, 1}},
		"args":       {"args", nil, []int32{0}},
		"reasons":    {"times", func(x *spell) { x.what = SlowCPU }, []int32{0}},
		"a step off": {"times", func(x *spell) { x.from = 1 }, []int32{0, 1}},
		"later":      {"times", func(x *spell) { x.from = 2 }, []int32{0}},
		"sides":      {"times", func(x *spell) { x.at = onThreads }, []int32{0}},
	} {
		j.Groups = []JobGroup{{Name: "a", Ranks: []Rank{0, 1}, Size: 2, By: c.by}}
		spells := slices.Clone(both)
		if c.with != nil {
			c.with(&spells[1])
		}
		list := j.together(spells, j.units())
		if !slices.Equal(list[0].members, c.want) || len(list[0].spells) != len(c.want) || len(list) != 3-len(c.want) {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// A step is much longer than others of its type, whatever those of another take.
func TestBadSteps(t *testing.T) {
	var steps []*JobStep
	for i, d := range []int64{500, 10, 10, 11, 90, 10, 10} {
		kind := trace.Decode
		if i == 0 {
			kind = trace.Prefill
		}
		steps = append(steps, &JobStep{Number: int32(i), Type: kind, Duration: d * 1_000_000})
	}
	markBad(steps)
	for i, s := range steps {
		if s.Bad != (i == 4) {
			t.Errorf("step %d of %d ns: %v", i, s.Duration, s.Bad)
		}
	}
}
