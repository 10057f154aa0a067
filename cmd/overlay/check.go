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
		Action: p.action(takes, inputFiles, (*flagReader).needInput, (*job).check)}
}
