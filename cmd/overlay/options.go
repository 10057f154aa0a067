package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
)

// options are the checked flags of one command, by what they belong to. What a command has no flags for is at its default.
type options struct {
	command string

	inputOptions
	outputOptions
	windowOptions
	methodOptions
	jobOptions
	pictureOptions
	reportOptions
	diffOptions
	adviseOptions
	whatifOptions
	tableOptions
	queryOptions
	generalOptions

	history string // the folder of a history
	watchOptions
	noBrowser bool     // of open
	page      bool     // open the page of the report
	roots     []string // of mcp
}

// group is flags that belong together, with the function that reads and checks them into their part of the options.
type group struct {
	flags []cli.Flag
	read  func(r *flagReader, o *options)
}

// groups are the flags that a command takes, in the order of its help.
type groups []group

// flags are those of all groups.
func (g groups) flags() (list []cli.Flag) {
	for i := range g {
		list = append(list, g[i].flags...)
	}
	return list
}

// flagReader collects the first problem of a command line.
type flagReader struct {
	*cli.Context
	err error
}

// readOptions checks every flag of a command before the first byte is read.
func readOptions(c *cli.Context, takes groups) (*options, error) {
	r := &flagReader{Context: c}
	o := &options{command: c.Command.Name}
	o.rank, o.failIfSlower = -1, -1
	for i := range takes {
		takes[i].read(r, o)
	}
	return o, r.err
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

// bytes reads a flag that takes a size; 0 where there is none.
func (r *flagReader) bytes(name string) int64 {
	v := r.String(name)
	if v == "" {
		return 0
	}
	n, ok := parseSize(v)
	if !ok {
		r.problem("--%s %s is no size such as 500MB or 2GiB", name, quote(v))
	}
	return n
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

// inputOptions say what is read.
type inputOptions struct {
	input   string   // the first of inputs
	inputs  []string // of -i
	many    bool     // they are more than one trace
	capture int      // which of several captures of each rank, 0 for none chosen
	graphs  string   // file or folder with the captures of the graphs that a trace replays, "" for none
	process string   // which of several processes of a file, "" for none chosen
}

// outputOptions say what is written, and how.
type outputOptions struct {
	output           string
	tar, zip         bool   // output is an archive of a file a rank
	chrome, compress bool   // the format of output
	report           string // the report beside it, "" for none
	sums             bool   // the command prints nothing but a summary of what it wrote
}

// windowOptions choose the window and how threads are read, whatever the method.
type windowOptions struct {
	annotation, instance string
	step                 string // "" = none
	threads              cdg.ThreadMode
}

// methodOptions say how the path is found, and whether advice is wanted.
type methodOptions struct {
	method              string
	methodSet           bool // else a slim trace decides
	htaZeroWeightLaunch bool
	htaDataLoad         string
	htaLastStep         bool
	advice              bool // is wanted
}

// jobOptions say how the ranks of a job are put together, and which are drawn.
type jobOptions struct {
	hosts       string // file of --hosts, "" = none
	trustClocks bool
	expect      ranks.Expected
	ranks       string // of --ranks: all, representative, a list; "" = all up to a limit
}

// pictureOptions say what is drawn.
type pictureOptions struct {
	flows                                                    string
	plain, gpuCompute, stackSamples, onlyCritical, anonymize bool
}

// reportOptions say what is reported, and in which form.
type reportOptions struct {
	reports        bool // the command makes the report of a trace
	json, segments bool
	html           string // "" = none
	flame          string // a file, "" = none
	snapshot       string // a file, "" = none
	top            int
	topSet         bool
	analyses       []string
	analysis       analyses.Options
	pageOnly       bool // analyses are made for a page; nobody asked to see or draw them elsewhere
}

// diffOptions are what only diff has.
type diffOptions struct {
	svg          string // "" = none
	markdown     bool
	against      string   // step or instance to compare with, "" = none named
	afters       []string // the runs of the second side, where there are several of a side
	failIfSlower float64  // percent, negative = off
	failIfUnsure bool
}

// tableOptions say which tables of which job are made.
type tableOptions struct {
	runName string // of the job; "" = the folder of the input
	rank    int64  // of the one input; negative = as the trace says
	args    bool
	tables  string // trace or summary
	compat  bool
}

// queryOptions are what only query has.
type queryOptions struct {
	sqlFile   string // the query; "" = the first argument
	sqlFormat string
	schema    bool
	maxMemory int64 // bytes; 0 = half of the machine's
}

// adviseOptions are what only advise has.
type adviseOptions struct {
	gates  []gate
	device string // the model of the devices of a trace that names none
}

// gate is a finding on which a check fails, from a percentage of the window on.
type gate struct {
	id      string // "any" for all
	percent float64
	set     bool // a percentage was given
}

// whatifOptions are what only whatif has.
type whatifOptions struct {
	questions    pipeline.Questions
	scenarioFile string
	median       bool
	each         string
	asked        bool // of any of these
}

// watchOptions are what only watch has.
type watchOptions struct {
	every time.Duration
	once  bool
	exec  string // "" = none
}

// generalOptions are what every command has.
type generalOptions struct {
	strict, quiet, noColor, timing bool
	maxExpand                      int64 // bytes
	jobs                           int
	cpuProfile, memProfile         string
}
