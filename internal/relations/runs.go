package relations

import (
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

func (m *maker) runs() (int, []column) {
	one := func(s string) columns.Data {
		return columns.Data{Syms: []string{s}, Sym: func(int) (uint32, bool) { return 0, true }}
	}
	n := func(v int64) func(int) int64 { return func(int) int64 { return v } }
	repairs := 0
	for _, r := range m.tr.Repairs {
		repairs += r.Count
	}
	w, about := m.p.Window, &m.tr.Distributed
	total := critpath.Breakdown(m.p)
	return 1, []column{
		text("schema", "form of the tables: "+Schema, one(Schema)),
		text("file", "name of the input without its folders", one(m.File)),
		text("tool_version", "of the program that made the tables", one(m.Version)),
		text("method", "how the path was found", one(m.p.Method)),
		text("format", "of the input", one(m.Format)),
		maybe32("world_size", tables.Count, "processes of the job", func(int) (int64, bool) { return about.World, about.World > 0 }),
		maybe64("base_ns", tables.Time, "Unix time of time 0: wall-clock time is base_ns + ts_ns", func(int) (int64, bool) { return m.tr.Base, m.tr.HasBase }),
		int64s("window_start_ns", tables.Time, "start of the analysed interval", n(w.Start)),
		int64s("window_ns", tables.NS, "its length", n(w.End-w.Start)),
		int64s("events", tables.Count, "elements of the list of events, of every kind", n(int64(len(m.tr.Events)))),
		int64s("repairs", tables.Count, "what was mended in the input", n(int64(repairs))),
		text("bound_by", "the class with most time on the path", one(critpath.BoundBy(&total.Class).String())),
		text("threads", "how threads hand work over: gil or explicit", one(m.g.Threads.String())),
		int64s("path_ns", tables.NS, "length of the path", n(m.p.Duration)),
		int64s("covered_ns", tables.NS, "of the window, what segments with an event cover", n(m.p.Covered)),
		null(text("host", "machine on which it was recorded", columns.Data{Syms: []string{about.Host}, Sym: func(int) (uint32, bool) { return 0, about.Host != "" }})),
		ids32("device", tables.ID, "number of the GPU on which all operations run; null without one and with several", n(m.ownDevice())),
	}
}
