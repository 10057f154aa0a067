package trace

// Wide holds the numbers of events that do not fit into 32 bits: durations of 4.3 s and more, and large ids. A trace of
// millions of events has few, so an event has room for 32 bits, and where they are not enough they are an index into
// Wide.
type Wide []int64

// Dur is how long an event takes, in ns, >= 0; 0 when absent.
func (w Wide) Dur(e *Event) int64 {
	if e.Flags&wideDur != 0 {
		return w[e.dur]
	}
	return int64(e.dur)
}

// SetDur says how long an event takes.
func (w *Wide) SetDur(e *Event, ns int64) {
	e.Flags &^= wideDur
	if e.dur = uint32(ns); int64(e.dur) != ns {
		e.dur, e.Flags = uint32(w.add(ns)), e.Flags|wideDur
	}
}

// End is when an event ends.
func (w Wide) End(e *Event) int64 { return e.Start + w.Dur(e) }

// Corr is Trace.Corr before launches are known.
func (w Wide) Corr(e *Event) int64 {
	if e.Flags&wideCorr != 0 {
		return w[e.corr]
	}
	return int64(e.corr)
}

// SetCorr says what joins an event with others.
func (w *Wide) SetCorr(e *Event, v int64) {
	e.Flags &^= wideCorr
	if e.corr = int32(v); int64(e.corr) != v {
		e.corr, e.Flags = w.add(v), e.Flags|wideCorr
	}
}

// Ext turns what Trace.Ext has of an event into its external id.
func (w Wide) Ext(e *Event, ext int32) int64 {
	if e.Flags&wideExt != 0 {
		return w[ext]
	}
	return int64(ext)
}

// SetExt gives an event an external id, and returns what belongs into Trace.Ext.
func (w *Wide) SetExt(e *Event, v int64) int32 {
	e.Flags = e.Flags&^wideExt | HasExt
	if ext := int32(v); int64(ext) == v {
		return ext
	}
	e.Flags |= wideExt
	return w.add(v)
}

func (w *Wide) add(v int64) int32 {
	*w = append(*w, v)
	return int32(len(*w) - 1)
}

// Join appends the numbers of other events to those of w; Renumber is for each of these events.
func (w *Wide) Join(more Wide) (base int32) {
	base = int32(len(*w))
	*w = append(*w, more...)
	return base
}

// Renumber moves the indexes of an event, and its place in Trace.Ext, by what Join returned.
func (e *Event) Renumber(base int32, ext *int32) {
	if e.Flags&wideDur != 0 {
		e.dur += uint32(base)
	}
	if e.Flags&wideCorr != 0 {
		e.corr += base
	}
	if e.Flags&wideExt != 0 {
		*ext += base
	}
}
