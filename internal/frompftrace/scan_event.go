package frompftrace

import "overlay/internal/wire"

// Fields of TrackEvent.
const (
	eventCategoryIID   = 3
	eventAnnotation    = 4
	eventType          = 9
	eventNameIID       = 10
	eventTrack         = 11
	eventCategory      = 22
	eventName          = 23
	eventCounterInt    = 30
	eventCounterFloat  = 44
	eventFlow          = 47
	eventFlowEnd       = 48
	eventColorIID      = 54
	eventGPUCorrelator = 3000
)

// tagAnnotation begins an annotation.
const tagAnnotation = eventAnnotation<<3 | wire.Bytes

// trackEvent notes a TrackEvent.
func (r *reader) trackEvent(rec record, event []byte, seq int32, at int64) {
	typ, uuid := uint64(0), r.states[rec.state].track
	says := false // beside type and track
	id := int32(len(r.recs))
	firstFlow, firstLaunch := len(r.flows), len(r.launched)
	f := wire.Over(event)
	for {
		says = f.Skip(tagAnnotation) || says
		if !f.Next() {
			break
		}
		switch f.Num {
		case eventType:
			typ = f.V
		case eventTrack:
			uuid = f.V
		case eventCategory:
			r.hasCategories = true
			says = true
		case eventFlow:
			f.Repeated(true, func(v uint64) { r.flows = append(r.flows, flowEnd{v, id, false}) })
			says = true
		case eventFlowEnd:
			f.Repeated(true, func(v uint64) { r.flows = append(r.flows, flowEnd{v, id, true}) })
			says = true
		case eventGPUCorrelator:
			e := wire.Over(f.S)
			for e.Next() {
				if e.Num == 1 {
					e.Repeated(false, func(v uint64) { r.launched = append(r.launched, v) })
				}
			}
			says = true
		default:
			says = true
		}
	}
	if f.Bad {
		r.flows, r.launched = r.flows[:firstFlow], r.launched[:firstLaunch]
		r.mend(ReasonBroken, at)
		return
	}
	if len(r.recs) >= maxEvents {
		r.tooMany = true
		return
	}
	rec.track = r.track(uuid)
	switch typ {
	case eventEnd:
		e := endMark{ts: rec.ts, track: rec.track, seq: seq, extra: -1}
		if says {
			e.extra = int32(len(r.extras))
			r.extras = append(r.extras, body{rec.off, rec.n, rec.state})
		}
		// A flow at an END belongs to the slice that ends there, which is known only later: it is left out.
		r.flows, r.launched = r.flows[:firstFlow], r.launched[:firstLaunch]
		r.marks = append(r.marks, mark(^int32(len(r.ends))))
		r.ends = append(r.ends, e)
		return
	case eventBegin:
		r.marks = append(r.marks, mark(id))
		r.beginSeq = append(r.beginSeq, seq)
	case eventInstant, eventCounter:
		rec.end, rec.closed = rec.ts, true
	default:
		r.flows, r.launched = r.flows[:firstFlow], r.launched[:firstLaunch]
		r.mend(ReasonUnknownType, at)
		return
	}
	if n := len(r.launched); n > firstLaunch {
		r.launches = append(r.launches, launch{id, int32(firstLaunch), int32(n)})
	}
	rec.kind = uint8(typ)
	r.recs = append(r.recs, rec)
}

// maxEvents is how many events a trace may have: EventID is an int32, and names of rows come on top.
const maxEvents = 1<<31 - 1<<26
