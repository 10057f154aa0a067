package testtrace

import "slices"

// Piece is a part of the true critical path: [Start, End] filled by an activity, -1 for a delay.
type Piece struct {
	Start, End int64
	Owner      int32
	why        rule
	from, to   int32 // points
}

// Path is the true critical path of a run, in time order: what released what last, back from the end.
func (r *Run) Path() []Piece {
	var path []Piece
	for i := r.last(); r.pred[i] >= 0; i = r.pred[i] {
		path = append(path, Piece{r.at[r.pred[i]], r.at[i], r.owner[i], r.why[i], r.pred[i], i})
	}
	slices.Reverse(path)
	return path
}

func (r *Run) last() int32 {
	best := int32(0)
	for i := range r.at {
		if r.at[i] >= r.at[best] && r.ends(int32(i)) == r.End {
			best = int32(i)
		}
	}
	return best
}

// Allowed is the path with every step that near ties allow: where two releases differ by less than the jitter of
// their delays, nobody can tell from time stamps which of them came last.
func (r *Run) Allowed() []Piece {
	head := make([]int32, len(r.at))
	for i := range head {
		head[i] = -1
	}
	next := make([]int32, len(r.alts))
	for a := range r.alts {
		next[a] = head[r.alts[a].point]
		head[r.alts[a].point] = int32(a)
	}
	var all []Piece
	seen := make([]bool, len(r.at))
	var todo []int32
	for i := range r.at { // near ties at the end of the window too
		if e := r.ends(int32(i)); e == r.End {
			todo = append(todo, int32(i))
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[i] || r.pred[i] < 0 {
			continue
		}
		seen[i] = true
		all = append(all, Piece{r.at[r.pred[i]], r.at[i], r.owner[i], r.why[i], r.pred[i], i})
		todo = append(todo, r.pred[i])
		for a := head[i]; a >= 0; a = next[a] {
			x := &r.alts[a]
			all = append(all, Piece{r.at[x.pred], r.at[i], x.owner, byProgram, x.pred, i})
			todo = append(todo, x.pred)
		}
	}
	slices.SortFunc(all, func(x, y Piece) int {
		if x.Owner != y.Owner {
			return int(x.Owner) - int(y.Owner)
		}
		if x.Start != y.Start {
			return int(x.Start - y.Start)
		}
		return int(x.End - y.End)
	})
	return all
}

// Effect is how much earlier the run ends with a knob shortened by d.
func (r *Run) Effect(scratch *Run, k int32, d int64) int64 {
	p := r.p
	p.shorten(k, d)
	scratch.Simulate(p)
	p.shorten(k, -d)
	return r.End - scratch.End
}
