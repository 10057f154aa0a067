//go:build !quick

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/agents"
	"overlay/internal/inputs"
	"overlay/internal/limits"
)

func (p *program) mcpCommand() *cli.Command {
	takes := groups{{[]cli.Flag{
		readsFiles(&cli.GenericFlag{Name: "root", Category: filesGroup, Usage: "let agents read traces below `DIR` only; may be repeated (required)"})}, readRoots}, generalFlags()}
	return &cli.Command{Name: "mcp", Usage: "answer agents over standard input and output (Model Context Protocol)", ArgsUsage: "--root DIR [flags]", Flags: takes.flags(),
		Action: p.action(takes, 0, nil, (*job).serveAgents)}
}

// readRoots reads the folders that agents may read.
func readRoots(r *flagReader, o *options) {
	for _, root := range r.paths("root") {
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			r.problem("--root %s is no folder", quote(root))
		}
		o.roots = append(o.roots, root)
	}
	if len(o.roots) == 0 {
		r.problem("no --root: name the folder whose traces agents may read")
	}
}

// calls are those of agents. Each is a process of its own: the memory of a trace is free again afterwards, a call can be ended at any
// point of the work, and nothing that a trace or a query does to its process reaches another call.
type calls struct {
	files *inputs.Below
	slots chan struct{} // of those in work
}

// serveAgents talks to one agent until it hangs up.
func (j *job) serveAgents() error {
	files, err := inputs.OpenBelow(j.opts.roots)
	if err != nil {
		return err
	}
	c := &calls{files: files, slots: make(chan struct{}, limits.AgentCalls)}
	a := &agents.Agents{Files: files, Version: version, Schema: schemaText(), Run: c.run}
	return a.Serve(context.Background(), j.stdin, j.stdout)
}

// errand is what the process that does the work of a call is told, as a line on its standard input. The rest of that input is
// nothing, and its end is the end of whoever asks: then the process ends too.
type errand struct {
	Roots     []string `json:"roots"`     // below which it may read
	Arguments []string `json:"arguments"` // of the program, the command first
	Rows      int      `json:"rows"`      // of an answer in SQL
}

// answerCommand does one errand. It is no command for people.
func (p *program) answerCommand() *cli.Command {
	return &cli.Command{Name: "answer", Hidden: true, Action: func(c *cli.Context) error {
		from := json.NewDecoder(p.stdin)
		var e errand
		if err := from.Decode(&e); err != nil || len(e.Roots) == 0 || len(e.Arguments) == 0 {
			return errors.New("standard input holds no errand: 'overlay mcp' starts this command")
		}
		files, err := inputs.OpenBelow(e.Roots)
		if err != nil {
			return err
		}
		go func() {
			io.Copy(io.Discard, p.stdin)
			os.Exit(exitFailed) // nothing is written that could be left behind
		}()
		inputs.Disk, p.agentRows = files, e.Rows
		return p.dispatch(c.Context, append([]string{"overlay"}, e.Arguments...))
	}}
}

// run does an errand in a process of its own and gives what it prints, of which it keeps the first keep bytes. A failure is what it
// says on standard error.
func (c *calls) run(ctx context.Context, keep, rows int, arguments ...string) (*agents.Kept, error) {
	late := fmt.Errorf("the call was ended after %v: ask for less, for one step, or for a smaller trace", limits.AgentTime)
	ctx, stop := context.WithTimeoutCause(ctx, limits.AgentTime, late)
	defer stop()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	e := errand{Arguments: slices.Insert(arguments, 1, "--no-color"), Rows: rows}
	for _, root := range c.files.Roots {
		e.Roots = append(e.Roots, root.Name())
	}
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{"overlay", "answer"}
	out, problem := &agents.Kept{Most: keep}, &agents.Kept{Most: 2000}
	cmd.Stdout, cmd.Stderr = out, problem
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	in.Write(append(line, '\n')) // one that takes no errand says so itself
	err = cmd.Wait()
	switch text := strings.TrimSpace(problem.String()); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && text != "":
		text, _, _ = strings.Cut(text, "\n")
		text, _, _ = strings.Cut(text, "; see 'overlay ")
		return nil, errors.New(strings.TrimPrefix(text, "overlay: "))
	}
	return out, err
}
