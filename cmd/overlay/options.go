package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/report"
)

// options are the checked flags of one command. Flags that a command does not have are at their default.
type options struct {
	command string

	input, output    string   // input: the first of inputs
	inputs           []string // of -i
	many             bool     // they are more than one trace
	tar              bool     // output is an archive of a file a rank
	ranks            string   // of --ranks: all, representative, a list; "" = all up to a limit
	capture          int      // which of several captures of each rank, 0 for none chosen
	chrome, compress bool     // the format of output

	method, annotation, instance string
	threads                      cdg.ThreadMode
	methodSet                    bool // else a slim trace decides
	step                         int  // -1 = none
	htaZeroWeightLaunch          bool
	htaDataLoad                  string
	htaLastStep                  bool

	flows                                      string
	plain, gpuCompute, onlyCritical, anonymize bool

	report, html             string // further outputs; "" = none
	svg                      string
	json, segments, noAdvice bool
	markdown                 bool
	top                      int
	topSet                   bool
	analyses                 []string
	analysis                 analyses.Options
	pageOnly                 bool    // analyses are made for a page; nobody asked to see or draw them elsewhere
	failIfSlower             float64 // percent, negative = off
	runName                  string  // of the job; "" = the folder of the input
	rank                     int64   // of the one input; negative = as the trace says
	args, compat             bool    // of exported tables
	sqlFile                  string  // the query; "" = the first argument
	sqlFormat                string
	engine                   string
	schema                   bool
	maxMemory                int64 // bytes; 0 = half of the machine's
	noBrowser                bool
	roots                    []string // of mcp

	questions    pipeline.Questions
	scenarioFile string
	gates        []gate

	hosts       string // file of --hosts, "" = none
	trustClocks bool
	expect      ranks.Expected

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

// paths reads a flag that names files.
func (r *flagReader) paths(name string) []string {
	names, ok := r.Generic(name).(*fileNames)
	if !ok {
		return nil
	}
	list := names.list
	if slices.Contains(list, "") {
		r.problem("--%s has an empty name", name)
	}
	return list
}

// readOptions checks every flag of a command before the first byte is read.
func readOptions(c *cli.Context) (*options, error) {
	r := &flagReader{Context: c}
	o := &options{command: c.Command.Name, failIfSlower: -1,
		inputs: r.paths("input"), output: r.path("output"), report: r.path("report"), html: r.path("html"),
		svg: r.path("svg"), markdown: c.Bool("markdown"),
		json: c.Bool("json"), segments: c.Bool("segments"), top: c.Int("top"),
		flows: r.oneOf("flows", "critical", "all", "none"), plain: c.Bool("plain"), gpuCompute: c.Bool("gpu-compute"),
		onlyCritical: c.Bool("only-critical"), noAdvice: c.Bool("no-advice"), noBrowser: c.Bool("no-browser"), anonymize: c.Bool("anonymize"),
		strict: c.Bool("strict"), quiet: c.Bool("quiet"), noColor: c.Bool("no-color"), timing: c.Bool("timing"),
		cpuProfile: r.path("cpuprofile"), memProfile: r.path("memprofile"),
	}
	if len(o.inputs) > 0 {
		o.input = o.inputs[0]
	}
	r.readWindow(o)
	r.readMethod(o)
	r.readReport(o)
	r.readTables(o)
	r.readLimits(o)
	o.ranks = r.rankList()
	o.topSet, o.hosts, o.trustClocks = r.IsSet("top"), r.path("hosts"), c.Bool("trust-clocks")
	o.expect = r.readExpect(c.StringSlice("expect"))
	return o, r.err
}

func (r *flagReader) readTables(o *options) {
	o.runName, o.rank, o.args, o.compat = r.path("run"), -1, r.Bool("args"), r.Bool("compat")
	if r.IsSet("rank") {
		if o.rank = int64(r.Int("rank")); o.rank < 0 {
			r.problem("--rank %d is negative", o.rank)
		}
	}
	o.sqlFile, o.schema = r.path("file"), r.Bool("schema")
	if v := r.String("max-memory"); v != "" {
		n, ok := parseSize(v)
		if !ok {
			r.problem("--max-memory %s is no size such as 500MB or 2GiB", quote(v))
		}
		o.maxMemory = n
	}
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
	if len(o.analyses) == 0 && (o.command == "report" && o.html != "" || filepath.Ext(o.report) == ".html") {
		o.analyses, o.pageOnly = analyses.Names, true
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
	switch {
	case o.json && o.html != "":
		r.problem("--json and --html exclude each other")
	case o.markdown && (o.json || o.html != ""):
		r.problem("--markdown excludes --json and --html")
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
	if r.IsSet("capture") {
		if o.capture = r.Int("capture"); o.capture < 1 {
			r.problem("--capture %d: captures are counted from 1", o.capture)
		}
	}
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
	case strings.HasSuffix(name, ".tar") && o.command == "run":
		o.tar = true
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
