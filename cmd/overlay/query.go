//go:build !quick

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"overlay/internal/agents"
	"overlay/internal/columns"
	"overlay/internal/container"
	"overlay/internal/history"
	"overlay/internal/inputs"
	"overlay/internal/limits"
	"overlay/internal/pipeline"
	"overlay/internal/ranks/parts"
	"overlay/internal/relations"
	"overlay/internal/report"
	"overlay/internal/sqlquery"
	"overlay/internal/tables"
)

func (p *program) queryCommand() *cli.Command {
	takes := groups{queryFlags(), setFlags(), graphFlags(), argsFlags(), methodFlags(), windowFlags(),
		{[]cli.Flag{&cli.StringFlag{Name: "max-memory", Category: generalGroup, DefaultText: "half of the machine's", Usage: "stop when the traces need more than `SIZE`, as in 500MB or 2GiB"}},
			func(r *flagReader, o *options) { o.maxMemory = r.bytes("max-memory") }},
		generalFlags()}
	return &cli.Command{Name: "query", Usage: "ask traces, or exported tables, in SQL", ArgsUsage: "'SELECT …' FILE|DIR [FILE|DIR …] [flags]", Flags: takes.flags(),
		Action: p.action(takes, ownFiles, checkQuery, (*job).query)}
}

