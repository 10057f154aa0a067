package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/columns"
	"overlay/internal/parquetfile"
	"overlay/internal/relations"
	"overlay/internal/report"
	"overlay/internal/sqlquery"
	"overlay/internal/tables"
)

func (p *program) queryCommand() *cli.Command {
	takes := groups{queryFlags(), setFlags(), argsFlags(), methodFlags(), windowFlags(),
		{[]cli.Flag{&cli.StringFlag{Name: "max-memory", Category: generalGroup, DefaultText: "half of the machine's", Usage: "stop when the traces need more than `SIZE`, as in 500MB or 2GiB"}},
			func(r *flagReader, o *options) { o.maxMemory = r.bytes("max-memory") }},
		generalFlags()}
	return &cli.Command{Name: "query", Usage: "ask traces, or exported tables, in SQL", ArgsUsage: "'SELECT …' FILE|DIR [FILE|DIR …] [flags]", Flags: takes.flags(),
		Description: `
Answers one query over the tables of one trace or of many: events, the path, the dependencies, steps, collectives,
module calls. Inputs are traces, folders of traces, and folders that 'overlay export' has written. Nothing is imported
or changed. Twenty questions with their queries are in docs/queries.md.

Examples:
  overlay query --schema
  overlay query 'select name, sum(critical_ns)/1e6 as ms from events group by 1 order by ms desc limit 10' trace.json.gz
  overlay query -f slow.sql --format csv traces/ > slow.csv
  overlay query 'select rank, bound_by from runs' tables --engine duckdb`,
		Action: p.action(takes, ownFiles, checkQuery, (*job).query)}
}

// queryOptions are what only query has.
type queryOptions struct {
	sqlFile   string // the query; "" = the first argument
	sqlFormat string
	engine    string
	schema    bool
	maxMemory int64 // bytes; 0 = half of the machine's
}

func queryFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Category: filesGroup, Usage: "the query stands in `FILE`; then every argument is an input"},
		&cli.BoolFlag{Name: "schema", Category: filesGroup, Usage: "print the tables with what their columns mean, and read nothing"},
		&cli.StringFlag{Name: "format", Category: filesGroup, Value: "table", Usage: "print the result as `table|csv|json|jsonl`"},
		&cli.StringFlag{Name: "engine", Category: filesGroup, Value: "sqlite",
			Usage: "who answers, `sqlite|duckdb`: sqlite is built in and reads the tables where they lie in memory; duckdb is the program of that name, and quicker for many ranks"},
	}, func(r *flagReader, o *options) {
		o.sqlFile, o.schema = r.path("file"), r.Bool("schema")
		o.sqlFormat, o.engine = r.oneOf("format", sqlquery.Formats...), r.oneOf("engine", "sqlite", "duckdb")
	}}
}

func checkQuery(r *flagReader, o *options) {
	want := 2 // a query and an input
	if o.sqlFile != "" {
		want = 1
	}
	switch n := r.NArg(); {
	case o.schema && n > 0:
		r.problem("--schema reads nothing: leave out %s", quote(r.Args().First()))
	case o.schema:
	case n == 0 && want == 2:
		r.problem("no query: overlay query 'select …' FILE")
	case n < want:
		r.problem("no input: give traces, or a folder of tables, behind the query")
	}
}

// query answers one query over all inputs.
func (j *job) query() error {
	if j.opts.schema {
		return j.print(schemaText())
	}
	sql, inputs := j.opts.sqlFile, j.files
	if sql == "" {
		sql, inputs = j.files[0], j.files[1:]
	} else {
		text, err := os.ReadFile(sql)
		if err != nil {
			return inputError(sql, err)
		}
		sql = string(text)
	}
	if namesTrace(sql) && !strings.ContainsAny(sql, " \n") {
		return fmt.Errorf("%s is no query: the query comes first, then the inputs", sql)
	}
	if j.opts.engine == "duckdb" {
		return j.queryDuckDB(sql, inputs)
	}
	sets, err := j.loadSets(inputs, relations.Mentioned(sql))
	if err != nil {
		return err
	}
	j.stages.start("query")
	db, err := sqlquery.Open(relations.Empty(), sets, relations.Views)
	if err != nil {
		return err
	}
	defer db.Close()
	var out bytes.Buffer
	if err := db.Query(context.Background(), sql, sqlquery.NewEncoder(j.opts.sqlFormat, &out, report.Plain)); err != nil {
		if s := err.Error(); strings.Contains(s, "no such table") || strings.Contains(s, "no such column") {
			return fmt.Errorf("query: %w; 'overlay query --schema' lists tables and columns", err)
		}
		return fmt.Errorf("query: %w", err)
	}
	return j.print(j.shown(out.String()))
}

