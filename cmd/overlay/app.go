package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
)

// version is the version of the program; it is also the one that outputs carry.
const version = "0.1.0"

// Exit statuses, as the contract has them.
const (
	exitDone        = 0
	exitFailed      = 1   // the work failed: one line says why
	exitUsage       = 2   // the command line is wrong
	exitSlower      = 3   // diff --fail-if-slower
	exitInterrupted = 130 // SIGINT or SIGTERM
)

// usageError is a wrong command line: status 2 instead of 1.
type usageError struct{ msg, command string }

func (e *usageError) Error() string {
	help := "overlay --help"
	if e.command != "" {
		help = "overlay " + e.command + " --help"
	}
	return e.msg + "; see '" + help + "'"
}

// bugError is a panic: a bug of ours.
type bugError struct {
	value any
	stack []byte
}

func (e *bugError) Error() string { return fmt.Sprint(e.value) }

// errSlower ends `diff` with status 3; the result is printed already.
var errSlower = errors.New("slower")

// program is the world that the commands may touch.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	outs           outputs
}

// run is the whole program: it returns the exit status and leaves the process alone.
//
// The work runs beside a watch for signals, because no stage listens for them: on a signal the temporary files are
// removed, no further one can appear (outputs.abandon), and the process ends with the work unfinished.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	done := make(chan error, 1)
	go func() {
		defer func() {
			if bug := recover(); bug != nil { // temporary files have to go all the same
				done <- &bugError{bug, debug.Stack()}
			}
		}()
		done <- p.dispatch(ctx, args)
	}()
	select {
	case err := <-done:
		return p.exitStatus(err)
	case <-ctx.Done():
		p.outs.abandon()
		fmt.Fprintln(stderr, "overlay: interrupted")
		return exitInterrupted
	}
}

// exitStatus prints an error as one line and tells the status that belongs to it.
func (p *program) exitStatus(err error) int {
	p.outs.abandon() // nothing is left of outputs that were not committed
	var usage *usageError
	var bug *bugError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSlower):
		fmt.Fprintln(p.stderr, "overlay:", err)
		return exitSlower
	case errors.As(err, &bug):
		fmt.Fprintf(p.stderr, "overlay: %v; this is a bug in overlay, please report it with these lines\n%s", bug.value, bug.stack)
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintln(p.stderr, "overlay:", oneLine(err.Error()))
		return exitUsage
	default:
		fmt.Fprintln(p.stderr, "overlay:", oneLine(err.Error()))
		return exitFailed
	}
}

// oneLine keeps a message on one line, whatever file name or text it quotes.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
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
		Name:                  "overlay",
		Usage:                 "show what bounds a PyTorch run, in the trace itself",
		HideHelpCommand:       true, // commandLine turns `help X` into `X --help`
		HideVersion:           true, // and --version into the command
		CustomAppHelpTemplate: appHelp,
		Writer:                p.stdout,
		ErrWriter:             p.stderr,
		ExitErrHandler:        func(*cli.Context, error) {}, // the status is decided by run
		Commands: []*cli.Command{
			p.runCommand(), p.convertCommand(), p.reportCommand(), p.diffCommand(),
			p.openCommand(), p.checkCommand(), p.sqlCommand(), p.versionCommand(),
		},
	}
	app.OnUsageError = usageProblem
	for _, c := range app.Commands {
		c.OnUsageError = usageProblem
		c.HideHelpCommand = true // else `overlay run help` would be a command
		c.CustomHelpTemplate = commandHelp(c)
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
	if flag, ok := strings.CutPrefix(msg, "flag provided but not defined: "); ok {
		msg = "no flag -" + flag
		if len(flag) > 2 {
			msg = "no flag --" + strings.TrimLeft(flag, "-")
		}
	}
	return &usageError{msg, command}
}
