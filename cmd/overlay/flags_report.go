package main

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"overlay/internal/analyses"
	"overlay/internal/flame"
)

func reportFlags() group {
	return group{[]cli.Flag{
		&cli.IntFlag{Name: "top", Category: reportGroup, Value: 10, Usage: "list `N` hotspots; of several ranks, N rows of each list"},
		&cli.BoolFlag{Name: "segments", Category: reportGroup,
			Usage: "add the path itself: segments and edges in JSON, the walk line by line with runs folded in text"},
		&cli.StringFlag{Name: "analysis", Category: reportGroup,
			Usage: "further analyses, `NAME,…` or all (a page has all unless some are named): " + strings.Join(analyses.Names, ", ")},
		&cli.DurationFlag{Name: "idle-threshold", Category: reportGroup, Value: 30 * time.Microsecond,
			Usage: "with --analysis idle: a gap shorter than `TIME`, with work queued, is a wait between kernels"},
		&cli.Float64Flag{Name: "overlap-threshold", Category: reportGroup, Value: 0.10,
			Usage: "with --analysis component: say so when less than this `SHARE` of a step overlaps"},
		&cli.StringFlag{Name: "operator", Category: reportGroup,
			Usage: "with --analysis sequences: sequences below operators whose name contains `NAME` (default: every top-level operator)"},
	}, readReport}
}

func readReport(r *flagReader, o *options) {
	o.reports, o.top, o.topSet, o.segments = true, r.Int("top"), r.IsSet("top"), r.Bool("segments")
	if o.topSet && o.top < 0 {
		r.problem("--top %d is negative", o.top)
	}
	for name := range strings.SplitSeq(r.path("analysis"), ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case name == "all":
			o.analyses = analyses.Names
		case slices.Contains(analyses.Names, name):
			o.analyses = append(o.analyses[:len(o.analyses):len(o.analyses)], name)
		default:
			r.problem("--analysis %s is unknown: %s, all", quote(name), strings.Join(analyses.Names, ", "))
		}
	}
	if o.analysis.IdleThreshold = r.Duration("idle-threshold").Nanoseconds(); r.IsSet("idle-threshold") && o.analysis.IdleThreshold <= 0 {
		r.problem("--idle-threshold %s is not a time above 0", r.String("idle-threshold"))
	}
	if o.analysis.OverlapBelow = r.Float64("overlap-threshold"); r.IsSet("overlap-threshold") && !(o.analysis.OverlapBelow > 0 && o.analysis.OverlapBelow <= 1) {
		r.problem("--overlap-threshold %v is not a share above 0 and up to 1", o.analysis.OverlapBelow)
	}
	if name := r.path("operator"); name != "" {
		o.analysis.Operators = []string{name}
	}
}

// pageHasAll makes all analyses for a page where none is named.
func pageHasAll(o *options) {
	if len(o.analyses) == 0 && (o.html != "" || filepath.Ext(o.report) == ".html") {
		o.analyses, o.pageOnly = analyses.Names, true
	}
}

// jsonFlags are for commands that print text or JSON.
func jsonFlags() group {
	return group{[]cli.Flag{
		&cli.BoolFlag{Name: "json", Category: reportGroup, Usage: "print JSON instead of text"},
	}, func(r *flagReader, o *options) { o.json = r.Bool("json") }}
}

// pageFlags are for commands that can write a page instead. They stand behind jsonFlags.
func pageFlags() group {
	return group{[]cli.Flag{
		writesFile(&cli.StringFlag{Name: "html", Category: reportGroup, Usage: "write a page to `FILE` instead of text"}),
	}, func(r *flagReader, o *options) {
		if o.html = r.path("html"); o.html != "" && o.json {
			r.problem("--json and --html exclude each other")
		}
	}}
}

// flameFlags are for commands that show the path of one trace.
func flameFlags() group {
	return group{[]cli.Flag{
		writesFile(&cli.StringFlag{Name: "flame", Category: reportGroup,
			Usage: "also write the path as a flame graph to `FILE`: .pb.gz for pprof, .json for speedscope, .txt for folded stacks"}),
	}, func(r *flagReader, o *options) {
		if o.flame = r.path("flame"); o.flame != "" && flame.FormOf(o.flame) == nil {
			r.problem("--flame %s: the name says the format, and has to end with .pb.gz (pprof), .json (speedscope) or .txt (folded stacks)", quote(o.flame))
		}
	}}
}

// snapshotFlags are for the report of one trace.
func snapshotFlags() group {
	return group{[]cli.Flag{readsFile(&cli.StringFlag{Name: "snapshot", Category: filesGroup, DefaultText: "none",
		Usage: "a memory snapshot of the same run, the `FILE` of PyTorch's _dump_snapshot: what GPUs hold at their peak, with what they held before"})},
		func(r *flagReader, o *options) { o.snapshot = r.path("snapshot") }}
}

// againstFlags stand behind windowFlags.
func againstFlags() group {
	return group{[]cli.Flag{
		&cli.StringSliceFlag{Name: "against", Category: analysisGroup, DefaultText: "the median of the others",
			Usage: "of one trace: the step to compare with, `N` as for --step; of several runs: those to compare, FILE…"},
	}, func(r *flagReader, o *options) {
		list := r.StringSlice("against")
		if len(list) == 1 && isStep(list[0]) {
			o.against = r.step("against", list[0])
			return
		}
		o.afters = list
	}}
}

// diffFlags stand behind pageFlags.
func diffFlags() group {
	return group{[]cli.Flag{
		&cli.BoolFlag{Name: "markdown", Category: reportGroup, Usage: "print Markdown, as for a comment on a change under review"},
		writesFile(&cli.StringFlag{Name: "svg", Category: reportGroup, Usage: "also draw both paths as bars into `FILE`"}),
	}, func(r *flagReader, o *options) {
		if o.svg, o.markdown = r.path("svg"), r.Bool("markdown"); o.markdown && (o.json || o.html != "") {
			r.problem("--markdown excludes --json and --html")
		}
	}}
}

// gateFlags are those of what ends with status 3.
func gateFlags(without string) group {
	return group{[]cli.Flag{
		&cli.Float64Flag{Name: "fail-if-slower", Category: reportGroup, DefaultText: without,
			Usage: "end with status 3 when a step, without steps the window, is surely longer by more than `PERCENT`: the noise is beyond it too"},
		&cli.BoolFlag{Name: "fail-if-unsure", Category: reportGroup, Usage: "also end with status 3 when the noise leaves open whether it is"},
	}, func(r *flagReader, o *options) {
		if o.failIfUnsure = r.Bool("fail-if-unsure"); o.failIfUnsure && !r.IsSet("fail-if-slower") {
			r.problem("--fail-if-unsure needs --fail-if-slower PERCENT")
		}
		if r.IsSet("fail-if-slower") {
			o.failIfSlower = r.Float64("fail-if-slower")
			if !(o.failIfSlower >= 0) { // NaN too
				r.problem("--fail-if-slower %v is no percentage", o.failIfSlower)
			}
		}
	}}
}
