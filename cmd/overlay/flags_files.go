package main

import (
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/report"
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

// inputOptions say what is read.
type inputOptions struct {
	input   string   // the first of inputs
	inputs  []string // of -i
	many    bool     // they are more than one trace
	capture int      // which of several captures of each rank, 0 for none chosen
}

func inputFlags() group {
	return inputFlag("the trace to read, `FILE` or - for standard input, also without the flag; gzip, zstd and plain JSON are told apart by content; also a folder, a quoted pattern or an archive (tar, zip) that holds one trace, for report, advise and run those of all ranks of a job")
}

func inputFlag(usage string) group {
	return group{[]cli.Flag{
		&cli.GenericFlag{Name: "input", Value: &fileNames{}, TakesFile: true, Aliases: []string{"i"}, Category: filesGroup, Usage: usage},
	}, func(r *flagReader, o *options) {
		if o.inputs = r.paths("input"); len(o.inputs) > 0 {
			o.input = o.inputs[0]
		}
	}}
}

// captureFlags are for commands that take the traces of a job.
func captureFlags() group {
	return group{[]cli.Flag{
		&cli.IntFlag{Name: "capture", Category: filesGroup, DefaultText: "the only one",
			Usage: "of several captures of each rank take the `N`th by time, counted from 1"},
	}, func(r *flagReader, o *options) {
		if r.IsSet("capture") {
			if o.capture = r.Int("capture"); o.capture < 1 {
				r.problem("--capture %d: captures are counted from 1", o.capture)
			}
		}
	}}
}

// outputOptions say what is written, and how.
type outputOptions struct {
	output           string
	tar              bool   // output is an archive of a file a rank
	chrome, compress bool   // the format of output
	report           string // the report beside it, "" for none
}

func outputFlags(whenAbsent string) group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "output", TakesFile: true, Aliases: []string{"o"}, Category: filesGroup,
			Usage: "write to `FILE`, named .pftrace, .pftrace.gz, .json or .json.gz; - is standard output and needs --format; " + whenAbsent},
		&cli.StringFlag{Name: "format", Category: filesGroup,
			Usage: "write `perfetto|chrome`, whatever the name of the output ends in"},
	}, readOutput}
}

func readOutput(r *flagReader, o *options) { o.output = r.path("output") }

// readFormat decides the format of the output by --format, else by the suffix of its name.
func (r *flagReader) readFormat(o *options) {
	format := r.oneOf("format", "perfetto", "chrome")
	name := strings.TrimSuffix(o.output, ".gz")
	o.compress = name != o.output
	switch {
	case format != "":
		o.chrome = format == "chrome"
	case strings.HasSuffix(name, ".pftrace"):
	case strings.HasSuffix(name, ".json"):
		o.chrome = true
	case strings.HasSuffix(name, ".tar") && o.command == "run":
		o.tar = true
	case o.output != "" && isFolder(o.output):
		r.problem("%s is a folder: give the name of a file in it, as in -o %s", report.Plain(o.output), report.Plain(filepath.Join(o.output, "trace.pftrace")))
	case isStdout(o.output):
		r.problem("-o %s needs --format perfetto or --format chrome", report.Plain(o.output))
	default:
		r.problem("no format known for %s: end it in .pftrace, .pftrace.gz, .json or .json.gz, or add --format", quote(o.output))
	}
}

// besideFlags are for run, which can leave the report beside the picture.
func besideFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "report", TakesFile: true, Category: filesGroup, Usage: "also write the report to `FILE`, named .json or .html"},
	}, func(r *flagReader, o *options) {
		if o.report = r.path("report"); o.report != "" {
			if ext := filepath.Ext(o.report); ext != ".json" && ext != ".html" {
				r.problem("--report %s must end in .json or .html", quote(o.report))
			}
		}
	}}
}
