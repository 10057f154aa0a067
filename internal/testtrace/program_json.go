package testtrace

// Build writes what a profiler would have recorded of a run. pos gives the position of each activity in traceEvents,
// -1 for those that were not recorded.
func (r *Run) Build() (b *Builder, pos []int32) { return r.build(func(*Event, int32) {}) }

// build calls decorate after each event of an activity, while args can still be added to it.
func (r *Run) build(decorate func(e *Event, key int32)) (b *Builder, pos []int32) {
	p := r.p
	b = New()
	b.NoFlows, b.IntegerMicros, b.Device = true, p.IntegerMicros, "NVIDIA H100 80GB HBM3"
	pos = make([]int32, len(r.slice))
	for i := range pos {
		pos[i] = -1
	}
	for th := range p.Threads {
		t := &p.Threads[th]
		host := b.Thread(t.pid, t.tid, t.name)
		for _, id := range t.code {
			if r.recorded(id) {
				e := r.writeStep(host, id)
				b.events[e.id].start += p.World.shift(p, id)
				pos[id] = int32(e.ID())
				decorate(e, id)
			}
		}
	}
	streams := make([]*Stream, len(p.Streams))
	for s, n := range p.Streams {
		streams[s] = b.Stream(p.Devices[s], n)
	}
	for o := range p.ops {
		op := &p.ops[o]
		key := p.opKey(int32(o))
		if !r.recorded(key) {
			continue
		}
		s := r.slice[key]
		corr := int64(op.instr) + 1
		if p.World.unjoined(o) {
			corr = -1
		}
		e := streams[op.stream].op(op.cat, op.name, s.start+p.World.GPU, s.end-s.start, corr)
		pos[key] = int32(e.ID())
		decorate(e, key)
	}
	if p.SyncRecords {
		r.writeSyncRecords(b, pos)
	}
	for i := 0; i+1 < len(p.flows); i += 2 {
		from, to := p.flows[i], p.flows[i+1]
		if pos[from] >= 0 && pos[to] >= 0 {
			e, f := &b.events[pos[from]], &b.events[pos[to]]
			b.Flow("fwdbwd", "fwdbwd", int64(i/2+1), &Thread{b, e.pid, e.tid}, e.start, &Thread{b, f.pid, f.tid}, f.start)
		}
	}
	return b, pos
}

// recorded tells whether an activity took place, inside the time of recording, and is not of those that are hidden.
func (r *Run) recorded(key int32) bool {
	s := r.slice[key]
	if s.start < r.p.RecordFrom || s.end < 0 {
		return false
	}
	if n := len(r.p.instrs); int(key) >= n {
		return !r.p.ops[int(key)-n].lost
	}
	return !r.p.instrs[key].hidden
}

func (r *Run) writeStep(t *Thread, id int32) *Event {
	in, s := &r.p.instrs[id], r.slice[id]
	if in.code == opOpen {
		return t.slice(sliceKinds[in.kind], in.name, s.start, s.end-s.start)
	}
	return t.Call(in.name, s.start, s.end-s.start, int64(id)+1)
}

func (r *Run) writeSyncRecords(b *Builder, pos []int32) {
	p := r.p
	for i := range p.instrs {
		in := &p.instrs[i]
		if pos[i] < 0 {
			continue
		}
		s, corr := r.slice[i], int64(i)+1
		on := &Stream{b, 0, -1}
		if in.stream >= 0 && in.code != opEventSync {
			on.Number = p.Streams[in.stream]
			if !p.DeviceZero {
				on.Device = p.Devices[in.stream]
			}
		}
		switch in.code {
		case opStreamSync:
			on.SyncRecord(StreamSync, s.start, s.end-s.start, corr, -1, -1)
		case opDeviceSync:
			on.Number = -1
			on.SyncRecord(ContextSync, s.start, s.end-s.start, corr, -1, -1)
		case opEventSync, opWaitEvent:
			rec := r.known[in.ref]
			if rec < 0 || pos[rec] < 0 {
				continue
			}
			kind := EventSync
			if in.code == opWaitEvent {
				kind = StreamWaitEvent
			}
			switch in.said {
			case recordDropped:
				continue
			case recordUnresolved:
				on.SyncRecord(kind, s.start, s.end-s.start, corr, -1, -1)
				continue
			}
			on.SyncRecord(kind, s.start, s.end-s.start, corr, p.Streams[p.instrs[rec].stream], int64(rec)+1)
		}
	}
}
