package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"overlay/internal/container"
	"overlay/internal/nearest"
	"overlay/internal/outputs"
	"overlay/internal/report"
)

// run is the whole program: it returns the exit status and leaves the process alone.
//
// The work runs beside a watch for signals, because no stage listens for them: on a signal the temporary files are
// removed, no further one can appear (outputs.abandon), and the process ends with the work unfinished.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr}
	p.outs.Stdout, p.outs.Held = stdout, &p.size.Written
	p.memory = container.Memory(os.DirFS("/"))
	container.LimitHeap(p.memory, 0)
	full := container.Watch(p.memory, &p.size, func() { runtime.GOMAXPROCS(1) })
	signals := watchSignals()
	defer signal.Stop(signals)

	done := make(chan error, 1)
	go func() {
		defer func() {
			if bug := recover(); bug != nil { // temporary files have to go all the same
				done <- &bugError{bug, debug.Stack()}
			}
		}()
		done <- p.dispatch(context.Background(), args)
	}()
	select {
	case err := <-done:
		return p.exitStatus(err)
	case err := <-full:
		return p.exitStatus(err)
	case got := <-signals:
		if p.outs.Abandon() { // nothing was interrupted: what is left is a few lines, unless nobody reads them
			select {
			case err := <-done:
				return p.exitStatus(err)
			case got = <-signals:
			}
		}
		status := exitSignal
		if n, ok := got.(syscall.Signal); ok {
			status += int(n)
		}
		if got == syscall.SIGINT {
			fmt.Fprintln(stderr, "overlay: interrupted")
		} else {
			fmt.Fprintf(stderr, "overlay: interrupted (%v)\n", got)
		}
		return status
	}
}

// watchSignals asks for every signal that would end the process and leave files behind. One that the caller of the
// process had ignored, as nohup does with SIGHUP, stays ignored.
func watchSignals() chan os.Signal {
	c := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	// SIGPIPE is asked for and never looked at: then a write into a closed pipe is an error like any other.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return c
}

// exitStatus prints an error as one line and tells the status that belongs to it.
func (p *program) exitStatus(err error) int {
	p.outs.Abandon() // nothing is left of outputs that were not committed
	var usage *usageError
	var bug *bugError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSlower), errors.Is(err, errUnsure), errors.Is(err, errFound):
		fmt.Fprintln(p.stderr, "overlay:", report.Plain(err.Error()))
		return exitGate
	case errors.Is(err, outputs.ErrPipe):
		return exitSignal + int(syscall.SIGPIPE)
	case errors.As(err, &bug):
		fmt.Fprintf(p.stderr, "overlay: %s; this is a bug in overlay, please report it with these lines\n%s", report.Plain(fmt.Sprint(bug.value)), bug.stack)
		return exitFailed
	case errors.As(err, &usage), errors.Is(err, errUnlike):
		fmt.Fprintln(p.stderr, "overlay:", report.Plain(err.Error()))
		return exitUsage
	default:
		fmt.Fprintln(p.stderr, "overlay:", report.Plain(err.Error()))
		return exitFailed
	}
}

// dispatch runs the command that args name.
func (p *program) dispatch(ctx context.Context, args []string) error {
	app := p.app()
	rest, err := commandLine(app, args)
	if err != nil {
		return err
	}
	return app.RunContext(ctx, rest)
}

// app describes all commands. Flags belong to commands; the program itself has none.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:                      "overlay",
		Usage:                     "show what bounds a PyTorch run, in the trace itself",
		HideHelpCommand:           true, // commandLine turns `help X` into `X --help`
		HideVersion:               true, // and --version into the command
		EnableBashCompletion:      true,
		CustomAppHelpTemplate:     helpText("overlay.tmpl") + "\n",
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		DisableSliceFlagSeparator: true,                         // names of files and events hold commas
		ExitErrHandler:            func(*cli.Context, error) {}, // the status is decided by run
		Commands: []*cli.Command{
			p.runCommand(), p.convertCommand(), p.reportCommand(), p.diffCommand(),
			p.adviseCommand(), p.whatifCommand(), p.exportCommand(), p.historyCommand(), p.gateCommand(), p.watchCommand(), p.queryCommand(),
			p.openCommand(), p.checkCommand(), p.sqlCommand(), p.mcpCommand(), p.answerCommand(), p.completionCommand(), p.manCommand(), p.versionCommand(),
		},
	}
	app.OnUsageError = usageProblem
	for _, c := range app.Commands {
		c.OnUsageError = usageProblem
		c.HideHelpCommand = true // else `overlay run help` would be a command
		c.CustomHelpTemplate = helpText("command.tmpl")
		if about := helpText(c.Name + ".txt"); about != "" && c.Flags != nil {
			c.Description = "\n" + about
		}
	}
	return app
}

// usageProblem replaces the page of help that the flag library prints by an error of one line.
func usageProblem(c *cli.Context, err error, _ bool) error {
	command := ""
	if c.Command != nil && c.Command.Name != "overlay" {
		command = c.Command.Name
	}
	msg := err.Error()
	if flag, ok := strings.CutPrefix(msg, "flag provided but not defined: -"); ok {
		msg = "no flag " + dashed(flag)
		if near := nearest.Name(flag, flagNames(c)); near != "" {
			msg += " (did you mean " + dashed(near) + "?)"
		}
	}
	if m := wrongValue.FindStringSubmatch(msg); m != nil {
		msg = dashed(m[2]) + " " + m[1] + " " + notValue(c, m[2], m[3])
	}
	return &usageError{msg, command}
}

// wrongValue is what the flag library says of a value that it cannot read: the value in quotes, and the flag.
var wrongValue = regexp.MustCompile(`^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([a-z-]+): (.*)`)

// dashed is a flag as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// flagNames are the names of the flags of a command.
func flagNames(c *cli.Context) (names []string) {
	if c.Command == nil {
		return nil
	}
	for _, f := range c.Command.Flags {
		names = append(names, f.Names()[0])
	}
	return names
}

// notValue says why a flag cannot take a value.
func notValue(c *cli.Context, name, problem string) string {
	if strings.HasSuffix(problem, "out of range") {
		return "is too large"
	}
	if c.Command == nil {
		return "cannot be read"
	}
	for _, f := range c.Command.Flags {
		if f.Names()[0] != name {
			continue
		}
		switch f.(type) {
		case *cli.DurationFlag:
			return "is no time such as 30us or 1.5ms"
		case *cli.Float64Flag:
			return "is no number"
		case *cli.BoolFlag:
			return "is too much: the flag takes no value"
		}
	}
	return "is no whole number"
}
