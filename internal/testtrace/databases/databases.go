// Package databases fills the tables of other profilers from a trace, as their descriptions say: no real database was at
// hand.
package databases

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/serdes"

	"overlay/internal/trace"
)

// PID is the process of the databases.
const PID = 4711

// filler fills a database.
type filler struct {
	tr      *trace.Trace
	conn    *sqlite3.Conn
	strings map[string]int64
	inserts map[string]*sqlite3.Stmt
}

func fill(tr *trace.Trace, tables string, body func(f *filler) error) ([]byte, error) {
	conn, err := sqlite3.Open(":memory:")
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	f := &filler{tr: tr, conn: conn, strings: map[string]int64{}, inserts: map[string]*sqlite3.Stmt{}}
	if err := conn.Exec(tables); err != nil {
		return nil, err
	}
	if err := body(f); err != nil {
		return nil, err
	}
	for _, s := range f.inserts {
		s.Close()
	}
	return serdes.Serialize(conn, "main")
}

// insert adds a row; nil is NULL.
func (f *filler) insert(table string, values ...any) error {
	s := f.inserts[table]
	if s == nil {
		var err error
		if s, _, err = f.conn.Prepare("INSERT INTO " + table + " VALUES (" + strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") + ")"); err != nil {
			return err
		}
		f.inserts[table] = s
	}
	for i, v := range values {
		var err error
		switch v := v.(type) {
		case nil:
			err = s.BindNull(i + 1)
		case int64:
			err = s.BindInt64(i+1, v)
		case int:
			err = s.BindInt64(i+1, int64(v))
		case string:
			err = s.BindText(i+1, v)
		}
		if err != nil {
			return err
		}
	}
	return s.Exec()
}

// each calls visit for the complete events of some kinds.
func (f *filler) each(visit func(id trace.EventID, e *trace.Event) error, kinds ...trace.Kind) error {
	for i := range f.tr.Events {
		if e := &f.tr.Events[i]; e.Ph == 'X' && e.Track != trace.NoTrack && slices.Contains(kinds, e.Kind) {
			if err := visit(trace.EventID(i), e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *filler) arg(id trace.EventID, key string) int64 {
	n, _ := f.tr.ArgInt(id, key)
	return n
}

func (f *filler) argOr(id trace.EventID, key string, other int64) int64 {
	if n, ok := f.tr.ArgInt(id, key); ok {
		return n
	}
	return other
}

// correlation of an event, NULL without.
func (f *filler) correlation(e *trace.Event) any {
	if e.Flags&trace.HasCorr == 0 {
		return nil
	}
	return f.tr.Corr(e)
}

// tid is the number of a thread: rows are numbered, since ids of the trace may be larger than the format's.
func tid(e *trace.Event) int64 { return int64(e.Track) + 100 }

func (f *filler) device(e *trace.Event) int64 {
	return max(f.tr.Procs[f.tr.Tracks[e.Track].Proc].Device, 0)
}

// stream is the one on which an operation ran.
func (f *filler) stream(e *trace.Event) int64 { return max(f.tr.Tracks[e.Track].Stream, 0) }

// quote is a string as JSON.
func quote(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings can always be written
	}
	return string(out)
}
