package main

import (
	"github.com/urfave/cli/v2"
)

// setFlags name the set of tables that an input makes.
func setFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "run", Category: filesGroup, Usage: "the job is called `NAME` (default: the folder of the input)"},
		&cli.IntFlag{Name: "rank", Category: filesGroup, DefaultText: "what the trace says, else what the names of its run say, else the first that is free",
			Usage: "the one input is rank `N`"},
	}, func(r *flagReader, o *options) {
		o.runName = r.path("run")
		if r.IsSet("rank") {
			if o.rank = int64(r.Int("rank")); o.rank < 0 {
				r.problem("--rank %d is negative", o.rank)
			}
		}
	}}
}

func argsFlags() group {
	return group{[]cli.Flag{
		&cli.BoolFlag{Name: "args", Category: filesGroup, Usage: "with the arguments of each event as JSON, in the column args of events"},
	}, func(r *flagReader, o *options) { o.args = r.Bool("args") }}
}
