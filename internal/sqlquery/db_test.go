package sqlquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"overlay/internal/columns"
	"overlay/internal/tables"
)

// calls and ops are two events tables: host calls 0 and 1, and operations that they launched, of which one has no launch.
func form() []columns.Table {
	col := func(name string, t columns.Type, null, rising bool) columns.Column {
		return columns.Column{Column: tables.Column{Name: name}, Type: t, Null: null, Rising: rising}
	}
	return []columns.Table{{Name: "events", Cols: []columns.Column{
		col("event", columns.Int32, false, true), col("name", columns.Text, false, false), col("launch_event", columns.Int32, true, false),
		col("x", columns.Float64, true, false), col("on_path", columns.Bool, false, false), col("tag", columns.Text, true, false)}},
		{Name: "empty", Cols: []columns.Column{col("event", columns.Int32, false, true)}}}
}

type row struct {
	event  int64
	name   string
	launch int64 // -1: null
	x      float64
	path   bool
	tag    string // "": null
}

func set(run string, rank int64, rows ...row) columns.Set {
	t := form()[0]
	var syms []string
	number := map[string]uint32{}
	for _, r := range rows {
		for _, s := range []string{r.name, r.tag} {
			if _, ok := number[s]; !ok {
				number[s] = uint32(len(syms))
				syms = append(syms, s)
			}
		}
	}
	t.Rows = len(rows)
	t.Data = []columns.Data{
		{Int: func(i int) (int64, bool) { return rows[i].event, true }},
		{Syms: syms, Sym: func(i int) (uint32, bool) { return number[rows[i].name], true }},
		{Int: func(i int) (int64, bool) { return rows[i].launch, rows[i].launch >= 0 }},
		{Float: func(i int) (float64, bool) { return rows[i].x, rows[i].x >= 0 }},
		{Int: func(i int) (int64, bool) {
			if rows[i].path {
				return 1, true
			}
			return 0, true
		}},
		{Str: func(i int) (string, bool) { return rows[i].tag, rows[i].tag != "" }},
	}
	return columns.Set{Run: run, Rank: rank, Tables: []columns.Table{t}}
}

func two() []columns.Set {
	return []columns.Set{
		set("a", 0, row{0, "launch", -1, 0.5, true, "t"}, row{3, "launch", -1, -1, false, ""}, row{5, "kernel", 0, 1, true, "u"}, row{7, "kernel", 3, 2, false, "t"}, row{9, "lost", -1, 3, false, ""}),
		set("a", 2, row{0, "launch", -1, 4, false, ""}, row{1, "kernel", 0, 5, true, "t"}),
	}
}

