// Package sqlquery answers SQL over tables in memory: SQLite asks for the values where they lie, so nothing is imported or
// copied. It knows columns and nothing of what is in them.
//
// Every table of the sets is a virtual table of the same name, with the columns run and rank before its own. Nothing can
// be written: temporary tables are all that a query may make.
package sqlquery

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/stats"

	"overlay/internal/columns"
	"overlay/internal/limits"
	"overlay/internal/tables"
)

// DB is a connection to tables.
type DB struct {
	conn    *sqlite3.Conn
	refused bool // the last statement is not allowed
}

// Open makes a database of the tables of some sets, and of views over them, given as SQL. form has every table, also
// those that no set has: a query of such a one gives no rows. What does not fit into the memory of a query goes to temporary files,
// which are limited by the disk only; without files such a query fails.
func Open(form []columns.Table, sets []columns.Set, views string, files bool) (*DB, error) {
	conn, err := sqlite3.OpenContext(sqlite3.WithMaxMemory(context.Background(), limits.QueryMemory), ":memory:")
	if err != nil {
		return nil, err
	}
	conn.Limit(sqlite3.LIMIT_LENGTH, limits.QueryValue)
	db := &DB{conn: conn}
	if !files {
		views = "PRAGMA temp_store = memory;" + views
	}
	if err := db.fill(form, sets, views); err != nil {
		conn.Close()
		return nil, err
	}
	return db, nil
}

func (db *DB) fill(form []columns.Table, sets []columns.Set, views string) error {
	if err := stats.Register(db.conn); err != nil {
		return err
	}
	if err := db.conn.CreateWindowFunction("quantile_cont", 2, sqlite3.DETERMINISTIC|sqlite3.INNOCUOUS, newQuantile); err != nil {
		return err
	}
	for i := range form {
		t := newTable(&form[i], sets)
		err := sqlite3.CreateModule(db.conn, t.name, nil, func(c *sqlite3.Conn, _, _, _ string, _ ...string) (*table, error) {
			if err := c.VTabConfig(sqlite3.VTAB_INNOCUOUS); err != nil { // views may use it
				return nil, err
			}
			return t, c.DeclareVTab(t.declaration())
		})
		if err != nil {
			return err
		}
	}
	if err := db.conn.Exec(views); err != nil {
		return fmt.Errorf("sqlquery: internal error: views: %w", err)
	}
	return db.conn.SetAuthorizer(db.authorize)
}

// Close lets go of the database.
func (db *DB) Close() error { return db.conn.Close() }

// authorize allows what reads, and what makes and fills temporary tables.
func (db *DB) authorize(action sqlite3.AuthorizerActionCode, name, _, schema, _ string) sqlite3.AuthorizerReturnCode {
	switch action {
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_READ, sqlite3.AUTH_FUNCTION, sqlite3.AUTH_RECURSIVE,
		sqlite3.AUTH_CREATE_TEMP_TABLE, sqlite3.AUTH_CREATE_TEMP_VIEW, sqlite3.AUTH_CREATE_TEMP_INDEX,
		sqlite3.AUTH_DROP_TEMP_TABLE, sqlite3.AUTH_DROP_TEMP_VIEW, sqlite3.AUTH_DROP_TEMP_INDEX:
		return sqlite3.AUTH_OK
	case sqlite3.AUTH_INSERT, sqlite3.AUTH_UPDATE, sqlite3.AUTH_DELETE:
		if schema == "temp" || name == "sqlite_temp_master" {
			return sqlite3.AUTH_OK
		}
	case sqlite3.AUTH_PRAGMA:
		switch name {
		case "table_info", "table_xinfo", "table_list", "function_list", "compile_options":
			return sqlite3.AUTH_OK
		}
	}
	db.refused = true
	return sqlite3.AUTH_DENY
}

// errReadOnly refuses a statement that changes something.
var errReadOnly = errors.New("read only: a query cannot write, attach or change settings; temporary tables and views are allowed")

// What a query may not take.
var (
	errMemory = fmt.Errorf("it needs more than %s of memory: ask for fewer rows, or sort and group less", tables.FormatMegabytes(limits.QueryMemory, 0))
	errValue  = fmt.Errorf("a row, or a value that leads to one, is longer than %s: ask for a part of it", tables.FormatMegabytes(limits.QueryValue, 0))
)

// Query runs the statements of a text one after another and gives the rows of each that has columns to out. Several
// such results are refused, since one file holds one. When ctx ends the query, the error is the cause of that.
func (db *DB) Query(ctx context.Context, sql string, out Encoder) (err error) {
	defer func() {
		if trap := recover(); trap != nil { // the library panics where memory is short
			if e, ok := trap.(error); !ok || !strings.HasSuffix(e.Error(), "out of memory") {
				panic(trap)
			}
			err = errMemory
		}
		if stopped := context.Cause(ctx); err != nil && stopped != nil {
			err = stopped
		}
	}()
	defer db.conn.SetInterrupt(db.conn.SetInterrupt(ctx))
	results := 0
	for rest := sql; strings.TrimSpace(rest) != ""; {
		db.refused = false
		stmt, tail, err := db.conn.Prepare(rest)
		if err != nil {
			return db.queryError(sql, rest, err)
		}
		if stmt != nil { // else a comment
			if stmt.ColumnCount() > 0 {
				if results++; results > 1 {
					stmt.Close()
					return errors.New("two results: give one query at a time (temporary tables and views may come before it)")
				}
			}
			err = db.run(stmt, out)
			if e := stmt.Close(); err == nil {
				err = e
			}
			if err != nil {
				return db.queryError(sql, rest, err)
			}
		}
		if len(tail) >= len(rest) {
			break
		}
		rest = tail
	}
	if results == 0 {
		return errors.New("no query: a SELECT is missing")
	}
	return nil
}

func (db *DB) run(stmt *sqlite3.Stmt, out Encoder) error {
	n := stmt.ColumnCount()
	if n > 0 {
		names := make([]string, n)
		for i := range names {
			names[i] = stmt.ColumnName(i)
		}
		if err := out.Begin(names); err != nil {
			return err
		}
	}
	row := make([]Value, n)
	for stmt.Step() {
		size := 0
		for i := range row {
			row[i] = valueOf(stmt, i)
			if s, ok := row[i].(string); ok {
				size += len(s)
			}
			if size > limits.QueryValue {
				return errValue
			}
		}
		if n > 0 {
			if err := out.Row(row); err != nil {
				return err
			}
		}
	}
	if err := stmt.Err(); err != nil || n == 0 {
		return err
	}
	return out.End()
}

// queryError says in one line what is wrong with a query and where.
func (db *DB) queryError(whole, rest string, err error) error {
	if db.refused || strings.Contains(err.Error(), "may not be modified") || strings.Contains(err.Error(), "triggers on virtual tables") {
		return errReadOnly
	}
	var e *sqlite3.Error
	switch {
	case errors.Is(err, sqlite3.TOOBIG):
		return errValue
	case !errors.As(err, &e):
		return err
	}
	msg := strings.TrimPrefix(err.Error(), "sqlite3: ")
	msg = strings.TrimPrefix(msg, "SQL logic error: ")
	if at := e.SQL(); at != "" && strings.HasSuffix(rest, at) {
		before := whole[:len(whole)-len(at)]
		line := strings.Count(before, "\n") + 1
		column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
		msg = fmt.Sprintf("%s (line %d, column %d)", firstLine(msg), line, column)
	}
	return errors.New(msg)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
