package main

import "github.com/urfave/cli/v2"

// pictureOptions say what is drawn.
type pictureOptions struct {
	flows                                      string
	plain, gpuCompute, onlyCritical, anonymize bool
}

func pictureFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "flows", Category: pictureGroup, Value: "critical",
			Usage: "arrows to draw, `critical|all|none`: critical draws every edge of the path but for a few that would make a click slow; all lifts the limits"},
		&cli.BoolFlag{Name: "plain", Category: pictureGroup,
			Usage: "Perfetto: leave the colours of slices alone"},
		&cli.BoolFlag{Name: "gpu-compute", Category: pictureGroup,
			Usage: "Perfetto: operations of GPUs also as the viewer's tab GPU Compute wants them: a table of kernels with their launches"},
		&cli.BoolFlag{Name: "only-critical", Category: pictureGroup,
			Usage: "write a slim trace: the path with its context, nothing else; a run on it gives the same path again"},
		&cli.BoolFlag{Name: "anonymize", Category: pictureGroup,
			Usage: "replace paths, hosts, users, processes and Python names by stable pseudonyms; operators and kernels keep theirs"},
	}, func(r *flagReader, o *options) {
		o.flows, o.plain, o.gpuCompute = r.oneOf("flows", "critical", "all", "none"), r.Bool("plain"), r.Bool("gpu-compute")
		o.onlyCritical, o.anonymize = r.Bool("only-critical"), r.Bool("anonymize")
	}}
}

// ranksFlags are for commands that draw the ranks of a job.
func ranksFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "ranks", Category: pictureGroup, DefaultText: "all up to 1,500,000 events, else representative",
			Usage: "several ranks: draw the events of these, `all|representative|LIST` as in 0,3,8-11; every rank has its strip"},
	}, func(r *flagReader, o *options) { o.ranks = r.rankList() }}
}