func open(t testing.TB, sets []columns.Set) *DB {
	t.Helper()
	db, err := Open(form(), sets, "CREATE VIEW kernels AS SELECT * FROM events WHERE name = 'kernel';", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func ask(t testing.TB, db *DB, sql string) string {
	t.Helper()
	var b strings.Builder
	if err := db.Query(context.Background(), sql, NewEncoder("csv", &b, nil)); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	_, rows, _ := strings.Cut(b.String(), "\n")
	return strings.ReplaceAll(strings.TrimSuffix(rows, "\n"), "\n", " ")
}

func TestQueries(t *testing.T) {
	db := open(t, two())
	for _, c := range []struct{ sql, want string }{
		{"select count(*) from events", "7"},
		{"select p.event, q.event from events p left join events q on q.tag = p.tag and q.rank = p.rank where p.rank = 0 order by 1, 2", "0,0 0,7 3, 5,5 7,0 7,7 9,"},
		{"select run, rank, event from events where event = 0", "a,0,0 a,2,0"},
		{"select event from events where rank = 0 and event >= 3 and event < 9", "3 5 7"},
		{"select event from events where rank = 2", "0 1"},
		{"select event from events where run = 'b'", ""},
		{"select count(*) from events where run = 'a'", "7"},
		{"select event from events where event between 4 and 8 and name = 'kernel'", "5 7"},
		{"select event from events where name = 'no such'", ""},
		{"select event from events where name in ('lost', 'kernel') and rank = 0 order by event desc", "9 7 5"},
		{"select event from events where tag = 't' order by rank, event", "0 7 1"},
		{"select count(x), sum(x), count(tag) from events", "6,15.5,4"},
		{"select event from events where launch_event is null and rank = 0", "0 3 9"},
		{"select event from events where on_path and rank = 0", "0 5"},
		{"select event from events where event = '5'", "5"},
		{"select event from events where event = 5.0", "5"},
		{"select event from events where event > 6.5", "7 9"},
		{"select event from events where event < 9223372036854775807 and event > -9223372036854775808 and rank = 2", "0 1"},
		{"select event from events where event >= 9223372036854775807", ""},
		{"select event from events where name = 'KERNEL' collate nocase and rank = 0", "5 7"},
		{"select count(*) from empty", "0"},
		{"select e.event from empty e join events using (event)", ""},
		{"select event from events limit 0", ""},
		{"select name, count(*) from events group by name order by 1", "kernel,3 launch,3 lost,1"},
		{"select name, rank, sum(x) from events where event > 0 group by name, rank order by 1, 2", "kernel,0,3.0 kernel,2,5.0 launch,0, lost,0,3.0"},
		{"select count(*) from (select name, run from events group by 2, 1)", "3"},
		{"select event from kernels where rank = 2", "1"},
		{"select median(x), quantile_cont(x, 0.95), quantile_cont(x, 0) from events where rank = 0", "1.5,2.85,0.5"},
		{"select quantile_cont(x, 0.5) from events where rank = 9", ""},
		{"select quantile_cont(x, 1), quantile_cont(x, 0) from events", "5.0,0.5"},
		{"select event from events where tag = 'u'", "5"},
		{"select count(*) from (select rowid from events group by rowid)", "7"},
		{"create temp table k as select * from events where x > 1; select count(*) from k", "4"},
		{"-- a comment\nselect 1;\n-- another\n", "1"},
	} {
		if got := ask(t, db, c.sql); strings.Trim(got, `"`) != c.want {
			t.Errorf("%s: %q, want %q", c.sql, got, c.want)
		}
	}
}

// TestPlans looks at what is used of a query: without it the answers would be the same, and slow. A plan has a term for each column:
// p leaves out sets, s searches, i looks up in an index, t tests each row, g groups.
func TestPlans(t *testing.T) {
	db := open(t, two())
	for _, c := range []struct{ sql, want string }{
		{"select 1 from events where rank = 0 and run = 'a'", "rank p, run p"},
		{"select 1 from events where rank > 0", ""},
		{"select 1 from events where event > 3 and event <= 5", "event s, event s"},
		{"select 1 from events where event = 3 and name = 'kernel'", "event s"},
		{"select 1 from events where name > 'a' or name = 'b'", ""},
		{"select 1 from events where name = 'a' collate nocase", ""},
		{"select 1 from events where x = 1 and launch_event = 3 and launch_event < 9", ""},
		{"select 1 from events where x < 1 and tag is null", ""},
		{"select 1 from events a cross join events b where b.launch_event = a.event and b.tag = a.tag", "; launch_event i"},
		{"select 1 from events a cross join events b where b.event = a.launch_event", "; event s"},
		{"select 1 from events a join events b on b.event = a.launch_event", "; event s"}, // the search is inside
		{"select event, count(*) from events group by event", ""},
		{"select tag, count(*) from events group by tag", ""}, // each row has a text of its own
		{"select rowid, count(*) from events group by rowid", ""},
		{"select b.name, count(*) from empty a cross join events b where b.event = a.event group by b.name", "; event s"},
	} {
		var b strings.Builder
		if err := db.Query(context.Background(), "explain query plan "+c.sql, NewEncoder("jsonl", &b, nil)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(b.String()) {
			var x struct{ Detail string }
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err)
			}
			_, plan, ok := strings.Cut(x.Detail, "VIRTUAL TABLE INDEX 0:")
			if !ok {
				continue
			}
			var terms []string
			for _, term := range decodePlan(plan) {
				terms = append(terms, (append([]string{"run", "rank"}, "event", "name", "launch_event", "x", "on_path", "tag"))[term.column]+" "+string(term.how))
			}
			got = append(got, strings.Join(terms, ", "))
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.sql, got, c.want)
		}
	}
}

