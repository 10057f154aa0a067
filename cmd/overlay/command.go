package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"
)

func (p *program) runCommand() *cli.Command {
	takes := groups{inputFlags(), outputFlags("default: the name of the input with .overlaid.pftrace instead of .json.gz"), besideFlags(), captureFlags(), jobFlags(),
		methodFlags(), windowFlags(), htaFlags(), adviceFlags(), pictureFlags(), ranksFlags(), reportFlags(), generalFlags()}
	return &cli.Command{Name: "run", Usage: "analyse, and write the trace with the analysis drawn in", ArgsUsage: "[-i] FILE [-o FILE] [flags]", Flags: takes.flags(),
		Description: `
Finds the critical path of the trace and draws it in: critical slices red, a track "Critical path" that says what the
time is bound by, arrows along the path. Prints a summary to standard output (to standard error with -o -). Of a folder,
a quoted pattern or an archive with a trace for each rank of a job it makes one picture: all ranks on one clock, the
path over them, and a strip for each rank that shows when it waits, and for whom.

Examples:
  overlay run -i trace.json.gz
  overlay run -i traces/ -o job.pftrace
  overlay run -i 'traces/rank*.json.gz' -o job.pftrace --ranks 0,7
  overlay run -i trace.json.gz -o step3.pftrace.gz --step 3
  overlay run -i trace.json.gz -o overlaid.json --method hta
  overlay run -i trace.json.gz -o slim.pftrace.gz --only-critical --anonymize
  kubectl exec pod -- cat trace.json | overlay run -i - -o - --format perfetto > overlaid.pftrace`,
		Action: p.action(takes, inputFiles, checkRun, (*job).run)}
}

func (p *program) convertCommand() *cli.Command {
	takes := groups{inputFlags(), outputFlags("required"), generalFlags()}
	return &cli.Command{Name: "convert", Usage: "change the format, draw nothing", ArgsUsage: "[-i] FILE -o FILE [flags]", Flags: takes.flags(),
		Description: `
Writes the trace in another format without analysis. To Chrome JSON every event is copied byte for byte.

Examples:
  overlay convert -i trace.json.gz -o trace.pftrace
  overlay convert -i trace.json.zst -o trace.json.gz`,
		Action: p.action(takes, inputFiles, checkConvert, (*job).convert)}
}

func (p *program) reportCommand() *cli.Command {
	takes := groups{inputFlags(), captureFlags(), jobFlags(), methodFlags(), windowFlags(), htaFlags(), adviceFlags(), reportFlags(), jsonFlags(), pageFlags(), generalFlags()}
	return &cli.Command{Name: "report", Usage: "print the analysis as text, JSON or a page", ArgsUsage: "[-i] FILE [flags]", Flags: takes.flags(),
		Description: `
Prints what the critical path is made of: what the window is bound by, the time of each class, hotspots, steps. Of a
folder, a quoted pattern or an archive (tar, zip) with a trace for each rank of a job it puts all of them on one clock
and follows the path over the ranks: who waited for whom, and why.

Examples:
  overlay report -i trace.json.gz
  overlay report -i traces/
  overlay report -i 'traces/rank*.json.gz' --step 3 --json > job.json
  overlay report -i trace.json.gz --step 3 --top 20
  overlay report -i trace.json.gz --json --segments > report.json
  overlay report -i trace.json.gz --html report.html`,
		Action: p.action(takes, inputFiles, checkReport, (*job).printReport)}
}

func (p *program) diffCommand() *cli.Command {
	takes := groups{methodFlags(), windowFlags(), againstFlags(), jsonFlags(), pageFlags(), diffFlags(), generalFlags()}
	return &cli.Command{Name: "diff", Usage: "compare two traces, or two steps of one", ArgsUsage: "BEFORE AFTER | FILE [flags]", Flags: takes.flags(),
		Description: `
Analyses both traces in the same way and compares the reports: duration, classes, hotspots. Of two folders, quoted
patterns or archives with a trace for each rank of a job it compares the jobs: steps, classes, waits, and which
stragglers came or went.

Of one trace it compares two steps: --step N against --against N, the longest against the median of the others where
they are left out. Both are parts of the one path of the trace, so that their lengths are those of the report's steps.
With --annotation NAME they are its instances. Of one folder with a trace for each rank it compares two steps of the job.

Examples:
  overlay diff before.json.gz after.json.gz
  overlay diff monday/ tuesday/
  overlay diff before.json.gz after.json.gz --step 3 --fail-if-slower 5
  overlay diff before.json.gz after.json.gz --markdown --svg paths.svg > comment.md
  overlay diff trace.json.gz
  overlay diff trace.json.gz --step 7 --against 3
  overlay diff trace.json.gz --annotation forward --instance 12
  overlay diff traces/ --step 7`,
		Action: p.action(takes, ownFiles, checkDiff, (*job).diff)}
}

func (p *program) openCommand() *cli.Command {
	takes := groups{{[]cli.Flag{&cli.BoolFlag{Name: "no-browser", Category: filesGroup, Usage: "print the link only, start no browser"}},
		func(r *flagReader, o *options) { o.noBrowser = r.Bool("no-browser") }}, generalFlags()}
	return &cli.Command{Name: "open", Usage: "show a trace in ui.perfetto.dev from this machine", ArgsUsage: "FILE [flags]", Flags: takes.flags(),
		Description: `
Serves this one file on 127.0.0.1:9001 and opens the viewer with it, zoomed to the analysed window and with the critical
path pinned on top. The trace goes from this machine into the browser on this machine and nowhere else. Ends after the
transfer, or after two minutes without one.

Examples:
  overlay open trace.overlaid.pftrace
  overlay open trace.overlaid.pftrace --no-browser`,
		Action: p.action(takes, 1, nil, (*job).openInViewer)}
}

func (p *program) checkCommand() *cli.Command {
	takes := groups{captureFlags(), jsonFlags(), generalFlags()}
	return &cli.Command{Name: "check", Usage: "say what a trace holds and what is wrong with it", ArgsUsage: "FILE|FOLDER… [flags]", Flags: takes.flags(),
		Description: `
Reads a trace of any kind and prints what is in it, what was repaired, and what the analysis will miss. Of a
folder, a quoted pattern, an archive (tar, zip) or several files it lists the ranks: how each is known, what it recorded
and when, and which ranks of the job have no trace.

Examples:
  overlay check trace.json.gz
  overlay check overlaid.pftrace --json
  overlay check traces/
  overlay check 'traces/rank*.json.gz'
  overlay check traces.tar.gz --json`,
		Action: p.action(takes, anyFiles, nil, (*job).check)}
}

func (p *program) versionCommand() *cli.Command {
	takes := groups{generalFlags()}
	return &cli.Command{Name: "version", Usage: "print the version", ArgsUsage: "", Flags: takes.flags(),
		Action: p.action(takes, 0, nil, func(j *job) error { return j.print(versionText()) })}
}

// print makes text the result of a command.
func (j *job) print(text string) error {
	j.result = func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
	return nil
}

// noColorWanted follows no-color.org: any value but the empty one.
func noColorWanted() bool { return os.Getenv("NO_COLOR") != "" }
