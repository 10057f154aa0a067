package critpath_test

import (
	"fmt"

	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// traceMaker builds a trace.Trace event by event, without JSON: times in ns.
type traceMaker struct {
	tr     *trace.Trace
	syms   map[string]trace.Sym
	tracks map[string]trace.TrackID
	calls  map[int64]trace.EventID
}

func newTraceMaker() *traceMaker {
	m := &traceMaker{tr: &trace.Trace{Syms: []string{""}, Rank: -1, Source: testtrace.Args{}}, syms: map[string]trace.Sym{"": 0},
		tracks: map[string]trace.TrackID{}, calls: map[int64]trace.EventID{}}
	m.tr.Procs = []trace.Process{{PID: m.number(100), Device: -1}, {PID: m.number(0), Device: 0, IsDevice: true}}
	return m
}

func (m *traceMaker) sym(s string) trace.Sym {
	id, ok := m.syms[s]
	if !ok {
		id = trace.Sym(len(m.tr.Syms))
		m.tr.Syms = append(m.tr.Syms, s)
		m.syms[s] = id
	}
	return id
}

func (m *traceMaker) number(n int64) trace.Token {
	return trace.Token{Raw: m.sym(fmt.Sprint(n)), Num: n, IsNum: true}
}

// track returns the row of a thread, or of a stream of device 0.
func (m *traceMaker) track(stream bool, id int64) trace.TrackID {
	key := fmt.Sprint(stream, id)
	t, ok := m.tracks[key]
	if !ok {
		t = trace.TrackID(len(m.tr.Tracks))
		m.tracks[key] = t
		track := trace.Track{TID: m.number(id), Class: trace.HostThread, Stream: -1}
		if stream {
			track.Proc, track.Class, track.Stream = 1, trace.DeviceStream, id
		}
		m.tr.Tracks = append(m.tr.Tracks, track)
	}
	return t
}

// add appends a complete event; corr 0 is none. A runtime call comes before the operations with its correlation.
func (m *traceMaker) add(kind trace.Kind, row int64, name string, start, end, corr int64) trace.EventID {
	e := trace.Event{Start: start, Kind: kind, Ph: 'X', Name: m.sym(name), Track: m.track(kind.Device(), row)}
	m.tr.SetDur(&e, end-start)
	launch := trace.NoEvent
	id := trace.EventID(len(m.tr.Events))
	if corr != 0 {
		e.Flags |= trace.HasCorr
		m.tr.SetCorr(&e, corr)
		if kind.Call() {
			m.calls[corr] = id
		} else if call, ok := m.calls[corr]; ok && kind.Device() {
			launch = call
		}
	}
	m.tr.Events = append(m.tr.Events, e)
	m.tr.SetLaunch(id, launch)
	return id
}
