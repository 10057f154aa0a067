package fromsqlite

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/ioutil"
	"github.com/ncruces/go-sqlite3/vfs/readervfs"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// magic begins every SQLite database.
var magic = []byte("SQLite format 3\x00")

// Is tells a database by its first bytes.
func Is(src []byte) bool { return bytes.HasPrefix(src, magic) }

// serial tells databases apart that are open at the same time.
var serial atomic.Int64

// Parse reads a trace from the bytes of a database. The text of the trace goes to a spool, and the trace keeps that; src
// is not needed afterwards. name is for messages.
func Parse(src []byte, name string, o kineto.Options, to kineto.Spool) (*trace.Trace, error) {
	file := "overlay" + strconv.FormatInt(serial.Add(1), 10)
	readervfs.Create(file, ioutil.NewSizeReaderAt(bytes.NewReader(src)))
	defer readervfs.Delete(file)
	conn, err := sqlite3.OpenFlags("file:"+file+"?vfs=reader", sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("%s: the database cannot be opened: %s", name, plain(err))
	}
	defer conn.Close()
	r := &reader{conn: conn, w: writer{to: to}, tables: map[string]map[string]bool{}}
	form, err := r.read()
	if err == nil {
		err = r.w.close()
	}
	if err != nil {
		var e *wrong
		if errors.As(err, &e) {
			return nil, fmt.Errorf("%s: %s", name, e.text)
		}
		return nil, fmt.Errorf("%s: the database cannot be read: %s", name, plain(err))
	}
	text, err := to.Bytes()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return kineto.Parse(text, name, kineto.Options{Strict: o.Strict, From: int64(len(src)), Form: form})
}

// wrong is a database that is sound and of no use.
type wrong struct{ text string }

func (e *wrong) Error() string { return e.text }

// plain is an error of SQLite in one line.
func plain(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// reader asks a database.
type reader struct {
	conn   *sqlite3.Conn
	w      writer
	tables map[string]map[string]bool // table or view -> its columns
	names  map[int64]string           // StringIds of Nsight Systems, STRING_IDS of Ascend
	base   int64                      // time from which those of Ascend are told
}

// read finds out who wrote the database.
func (r *reader) read() (form string, err error) {
	if err := r.schema(); err != nil {
		return "", err
	}
	switch {
	case r.has("StringIds") && (r.has("CUPTI_ACTIVITY_KIND_RUNTIME") || r.has("CUPTI_ACTIVITY_KIND_KERNEL") || r.has("NVTX_EVENTS")):
		return "Nsight Systems database", r.nsys()
	case r.has("STRING_IDS", "id", "value") && (r.has("TASK", "startNs", "globalTaskId") || r.has("CANN_API", "startNs") || r.has("PYTORCH_API", "startNs")):
		return "Ascend profiler database", r.ascend()
	case r.has("kernels", "start", "end") || r.has("regions", "start", "end"):
		return "rocpd database", r.rocpd()
	case r.has("StringIds"):
		return "", &wrong{"this report of Nsight Systems holds no CUDA and no NVTX: record with --trace=cuda,nvtx"}
	}
	return "", &wrong{"this SQLite database is of no profiler that is known: give one of `nsys export --type sqlite`, of rocprofv3 (rocpd), or of Ascend (ascend_pytorch_profiler*.db, msprof_*.db)"}
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

// each runs a query and calls visit for its rows.
func (r *reader) each(query string, visit func(s *sqlite3.Stmt)) error {
	s, _, err := r.conn.Prepare(query)
	if err != nil {
		return err
	}
	defer s.Close()
	for s.Step() {
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
	return r.each("SELECT "+strings.Join(list, ", ")+" FROM "+sqlite3.QuoteIdentifier(table), visit)
}
