package viewer

import (
	"overlay/internal/perfetto"
	"overlay/internal/wire"
)

// descriptor declares a track. A second declaration of one uuid may add a name; it may not move the track.
func (rd *reader) descriptor(p []byte) {
	t := ReadTrack{Parent: -1, Declared: true}
	hasUUID := false
	wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 1:
			t.UUID, hasUUID = f.V, true
		case 5:
			t.parentUUID = f.V
		case 2, 10, 13:
			t.Name = string(f.S)
		case 3:
			t.Kind = perfetto.Process
			rd.process(f.S, &t)
		case 4:
			t.Kind = perfetto.Thread
			rd.thread(f.S, &t)
		case 8:
			t.Kind = perfetto.Counter
			wire.Each(f.S, func(f *wire.Fields) {
				if f.Num == 6 {
					t.Unit = string(f.S)
				}
			})
		case 11:
			t.Explicit = f.V == 3
		case 12:
			t.Order = int64(int32(f.V))
		case 14:
			t.Description = string(f.S)
		case 15:
			t.Merge = int(f.V)
		case 16:
			t.MergeKey = string(f.S)
		case 3000:
			t.GPU = &perfetto.GPUTrack{Stream: -1}
			wire.Each(f.S, func(f *wire.Fields) {
				switch f.Num {
				case 1:
					t.GPU.ID = int32(f.V)
				case 3:
					t.GPU.Stream = int64(f.V)
				}
			})
		case 19:
			rd.im.ProcessOrder = rd.im.ProcessOrder || f.V == 1
		case 20:
			rd.im.ThreadOrder = rd.im.ThreadOrder || f.V == 1
		}
	})
	if !hasUUID {
		rd.problem("track_descriptor_missing_uuid")
		return
	}
	if t.UUID == 0 {
		return // the root
	}
	if i, ok := rd.byUUID[t.UUID]; ok {
		old := &rd.im.Tracks[i]
		if old.Kind != t.Kind || old.parentUUID != t.parentUUID || old.PID != t.PID || old.TID != t.TID || old.Merge != t.Merge {
			rd.problem("track_descriptor_conflicting_reservation")
			return
		}
		*old = t
		return
	}
	rd.byUUID[t.UUID] = len(rd.im.Tracks)
	rd.im.Tracks = append(rd.im.Tracks, t)
}

func (rd *reader) process(p []byte, t *ReadTrack) {
	wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 1:
			t.PID = int64(int32(f.V))
		case 6:
			t.Name = string(f.S)
		case 8:
			t.Labels = append(t.Labels, string(f.S))
		}
	})
}

func (rd *reader) thread(p []byte, t *ReadTrack) {
	wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 1:
			t.PID = int64(int32(f.V))
		case 2:
			t.TID = int64(f.V)
		case 5:
			t.Name = string(f.S)
		}
	})
}

// maxParents is how many tracks may lie one in the other: a chain of parents may be a circle.
const maxParents = 100

// hierarchy resolves parents, and finds what would make Perfetto join or split rows.
func (rd *reader) hierarchy() {
	tracks := rd.im.Tracks
	for i := range tracks {
		t := &tracks[i]
		if t.parentUUID == 0 {
			continue
		}
		p, ok := rd.byUUID[t.parentUUID]
		if !ok {
			t.broken = t.Kind == perfetto.Row || t.Kind == perfetto.Counter
			rd.problem("track_hierarchy_missing_uuid")
			continue
		}
		t.Parent = p
	}
	for i := range tracks {
		steps := 0
		for p := i; p >= 0; p = tracks[p].Parent {
			if tracks[p].broken {
				tracks[i].broken = true
				break
			}
			if steps++; steps > maxParents {
				tracks[i].broken = true
				rd.problem("track_hierarchy_loop")
				break
			}
		}
	}
	rd.identities()
}

// identities checks pids and tids: 0 is the idle process, a negative one names two processes, and a second uuid for
// one pid (or one tid of a process) is taken for a reuse of the number.
func (rd *reader) identities() {
	pids := make(map[int64]bool)
	tids := make(map[[2]int64]bool)
	for i := range rd.im.Tracks {
		switch t := &rd.im.Tracks[i]; t.Kind {
		case perfetto.Process:
			rd.number(t.PID)
			if pids[t.PID] {
				rd.problem("pid_reuse")
			}
			pids[t.PID] = true
		case perfetto.Thread:
			rd.number(t.PID)
			rd.number(t.TID)
			if tids[[2]int64{t.PID, t.TID}] {
				rd.problem("tid_reuse")
			}
			tids[[2]int64{t.PID, t.TID}] = true
		}
	}
	for i := range rd.im.Tracks {
		if t := &rd.im.Tracks[i]; t.Kind == perfetto.Thread && !pids[t.PID] {
			rd.problem("thread_without_process")
		}
	}
	rd.merges()
}

func (rd *reader) number(n int64) {
	if n == 0 {
		rd.problem("idle_process")
	}
	if n < 0 {
		rd.problem("negative_pid_or_tid")
	}
}

// merges finds rows under one parent that have one name, may merge by name, and so trade their slices. Rows named
// by the asynchronous events that they hold are meant to; a group or a row of a kind of its own is not.
func (rd *reader) merges() {
	type key struct {
		parent int
		name   string
	}
	explicit := make(map[key]bool)
	for i := range rd.im.Tracks {
		t := &rd.im.Tracks[i]
		if t.Kind != perfetto.Row || t.Merge != 0 && t.Merge != 1 || t.Name == "" {
			continue
		}
		if t.Parent >= 0 && rd.im.Tracks[t.Parent].Explicit && explicit[key{t.Parent, t.Name}] {
			rd.problem("merged_rows")
		}
		explicit[key{t.Parent, t.Name}] = true
	}
}

// track returns the row of an event, making one for a uuid that nothing declared.
func (rd *reader) track(uuid uint64, name string) int32 {
	if i, ok := rd.byUUID[uuid]; ok {
		return int32(i)
	}
	rd.problem("undeclared_track")
	if uuid == 0 {
		name = "Default Track"
	}
	i := len(rd.im.Tracks)
	rd.byUUID[uuid] = i
	rd.im.Tracks = append(rd.im.Tracks, ReadTrack{UUID: uuid, Parent: -1, Name: name})
	return int32(i)
}
