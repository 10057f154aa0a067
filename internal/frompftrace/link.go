package frompftrace

import (
	"strconv"

	"overlay/internal/wire"
)

// firstMade is the least of the correlations and flow ids that are made up. Cuspy's JSON gives ids from here on to the
// recorded edges of graphs, and package kineto knows them by that.
const firstMade = 1 << 40

// link joins launches with render stages that do not both carry a correlation.
func (r *reader) link() {
	if len(r.launches) == 0 {
		return
	}
	stageOf := r.stageOf()
	for _, l := range r.launches {
		for _, id := range r.launched[l.from:l.to] {
			k, ok := stageOf[id]
			if !ok {
				continue
			}
			x := &r.renders[k]
			own, has := r.corrOf[l.rec]
			if !has {
				own, has = r.ownCorrelation(l.rec)
			}
			switch {
			case x.hasCorr && has:
				if own != x.corr {
					r.mend(ReasonConflict, r.place(l.rec))
				}
			case x.hasCorr:
				r.corrOf[l.rec] = x.corr
			case has:
				r.corrOf[x.rec] = own
				x.corr, x.hasCorr = own, true
			default:
				made := int64(firstMade) + int64(l.rec)
				r.corrOf[l.rec], r.corrOf[x.rec] = made, made
				x.corr, x.hasCorr = made, true
			}
		}
	}
	r.launches, r.launched = nil, nil
}

// stageOf finds render stages by their event ids; of several with one id the first counts.
func (r *reader) stageOf() map[uint64]int32 {
	m := make(map[uint64]int32, len(r.renders))
	for i := range r.renders {
		if _, ok := m[r.renders[i].id]; !ok && r.renders[i].id != 0 {
			m[r.renders[i].id] = int32(i)
		}
	}
	return m
}

// ownCorrelation is the correlation among the arguments of a TrackEvent.
func (r *reader) ownCorrelation(id int32) (int64, bool) {
	rec := &r.recs[id]
	st := r.states[rec.state]
	for f := wire.Over(r.message(rec)); f.Next(); {
		if f.Num != eventAnnotation {
			continue
		}
		var key, str []byte
		var n int64
		number := false
		for e := wire.Over(f.S); e.Next(); {
			switch e.Num {
			case argKeyIID:
				key = st.keys.get(e.V).raw
			case argKey:
				key = e.S
			case argInt, argUint:
				n, number = int64(e.V), true
			case argString:
				str = e.S
			}
		}
		switch string(key) {
		case "correlation", "corr_id", "correlation_id":
			if !number && isInteger(str) {
				n, _ = strconv.ParseInt(string(str), 10, 64)
				number = true
			}
			if number {
				return n, true
			}
		}
	}
	return 0, false
}
