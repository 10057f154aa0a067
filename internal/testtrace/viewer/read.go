// Package viewer reads traces in Perfetto's protobuf format by the rules of Perfetto's own importer, as the judge of what
// this program writes: which row a slice lands on, what is bent or dropped, which slices an arrow joins.
package viewer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"overlay/internal/perfetto"
	"overlay/internal/wire"
)

// Imported is a trace as Perfetto's trace processor sees it after the import.
//
// The rules are those of v58: packets and sequences of proto_trace_reader.cc and packet_sequence_state_generation.cc,
// tracks of track_event_tracker.cc, slices of slice_tracker.cc, flows of flow_tracker.cc, arguments of
// debug_annotation_parser.cc. The code shares nothing with perfetto.Write, so that each checks the other.
type Imported struct {
	Tracks  []ReadTrack // in order of their first descriptor
	Slices  []ReadSlice // slices and instants, in the order in which they begin
	Points  []ReadPoint
	Flows   []ReadFlow
	Attrs   []perfetto.Attr
	UUID    [2]uint64
	HasUUID bool

	// Realtime is Unix time minus trace time, ns, from the first snapshot that has both.
	Realtime    int64
	HasRealtime bool

	// Problems counts what the importer (or this reader) objects to, by name: Perfetto's own stats where it has
	// one, and what Perfetto does in silence: open_slice, unnamed_slice, unmatched_end, idle_process, pid_reuse, …
	// A sound trace has none.
	Problems map[string]int

	ProcessOrder, ThreadOrder bool // by rank
}

// ReadTrack is a row.
type ReadTrack struct {
	Kind        perfetto.Kind
	UUID        uint64
	Parent      int // index, -1 for none
	Name        string
	Description string
	Order       int64
	Explicit    bool
	PID, TID    int64
	Labels      []string
	Unit        string
	Merge       int // sibling_merge_behavior
	MergeKey    string
	GPU         *perfetto.GPUTrack
	Declared    bool // by a descriptor
	parentUUID  uint64
	broken      bool // its chain of parents does not end in a root
	stack       []int32
}

// ReadSlice is a slice or an instant.
type ReadSlice struct {
	TS, Dur  int64 // Dur is -1 when the slice was never closed
	Track    int32
	Depth    int32
	Parent   int32 // index, -1 for none
	Instant  bool
	Unnamed  bool
	Name     string
	Category string
	Color    string
	args     [][]byte
	state    *sequence
}

// ReadPoint is a value of a counter.
type ReadPoint struct {
	Track int32
	TS    int64
	Value float64
}

// ReadFlow is an arrow between two slices, in the direction that the viewer draws.
type ReadFlow struct {
	ID       uint64
	From, To int32 // indexes of slices
}

// rawEvent is a TrackEvent before sorting.
type rawEvent struct {
	ts    int64
	track uint64
	state *sequence
	body  []byte
}

type reader struct {
	im     *Imported
	states map[uint64]*sequence
	unit   map[[2]uint64]int64 // ns: of the clocks of sequences, by the same
	last   map[[2]uint64]int64 // incremental clocks: time of the last packet by (sequence, clock)
	incr   map[[2]uint64]bool
	offset map[uint64]int64 // builtin clock -> trace time minus its time
	events []rawEvent
	byUUID map[uint64]int
	flows  map[uint64]int32 // active flow -> its last slice
}

func newReader() *reader {
	return &reader{
		im:     &Imported{Problems: make(map[string]int)},
		states: make(map[uint64]*sequence),
		unit:   make(map[[2]uint64]int64),
		last:   make(map[[2]uint64]int64),
		incr:   make(map[[2]uint64]bool),
		offset: make(map[uint64]int64),
		byUUID: make(map[uint64]int),
		flows:  make(map[uint64]int32),
	}
}

// Parse imports the bytes of a trace, decompressed, which must stay as they are. The error says that the bytes are no such trace;
// what an importer would accept and count is in Problems.
func Parse(data []byte) (*Imported, error) {
	rd := newReader()
	if err := rd.packets(data); err != nil {
		return nil, err
	}
	rd.hierarchy()
	// The importer sorts by time; at equal times the order of the file stands.
	slices.SortStableFunc(rd.events, func(a, b rawEvent) int { return cmp.Compare(a.ts, b.ts) })
	for i := range rd.events {
		rd.event(&rd.events[i])
	}
	rd.finish()
	return rd.im, nil
}