func queryFlags() group {
	return group{[]cli.Flag{
		readsFile(&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Category: filesGroup, Usage: "the query stands in `FILE`; then every argument is an input"}),
		&cli.BoolFlag{Name: "schema", Category: filesGroup, Usage: "print the tables with what their columns mean, and read nothing"},
		&cli.StringFlag{Name: "format", Category: filesGroup, Value: "table", Usage: "print the result as `table|csv|json|jsonl`"},
	}, func(r *flagReader, o *options) {
		o.sqlFile, o.schema = r.path("file"), r.Bool("schema")
		o.sqlFormat = r.oneOf("format", sqlquery.Formats...)
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

// ofHistory is a query of the runs of a folder of summaries instead of their ranks.
var ofHistory = regexp.MustCompile(`(?i)\b(from|join)\s+"?history\b`)

// query answers one query over all inputs.
func (j *job) query() error {
	if j.opts.schema {
		return j.print(schemaText())
	}
	sql, names := j.opts.sqlFile, j.files
	if sql == "" {
		sql, names = j.files[0], j.files[1:]
	} else {
		text, err := inputs.ReadFile(sql)
		if err != nil {
			return inputs.Error(sql, err)
		}
		sql = string(text)
	}
	if inputs.IsTraceName(sql) && !strings.ContainsAny(sql, " \n") {
		return fmt.Errorf("%s is no query: the query comes first, then the inputs", sql)
	}
	form, views := relations.Empty(), relations.Views
	summaries, others := inputs.SummarySets(names)
	var sets []columns.Set
	var err error
	switch {
	case len(summaries) > 0 && len(others) == 0 && ofHistory.MatchString(sql):
		form, views = []columns.Table{history.Form}, ""
		sets, err = historySets(names)
	case len(summaries) > 0 && len(others) == 0:
		form, views = parts.Empty(), ""
		sets, err = loadSummaries(summaries)
	default:
		sets, err = j.loadSets(names, relations.Mentioned(sql))
	}
	if err != nil {
		return err
	}
	db, err := sqlquery.Open(form, sets, views, j.agentRows == 0)
	if err != nil {
		return err
	}
	j.result = func(w io.Writer) error {
		j.stages.start("query")
		defer j.stages.start("")
		defer db.Close()
		return inputs.Guard("", func() error { return j.answer(db, sql, w) })
	}
	return nil
}

// answer writes the result of a query row by row, as it may be printed: JSON keeps its meaning, and only a terminal is spared the
// characters that it would obey, since other readers want texts as they are.
func (j *job) answer(db *sqlquery.DB, sql string, w io.Writer) error {
	ctx, stop := queryBounds(j.opts.memoryForTraces(j.memory), j.agentRows > 0)
	defer stop()
	var clean func(string) string
	if j.opts.sqlFormat == "table" || isTerminal(j.stdout) {
		clean = report.Plain
	}
	end := func() error { return nil }
	if j.opts.sqlFormat == "json" || j.opts.sqlFormat == "jsonl" {
		safe := report.PlainJSON(w)
		w, end = safe, safe.Close
	}
	var err error
	if j.agentRows > 0 {
		err = agents.AnswerRows(ctx, db, sql, w, j.agentRows)
	} else {
		err = db.Query(ctx, sql, sqlquery.NewEncoder(j.opts.sqlFormat, w, clean))
	}
	if err == nil {
		return end()
	}
	if s := err.Error(); strings.Contains(s, "no such table") || strings.Contains(s, "no such column") {
		return fmt.Errorf("query: %w; 'overlay query --schema' lists tables and columns", err)
	}
	return fmt.Errorf("query: %w", err)
}

// queryBounds ends a query that takes too long, or more memory than there is for it: SQLite's own is bounded, the tables that it
// reads and what functions collect is not.
func queryBounds(memory int64, agent bool) (context.Context, func()) {
	most := limits.QueryTime
	if agent {
		most, memory = limits.AgentQueryTime, container.Private()+limits.AgentMemory
	}
	timed, stop := context.WithTimeoutCause(context.Background(), most, fmt.Errorf("it is not done after %v: ask for less, or ask the exported tables in another engine", most))
	ctx, full := context.WithCancelCause(timed)
	go func() {
		for ctx.Err() == nil {
			if held := container.Private(); memory > 0 && held > memory {
				full(fmt.Errorf("it takes the program to %s of memory, more than %s: ask for less", container.Megabytes(held), container.Megabytes(memory)))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return ctx, func() { full(nil); stop() }
}

// memoryForTraces is how much the tables of traces may take.
func (o *options) memoryForTraces(allowed int64) int64 {
	return cmp.Or(o.maxMemory, container.Machine(allowed)/2)
}

// loadSets makes the tables that are wanted of all inputs. Those of traces hold on to their trace.
func (j *job) loadSets(names []string, want func(string) bool) ([]columns.Set, error) {
	var sets []columns.Set
	var traces []string
	for _, name := range names {
		exported := inputs.SetsIn(name)
		if len(exported) == 0 {
			traces = append(traces, name)
		}
		for _, x := range exported {
			j.stages.start("reading")
			list, err := readTables(x, want)
			if err != nil {
				return nil, err
			}
			sets = append(sets, columns.Set{Run: x.Run, Rank: x.Rank, Tables: list})
		}
	}
	f, err := inputs.Find(traces)
	if err != nil {
		return nil, err
	}
	limit, n := j.opts.memoryForTraces(j.memory), 0
	named, made, err := eachSet(j, f, inputs.How{InTurn: true, Keep: true}, func(x *inputs.Item, r *pipeline.Run) ([]columns.Table, error) {
		n++
		if held := container.Private(); limit > 0 && held > limit && n > 1 {
			return nil, fmt.Errorf("%d of %d traces hold %s of memory, more than %s: write tables with 'overlay export' and ask those in another engine (docs/sql.md), or raise --max-memory",
				n-1, max(n, len(f.Files)), container.Megabytes(held), container.Megabytes(limit))
		}
		return r.Tables(j.opts.source(x, want)), nil
	})
	for i := range named {
		sets = append(sets, columns.Set{Run: named[i].Run, Rank: named[i].Rank, Tables: made[i]})
	}
	return sets, err
}

// loadSummaries reads the tables of summaries.
func loadSummaries(list []inputs.Set) (sets []columns.Set, err error) {
	for _, x := range list {
		s, err := readSummary(x.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", report.Plain(x.Path), err)
		}
		sets = append(sets, columns.Set{Run: x.Run, Rank: x.Rank, Tables: parts.Tables(s)})
	}
	return sets, nil
}

// readTables reads the tables that are wanted of a set that export has written.
func readTables(x inputs.Set, want func(string) bool) ([]columns.Table, error) {
	var list []columns.Table
	for _, form := range relations.Empty() {
		if !want(form.Name) {
			continue
		}
		name := filepath.Join(x.Path, form.Name+".parquet")
		t, err := readTable(name, form, relations.Schema)
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			return nil, inputs.Error(name, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, t)
	}
	return list, nil
}

// schemaText is what `query --schema` prints: SQL that says what there is, with comments.
func schemaText() string {
	var b strings.Builder
	b.WriteString("-- Tables of 'overlay query' and 'overlay export', schema " + relations.Schema + ". Times are ns on the trace's own clock.\n")
	b.WriteString("-- Event numbers are those of one trace: joins over several ranks also need run and rank.\n")
	writeTables(&b, relations.Empty())
	b.WriteString("\n" + relations.Views + "\n-- Tables of the summaries that 'overlay export --tables summary' writes, where nothing else is asked.\n")
	writeTables(&b, parts.Empty())
	b.WriteString("\n-- The runs of such a folder, asked by themselves. They are of rank -1: what a row is of stands in it.\n")
	writeTables(&b, []columns.Table{history.Form})
	return b.String()
}

func writeTables(b *strings.Builder, list []columns.Table) {
	for _, t := range list {
		fmt.Fprintf(b, "\n-- %s\nCREATE TABLE %s (\n", t.About, t.Name)
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
			fmt.Fprintf(b, "  %-34s -- %s%s\n", c.Name+" "+c.Type.SQL()+null+comma, c.About, unit)
		}
		b.WriteString(");\n")
	}
}
