//go:build quick

// The tag quick leaves out what takes longest to compile: SQLite, Parquet, and the library of agents' protocol, which are half of the
// time. `make demo` builds a newcomer's first program with it.

package main

import (
	"github.com/urfave/cli/v2"

	"overlay/internal/columns"
	"overlay/internal/inputs"
)

// leavesOut is what this build lacks, for people.
const leavesOut = ", the quick build of 'make demo': 'make build' adds databases, query, export and mcp"

func readTable(string, columns.Table, string) (columns.Table, error) {
	return columns.Table{}, inputs.LeftOut("reading tables")
}

func (p *program) queryCommand() *cli.Command {
	return without("query", "ask traces, or exported tables, in SQL")
}
func (p *program) exportCommand() *cli.Command {
	return without("export", "write tables as Parquet for DuckDB, Spark, pandas, …")
}
func (p *program) mcpCommand() *cli.Command {
	return without("mcp", "answer agents over standard input and output (Model Context Protocol)")
}
func (p *program) historyCommand() *cli.Command {
	return without("history", "say what changed over many runs, and when")
}
func (p *program) gateCommand() *cli.Command {
	return without("gate", "compare a run with its own past")
}
func (p *program) watchCommand() *cli.Command {
	return without("watch", "add traces to a history as they come, and tell when a run is slower")
}
func (p *program) answerCommand() *cli.Command { return &cli.Command{Name: "answer", Hidden: true} }

// without stands for a command that is left out.
func without(name, usage string) *cli.Command {
	return &cli.Command{Name: name, Usage: usage, SkipFlagParsing: true, HideHelp: true,
		Action: func(*cli.Context) error { return inputs.LeftOut("'overlay " + name + "'") }}
}
