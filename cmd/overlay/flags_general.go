package main

import (
	"runtime"

	"github.com/urfave/cli/v2"
)

func generalFlags() group {
	return group{[]cli.Flag{
		&cli.BoolFlag{Name: "strict", Category: generalGroup, Usage: "treat repairs of the input as errors"},
		&cli.StringFlag{Name: "max-expand", Category: generalGroup, DefaultText: "in proportion to the input",
			Usage: "stop when an input expands to more than `SIZE` when it is read, as in 500MB or 2GiB"},
		&cli.IntFlag{Name: "jobs", Category: generalGroup, DefaultText: "one per CPU, within the quota of the container", Usage: "work on `N` cores"},
		&cli.BoolFlag{Name: "quiet", Category: generalGroup, Usage: "no progress and no summary"},
		&cli.BoolFlag{Name: "no-color", Category: generalGroup, EnvVars: []string{},
			Usage: "no colour; also with NO_COLOR set, and where the output is no terminal"},
		&cli.BoolFlag{Name: "timing", Category: generalGroup, Usage: "print the time of each stage to standard error"},
		writesFile(&cli.StringFlag{Name: "cpuprofile", Category: generalGroup, Usage: "write a CPU profile to `FILE` (go tool pprof)"}),
		writesFile(&cli.StringFlag{Name: "memprofile", Category: generalGroup, Usage: "write a profile of the memory in use at the end to `FILE`"}),
	}, readGeneral}
}

func readGeneral(r *flagReader, o *options) {
	o.strict, o.quiet, o.noColor, o.timing = r.Bool("strict"), r.Bool("quiet"), r.Bool("no-color"), r.Bool("timing")
	o.cpuProfile, o.memProfile = r.path("cpuprofile"), r.path("memprofile")
	o.jobs = runtime.GOMAXPROCS(0) // the CPUs, or what the quota of a container leaves of them
	if r.IsSet("jobs") {
		if o.jobs = r.Int("jobs"); o.jobs < 1 {
			r.problem("--jobs %d is less than 1", o.jobs)
		}
	}
	o.maxExpand = r.bytes("max-expand")
}
