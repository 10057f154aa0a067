package frompftrace

import (
	"cmp"
	"slices"
)

// pair finds for each BEGIN its END. An END does not say what it closes. Writers lay them out in two ways:
//
//   - As columns: n BEGINs, then their n ENDs in the same order (PyTorch's exporter writes group after group; rocprofv3
//     writes each pair on its own). There the times of a row go backwards in the file.
//   - As they happen: an END closes the innermost slice of its row, in the order of the file (Perfetto's SDK while a
//     program runs, and our own output).
//
// Time itself does not tell: traces in whole µs have many equal stamps. So the layout is found by sequence, and a sequence
// of columns has to match up completely; only what is neither is sorted by time.
func (r *reader) pair() {
	columns := r.columns()
	r.stacks(columns)
	for i := range r.recs {
		rec := &r.recs[i]
		if rec.kind == eventBegin && !rec.closed {
			r.mend(ReasonUnclosed, r.place(int32(i)))
		}
	}
	r.marks, r.ends, r.beginSeq = nil, nil, nil
}

// eachMark visits BEGINs and ENDs in the order of the file.
func (r *reader) eachMark(visit func(m mark, ts int64, track, seq int32)) {
	begins := 0
	for _, m := range r.marks {
		if m >= 0 {
			visit(m, r.recs[m].ts, r.recs[m].track, r.beginSeq[begins])
			begins++
		} else {
			e := &r.ends[^m]
			visit(m, e.ts, e.track, e.seq)
		}
	}
}

// columns pairs the sequences that are laid out as columns and returns which they are.
func (r *reader) columns() []bool {
	backwards := make([]bool, len(r.seqs))
	last := make([]int64, len(r.tracks))
	for i := range last {
		last[i] = -1 << 63
	}
	r.eachMark(func(_ mark, ts int64, track, seq int32) {
		if ts < last[track] {
			backwards[seq] = true
		}
		last[track] = ts
	})
	// Run by run: queue holds the BEGINs of the run that wait for their END.
	queue := make([][]int32, len(r.seqs))
	head := make([]int, len(r.seqs))
	broken := make([]bool, len(r.seqs))
	partner := make([]int32, len(r.ends))
	r.eachMark(func(m mark, ts int64, track, seq int32) {
		switch {
		case !backwards[seq] || broken[seq]:
		case m < 0:
			if head[seq] == len(queue[seq]) {
				broken[seq] = true
				return
			}
			b := queue[seq][head[seq]]
			head[seq]++
			partner[^m], broken[seq] = b, r.recs[b].track != track || ts < r.recs[b].ts
		case head[seq] == len(queue[seq]):
			queue[seq], head[seq] = append(queue[seq][:0], int32(m)), 0
		case head[seq] > 0: // a run ended with BEGINs left over
			broken[seq] = true
		default:
			queue[seq] = append(queue[seq], int32(m))
		}
	})
	for seq := range backwards {
		backwards[seq] = backwards[seq] && !broken[seq]
	}
	for i := range r.ends {
		if e := &r.ends[i]; backwards[e.seq] {
			r.close(partner[i], e)
		}
	}
	return backwards
}

func (r *reader) close(begin int32, e *endMark) {
	rec := &r.recs[begin]
	rec.end, rec.extra, rec.closed = e.ts, e.extra, true
}

// stacks pairs everything else, row by row.
func (r *reader) stacks(columns []bool) {
	at := make([]int32, len(r.tracks)+1)
	count := func(visit func(track int32, m mark)) {
		r.eachMark(func(m mark, _ int64, track, seq int32) {
			if !columns[seq] {
				visit(track, m)
			}
		})
	}
	count(func(track int32, _ mark) { at[track+1]++ })
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	if at[len(at)-1] == 0 {
		return
	}
	rows := make([]mark, at[len(at)-1])
	next := slices.Clone(at[:len(at)-1])
	count(func(track int32, m mark) {
		rows[next[track]] = m
		next[track]++
	})
	for t := range r.tracks {
		r.stack(rows[at[t]:at[t+1]])
	}
}

func (r *reader) timeOf(m mark) int64 {
	if m >= 0 {
		return r.recs[m].ts
	}
	return r.ends[^m].ts
}

// stack pairs the marks of one row.
func (r *reader) stack(row []mark) {
	if !slices.IsSortedFunc(row, func(a, b mark) int { return cmp.Compare(r.timeOf(a), r.timeOf(b)) }) {
		r.mend(ReasonPairsByTime, r.placeOf(row[0]))
		// At one time, what ends makes room for what begins.
		slices.SortStableFunc(row, func(a, b mark) int {
			return cmp.Or(cmp.Compare(r.timeOf(a), r.timeOf(b)), cmp.Compare(max(min(a, 0), -1), max(min(b, 0), -1)))
		})
	}
	var open []mark
	var waiting []int32 // ENDs that may belong to a BEGIN of the same time
	for _, m := range row {
		if m >= 0 {
			if n := len(waiting); n > 0 && r.ends[waiting[n-1]].ts == r.recs[m].ts {
				r.close(int32(m), &r.ends[waiting[n-1]])
				waiting = waiting[:n-1]
				continue
			}
			open = append(open, m)
			continue
		}
		if len(open) == 0 {
			waiting = append(waiting, int32(^m))
			continue
		}
		r.close(int32(open[len(open)-1]), &r.ends[^m])
		open = open[:len(open)-1]
	}
	if len(waiting) > 0 {
		r.repairs.add(ReasonUnopened, r.placeOf(row[0]), len(waiting))
	}
}

// placeOf is near where a mark stands.
func (r *reader) placeOf(m mark) int64 {
	if m >= 0 {
		return r.place(int32(m))
	}
	if x := r.ends[^m].extra; x >= 0 {
		return r.extras[x].off
	}
	return 0
}
