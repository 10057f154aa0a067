package cdg

import "overlay/internal/par"

// sortFound puts what the rules found into rows by activity (CSR), each sorted by (Rule, From).
func (b *builder) sortFound() (first []int32, rows []dep) {
	first = make([]int32, len(b.d.Acts)+2)
	for i := range b.found {
		first[b.found[i].to+2]++
	}
	for i := 2; i < len(first); i++ {
		first[i] += first[i-1]
	}
	rows = make([]dep, len(b.found))
	for i := range b.found { // first[a+1], where the row of a begins, moves on to where it ends
		f := &b.found[i]
		rows[first[f.to+1]] = f.dep
		first[f.to+1]++
	}
	b.found = nil
	first = first[:len(b.d.Acts)+1]
	par.EachRange(len(b.d.Acts), ranges(len(b.d.Acts), 0), func(_, from, to int) {
		for a := from; a < to; a++ {
			row := rows[first[a]:first[a+1]]
			for i := 1; i < len(row); i++ { // insertion: they are few
				for k := i; k > 0 && row[k].less(&row[k-1]); k-- {
					row[k], row[k-1] = row[k-1], row[k]
				}
			}
		}
	})
	return first, rows
}

func (x *dep) less(y *dep) bool {
	if x.Rule != y.Rule {
		return x.Rule < y.Rule
	}
	return x.From < y.From
}

// binder binds a range of the activities.
type binder struct {
	*builder
	first  []int32 // what the rules found, see sortFound
	rows   []dep
	waits  []Wait
	inside []Inside
	lags   samples
}

// bindOperations stores the waits of activities with their times, and chooses for each operation the one that bound
// its start. first and rows are what the rules found.
func (b *builder) bindOperations(first []int32, rows []dep) {
	d := b.d
	d.First = make([]int32, len(d.Acts)+1)
	parts := make([]binder, ranges(len(d.Acts), 0))
	par.EachRange(len(d.Acts), len(parts), func(part, from, to int) {
		x := &parts[part]
		*x = binder{builder: b, first: first, rows: rows, waits: make([]Wait, 0, int(first[to]-first[from])+(to-from)/64)}
		for a := ActID(from); a < ActID(to); a++ {
			if row := x.row(a); a >= b.firstOp {
				x.bindOperation(a, row)
			} else {
				x.bindCall(a, row)
			}
			d.First[a+1] = int32(len(x.waits)) // in the range
		}
	})
	before := make([]int, len(parts)+1)
	for i := range parts {
		before[i+1] = before[i] + len(parts[i].waits)
		b.inside = append(b.inside, parts[i].inside...)
		b.lags = append(b.lags, parts[i].lags)
	}
	n := before[len(parts)]
	d.Waits = make([]Wait, n, n+b.moreWaits(first))
	par.EachRange(len(d.Acts), len(parts), func(part, from, to int) {
		copy(d.Waits[before[part]:], parts[part].waits)
		parts[part].waits = nil
		for a := from; a < to; a++ {
			d.First[a+1] += int32(before[part])
		}
	})
}

// row is what the rules found for an activity.
func (b *binder) row(a ActID) []dep { return b.rows[b.first[a]:b.first[a+1]] }

// launchOf is the call that launched an operation, NoAct without one.
func (b *binder) launchOf(k ActID) ActID {
	for _, x := range b.row(k) {
		if x.Rule == Launch {
			return x.From
		}
	}
	return NoAct
}

// bindCall stores the waits of an activity of a thread.
func (b *binder) bindCall(a ActID, row []dep) {
	end := b.d.Acts[a].End
	for _, x := range row {
		at := min(b.d.Acts[x.From].End, end)
		b.waits = append(b.waits, Wait{At: at, Lag: end - at, From: x.From, Rule: x.Rule, Evidence: x.Evidence})
	}
}

// moreWaits is about how many waits of threads there will be: of gaps, and of pieces of slices that waited for something.
func (b *builder) moreWaits(first []int32) int {
	d := b.d
	counts := make([]int, ranges(len(d.Pieces), 0))
	par.EachRange(len(d.Pieces), len(counts), func(part, from, to int) {
		n := 0
		for i := from; i < to; i++ {
			if owner := d.Pieces[i].Owner; owner == NoAct || first[owner] < first[owner+1] {
				n++
			}
		}
		counts[part] = n
	})
	n := len(d.Lanes)
	for _, c := range counts {
		n += c
	}
	return n
}

