package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/overlay"
)

func pictureFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "flows", Category: pictureGroup, Value: "critical",
			Usage: "arrows to draw, `critical|all|none`: critical draws every edge of the path but for a few that would make a click slow; all lifts the limits"},
		&cli.BoolFlag{Name: "plain", Category: pictureGroup,
			Usage: "Perfetto: leave the colours of slices alone"},
		&cli.BoolFlag{Name: "gpu-compute", Category: pictureGroup,
			Usage: "Perfetto: operations of GPUs also as the viewer's tab GPU Compute wants them: a table of kernels with their launches"},
		&cli.BoolFlag{Name: "stack-samples", Category: pictureGroup,
			Usage: "Perfetto: the path as samples of stacks, too, of which the viewer (58 and later) makes a flame graph of any selection, in ns"},
		&cli.BoolFlag{Name: "only-critical", Category: pictureGroup,
			Usage: "write a slim trace: the path with its context, nothing else; a run on it gives the same path again"},
		&cli.BoolFlag{Name: "anonymize", Category: pictureGroup,
			Usage: "replace paths, hosts, users, processes and Python names by stable pseudonyms; operators and kernels keep theirs"},
	}, func(r *flagReader, o *options) {
		o.flows, o.plain, o.gpuCompute = r.oneOf("flows", "critical", "all", "none"), r.Bool("plain"), r.Bool("gpu-compute")
		o.stackSamples = r.Bool("stack-samples")
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

// flowNames are the values of --flows.
var flowNames = map[string]overlay.Flows{"critical": overlay.FlowsCritical, "all": overlay.FlowsAll, "none": overlay.FlowsNone}

// rankList reads --ranks.
func (r *flagReader) rankList() string {
	v := r.String("ranks")
	if v == "" || v == "all" || v == "representative" {
		if v == "" && r.IsSet("ranks") {
			r.problem("--ranks is empty: all, representative, or a list such as 0,3,8-11")
		}
		return v
	}
	if err := eachRankOf(v, func(int) error { return nil }); err != nil {
		r.problem("%v", err)
	}
	return v
}

// eachRankOf visits the ranks of a list such as 0,3,8-11.
func eachRankOf(list string, visit func(rank int) error) error {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.ParseInt(first, 10, 32)
		b, errB := strconv.ParseInt(last, 10, 32)
		if errA != nil || errB != nil || a < 0 || b < a || b-a > 1<<20 {
			return fmt.Errorf("--ranks %s is neither all, nor representative, nor a list such as 0,3,8-11", quote(list))
		}
		for k := a; k <= b; k++ {
			if err := visit(int(k)); err != nil {
				return err
			}
		}
	}
	return nil
}
