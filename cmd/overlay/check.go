package main

import (
	"github.com/urfave/cli/v2"

	"overlay/internal/inputs"
)

// check says what a file holds, or lists the ranks of a job.
func (j *job) check() error {
	f, err := inputs.Find(j.opts.inputs)
	if err != nil {
		return err
	}
	if !f.Many(j.opts.maxExpand) {
		if err := j.checkOne(f.Files[0].Path); !f.Split(0, err) {
			return err
		}
	}
	return j.checkJob(f)
}

func (p *program) checkCommand() *cli.Command {
	takes := groups{inputFlag("the trace to look at, `FILE`, folder, archive (tar, zip) or - for standard input, also without the flag"), captureFlags(), jsonFlags(), generalFlags()}
	return &cli.Command{Name: "check", Usage: "say what a trace holds and what is wrong with it", ArgsUsage: "[-i] FILE|FOLDER… [flags]", Flags: takes.flags(),
		Description: `
Reads a trace of any kind and prints what is in it, what was repaired, and what the analysis will miss. Of a
folder, a quoted pattern, an archive (tar, zip) or several files it lists the ranks: how each is known, what it recorded
and when, and which ranks of the job have no trace.

Examples:
  overlay check trace.json.gz
  overlay check recorded.pftrace --json
  overlay check traces/
  overlay check 'traces/rank*.json.gz'
  overlay check traces.tar.gz --json`,
		Action: p.action(takes, inputFiles, (*flagReader).needInput, (*job).check)}
}