// shown is a result as it may be printed: JSON keeps its meaning, and only a terminal is spared the characters that it
// would obey, since other readers want texts as they are.
func (j *job) shown(result string) string {
	switch {
	case j.opts.sqlFormat == "json" || j.opts.sqlFormat == "jsonl":
		var b strings.Builder
		w := report.PlainJSON(&b)
		io.WriteString(w, result) // into memory: nothing can fail
		w.Close()
		return b.String()
	case j.opts.sqlFormat == "table" || isTerminal(j.stdout):
		lines := strings.Split(result, "\n")
		for i := range lines {
			lines[i] = report.Plain(lines[i])
		}
		return strings.Join(lines, "\n")
	}
	return result
}

// loadSets makes the tables that are wanted of all inputs.
func (j *job) loadSets(inputs []string, want func(string) bool) ([]columns.Set, error) {
	var sets []columns.Set
	var traces []string
	for _, name := range inputs {
		exported := exportedSets(name)
		if len(exported) == 0 {
			traces = append(traces, name)
		}
		for _, x := range exported {
			list, err := j.readTables(x, want)
			if err != nil {
				return nil, err
			}
			sets = append(sets, columns.Set{Run: x.run, Rank: x.rank, Tables: list})
		}
	}
	list, err := rankInputs(traces, j.opts.runName, j.opts.rank, j.opts.maxExpand)
	if err != nil {
		return nil, err
	}
	limit := j.opts.maxMemory
	if limit == 0 {
		limit = machineMemory(j.memory) / 2
	}
	err = j.eachTables(list, relations.Source{Args: j.opts.args, Want: want}, func(i int, made []columns.Table) error {
		sets = append(sets, columns.Set{Run: list[i].run, Rank: list[i].rank, Tables: made})
		if held := privateMemory(); limit > 0 && held > limit && i+1 < len(list) {
			return fmt.Errorf("%d of %d traces hold %s of memory, more than %s: write tables with 'overlay export' and ask those with --engine duckdb, or raise --max-memory",
				i+1, len(list), megabytes(held), megabytes(limit))
		}
		return nil
	})
	return sets, err
}

// readTables reads the tables that are wanted of a set that export has written.
func (j *job) readTables(x exportedSet, want func(string) bool) ([]columns.Table, error) {
	j.stages.start("reading")
	var list []columns.Table
	for _, form := range relations.Empty() {
		if !want(form.Name) {
			continue
		}
		name := filepath.Join(x.path, form.Name+".parquet")
		t, err := readTable(name, form)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

func readTable(name string, form columns.Table) (columns.Table, error) {
	f, err := os.Open(name)
	if err != nil {
		return columns.Table{}, inputError(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return columns.Table{}, inputError(name, err)
	}
	t, err := parquetfile.Read(f, info.Size(), form, relations.Schema)
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// schemaText is what `query --schema` prints: SQL that says what there is, with comments.
func schemaText() string {
	var b strings.Builder
	b.WriteString("-- Tables of 'overlay query' and 'overlay export', schema " + relations.Schema + ". Times are ns on the trace's own clock.\n")
	b.WriteString("-- Event numbers are those of one trace: joins over several ranks also need run and rank.\n")
	for _, t := range relations.Empty() {
		fmt.Fprintf(&b, "\n-- %s\nCREATE TABLE %s (\n", t.About, t.Name)
		cols := slices.Concat(columns.Keys, t.Cols)
		for i, c := range cols {
			comma := ","
			if i == len(cols)-1 {
				comma = ""
			}
			null := " NOT NULL"
			if c.Null {
				null = ""
			}
			unit := ""
			if c.Unit != tables.Text {
				unit = " [" + c.Unit.String() + "]"
			}
			fmt.Fprintf(&b, "  %-34s -- %s%s\n", c.Name+" "+c.Type.SQL()+null+comma, c.About, unit)
		}
		b.WriteString(");\n")
	}
	return b.String() + "\n" + relations.Views
}

// errNoDuckDB says how to get the other engine.
var errNoDuckDB = errors.New("no program duckdb on PATH: get it from https://duckdb.org, or leave out --engine duckdb")
