package critpath_test

import (
	"fmt"

	"overlay/internal/kineto"
)

// traceMaker builds a kineto.Trace event by event, without JSON: times in ns.
type traceMaker struct {
	tr     *kineto.Trace
	syms   map[string]kineto.Sym
	tracks map[string]kineto.TrackID
	calls  map[int64]kineto.EventID
}

func newTraceMaker() *traceMaker {
	m := &traceMaker{tr: &kineto.Trace{Syms: []string{""}, Rank: -1}, syms: map[string]kineto.Sym{"": 0},
		tracks: map[string]kineto.TrackID{}, calls: map[int64]kineto.EventID{}}
	m.tr.Procs = []kineto.Process{{PID: m.number(100), Device: -1}, {PID: m.number(0), Device: 0, IsDevice: true}}
	return m
}

func (m *traceMaker) sym(s string) kineto.Sym {
	id, ok := m.syms[s]
	if !ok {
		id = kineto.Sym(len(m.tr.Syms))
		m.tr.Syms = append(m.tr.Syms, s)
		m.syms[s] = id
	}
	return id
}

func (m *traceMaker) number(n int64) kineto.Token {
	return kineto.Token{Raw: m.sym(fmt.Sprint(n)), Num: n, IsNum: true}
}

// track returns the row of a thread, or of a stream of device 0.
func (m *traceMaker) track(stream bool, id int64) kineto.TrackID {
	key := fmt.Sprint(stream, id)
	t, ok := m.tracks[key]
	if !ok {
		t = kineto.TrackID(len(m.tr.Tracks))
		m.tracks[key] = t
		track := kineto.Track{TID: m.number(id), Class: kineto.HostThread, Stream: -1}
		if stream {
			track.Proc, track.Class, track.Stream = 1, kineto.DeviceStream, id
		}
		m.tr.Tracks = append(m.tr.Tracks, track)
	}
	return t
}

// add appends a complete event; corr 0 is none. A runtime call comes before the operations with its correlation.
func (m *traceMaker) add(kind kineto.Kind, row int64, name string, start, end, corr int64) kineto.EventID {
	e := kineto.Event{Start: start, Dur: end - start, Kind: kind, Ph: 'X', Name: m.sym(name), Track: m.track(kind.Device(), row)}
	launch := kineto.NoEvent
	id := kineto.EventID(len(m.tr.Events))
	if corr != 0 {
		e.Corr, e.Flags = corr, kineto.HasCorr
		if kind.Call() {
			m.calls[corr] = id
		} else if call, ok := m.calls[corr]; ok && kind.Device() {
			launch = call
		}
	}
	m.tr.Events = append(m.tr.Events, e)
	m.tr.Launch = append(m.tr.Launch, launch)
	return id
}
