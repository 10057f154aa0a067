package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeFlag is what the shells' scripts put behind an unfinished command line to ask how it may go on.
const completeFlag = "--generate-bash-completion"

// shells are the values of the argument of `overlay completion`.
var shells = []string{"bash", "zsh", "fish"}

func (p *program) completionCommand() *cli.Command {
	takes := groups{generalFlags()}
	return &cli.Command{Name: "completion", Usage: "print a script for the shell that completes commands and flags", ArgsUsage: "bash|zsh|fish",
		Flags: takes.flags(), Action: p.action(takes, 1, func(r *flagReader, _ *options) {
			if r.NArg() == 0 {
				r.err = &usageError{"no shell given: " + strings.Join(shells, ", "), "completion"}
			}
		}, func(j *job) error {
			text, err := completionScript(j.app(), j.files[0])
			if err != nil {
				return err
			}
			return j.print(text)
		})}
}

// completionScript is the script of a shell. Those of bash and zsh ask the program, that of fish is made from its flags.
func completionScript(app *cli.App, shell string) (string, error) {
	switch shell {
	case "bash", "zsh": // behind the command there are flags, which the program knows, and file names, which the shell knows
		return helpText("completion."+shell) + "\n", nil
	case "fish":
		for _, c := range app.Commands {
			for i, f := range c.Flags {
				if f, ok := f.(*pathFlag); ok { // the library asks its own types whether they take files
					c.Flags[i] = f.libraryFlag
				}
			}
		}
		return app.ToFishCompletion()
	default:
		return "", &usageError{fmt.Sprintf("shell %s is unknown: %s", quote(shell), strings.Join(shells, ", ")), "completion"}
	}
}

// manCommand is for packages, which install what it prints as overlay(1).
func (p *program) manCommand() *cli.Command {
	takes := groups{generalFlags()}
	return &cli.Command{Name: "man", Hidden: true, Usage: "print the manual page", ArgsUsage: "", Flags: takes.flags(),
		Action: p.action(takes, 0, nil, func(j *job) error {
			text, err := j.app().ToManWithSection(1)
			if err != nil {
				return err
			}
			return j.print(text)
		})}
}

// completing reports whether a shell asks for completions. Then the line is unfinished, and the flag library reads it as
// it is.
func completing(args []string) bool { return len(args) > 1 && args[len(args)-1] == completeFlag }
