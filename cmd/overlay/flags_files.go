package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/outputs"
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

func inputFlags() group {
	return inputFlag("the trace to read, `FILE` or - for standard input, also without the flag; gzip, zstd and plain JSON are told apart by content; also a folder, a quoted pattern or an archive (tar, zip) that holds one trace, for report, advise and run those of all ranks of a job")
}

func inputFlag(usage string) group {
	return group{[]cli.Flag{
		readsFiles(&cli.GenericFlag{Name: "input", Aliases: []string{"i"}, Category: filesGroup, Usage: usage}),
		&cli.StringFlag{Name: "process", Category: filesGroup, DefaultText: "all, as ranks of a job", Usage: "of a file in which several processes launched GPU work take this `PROCESS`, by its number or as 'overlay check' calls it"},
	}, func(r *flagReader, o *options) {
		o.process = r.String("process")
		if o.inputs = r.paths("input"); len(o.inputs) > 0 {
			o.input = o.inputs[0]
		}
	}}
}

// fromCaptures is what a file of --capture is for.
const fromCaptures = "a file or folder that a server recorded while it captured its graphs: what they replay gets operators, shapes, modules and lines from there"

// captureFlags are for commands that take the traces of a job.
func captureFlags() group {
	return captureFlag("of several captures of each rank take the `N`th by time, counted from 1; or " + fromCaptures)
}

// graphFlags are for commands that take all traces that there are.
func graphFlags() group {
	g := captureFlag("`FILE`, or a folder: " + strings.TrimPrefix(fromCaptures, "a file or folder "))
	return group{g.flags, func(r *flagReader, o *options) {
		if g.read(r, o); o.capture > 0 {
			r.problem("--capture %d: it takes a file here", o.capture)
		}
	}}
}

func captureFlag(usage string) group {
	return group{[]cli.Flag{readsFile(&cli.StringFlag{Name: "capture", Category: filesGroup, DefaultText: "none", Usage: usage})}, func(r *flagReader, o *options) {
		o.graphs = r.path("capture")
		if n, err := strconv.Atoi(o.graphs); err == nil {
			if o.capture, o.graphs = n, ""; n < 1 {
				r.problem("--capture %d: captures are counted from 1", n)
			}
		}
		if o.graphs != "" && r.Command.Name == "check" {
			r.problem("--capture %s: to check a capture give it as the input", quote(o.graphs))
		}
	}}
}

func outputFlags(whenAbsent string) group {
	return group{[]cli.Flag{
		writesFile(&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: filesGroup,
			Usage: "write to `FILE`, named .pftrace, .pftrace.gz, .json or .json.gz; - is standard output and needs --format; " + whenAbsent}),
		&cli.StringFlag{Name: "format", Category: filesGroup,
			Usage: "write `perfetto|chrome`, whatever the name of the output ends in"},
	}, readOutput}
}

func readOutput(r *flagReader, o *options) { o.output = r.path("output") }

// readFormat decides the format of the output by --format, else by the suffix of its name. It may be an archive of the ranks of a job.
func (r *flagReader) readFormat(o *options, archive bool) {
	format := r.oneOf("format", "perfetto", "chrome")
	name := strings.TrimSuffix(o.output, ".gz")
	o.compress = name != o.output
	switch {
	case format != "":
		o.chrome = format == "chrome"
	case strings.HasSuffix(name, ".pftrace"):
	case strings.HasSuffix(name, ".json"):
		o.chrome = true
	case strings.HasSuffix(name, ".tar") && archive:
		o.tar = true
	case strings.HasSuffix(name, ".zip") && archive && !o.compress:
		o.zip = true
	case o.output != "" && outputs.IsFolder(o.output):
		r.problem("%s is a folder: give the name of a file in it, as in -o %s", report.Plain(o.output), report.Plain(filepath.Join(o.output, "trace.pftrace")))
	case outputs.IsStdout(o.output):
		r.problem("-o %s needs --format perfetto or --format chrome", report.Plain(o.output))
	default:
		r.problem("no format known for %s: end it in .pftrace, .pftrace.gz, .json or .json.gz, or add --format", quote(o.output))
	}
}

// besideFlags are for run, which can leave the report beside the picture.
func besideFlags() group {
	return group{[]cli.Flag{
		writesFile(&cli.StringFlag{Name: "report", Category: filesGroup, Usage: "also write the report to `FILE`, named .json or .html"}),
	}, func(r *flagReader, o *options) {
		if o.report = r.path("report"); o.report != "" {
			if ext := filepath.Ext(o.report); ext != ".json" && ext != ".html" {
				r.problem("--report %s must end in .json or .html", quote(o.report))
			}
		}
	}}
}
