package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/report"
)

// The headings of --help.
const (
	filesGroup    = "Files"
	analysisGroup = "Analysis"
	pictureGroup  = "Picture"
	reportGroup   = "Report"
	generalGroup  = "General"
)

func inputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "input", Aliases: []string{"i"}, Category: filesGroup,
			Usage: "the trace to read, `FILE` or - for standard input; gzip, zstd and plain JSON are told apart by content"},
	}
}

func outputFlags(whenAbsent string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: filesGroup,
			Usage: "write to `FILE`, named .pftrace, .pftrace.gz, .json or .json.gz; - is standard output and needs --format; " + whenAbsent},
		&cli.StringFlag{Name: "format", Category: filesGroup,
			Usage: "write `perfetto|chrome`, whatever the name of the output ends in"},
	}
}

func analysisFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "method", Category: analysisGroup, Value: "exact",
			Usage: "how the critical path is found, `exact|ctda|hta`: exact walks back from the last event and explains every nanosecond; ctda is the CTDA-CPA paper's walk over the aggregated graph; hta gives the path of Holistic Trace Analysis"},
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

func pictureFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "flows", Category: pictureGroup, Value: "critical",
			Usage: "arrows to draw, `critical|all|none`: critical draws every edge of the path as long as the viewer stays usable; all lifts the limits"},
		&cli.BoolFlag{Name: "plain", Category: pictureGroup,
			Usage: "Perfetto: leave the colours of slices alone"},
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
			Usage: "further analyses, `NAME,…` or all: " + strings.Join(analyses.Names, ", ")},
		&cli.DurationFlag{Name: "idle-threshold", Category: reportGroup, Value: 30 * time.Microsecond,
			Usage: "with --analysis idle: a gap shorter than `TIME`, with work queued, is a wait between kernels"},
		&cli.Float64Flag{Name: "overlap-threshold", Category: reportGroup, Value: 0.10,
			Usage: "with --analysis component: say so when less than this `SHARE` of a step overlaps"},
		&cli.StringFlag{Name: "operator", Category: reportGroup,
			Usage: "with --analysis sequences: sequences below operators whose name contains `NAME` (default: every top-level operator)"},
	}
}

func formFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Category: reportGroup, Usage: "print JSON instead of text"},
		&cli.StringFlag{Name: "html", Category: reportGroup, Usage: "write a page to `FILE` instead of text"},
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
		&cli.StringFlag{Name: "cpuprofile", Category: generalGroup, Usage: "write a CPU profile to `FILE` (go tool pprof)"},
		&cli.StringFlag{Name: "memprofile", Category: generalGroup, Usage: "write a profile of the memory in use at the end to `FILE`"},
	}
}

// options are the checked flags of one command. Flags that a command does not have are at their default.
type options struct {
	command string

	input, output    string
	chrome, compress bool // the format of output

	method, annotation, instance string
	threads                      cdg.ThreadMode
	methodSet                    bool // else a slim trace decides
	step                         int  // -1 = none
	htaZeroWeightLaunch          bool
	htaDataLoad                  string
	htaLastStep                  bool

	flows                          string
	plain, onlyCritical, anonymize bool

	report, html   string // further outputs; "" = none
	json, segments bool
	top            int
	analyses       []string
	analysis       analyses.Options
	failIfSlower   float64 // percent, negative = off
	noBrowser      bool

	strict, quiet, noColor, timing bool
	maxExpand                      int64 // bytes
	jobs                           int
	cpuProfile, memProfile         string
}

// flagReader collects the first problem of a command line.
type flagReader struct {
	*cli.Context
	err error
}

func (r *flagReader) problem(format string, args ...any) {
	if r.err == nil {
		r.err = &usageError{fmt.Sprintf(format, args...), r.Command.Name}
	}
}

// oneOf reads a flag that takes one of a few words.
func (r *flagReader) oneOf(name string, words ...string) string {
	v := r.String(name)
	if v != "" && !slices.Contains(words, v) {
		r.problem("--%s %s is unknown: %s", name, quote(v), strings.Join(words, ", "))
	}
	return v
}

// path reads a flag that names a file.
func (r *flagReader) path(name string) string {
	v := r.String(name)
	if v == "" && r.IsSet(name) {
		r.problem("--%s has an empty name", name)
	}
	return v
}