// TestReadsLittle counts the values that are read: none of sets that do not matter, and few where a column rises.
func TestReadsLittle(t *testing.T) {
	const rows = 10_000
	read := make([]int, 2)
	var sets []columns.Set
	for rank := range read {
		table := form()[0]
		table.Rows = rows
		for _, c := range table.Cols {
			d := columns.Data{Int: func(row int) (int64, bool) { read[rank]++; return int64(row), true }}
			if c.Type == columns.Text {
				d = columns.Data{Sym: func(int) (uint32, bool) { read[rank]++; return 0, true }, Syms: []string{"n"}}
			}
			table.Data = append(table.Data, d)
		}
		sets = append(sets, columns.Set{Run: string(rune('a' + rank)), Rank: int64(rank), Tables: []columns.Table{table}})
	}
	db := open(t, sets)
	for _, c := range []struct {
		where string
		most  [2]int
	}{
		{"rank = 1", [2]int{0, rows}},
		{"run = 'a'", [2]int{rows, 0}},
		{"event = 77", [2]int{100, 100}},
		{"event > 9990", [2]int{100, 100}},
		{"event < 5 and rank = 0", [2]int{100, 100}},
		{"event >= 5000 and event <= 5001", [2]int{100, 100}},
		{"rank = 0 and run = 'b'", [2]int{0, 0}},
	} {
		read[0], read[1] = 0, 0
		ask(t, db, "select event from events where "+c.where)
		for rank, n := range read {
			if n > c.most[rank] {
				t.Errorf("%s: %d values of rank %d, want %d at most", c.where, n, rank, c.most[rank])
			}
		}
	}
}

// TestNullJoins joins columns with nulls: a null fits no row, least of all row 0.
func TestNullJoins(t *testing.T) {
	db := open(t, two())
	for _, c := range []struct{ sql, want string }{
		{"select k.event, l.event from events k join events l on l.event = k.launch_event and l.rank = k.rank order by k.rank, k.event", "5,0 7,3 1,0"},
		{"select count(*) from events k left join events l on l.event = k.launch_event and l.rank = k.rank where l.event is null", "4"},
		{"select count(*) from events a join events b on b.tag = a.tag", "10"},
		{"select count(*) from events a join events b on b.launch_event = a.launch_event", "5"},
		{"select count(*) from events where event = null", "0"},
		{"select count(*) from events where event >= (select launch_event from events where name = 'lost')", "0"},
		{"select count(*) from events where name = (select tag from events where name = 'lost')", "0"},
		{"select count(*) from events where rank = null or run = null", "0"},
	} {
		if got := ask(t, db, c.sql); got != c.want {
			t.Errorf("%s: %q, want %q", c.sql, got, c.want)
		}
	}
}

// TestManyCursors joins one table with itself many times over: cursors share nothing that moves.
func TestManyCursors(t *testing.T) {
	db := open(t, two()[:1])
	sql := "select count(*) from events e0"
	for i := 1; i < 60; i++ {
		sql += fmt.Sprintf(" join events e%d on e%d.event = e%d.event", i, i, i-1)
	}
	if got := ask(t, db, sql); got != "5" {
		t.Errorf("60 times the same table: %s rows, want 5", got)
	}
}

