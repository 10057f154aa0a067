package fromsqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/ioutil"
	"github.com/ncruces/go-sqlite3/vfs/readervfs"

	"overlay/internal/kineto"
	"overlay/internal/kinetotext"
	"overlay/internal/limits"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// magic begins every SQLite database.
var magic = []byte("SQLite format 3\x00")

// Is tells a database by its first bytes.
func Is(src []byte) bool { return bytes.HasPrefix(src, magic) }

// serial tells databases apart that are open at the same time.
var serial atomic.Int64

// Parse reads a trace from the bytes of a database. The text of the trace goes to a spool, and the trace keeps that; src
// is not needed afterwards. name is for messages. A database of several processes that launched work is a *kineto.Several.
func Parse(src []byte, name string, o kineto.Options, to *kineto.Sink) (*trace.Trace, error) {
	w, form, err := convert(src, name, to, nil)
	if err != nil {
		return nil, err
	}
	return w.Parse(name, form, int64(len(src)), o)
}

// convert writes the text of the events of some processes, or of all.
func convert(src []byte, name string, to *kineto.Sink, of []int64) (w *kinetotext.Writer, form vendors.Form, err error) {
	file := "overlay" + strconv.FormatInt(serial.Add(1), 10)
	readervfs.Create(file, ioutil.NewSizeReaderAt(bytes.NewReader(src)))
	defer readervfs.Delete(file)
	conn, err := sqlite3.OpenFlags("file:"+file+"?vfs=reader", sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return nil, form, fmt.Errorf("%s: the database cannot be opened: %s", name, plain(err))
	}
	defer conn.Close()
	conn.Limit(sqlite3.LIMIT_LENGTH, limits.Text)
	conn.HardHeapLimit(limits.Heap)
	steps := &stepLimit{Context: context.Background(), left: limits.Steps + limits.StepsByte*int64(len(src))}
	conn.SetInterrupt(steps)
	to.Allow(int64(len(src)) * limits.Rows)
	w = kinetotext.NewWriter(to)
	r := &reader{src: src, name: name, of: of, conn: conn, w: w, tables: map[string]map[string]bool{}}
	form, err = r.all()
	switch {
	case errors.Is(err, sqlite3.TOOBIG):
		err = &wrong{fmt.Sprintf("a text or a row of the database is longer than %d bytes, which no profiler writes", limits.Text)}
	case errors.Is(err, sqlite3.NOMEM):
		err = &wrong{fmt.Sprintf("reading the database takes more than %d bytes of memory: its views are none of a profiler", limits.Heap)}
	case errors.Is(err, sqlite3.INTERRUPT):
		err = &wrong{fmt.Sprintf("reading the database takes more than %d steps: its views are none of a profiler", limits.Steps)}
	}
	if err != nil {
		var e *wrong
		var much *limits.TooMuch
		var several *kineto.Several
		if errors.As(err, &several) {
			return nil, form, err
		}
		if errors.As(err, &e) || errors.As(err, &much) {
			return nil, form, fmt.Errorf("%s: %w", name, err)
		}
		return nil, form, fmt.Errorf("%s: the database cannot be read: %s", name, plain(err))
	}
	return w, form, nil
}

// all reads the database.
func (r *reader) all() (form vendors.Form, err error) {
	defer func() {
		if trap := recover(); trap != nil { // the library panics where memory is short
			if e, ok := trap.(error); !ok || !strings.HasSuffix(e.Error(), "out of memory") {
				panic(trap)
			}
			err = sqlite3.NOMEM
		}
	}()
	return r.read()
}

// stepLimit ends the work of SQLite, which asks for its error every thousand steps.
type stepLimit struct {
	context.Context
	left int64
}

func (s *stepLimit) Err() error {
	if s.left -= 1000; s.left < 0 {
		return context.Canceled
	}
	return nil
}

// wrong is a database that is sound and of no use.
type wrong struct{ text string }

func (e *wrong) Error() string { return e.text }

