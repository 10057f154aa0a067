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
	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
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
	var out []columns.Table
	for _, d := range definitions() {
		if s.Want != nil && !s.Want(d.name) {
			continue
		}
		rows, cols := d.make(m)
		if d.name == "events" && !s.Args {
			cols = cols[:len(cols)-1] // args are the last column
		}
		t := columns.Table{Name: d.name, About: d.about, Rows: rows}
		for _, c := range cols {
			t.Cols, t.Data = append(t.Cols, c.Column), append(t.Data, c.data)
		}
		out = append(out, t)
	}
	return out
}

// Empty gives all tables without rows: their names, columns and meanings. They are those of a trace without events.
func Empty() []columns.Table {
	nothing := &graph.Graph{Graph: &cdg.Graph{Layout: &cdg.Layout{Trace: &trace.Trace{}}}, Aggregated: &nodes.Aggregated{}}
	list := Tables(Source{Graph: nothing, Path: &critpath.Path{}, Args: true})
	for i := range list {
		list[i].Rows, list[i].Data = 0, nil
	}
	return list
}

// definition is one table: what it is called, and what makes its columns.
type definition struct {
	name, about string
	make        func(*maker) (rows int, cols []column)
}

// definitions are all tables. They are a function, so that a program that makes no tables holds nothing of what makes them.
func definitions() []definition {
	return []definition{
		{"runs", "One row for each trace: what was read, how it was analysed, what it is bound by.", (*maker).runs},
		{"events", "Every complete event, and every begin with its end, in the order of the input.", (*maker).events},
		{"segments", "The critical path, in order of time: the segments tile the window.", (*maker).segments},
		{"edges", "Everything that something waited for: who depends on whom, by which rule, on what evidence.", (*maker).edges},
		{"nodes", "The aggregated dependency graph: runs of events of one training phase.", (*maker).nodes},
		{"steps", "The path clipped to each profiler step, and to what lies before and after.", (*maker).steps},
		{"collectives", "Every communication kernel that starts in the window, with what it moved and how fast.", (*maker).collectives},
		{"tracks", "The rows of the trace: threads, streams, and rows of pseudo events.", (*maker).tracks},
		{"counters", "Every value of every counter.", (*maker).counters},
		{"spans", "Module calls with their backward pass, annotations, and stretches of one training phase, of the window.", (*maker).spans},
		{"group_ranks", "The members of the process groups, of which the trace names all.", (*maker).groupRanks},
	}
}

// column is a column and its values in one place, made by one of the functions below: a name never stands beside the values of
// another column, and a type never beside values of another type.
type column struct {
	columns.Column
	data columns.Data
}

func made(name string, t columns.Type, u tables.Unit, about string, data columns.Data) column {
	return column{columns.Column{Column: tables.Column{Name: name, Unit: u, About: about}, Type: t}, data}
}

func null(c column) column {
	c.Null = true
	return c
}

func near(c column) column {
	c.Near = true
	return c
}

func rising(c column) column {
	c.Near, c.Rising = true, true
	return c
}

func text(name, about string, data columns.Data) column {
	return made(name, columns.Text, tables.Text, about, data)
}

func floats(name string, u tables.Unit, about string, f func(row int) (float64, bool)) column {
	return made(name, columns.Float64, u, about, columns.Data{Float: f})
}

// int32s and int64s are columns without nulls.

func int32s(name string, u tables.Unit, about string, f func(row int) int64) column {
	return made(name, columns.Int32, u, about, ints(f))
}

func int64s(name string, u tables.Unit, about string, f func(row int) int64) column {
	return made(name, columns.Int64, u, about, ints(f))
}

func ints(f func(row int) int64) columns.Data {
	return columns.Data{Int: func(row int) (int64, bool) { return f(row), true }}
}

// maybe32 and maybe64 are columns that may be null.

func maybe32(name string, u tables.Unit, about string, f func(row int) (int64, bool)) column {
	return null(made(name, columns.Int32, u, about, columns.Data{Int: f}))
}

func maybe64(name string, u tables.Unit, about string, f func(row int) (int64, bool)) column {
	return null(made(name, columns.Int64, u, about, columns.Data{Int: f}))
}

// ids32 and ids64 are columns in which an id below 0 is null.

func ids32[T ~int32 | ~int64](name string, u tables.Unit, about string, f func(row int) T) column {
	return maybe32(name, u, about, ids(f))
}

func ids64[T ~int32 | ~int64](name string, u tables.Unit, about string, f func(row int) T) column {
	return maybe64(name, u, about, ids(f))
}

func ids[T ~int32 | ~int64](f func(row int) T) func(row int) (int64, bool) {
	return func(row int) (int64, bool) {
		v := f(row)
		return int64(v), v >= 0
	}
}

func flags(name, about string, f func(row int) bool) column {
	return made(name, columns.Bool, tables.Flag, about, ints(func(row int) int64 {
		if f(row) {
			return 1
		}
		return 0
	}))
}

// syms are the values of a column whose texts are symbols of the trace.
func (m *maker) syms(f func(row int) trace.Sym) columns.Data {
	return columns.Data{Syms: m.tr.Syms, Sym: func(row int) (uint32, bool) { return uint32(f(row)), true }}
}

// words are the values of a column with few texts, which are named by numbers from 0 to below n.
func words[T interface {
	~uint8 | ~int8
	String() string
}](n T, f func(row int) T) columns.Data {
	list := make([]string, n)
	for i := range list {
		list[i] = T(i).String()
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