func TestReadOnly(t *testing.T) {
	db := open(t, two())
	for _, sql := range []string{"create table t(x)", "create view v as select 1", "delete from events", "insert into events(event) values (1)", "update events set event = 1",
		"attach 'x.db' as x", "attach ':memory:' as x", "vacuum into '/tmp/x.db'", "pragma journal_mode=off", "pragma query_only=0", "begin", "drop view kernels",
		"create virtual table v using events", "create temp trigger t after insert on events begin select 1; end", "detach main"} {
		err := db.Query(context.Background(), sql, NewEncoder("csv", &strings.Builder{}, nil))
		if err == nil || !strings.HasPrefix(err.Error(), "read only: ") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := ask(t, db, "select count(*) from events"); got != "7" {
		t.Errorf("afterwards %s rows", got)
	}
}

func TestErrors(t *testing.T) {
	db := open(t, two())
	for _, c := range []struct{ sql, want string }{
		{"select evnt\nfrom events", "no such column: evnt (line 1, column 8)"},
		{"select 1,\n  from events", `near "from": syntax error (line 2, column 3)`},
		{"select * from nowhere", "no such table: nowhere"},
		{"select 1; select 2", "two results: give one query at a time (temporary tables and views may come before it)"},
		{"-- nothing", "no query: a SELECT is missing"},
		{"select quantile_cont(x, 95) from events", "quantile_cont(x, f): f is a share from 0 to 1"},
		{"select length(replace(hex(zeroblob(400000000)), '0', 'abcdefgh'))", "a row, or a value that leads to one, is longer than 16 MB"},
		{"select zeroblob(9000000), zeroblob(9000001)", "a row, or a value that leads to one, is longer than 16 MB"},
		{"with recursive t(x) as (select 1 union all select x + 1 from t where x < 10) select length(group_concat(y)) from (select hex(zeroblob(7000000 + x)) as y from t order by y)", "it needs more than 128 MB of memory"},
	} {
		err := db.Query(context.Background(), c.sql, NewEncoder("csv", &strings.Builder{}, nil))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.sql, err, c.want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	db := open(t, two())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := db.Query(ctx, "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n", NewEncoder("csv", &strings.Builder{}, nil))
	if err == nil {
		t.Error("an endless query came to an end")
	}
	if got := ask(t, db, "select 1"); got != "1" {
		t.Error("no query after an interrupted one")
	}
}

func TestFormats(t *testing.T) {
	db := open(t, two())
	const sql = "select event, name, x, tag from events where rank = 0 and event < 5"
	for format, want := range map[string]string{
		"table": "event  name      x  tag\n-----  ------  ---  ---\n    0  launch  0.5  t\n    3  launch\n",
		"csv":   "event,name,x,tag\n0,launch,0.5,t\n3,launch,,\n",
		"jsonl": `{"event": 0, "name": "launch", "x": 0.5, "tag": "t"}` + "\n" + `{"event": 3, "name": "launch", "x": null, "tag": null}` + "\n",
		"json":  "[\n" + `{"event": 0, "name": "launch", "x": 0.5, "tag": "t"}` + ",\n" + `{"event": 3, "name": "launch", "x": null, "tag": null}` + "\n]\n",
	} {
		var b strings.Builder
		if err := db.Query(context.Background(), sql, NewEncoder(format, &b, func(s string) string { return s })); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s:\n%s", format, diff)
		}
	}
	for format, want := range map[string]string{"json": "[]\n", "jsonl": "", "csv": "1\n", "table": "1\n-\n"} {
		var b strings.Builder
		if err := db.Query(context.Background(), "select 1 where 0", NewEncoder(format, &b, func(s string) string { return s })); err != nil || b.String() != want {
			t.Errorf("%s of no rows: %q %v", format, b.String(), err)
		}
	}
}

// errSink fails after some rows.
type errSink struct{ left int }

var errFull = errors.New("full")

func (e *errSink) Begin([]string) error { return nil }
func (e *errSink) End() error           { return nil }
func (e *errSink) Row([]Value) error {
	if e.left--; e.left < 0 {
		return errFull
	}
	return nil
}

// TestNoNumber: JSON has no infinite number.
func TestNoNumber(t *testing.T) {
	var b strings.Builder
	if err := open(t, two()).Query(context.Background(), "select 9e999 as far, -9e999 as low, 0.5 as near", NewEncoder("jsonl", &b, nil)); err != nil || b.String() != `{"far": null, "low": null, "near": 0.5}`+"\n" {
		t.Errorf("%v, %s", err, b.String())
	}
}

func TestSinkFails(t *testing.T) {
	if err := open(t, two()).Query(context.Background(), "select * from events", &errSink{2}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

// TestSameAsOwnTables asks random questions of the virtual tables and of copies of them in SQLite's own form: what is
// pushed down may only save rows.
func TestSameAsOwnTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sets []columns.Set
		for rank := range rapid.IntRange(0, 3).Draw(t, "ranks") {
			var rows []row
			at := int64(0)
			for range rapid.IntRange(0, 12).Draw(t, "rows") {
				at += rapid.Int64Range(0, 2).Draw(t, "gap")
				rows = append(rows, row{at, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), rapid.Int64Range(-1, 6).Draw(t, "launch"),
					float64(rapid.IntRange(-1, 3).Draw(t, "x")), rapid.Bool().Draw(t, "path"), rapid.SampledFrom([]string{"", "a", "d"}).Draw(t, "tag")})
			}
			sets = append(sets, set("r", int64(rank), rows...))
		}
		db, err := Open(form(), sets, "", false)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		value := rapid.SampledFrom([]string{"0", "1", "3", "-1", "null", "'a'", "'2'", "2.0", "1.5", "'d'"})
		column := rapid.SampledFrom([]string{"run", "rank", "event", "name", "launch_event", "x", "on_path", "tag"})
		op := rapid.SampledFrom([]string{"=", "<", "<=", ">", ">=", "<>", "is"})
		where := func(table, other string) string {
			var terms []string
			for range rapid.IntRange(1, 3).Draw(t, "terms") {
				right := value.Draw(t, "value")
				if other != "" && rapid.Bool().Draw(t, "join") {
					right = other + "." + column.Draw(t, "other")
				}
				terms = append(terms, table+"."+column.Draw(t, "column")+" "+op.Draw(t, "op")+" "+right)
			}
			return strings.Join(terms, rapid.SampledFrom([]string{" and ", " or "}).Draw(t, "and"))
		}
		query := "select p.rank, p.event, p.name, p.launch_event, q.rank, q.event, q.tag from %[1]s p left join %[1]s q on " + where("q", "p") + " where " + where("p", "") + " order by 1,2,3,4,5,6,7"
		if rapid.Bool().Draw(t, "one") {
			query = "select event, name from %[1]s p where " + where("p", "") + " order by event"
			if len(sets) > 1 {
				query += ", 2"
			}
		}
		if rapid.Bool().Draw(t, "group") {
			by := rapid.SampledFrom([]string{"name", "run, name", "name, rank", "rank, name, run", "tag", "name, event", "rank", "on_path, name"}).Draw(t, "by")
			query = "select " + by + ", count(*), sum(event) from %[1]s p where " + where("p", "") + " group by " + by + " order by " + by
		}
		ask := func(sql string) string {
			var b strings.Builder
			if err := db.Query(context.Background(), sql, NewEncoder("csv", &b, nil)); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			return b.String()
		}
		got := ask(fmt.Sprintf(query, "events"))
		want := ask("create temp table copy(run text, rank bigint, event integer, name text, launch_event integer, x double, on_path boolean, tag text); insert into copy select * from events; " + fmt.Sprintf(query, "copy"))
		if len(sets) <= 1 && !strings.Contains(query, "join") { // equal events may come in any order
			got, want = sorted(got), sorted(want)
		}
		if got != want {
			t.Fatalf("%s\n got %s\nwant %s", query, got, want)
		}
	})
}

func sorted(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