// readOptions checks every flag of a command before the first byte is read.
func readOptions(c *cli.Context) (*options, error) {
	r := &flagReader{Context: c}
	o := &options{command: c.Command.Name, failIfSlower: -1,
		input: r.path("input"), output: r.path("output"), report: r.path("report"), html: r.path("html"),
		json: c.Bool("json"), segments: c.Bool("segments"), top: c.Int("top"),
		flows: r.oneOf("flows", "critical", "all", "none"), plain: c.Bool("plain"),
		onlyCritical: c.Bool("only-critical"), noBrowser: c.Bool("no-browser"), anonymize: c.Bool("anonymize"),
		strict: c.Bool("strict"), quiet: c.Bool("quiet"), noColor: c.Bool("no-color"), timing: c.Bool("timing"),
		cpuProfile: r.path("cpuprofile"), memProfile: r.path("memprofile"),
	}
	r.readWindow(o)
	r.readMethod(o)
	r.readReport(o)
	r.readLimits(o)
	return o, r.err
}

func (r *flagReader) readWindow(o *options) {
	o.annotation, o.instance, o.step = r.path("annotation"), r.path("instance"), -1
	if r.IsSet("step") {
		o.step = r.Int("step")
		if o.step < 0 {
			r.problem("--step %d is negative", o.step)
		}
		if o.annotation != "" || o.instance != "" {
			r.problem("--step names the window by itself; leave out --annotation and --instance")
		}
	}
	if o.instance == "" {
		return
	}
	if o.annotation == "" {
		r.problem("--instance needs --annotation")
	}
	first, last, isRange := strings.Cut(o.instance, ":")
	a, errA := strconv.Atoi(first)
	b := a
	var errB error
	if isRange {
		b, errB = strconv.Atoi(last)
	}
	if errA != nil || errB != nil || a < 0 || b < a {
		r.problem("--instance %s is neither a number from 0 nor a range A:B", quote(o.instance))
	}
}

func (r *flagReader) readMethod(o *options) {
	o.method, o.methodSet = r.oneOf("method", methods...), r.IsSet("method")
	if word := r.oneOf("threads", "auto", "gil", "explicit"); word != "" {
		o.threads, _ = cdg.ParseThreadMode(word)
	}
	o.htaZeroWeightLaunch, o.htaLastStep = r.Bool("hta-zero-weight-launch"), r.Bool("hta-last-step")
	o.htaDataLoad = r.path("hta-data-load")
	for _, name := range []string{"hta-zero-weight-launch", "hta-data-load", "hta-last-step"} {
		if r.IsSet(name) && o.method != "hta" {
			r.problem("--%s needs --method hta", name)
		}
	}
}

func (r *flagReader) readReport(o *options) {
	if r.IsSet("top") && o.top < 0 {
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
	if o.report != "" {
		if ext := filepath.Ext(o.report); ext != ".json" && ext != ".html" {
			r.problem("--report %s must end in .json or .html", quote(o.report))
		}
	}
	if o.json && o.html != "" {
		r.problem("--json and --html exclude each other")
	}
	if r.IsSet("fail-if-slower") {
		o.failIfSlower = r.Float64("fail-if-slower")
		if !(o.failIfSlower >= 0) { // NaN too
			r.problem("--fail-if-slower %v is no percentage", o.failIfSlower)
		}
	}
}

func (r *flagReader) readLimits(o *options) {
	o.jobs = runtime.GOMAXPROCS(0) // the CPUs, or what the quota of a container leaves of them
	if r.IsSet("jobs") {
		if o.jobs = r.Int("jobs"); o.jobs < 1 {
			r.problem("--jobs %d is less than 1", o.jobs)
		}
	}
	if v := r.String("max-expand"); v != "" {
		n, ok := parseSize(v)
		if !ok {
			r.problem("--max-expand %s is no size such as 500MB or 2GiB", quote(v))
		}
		o.maxExpand = n
	}
}

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
	case isStdout(o.output):
		r.problem("-o %s needs --format perfetto or --format chrome", report.Plain(o.output))
	default:
		r.problem("no format known for %s: end it in .pftrace, .pftrace.gz, .json or .json.gz, or add --format", quote(o.output))
	}
}

// parseSize reads a number of bytes with an optional unit: decimal kB to TB, binary KiB to TiB or a bare letter.
func parseSize(s string) (int64, bool) {
	digits := strings.TrimRight(s, "BbiKkMmGgTt ")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(n > 0) {
		return 0, false
	}
	unit := strings.ToLower(strings.TrimSpace(s[len(digits):]))
	scale, ok := map[string]float64{"": 1, "b": 1,
		"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
		"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}[unit]
	if n *= scale; !ok || n < 1 || n >= 1<<62 {
		return 0, false
	}
	return int64(n), true
}

// quote is %q for messages.
func quote(s string) string { return strconv.Quote(s) }
