package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"overlay/internal/analyses"
)

// The headings of --help.
const (
	filesGroup    = "Files"
	analysisGroup = "Analysis"
	changeGroup   = "Changes"
	pictureGroup  = "Picture"
	reportGroup   = "Report"
	generalGroup  = "General"
)

func inputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "input", Value: &fileNames{}, TakesFile: true, Aliases: []string{"i"}, Category: filesGroup,
			Usage: "the trace to read, `FILE` or - for standard input; gzip, zstd and plain JSON are told apart by content; also a folder, a quoted pattern or an archive (tar, zip) that holds one trace, for report, advise and run those of all ranks of a job"},
	}
}

func outputFlags(whenAbsent string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", TakesFile: true, Aliases: []string{"o"}, Category: filesGroup,
			Usage: "write to `FILE`, named .pftrace, .pftrace.gz, .json or .json.gz; - is standard output and needs --format; " + whenAbsent},
		&cli.StringFlag{Name: "format", Category: filesGroup,
			Usage: "write `perfetto|chrome`, whatever the name of the output ends in"},
	}
}

func analysisFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "method", Category: analysisGroup, Value: "exact",
			Usage: "how the critical path is found, `exact|ctda|hta`: exact walks back from the last event and explains every nanosecond; ctda is the CTDA-CPA paper's walk over the aggregated graph; hta gives the path of Holistic Trace Analysis"},
	}, windowFlags()...)
}

// windowFlags choose the window and how threads are read, whatever the method.
func windowFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "threads", Category: analysisGroup, Value: "auto",
			Usage: "how threads hand work over, `auto|gil|explicit`: gil by taking turns, explicit by flows, blocking frames and joins only (for code without a GIL); auto decides from the trace"},
		&cli.StringFlag{Name: "annotation", Category: analysisGroup,
			Usage: "analyse only the annotation whose name contains `NAME` (default: the whole trace)"},
		&cli.StringFlag{Name: "instance", Category: analysisGroup,
			Usage: "which of several such annotations, `N` or A:B, counted from 0 by time; A:B spans from the start of A to the end of B (default: 0)"},
		&cli.IntFlag{Name: "step", Category: analysisGroup, Value: -1, DefaultText: "the whole trace",
			Usage: "analyse only the step ProfilerStep#`N`"},
	}
}

func htaFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "hta-zero-weight-launch", Category: analysisGroup,
			Usage: "with --method hta: add a launch edge of weight 0 to every kernel that HTA gives none"},
		&cli.StringFlag{Name: "hta-data-load", Category: analysisGroup,
			Usage: "with --method hta: events of this `NAME` are data loading"},
		&cli.BoolFlag{Name: "hta-last-step", Category: analysisGroup,
			Usage: "with --method hta: keep the last step, which HTA leaves out"},
	}
}

func drawingFlags() []cli.Flag {
	return []cli.Flag{
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
	}
}

func reportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "top", Category: reportGroup, Value: 10, Usage: "list `N` hotspots"},
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
	}
}

func adviceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "no-advice", Category: analysisGroup,
			Usage: "do not look for what would make the run shorter: quicker, and in less memory"},
	}
}

// captureFlags are for commands that take the traces of a job.
func captureFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "capture", Category: filesGroup, DefaultText: "the only one",
			Usage: "of several captures of each rank take the `N`th by time, counted from 1"},
	}
}

// ranksFlags are for commands that draw the ranks of a job.
func ranksFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "ranks", Category: pictureGroup, DefaultText: "all up to 1,500,000 events, else representative",
			Usage: "several ranks: draw the events of these, `all|representative|LIST` as in 0,3,8-11; every rank has its strip"},
	}
}

// jobFlags are for commands that put the ranks of a job together.
func jobFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "hosts", Category: analysisGroup,
			Usage: "several ranks: read from `FILE` which rank ran where, a rank and a host a line (default: from the traces)"},
		&cli.BoolFlag{Name: "trust-clocks", Category: analysisGroup,
			Usage: "several ranks: take time stamps as they are (default: solve the clocks from the ends of collectives)"},
		&cli.StringSliceFlag{Name: "expect", Category: analysisGroup,
			Usage: "several ranks: a known bus bandwidth in GB/s, `intra=300` within a host or inter=45 between hosts, to compare with (default: the best of the job)"},
	}
}

func formFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Category: reportGroup, Usage: "print JSON instead of text"},
		&cli.StringFlag{Name: "html", TakesFile: true, Category: reportGroup, Usage: "write a page to `FILE` instead of text"},
	}
}

func generalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "strict", Category: generalGroup, Usage: "treat repairs of the input as errors"},
		&cli.StringFlag{Name: "max-expand", Category: generalGroup, Value: "64GiB",
			Usage: "stop when a compressed input expands to more than `SIZE`, as in 500MB or 2GiB"},
		&cli.IntFlag{Name: "jobs", Category: generalGroup, DefaultText: "one per CPU, within the quota of the container", Usage: "work on `N` cores"},
		&cli.BoolFlag{Name: "quiet", Category: generalGroup, Usage: "no progress and no summary"},
		&cli.BoolFlag{Name: "no-color", Category: generalGroup, EnvVars: []string{},
			Usage: "no colour; also with NO_COLOR set, and where the output is no terminal"},
		&cli.BoolFlag{Name: "timing", Category: generalGroup, Usage: "print the time of each stage to standard error"},
		&cli.StringFlag{Name: "cpuprofile", TakesFile: true, Category: generalGroup, Usage: "write a CPU profile to `FILE` (go tool pprof)"},
		&cli.StringFlag{Name: "memprofile", TakesFile: true, Category: generalGroup, Usage: "write a profile of the memory in use at the end to `FILE`"},
	}
}