// plain is an error of SQLite in one line.
func plain(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// reader asks a database.
type reader struct {
	src       []byte
	name      string
	of        []int64 // processes whose events are wanted; nil for all
	conn      *sqlite3.Conn
	w         *kinetotext.Writer
	tables    map[string]map[string]bool // table or view -> its columns
	names     map[int64]string           // StringIds of Nsight Systems, STRING_IDS of Ascend
	exchanges map[int64]int64            // correlation of a call that launches an exchange of all ranks of a group with all -> how many these are
	base      int64                      // time from which those of Ascend are told
}

// read finds out who wrote the database.
func (r *reader) read() (form vendors.Form, err error) {
	if err := r.schema(); err != nil {
		return form, err
	}
	switch {
	case r.has("StringIds") && (r.has("CUPTI_ACTIVITY_KIND_RUNTIME") || r.has("CUPTI_ACTIVITY_KIND_KERNEL") || r.has("NVTX_EVENTS")):
		return vendors.NsightDatabase, r.nsys()
	case r.has("STRING_IDS", "id", "value") && (r.has("TASK", "startNs", "globalTaskId") || r.has("CANN_API", "startNs") || r.has("PYTORCH_API", "startNs")):
		return vendors.AscendDatabase, r.ascend()
	case r.has("kernels", "start", "end") || r.has("regions", "start", "end"):
		return vendors.RocpdDatabase, r.rocpd()
	case r.has("StringIds"):
		return form, &wrong{"this report of Nsight Systems holds no CUDA and no NVTX: record with --trace=cuda,nvtx"}
	}
	return form, &wrong{"this SQLite database is of no profiler that is known: give one of `nsys export --type sqlite`, of rocprofv3 (rocpd), or of Ascend (ascend_pytorch_profiler*.db, msprof_*.db)"}
}

// schema notes tables, views and their columns. Virtual tables are not asked: what they do is not known.
func (r *reader) schema() error {
	var names []string
	err := r.each("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY rowid", func(s *sqlite3.Stmt) {
		names = append(names, s.ColumnText(0))
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		columns := map[string]bool{}
		// A view over tables that are missing has no columns that can be told.
		if err := r.each("SELECT name FROM pragma_table_info("+sqlite3.Quote(name)+")", func(s *sqlite3.Stmt) { columns[s.ColumnText(0)] = true }); err == nil {
			r.tables[name] = columns
		}
	}
	return nil
}

// has reports whether there is a table with some columns.
func (r *reader) has(table string, columns ...string) bool {
	t, ok := r.tables[table]
	for _, c := range columns {
		ok = ok && t[c]
	}
	return ok
}

// rowHeld is about how many bytes are kept of a row beside its texts.
const rowHeld = 32

// each runs a query and calls visit for its rows.
func (r *reader) each(query string, visit func(s *sqlite3.Stmt)) error {
	s, _, err := r.conn.Prepare(query)
	if err != nil {
		return err
	}
	defer s.Close()
	columns := s.ColumnCount()
	for s.Step() {
		held := int64(rowHeld) // what is kept of a row, or written of it
		for i := range columns {
			if s.ColumnType(i) == sqlite3.TEXT {
				held += int64(len(s.ColumnRawText(i)))
			}
		}
		if err := r.w.Hold(held); err != nil {
			return err
		}
		visit(s)
	}
	return s.Err()
}

// rows calls visit for the rows of a table, with its columns in this order; a column that it does not have is NULL. A
// table that is not there has no rows.
func (r *reader) rows(table string, columns []string, visit func(s *sqlite3.Stmt)) error {
	t, ok := r.tables[table]
	if !ok {
		return nil
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "NULL"
		if t[c] {
			list[i] = sqlite3.QuoteIdentifier(c)
		}
	}
	return r.each("SELECT "+strings.Join(list, ", ")+" FROM "+sqlite3.QuoteIdentifier(table)+r.wanted(t), visit)
}

// wanted is the condition for rows of the processes that are wanted, in a table that says whose they are.
func (r *reader) wanted(columns map[string]bool) string {
	for _, c := range []string{"globalTid", "globalPid"} {
		if columns[c] && r.of != nil {
			var list []string
			for _, pid := range r.of {
				list = append(list, strconv.FormatInt(pid, 10))
			}
			return " WHERE " + c + " >> 24 & 0xffffff IN (" + strings.Join(list, ", ") + ")"
		}
	}
	return ""
}