func (rd *reader) problem(name string) { rd.im.Problems[name]++ }

// packets reads the file in order: sequence states, clocks, tracks; events are put aside for sorting.
func (rd *reader) packets(data []byte) error {
	if len(data) == 0 {
		return errors.New("perfetto: empty file")
	}
	for f := wire.Over(data); f.I < len(data); {
		at := f.I
		if !f.Next() || f.Num != 1 || f.Typ != wire.Bytes {
			return fmt.Errorf("perfetto: byte %d: no trace packet here", at)
		}
		if err := rd.packet(f.S); err != nil {
			return fmt.Errorf("perfetto: byte %d: %w", at, err)
		}
	}
	return nil
}

func (rd *reader) packet(p []byte) error {
	var ts, clock, seq, flags uint64
	var hasTS, hasClock bool
	var interned, defaults, event, desc, snapshot []byte
	var stage []byte
	var hasEvent, hasDesc, hasSnapshot, hasStage bool
	ok := wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 8:
			ts, hasTS = f.V, true
		case 58:
			clock, hasClock = f.V, true
		case 10:
			seq = f.V
		case 13:
			flags = f.V
		case 12:
			interned = f.S
		case 59:
			defaults = f.S
		case 11:
			event, hasEvent = f.S, true
		case 53:
			stage, hasStage = f.S, true
		case 60:
			desc, hasDesc = f.S, true
		case 6:
			snapshot, hasSnapshot = f.S, true
		case 89:
			rd.uuid(f.S)
		case 126:
			rd.im.Attrs = append(rd.im.Attrs, readAttrs(f.S)...)
		}
	})
	if !ok {
		return errors.New("malformed field")
	}
	state := rd.sequence(seq, flags, defaults, interned)
	if flags&2 != 0 && state == nil {
		rd.problem("packet_skipped_seq_needs_incremental_state_invalid")
		return nil
	}
	if hasSnapshot {
		rd.snapshot(snapshot, seq)
		return nil
	}
	if hasDesc {
		rd.descriptor(desc)
	}
	if !hasEvent && !hasStage {
		return nil
	}
	if seq == 0 {
		rd.problem("track_event_missing_sequence_id")
		return nil
	}
	if state == nil {
		state = &sequence{}
	}
	if !hasClock {
		clock = state.clock
	}
	if !hasTS {
		rd.problem("track_event_without_timestamp")
		return nil
	}
	t, ok := rd.time(ts, clock, seq)
	if !ok {
		rd.problem("clock_sync_failure")
		return nil
	}
	if t < 0 {
		rd.problem("track_event_invalid_timestamp")
		return nil
	}
	if hasStage {
		rd.stage(stage, state)
		return nil
	}
	track := state.track
	wire.Each(event, func(f *wire.Fields) {
		if f.Num == 11 {
			track = f.V
		}
	})
	rd.events = append(rd.events, rawEvent{ts: t, track: track, state: state, body: event})
	return nil
}

func (rd *reader) uuid(p []byte) {
	rd.im.HasUUID = true
	wire.Each(p, func(f *wire.Fields) {
		if f.Num == 1 || f.Num == 2 {
			rd.im.UUID[f.Num-1] = f.V
		}
	})
}

// readAttrs reads the attributes of a trace.
func readAttrs(p []byte) []perfetto.Attr {
	var attrs []perfetto.Attr
	wire.Each(p, func(f *wire.Fields) {
		if f.Num != 1 {
			return
		}
		var a perfetto.Attr
		wire.Each(f.S, func(f *wire.Fields) {
			switch f.Num {
			case 1:
				a.Key = string(f.S)
			case 2:
				a.Int = int64(f.V)
			case 3:
				a.Str, a.IsStr = string(f.S), true
			}
		})
		attrs = append(attrs, a)
	})
	return attrs
}