// candidate is a wait of an operation as something that may have bound its start.
type candidate struct {
	at      int   // index into the waits of its range
	release int64 // the wait's time + its least delay
	fits    bool  // the delay is one that happens
}

// releaseRank orders rules when all else is equal: stream order, event wait, launch.
var releaseRank = [NumRules]int{StreamOrder: 0, EventWait: 1, GraphOrder: 1, Launch: 2}

// bindOperation chooses what bound the start of an operation: of the delays that happen, else of all, the latest
// release; where several delays happen, the likeliest.
func (b *binder) bindOperation(k ActID, row []dep) {
	d := b.d
	start := d.Acts[k].Start
	best := candidate{at: -1}
	behind, hidden := b.behind[k]
	waits, fits := len(b.waits), 0
	for _, x := range row {
		from := &d.Acts[x.From]
		at, least, most := from.End, d.Delays.Kernel.Min, d.Delays.Kernel.Max
		switch x.Rule {
		case Launch:
			at, least, most = b.launchedAt(k, x.From), d.Delays.Launch.Min, b.launchMax(k, x.From)
			if x.Evidence == ByAlignment && !hidden && (start-at > most || !d.Call(x.From)) {
				at = max(from.Start, min(start-max(least, d.Delays.Launch.Spread[8]), from.End)) // launched from within a slice, not recorded
			}
		case EventWait:
			least, most = d.Delays.Event.Min, d.Delays.Event.Max
		case GraphOrder:
			most = d.Delays.Event.Max
		}
		at = min(at, start)
		b.waits = append(b.waits, Wait{At: at, Lag: start - at, From: x.From, Rule: x.Rule, Evidence: x.Evidence})
		if x.Rule != Launch && from.Start >= at {
			continue // no progress: it started together with k
		}
		c := candidate{len(b.waits) - 1, at + least, start-at <= most}
		if c.fits {
			fits++
		}
		if best.at < 0 || b.better(&c, &best) && !hidden || hidden && x.From == behind {
			best = c
		}
	}
	if best.at < 0 || hidden && behind == NoAct {
		w := Wait{At: start, From: NoAct, Rule: Unexplained, Evidence: ByNothing, Bound: true}
		if hidden {
			w.Note = Unrecorded
		}
		b.waits = append(b.waits, w)
		return
	}
	if fits > 1 && !hidden {
		if i, least := b.likeliest(k, b.waits[waits:]); i >= 0 {
			best = candidate{waits + i, b.waits[waits+i].At + least, true}
		}
	}
	w := &b.waits[best.at]
	w.Bound = true
	if hidden {
		w.Note = Unrecorded
	}
	if from := &d.Acts[w.From]; w.Rule == Launch && (w.At != from.Start || from.End == from.Start) { // else a piece begins there
		b.inside = append(b.inside, Inside{At: w.At, Lane: from.Lane})
	}
	if call := b.launchOf(k); !hidden && b.late(start, w, &best, call) {
		w.Note = Late
		if b.graph[k] && (w.Rule == Launch || b.launchOf(w.From) != call) {
			w.Note = RecordsLost
		}
	}
	b.sample(k, w)
}

// better orders candidates: delays that happen first, then the latest release, then the rank of the rule.
func (b *binder) better(x, y *candidate) bool {
	if x.fits != y.fits {
		return x.fits
	}
	if x.release != y.release {
		return x.release > y.release
	}
	return releaseRank[b.waits[x.at].Rule] < releaseRank[b.waits[y.at].Rule]
}

// late reports whether an operation started long after everything known had released it.
func (b *binder) late(start int64, w *Wait, c *candidate, call ActID) bool {
	if w.Rule == EventWait && (c.fits || b.firstOp > 0) || w.Rule == GraphOrder && c.fits {
		return false
	}
	release := c.release
	if call != NoAct {
		release = max(release, b.d.Acts[call].End) // a slow call, a graph launch for one, holds its operations back
	}
	return start > release+max(20*us, 10*b.d.Delays.Kernel.Min)
}

// launchMax is the longest time from launchedAt to an operation that the launch alone explains. A
// graph launch, whose latency is not calibrated, holds its operations back to the end of the call and longer.
func (b *facts) launchMax(op, call ActID) int64 {
	most := b.d.Delays.Launch.Max
	if b.graph[op] {
		return max(2*most, b.d.Acts[call].End-b.d.Acts[call].Start+most)
	}
	return most
}
