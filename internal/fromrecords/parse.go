// Package fromrecords reads coarse records of a job, one an operation of a rank in a step, from CSV or Parquet.
//
// A table has the columns rank, stage, step, optype (or kind), start_ts (or start) and duration in seconds, or start_ns and duration_ns; dp_rank,
// the place of a rank among those of its stage, may be missing, and other columns count for nothing. These are the records that ByteDance's
// study of stragglers has published of its jobs (OSDI '25, the artifact's readme).
package fromrecords

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/coarse"
	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// columns are the columns of a table by their names, in the order of a row here. Those behind the others may be missing.
var columns = [...][]string{{"rank"}, {"stage"}, {"step"}, {"optype", "kind"}, {"start_ts", "start", "start_ns"}, {"duration", "duration_ns"}, {"dp_rank"}}

const needed = 6

// Records are what was read in place of a trace: the error of whoever wants one.
type Records struct {
	File string
	Job  *coarse.Job
}

func (r *Records) Error() string {
	return r.File + ": coarse records of a job, and no trace: 'overlay report' of this one file says who slows it"
}

var magic, byteOrder = []byte("PAR1"), []byte("\ufeff")

// Is tells such a table by its first bytes. Of Parquet, which nothing else here is, any is taken.
func Is(src []byte) bool {
	if bytes.HasPrefix(src, magic) {
		return true
	}
	if len(src) == 0 || src[0] == '{' || src[0] == '[' {
		return false
	}
	line, _, _ := bytes.Cut(bytes.TrimPrefix(src[:min(len(src), 4096)], byteOrder), []byte("\n"))
	names := names(strings.Split(string(line), ","))
	return slices.Contains(names, "rank") && slices.Contains(names, "step")
}

// names are those in a head of CSV.
func names(head []string) []string {
	list := make([]string, len(head))
	for i, name := range head {
		list[i] = strings.Trim(name, " \"\r")
	}
	return list
}

// Parse reads a table. What it holds is the error: it is no trace.
func Parse(src []byte, name string, o kineto.Options, _ *kineto.Sink) (*trace.Trace, error) {
	r := &reader{job: &coarse.Job{}, kinds: map[string]int32{}}
	read := r.csv
	if bytes.HasPrefix(src, magic) {
		read = r.parquet
	}
	err := read(src)
	switch {
	case o.Cut: // whatever is wrong with its last row
		err = errors.New("the file is cut: copy it again")
	case err == nil && len(r.job.Records) == 0:
		err = errors.New("a table without a row")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return nil, &Records{name, r.job}
}

type reader struct {
	job   *coarse.Job
	kinds map[string]int32
	heads [len(columns)]string // the columns as the table calls them
	nanos [2]bool              // start, duration
	sum   int64                // of durations
}

// pick finds the columns of a row.
func (r *reader) pick(names []string) ([]int, error) {
	at := make([]int, len(columns))
	for i, all := range columns {
		at[i] = slices.IndexFunc(names, func(name string) bool { return slices.Contains(all, name) })
		switch {
		case at[i] < 0 && i < needed:
			return nil, fmt.Errorf("a table without the column %s: coarse records of a job have rank, stage, step, optype, start_ts and duration; tables of 'overlay export' are for 'overlay query'", all[0])
		case i == 4 || i == 5:
			r.nanos[i-4] = strings.HasSuffix(names[at[i]], "_ns")
		}
		if at[i] >= 0 {
			r.heads[i] = names[at[i]]
		}
	}
	return at, nil
}

func (r *reader) csv(src []byte) error {
	c := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(src, byteOrder)))
	c.ReuseRecord = true
	head, err := c.Read()
	if err != nil {
		return err
	}
	at, err := r.pick(names(head))
	if err != nil {
		return err
	}
	cells := make([]string, len(at))
	for {
		row, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i, column := range at {
			if cells[i] = ""; column >= 0 {
				cells[i] = strings.TrimSpace(row[column])
			}
		}
		if err := r.add(cells); err != nil {
			return err
		}
	}
}

// add takes a row.
func (r *reader) add(cells []string) error {
	fail := func(i int, what string) error {
		return fmt.Errorf("row %d: %s %q is %s", len(r.job.Records)+1, r.heads[i], trace.Brief(cells[i]), what)
	}
	var x coarse.Record
	for i, to := range []*int32{&x.Rank, &x.Stage, nil, nil, nil, nil, &x.Replica} {
		if to == nil {
			continue
		}
		n, err := strconv.ParseInt(whole(cells[i]), 10, 32)
		switch {
		case i == needed && cells[i] == "":
			n = -1
		case err != nil || n < 0:
			return fail(i, "no whole number from 0 to 2147483647")
		}
		*to = int32(n)
	}
	var err error
	if x.Step, err = strconv.ParseInt(whole(cells[2]), 10, 64); err != nil {
		return fail(2, "no whole number")
	}
	if cells[3] == "" {
		return fail(3, "empty")
	}
	k, ok := r.kinds[cells[3]]
	if !ok {
		k = int32(len(r.job.Kinds))
		kind := strings.Clone(cells[3])
		r.kinds[kind], r.job.Kinds = k, append(r.job.Kinds, kind)
	}
	x.Kind = k
	if x.Start, ok = nanoseconds(cells[4], r.nanos[0]); !ok {
		return fail(4, "no time")
	}
	if x.Duration, ok = nanoseconds(cells[5], r.nanos[1]); !ok || x.Duration < 0 {
		return fail(5, "no duration")
	}
	if r.sum += x.Duration; r.sum > most {
		return fail(5, "too long: the records last for more than a century")
	}
	r.job.Records = append(r.job.Records, x)
	return nil
}

// whole is the text of a whole number without the .0 that data frames give a column of them in which a value is missing.
func whole(cell string) string { return strings.TrimSuffix(cell, ".0") }

// most is how long all operations may last together, ns, and how far from 0 a time may be: sums of three such times are numbers still.
const most = math.MaxInt64 / 4

// nanoseconds reads a time from its digits, to the nearest ns.
func nanoseconds(s string, already bool) (int64, bool) {
	if already {
		n, err := strconv.ParseInt(s, 10, 64)
		return n, err == nil && -most <= n && n <= most
	}
	if strings.ContainsAny(s, "eE") { // writers do so for what is far below a second
		x, err := strconv.ParseFloat(s, 64)
		x = math.Round(x * 1e9)
		return int64(x), err == nil && math.Abs(x) < most
	}
	digits, negative := strings.CutPrefix(s, "-")
	whole, part, _ := strings.Cut(digits, ".")
	const places = 9
	up := len(part) > places && part[places] >= '5'
	if strings.Trim(whole+part, "0123456789") != "" || whole+part == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+(part + strings.Repeat("0", places))[:places], 10, 64)
	if up {
		n++
	}
	if negative {
		n = -n
	}
	return n, err == nil && -most <= n && n <= most
}
