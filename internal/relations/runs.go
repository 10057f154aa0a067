package relations

import (
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

var runColumns = []columns.Column{
	text("schema", "form of the tables: "+Schema),
	text("file", "name of the input without its folders"),
	text("tool_version", "of the program that made the tables"),
	text("method", "how the path was found"),
	text("format", "of the input"),
	null(num("world_size", columns.Int32, tables.Count, "processes of the job")),
	null(num("base_ns", columns.Int64, tables.Time, "Unix time of time 0: wall-clock time is base_ns + ts_ns")),
	num("window_start_ns", columns.Int64, tables.Time, "start of the analysed interval"),
	num("window_ns", columns.Int64, tables.NS, "its length"),
	num("events", columns.Int64, tables.Count, "elements of the list of events, of every kind"),
	num("repairs", columns.Int64, tables.Count, "what was mended in the input"),
	text("bound_by", "the class with most time on the path"),
	text("threads", "how threads hand work over: gil or explicit"),
	num("path_ns", columns.Int64, tables.NS, "length of the path"),
	num("covered_ns", columns.Int64, tables.NS, "of the window, what segments with an event cover"),
	null(text("host", "machine on which it was recorded")),
	null(num("device", columns.Int32, tables.ID, "number of the GPU on which all operations run; null without one and with several")),
}

func (m *maker) runs() (int, []columns.Data) {
	one := func(s string) columns.Data {
		return columns.Data{Syms: []string{s}, Sym: func(int) (uint32, bool) { return 0, true }}
	}
	n := func(v int64) columns.Data { return ints(func(int) int64 { return v }) }
	maybe := func(v int64, ok bool) columns.Data {
		return columns.Data{Int: func(int) (int64, bool) { return v, ok }}
	}
	repairs := 0
	for _, r := range m.tr.Repairs {
		repairs += r.Count
	}
	w, about := m.p.Window, &m.tr.Distributed
	total := critpath.Breakdown(m.p)
	return 1, []columns.Data{one(Schema), one(m.File), one(m.Version), one(m.p.Method), one(m.Format),
		maybe(about.World, about.World > 0), maybe(m.tr.Base, m.tr.HasBase), n(w.Start), n(w.End - w.Start), n(int64(len(m.tr.Events))), n(int64(repairs)),
		one(critpath.BoundBy(&total.Class).String()), one(m.g.Threads.String()), n(m.p.Duration), n(m.p.Covered),
		{Syms: []string{about.Host}, Sym: func(int) (uint32, bool) { return 0, about.Host != "" }}, maybe(m.ownDevice(), m.ownDevice() >= 0)}
}
