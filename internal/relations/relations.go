// Package relations turns one solved trace into tables for data tools: events, the path, the dependencies, and what is
// made from them, a row each. definitions is the one place that says which tables and columns there are; Parquet, SQL and
// the documentation follow from it.
//
// # Rules
//
// Names are those of the JSON report and of the marks in the viewer. Times are int64 ns on the trace's own clock; base_ns
// of the table runs leads to wall-clock time. What is absent is null and never -1. A column is never renamed or given
// another type; new ones go to the end of their table.
package relations

import (
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// Schema names the form of the tables.
const Schema = "overlay-tables/1"

// Source is what the tables of one trace are made of.
type Source struct {
	Graph   *graph.Graph
	Path    *critpath.Path
	File    string // name of the input without its folders
	Format  string // of the input
	Version string // of this program
	Args    bool   // events with their arguments as JSON

	Want func(table string) bool // which tables are made; nil: all
}

// Tables makes the tables of one trace. They hold on to trace, graph and path.
func Tables(s Source) []columns.Table {
	m := newMaker(s)
	all := definitions()
	out := make([]columns.Table, 0, len(all))
	for i := range all {
		d := &all[i]
		if s.Want != nil && !s.Want(d.name) {
			continue
		}
		rows, data := d.make(m)
		t := columns.Table{Name: d.name, About: d.about, Cols: d.cols, Data: data, Rows: rows}
		if d.name == "events" && !s.Args {
			t.Cols, t.Data = t.Cols[:len(t.Cols)-1], t.Data[:len(t.Data)-1] // args are the last column
		}
		out = append(out, t)
	}
	return out
}

// Empty gives all tables without rows: their names, columns and meanings.
func Empty() []columns.Table {
	all := definitions()
	out := make([]columns.Table, len(all))
	for i, d := range all {
		out[i] = columns.Table{Name: d.name, About: d.about, Cols: d.cols}
	}
	return out
}

// definition is one table: what it is called, its columns, and what makes its values, one a column.
type definition struct {
	name, about string
	cols        []columns.Column
	make        func(*maker) (rows int, data []columns.Data)
}

// definitions are all tables. They are a function, so that a program that makes no tables holds nothing of what makes them.
func definitions() []definition {
	return []definition{
		{"runs", "One row for each trace: what was read, how it was analysed, what it is bound by.", runColumns, (*maker).runs},
		{"events", "Every complete event, and every begin with its end, in the order of the input.", eventColumns, (*maker).events},
		{"segments", "The critical path, in order of time: the segments tile the window.", segmentColumns, (*maker).segments},
		{"edges", "Everything that something waited for: who depends on whom, by which rule, on what evidence.", edgeColumns, (*maker).edges},
		{"nodes", "The aggregated dependency graph: runs of events of one training phase.", nodeColumns, (*maker).nodes},
		{"steps", "The path clipped to each profiler step, and to what lies before and after.", stepColumns, (*maker).steps},
		{"collectives", "Every communication kernel that starts in the window, with what it moved and how fast.", collectiveColumns, (*maker).collectives},
		{"tracks", "The rows of the trace: threads, streams, and rows of pseudo events.", trackColumns, (*maker).tracks},
		{"counters", "Every value of every counter.", counterColumns, (*maker).counters},
		{"spans", "Module calls with their backward pass, annotations, and stretches of one training phase, of the window.", spanColumns, (*maker).spans},
		{"group_ranks", "The members of the process groups, of which the trace names all.", groupRankColumns, (*maker).groupRanks},
	}
}

// The helpers below write a column in one line.

func num(name string, t columns.Type, u tables.Unit, about string) columns.Column {
	return columns.Column{Column: tables.Column{Name: name, Unit: u, About: about}, Type: t}
}

func text(name, about string) columns.Column { return num(name, columns.Text, tables.Text, about) }

func null(c columns.Column) columns.Column {
	c.Null = true
	return c
}

func near(c columns.Column) columns.Column {
	c.Near = true
	return c
}

func rising(c columns.Column) columns.Column {
	c.Near, c.Rising = true, true
	return c
}

// ints are the values of a column without nulls.
func ints(f func(row int) int64) columns.Data {
	return columns.Data{Int: func(row int) (int64, bool) { return f(row), true }}
}

// ids are the values of a column in which an id below 0 is null.
func ids[T ~int32 | ~int64](f func(row int) T) columns.Data {
	return columns.Data{Int: func(row int) (int64, bool) {
		v := f(row)
		return int64(v), v >= 0
	}}
}

// flags are the values of a column of type Bool.
func flags(f func(row int) bool) columns.Data {
	return ints(func(row int) int64 {
		if f(row) {
			return 1
		}
		return 0
	})
}

// syms are the values of a column whose texts are symbols of the trace.
func (m *maker) syms(f func(row int) trace.Sym) columns.Data {
	return columns.Data{Syms: m.tr.Syms, Sym: func(row int) (uint32, bool) { return uint32(f(row)), true }}
}

// words are the values of a column with few texts, which are named by numbers from 0.
func words[T interface{ String() string }](n int, name func(i int) T, f func(row int) int) columns.Data {
	list := make([]string, n)
	for i := range list {
		list[i] = name(i).String()
	}
	return columns.Data{Syms: list, Sym: func(row int) (uint32, bool) { return uint32(f(row)), true }}
}

// dict gives texts numbers, the same text the same one.
type dict struct {
	list []string
	of   map[string]uint32
}

// noText is the number of no text.
const noText = ^uint32(0)

func (d *dict) add(s string) uint32 {
	if n, ok := d.of[s]; ok {
		return n
	}
	if d.of == nil {
		d.of = map[string]uint32{}
	}
	n := uint32(len(d.list))
	d.list = append(d.list, s)
	d.of[s] = n
	return n
}

// data are the values of a column of texts from a dict; noText is null.
func (d *dict) data(f func(row int) uint32) columns.Data {
	return columns.Data{Syms: d.list, Sym: func(row int) (uint32, bool) {
		n := f(row)
		return n, n != noText
	}}
}
