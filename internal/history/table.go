package history

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"overlay/internal/columns"
	"overlay/internal/tables"
)

// Schema names the form of the table.
const Schema = "overlay-history/1"

// Form is the table that a run is kept as.
var Form = columns.Table{Name: "history", About: "what a run took, each number a median of steps and ranks", Cols: []columns.Column{
	{Column: tables.Column{Name: "scope", Unit: tables.Text, About: "job, host, rank, link or work; run and summary are of the run itself, and of the files that its numbers were made of"}, Type: columns.Text},
	{Column: tables.Column{Name: "name", Unit: tables.Text, About: "of the host, the rank, the collective or the work"}, Type: columns.Text},
	{Column: tables.Column{Name: "what", Unit: tables.Text, About: "step, device, threads, communication, transfer or busy; of a type of iterations: decode step, decode device"}, Type: columns.Text},
	{Column: tables.Column{Name: "value_ns", Unit: tables.NS, About: "of it; of scope run and summary a count, a size or a time"}, Type: columns.Int64, Mixed: true},
}}

// File is a summary of which a run was made, so that it is told when one has come or was replaced.
type File struct {
	Rank            int64
	Bytes, Modified int64
}

// Scopes of rows that are no points.
const (
	ofRun     = "run"
	ofSummary = "summary"
)

// form is what the numbers of a run mean: tables of another one are made again. In 2 the time of a name is by the type of steps.
const form = 2

// Table makes the table of a run.
func Table(r *Run, files []File) columns.Table {
	type row struct {
		texts [3]string
		value int64
	}
	rows := []row{{[3]string{ofRun, "", "form"}, form}, {[3]string{ofRun, "", "start"}, r.Start}, {[3]string{ofRun, "", "ranks"}, int64(r.Ranks)}, {[3]string{ofRun, "", "hosts"}, int64(r.Hosts)}, {[3]string{ofRun, "", "steps"}, int64(r.Steps)}}
	for _, f := range files {
		rank := strconv.FormatInt(f.Rank, 10)
		rows = append(rows, row{[3]string{ofSummary, rank, "bytes"}, f.Bytes}, row{[3]string{ofSummary, rank, "modified"}, f.Modified})
	}
	for _, p := range r.Points {
		rows = append(rows, row{[3]string{p.Scope.String(), p.Name, p.What}, p.NS})
	}
	t := Form
	t.Rows = len(rows)
	for i := range 3 {
		var list []string
		index, at := map[string]uint32{}, make([]uint32, len(rows))
		for k := range rows {
			s := rows[k].texts[i]
			if _, ok := index[s]; !ok {
				index[s] = uint32(len(list))
				list = append(list, s)
			}
			at[k] = index[s]
		}
		t.Data = append(t.Data, columns.Data{Syms: list, Sym: func(row int) (uint32, bool) { return at[row], true }})
	}
	t.Data = append(t.Data, columns.Data{Int: func(k int) (int64, bool) { return rows[k].value, true }})
	return t
}

// FromTable reads the table of a run.
func FromTable(name string, t columns.Table) (r Run, files []File, err error) {
	r.Name = name
	known := false
	for i := range t.Rows {
		scope, _ := t.Data[0].Text(i)
		name, _ := t.Data[1].Text(i)
		what, _ := t.Data[2].Text(i)
		v, _ := t.Data[3].Int(i)
		switch at := slices.Index(scopeNames[:], scope); {
		case scope == ofRun:
			switch what {
			case "form":
				known = v == form
			case "start":
				r.Start = v
			case "ranks":
				r.Ranks = int(v)
			case "hosts":
				r.Hosts = int(v)
			case "steps":
				r.Steps = int(v)
			}
		case scope == ofSummary && what == "bytes":
			rank, err := strconv.ParseInt(name, 10, 64)
			if err != nil {
				return r, nil, fmt.Errorf("rank %q", name)
			}
			files = append(files, File{Rank: rank, Bytes: v})
		case scope == ofSummary && what == "modified" && len(files) > 0:
			files[len(files)-1].Modified = v
		case at < 0 || whatWords(what) == "" || v <= 0:
			return r, nil, fmt.Errorf("row %d: %d for %s of %s", i, v, what, scope)
		default:
			r.Points = append(r.Points, Point{Series{Scope(at), name, what}, v})
		}
	}
	if !known {
		return r, nil, errors.New("the numbers of a run mean something else")
	}
	return r, files, nil
}
