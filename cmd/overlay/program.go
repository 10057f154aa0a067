package main

import (
	"errors"
	"fmt"
	"io"

	"overlay/internal/container"
	"overlay/internal/outputs"
)

// Exit statuses. A signal gives 128 and its number, as shells count: 130 for SIGINT.
const (
	exitDone   = 0
	exitFailed = 1 // the work failed: one line says why
	exitUsage  = 2 // the command line is wrong
	exitGate   = 3 // diff --fail-if-slower, advise --fail-on
	exitSignal = 128
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

// errSlower and errUnsure end `diff` and `gate` with status 3, errFound `advise`; the result is printed already. errUnlike ends them with status 2.
var (
	errSlower = errors.New("slower")
	errUnsure = errors.New("not sure")
	errFound  = errors.New("found")
	errUnlike = errors.New("these do not do the same work")
)

// program is the world that the commands may touch.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	outs           outputs.Outputs
	memory         int64 // that the container allows, in bytes; 0 for no limit
	size           container.Work
	agentRows      int // rows of an answer in SQL, where this process answers an agent; else 0
}
