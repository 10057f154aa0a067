// Package fromxplane reads XLA's own format, xplane.pb: what JAX, TensorFlow and PyTorch/XLA record on GPUs and TPUs.
//
// Parse turns planes into the text of a Kineto trace, which package kineto reads. A plane is a process or a device, a line of
// it a thread, a stream or a row that sums up. What a plane is its name says, as in the JSON that XLA's profiler makes of
// the file (package vendors); what Kineto has words for gets them here: kernels and copies on streams with the calls that
// launched them, steps, Python frames.
//
// # Units
//
// Events count in ps from the start of their line. Starts and ends are cut to ns, so what nests goes on nesting.
//
// # Sources
//
// xplane.proto and xplane_schema.cc of openxla/xla, convert/xplane_to_trace_events of openxla/xprof, and recordings of JAX on
// MI300 and of TensorFlow on eight V100. Planes of TPUs are read as the sources say: none was at hand.
package fromxplane

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/kinetotext"
	"overlay/internal/trace"
	"overlay/internal/vendors"
	"overlay/internal/wire"
)

// Parse reads a trace from the bytes of a file. The text of the trace goes to a spool, and the trace keeps that; src is not
// needed afterwards. name is for messages.
func Parse(src []byte, name string, o kineto.Options, to *kineto.Sink) (*trace.Trace, error) {
	r := &reader{w: kinetotext.NewWriter(to)}
	whole := wire.Each(src, func(f *wire.Fields) {
		if f.Num == spacePlanes {
			r.plane(f.S)
		}
	})
	fail := func(at int, want string) error {
		return &kineto.SyntaxError{File: name, Offset: int64(at), Compressed: -1, Want: want}
	}
	if !whole || o.Cut || slices.ContainsFunc(r.planes, func(p *plane) bool { return p.broken }) {
		return nil, fail(len(src), "the file of XLA's profiler ends inside a message: it is cut; copy it again")
	}
	r.write()
	if r.events == 0 {
		return nil, fail(-1, fmt.Sprintf("none of the %d planes of this file of XLA's profiler holds an event: record while the program computes", len(r.planes)))
	}
	return r.w.Parse(name, vendors.XPlane, int64(len(src)), o)
}

// reader is a file on its way to text.
type reader struct {
	w      *kinetotext.Writer
	planes []*plane
	start  int64 // Unix time of the recording's start, ns; 0 when not known
	events int
}

// plane is a process or a device.
type plane struct {
	name       string
	lines      []line
	eventNames map[int64]eventKind
	statNames  map[int64]string
	stats      []stat
	broken     bool
}

// eventKind is what events of one name share.
type eventKind struct {
	name  string
	stats []stat
}

// line is a thread, a stream or a row.
type line struct {
	id     int64
	name   string
	start  int64 // ns
	events [][]byte
}

// event is a slice of a line; times in ns.
type event struct {
	kind       *eventKind
	start, end int64
	stats      []stat
}

// plane reads a plane but for its events.
func (r *reader) plane(b []byte) {
	p := &plane{eventNames: map[int64]eventKind{}, statNames: map[int64]string{}}
	r.planes = append(r.planes, p)
	var kinds, stats [][]byte
	ok := wire.Each(b, func(f *wire.Fields) {
		switch f.Num {
		case planeName:
			p.name = string(f.S)
		case planeLines:
			p.line(f.S)
		case planeEventNames:
			kinds = append(kinds, f.S)
		case planeStatNames:
			key, meta := entry(f.S)
			wire.Each(meta, func(f *wire.Fields) {
				if f.Num == metaName {
					p.statNames[key] = string(f.S)
				}
			})
		case planeStats:
			stats = append(stats, f.S)
		}
	})
	p.broken = p.broken || !ok
	for _, b := range stats {
		p.stats = append(p.stats, p.readStat(b))
	}
	for _, b := range kinds {
		var k eventKind
		key, meta := entry(b)
		wire.Each(meta, func(f *wire.Fields) {
			switch f.Num {
			case metaName:
				if k.name == "" {
					k.name = string(f.S)
				}
			case metaShownName:
				if len(f.S) > 0 && strings.HasPrefix(p.name, devices) {
					k.name = string(f.S) // "fusion.3", where the name is the whole instruction
				}
			case metaStats:
				k.stats = append(k.stats, p.readStat(f.S))
			}
		})
		p.eventNames[key] = k
	}
	for i := range p.stats {
		if s := &p.stats[i]; p.name == "Task Environment" && s.name == "profile_start_time" {
			r.start = s.number()
		}
	}
}

// entry is the key and the value of an entry of a map.
func entry(b []byte) (key int64, value []byte) {
	wire.Each(b, func(f *wire.Fields) {
		switch f.Num {
		case entryKey:
			key = int64(f.V)
		case entryValue:
			value = f.S
		}
	})
	return key, value
}

func (p *plane) line(b []byte) {
	var l line
	shown := ""
	ok := wire.Each(b, func(f *wire.Fields) {
		switch f.Num {
		case lineID:
			if l.id == 0 {
				l.id = int64(f.V)
			}
		case lineShownID:
			l.id = int64(f.V)
		case lineName:
			l.name = string(f.S)
		case lineShownName:
			shown = string(f.S)
		case lineStart:
			l.start = int64(f.V)
		case lineEvents:
			l.events = append(l.events, f.S)
		}
	})
	p.broken = p.broken || !ok
	if shown != "" {
		l.name = shown
	}
	p.lines = append(p.lines, l)
}

// read reads an event of a line. from is the Unix time that times of the text count from; lines count from it too, or have Unix times.
func (p *plane) read(l *line, b []byte, from int64) event {
	var e event
	var offset, dur int64 // ps
	if !wire.Each(b, func(f *wire.Fields) {
		switch f.Num {
		case eventName:
			k := p.eventNames[int64(f.V)]
			e.kind = &k
		case eventOffset:
			offset = int64(f.V)
		case eventDur:
			dur = int64(f.V)
		case eventStats:
			e.stats = append(e.stats, p.readStat(f.S))
		}
	}) {
		p.broken = true
	}
	if e.kind == nil {
		e.kind = &eventKind{}
	}
	start := l.start
	if from > 0 && start >= from {
		start -= from
	}
	e.start, e.end = start+offset/1000, start+(offset+max(dur, 0))/1000
	return e
}

// stat is the value of an event or of all of its name.
func (e *event) stat(name string) *stat {
	for _, list := range [][]stat{e.stats, e.kind.stats} {
		for i := range list {
			if list[i].name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// Names of planes begin so.
const (
	devices = "/device:"
	host    = "/host:"
)
