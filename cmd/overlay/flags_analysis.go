package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/cdg"
	"overlay/internal/nearest"
	"overlay/internal/ranks"
	"overlay/internal/trace"
)

func windowFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "threads", Category: analysisGroup, Value: "auto",
			Usage: "how threads hand work over, `auto|gil|explicit`: gil by taking turns, explicit by flows, blocking frames and joins only (for code without a GIL); auto decides from the trace"},
		&cli.StringFlag{Name: "annotation", Category: analysisGroup,
			Usage: "analyse only the annotation whose name contains `NAME` (default: the whole trace)"},
		&cli.StringFlag{Name: "instance", Category: analysisGroup,
			Usage: "which of several such annotations, `N` or A:B, counted from 0 by time; A:B spans from the start of A to the end of B (default: 0)"},
		&cli.StringFlag{Name: "step", Category: analysisGroup, DefaultText: "the whole trace",
			Usage: "analyse only the step ProfilerStep#`N`; of iterations of a server also decode#N, or decode for the one of median length of that type"},
	}, readWindow}
}

func readWindow(r *flagReader, o *options) {
	if word := r.oneOf("threads", "auto", "gil", "explicit"); word != "" {
		o.threads, _ = cdg.ParseThreadMode(word)
	}
	o.annotation, o.instance = r.path("annotation"), r.path("instance")
	if r.IsSet("step") {
		o.step = r.step("step", r.String("step"))
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

// step reads what a flag calls a step; one of the profiler's becomes its number.
func (r *flagReader) step(flag, word string) string {
	kind, number, ok := trace.ReadStep(word)
	switch {
	case ok && kind == trace.NoIteration:
		return strconv.FormatInt(number, 10)
	case ok:
		return word
	}
	if n, err := strconv.Atoi(word); err == nil && n < 0 {
		r.problem("--%s %s is negative", flag, word)
		return ""
	}
	name, _, _ := strings.Cut(word, "#")
	meant := ""
	if s := nearest.Name(name, trace.IterationTypes[1:]); s != "" {
		meant = ", is " + s + " meant?"
	}
	r.problem("--%s %s is neither the number of a step nor a name such as decode#7 or decode%s", flag, quote(word), meant)
	return ""
}

func methodFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "method", Category: analysisGroup, Value: "exact",
			Usage: "how the critical path is found, `exact|ctda|hta`: exact walks back from the last event and explains every nanosecond; ctda is the CTDA-CPA paper's walk over the aggregated graph; hta gives the path of Holistic Trace Analysis"},
	}, func(r *flagReader, o *options) {
		o.method, o.methodSet = r.oneOf("method", methods...), r.IsSet("method")
	}}
}

// htaFlags stand behind methodFlags, which they complete.
func htaFlags() group {
	return group{[]cli.Flag{
		&cli.BoolFlag{Name: "hta-zero-weight-launch", Category: analysisGroup,
			Usage: "with --method hta: add a launch edge of weight 0 to every kernel that HTA gives none"},
		&cli.StringFlag{Name: "hta-data-load", Category: analysisGroup,
			Usage: "with --method hta: events of this `NAME` are data loading"},
		&cli.BoolFlag{Name: "hta-last-step", Category: analysisGroup,
			Usage: "with --method hta: keep the last step, which HTA leaves out"},
	}, func(r *flagReader, o *options) {
		o.htaZeroWeightLaunch, o.htaDataLoad, o.htaLastStep = r.Bool("hta-zero-weight-launch"), r.path("hta-data-load"), r.Bool("hta-last-step")
		if kind, _, _ := trace.ReadStep(o.step); kind != trace.NoIteration && o.method == "hta" {
			r.problem("--method hta cuts at annotations: give that of the iteration with --annotation, and --instance, in place of --step %s", o.step)
		}
		for _, name := range []string{"hta-zero-weight-launch", "hta-data-load", "hta-last-step"} {
			if r.IsSet(name) && o.method != "hta" {
				r.problem("--%s needs --method hta", name)
			}
		}
	}}
}

func adviceFlags() group {
	return group{[]cli.Flag{
		&cli.BoolFlag{Name: "no-advice", Category: analysisGroup,
			Usage: "do not look for what would make the run shorter: quicker, and in less memory"},
	}, func(r *flagReader, o *options) { o.advice = !r.Bool("no-advice") }}
}

// jobFlags are for commands that put the ranks of a job together.
func jobFlags() group {
	return group{[]cli.Flag{
		readsFile(&cli.StringFlag{Name: "hosts", Category: analysisGroup,
			Usage: "several ranks: read from `FILE` which rank ran where, a rank and a host a line (default: from the traces)"}),
		&cli.BoolFlag{Name: "trust-clocks", Category: analysisGroup,
			Usage: "several ranks: take time stamps as they are (default: solve the clocks from the ends of collectives)"},
	}, func(r *flagReader, o *options) { o.hosts, o.trustClocks = r.path("hosts"), r.Bool("trust-clocks") }}
}

// expectFlags are for commands that judge the links of a job.
func expectFlags() group {
	return group{[]cli.Flag{
		&cli.StringSliceFlag{Name: "expect", Category: analysisGroup,
			Usage: "several ranks: a known bus bandwidth in GB/s, `intra=300` within a host or inter=45 between hosts, to compare with (default: the best of the job)"},
	}, func(r *flagReader, o *options) { o.expect = r.readExpect(r.StringSlice("expect")) }}
}

// readExpect reads the values of --expect: intra=300, inter=45.
func (r *flagReader) readExpect(list []string) (e ranks.Expected) {
	for _, s := range list {
		name, value, _ := strings.Cut(s, "=")
		rate, err := strconv.ParseFloat(value, 64)
		if err != nil || !(rate > 0) || math.IsInf(rate, 0) {
			r.problem("--expect %s is no bandwidth in GB/s such as intra=300", quote(s))
		}
		switch name {
		case "intra":
			e.Intra = rate
		case "inter":
			e.Inter = rate
		default:
			r.problem("--expect %s: the links are intra (within a host) and inter (between hosts)", quote(s))
		}
	}
	return e
}
