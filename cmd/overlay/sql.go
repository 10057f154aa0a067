package main

import (
	_ "embed"

	"github.com/urfave/cli/v2"
)

// sqlText is what `overlay sql` prints.
//
//go:embed overlay.sql
var sqlText string

func (p *program) sqlCommand() *cli.Command {
	takes := groups{generalFlags()}
	return &cli.Command{Name: "sql", Usage: "print PerfettoSQL views and queries for the output", ArgsUsage: "", Flags: takes.flags(),
		Action: p.action(takes, 0, nil, func(j *job) error { return j.print(sqlText) })}
}
