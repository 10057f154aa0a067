package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"overlay/internal/container"
	"overlay/internal/tables"
)

// progressDelay is how long the work may take before progress appears: shorter work needs none.
const progressDelay = 400 * time.Millisecond

// stages follows the work: it shows the running stage on a terminal and keeps the times for --timing.
type stages struct {
	w        io.Writer // standard error
	visible  bool      // progress is wanted and w is a terminal
	began    time.Time
	done     []stageTime
	stopShow func()

	mu   sync.Mutex // guards the rest, which a timer touches too
	name string     // of the running stage, "" before the first and after the last
	from time.Time
	bar  *progressbar.ProgressBar
}

type stageTime struct {
	name string
	wall time.Duration
}

func newStages(stderr io.Writer, o *options) *stages {
	s := &stages{w: stderr, began: time.Now(), visible: !o.quiet && isTerminal(stderr), stopShow: func() {}}
	if s.visible {
		t := time.AfterFunc(progressDelay, s.show)
		s.stopShow = func() { t.Stop() }
	}
	return s
}

// isTerminal reports whether a person looks at w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show draws the progress line for the first time.
func (s *stages) show() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name == "" || s.bar != nil {
		return
	}
	s.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(s.w), progressbar.OptionSetDescription(s.name),
		progressbar.OptionSpinnerType(14), progressbar.OptionSetElapsedTime(true), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond))
	s.bar.RenderBlank() // else it waits for the first step, which a spinner never takes
}

// start ends the running stage and begins the next.
func (s *stages) start(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.name != "" {
		s.done = append(s.done, stageTime{s.name, now.Sub(s.from)})
	}
	s.name, s.from = name, now
	if s.bar != nil && name != "" {
		s.bar.Describe(name)
	}
}

// finish ends the last stage and clears the line of progress, so that other text can follow.
func (s *stages) finish() {
	s.stopShow()
	s.start("")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil {
		s.bar.Finish()
		s.bar = nil
	}
}

// print writes the table of --timing.
func (s *stages) print() {
	fmt.Fprintf(s.w, "%-12s %10s\n", "stage", "seconds")
	for _, t := range s.done {
		fmt.Fprintf(s.w, "%-12s %10s\n", t.name, tables.Seconds(t.wall.Nanoseconds()))
	}
	fmt.Fprintf(s.w, "%-12s %10s\n%-12s %8s\n", "all", tables.Seconds(time.Since(s.began).Nanoseconds()), "peak MB", tables.Megabytes(container.Peak()))
}
