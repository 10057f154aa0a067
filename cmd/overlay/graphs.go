package main

import (
	"fmt"
	"path/filepath"

	"overlay/internal/capture"
	"overlay/internal/inputs"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// joinCaptures gives a trace what the captures of its graphs tell (--capture).
func (j *job) joinCaptures(tr *trace.Trace) error {
	graphs, err := j.captured()
	if err != nil {
		return err
	}
	found, err := capture.Join(tr, graphs)
	if err != nil {
		return fmt.Errorf("--capture %s: %w", report.Plain(j.opts.graphs), err)
	}
	if found.ReplaysJoined < found.Replays {
		fmt.Fprintf(j.stderr, "overlay: --capture %s: %d of %d replayed graphs, %s of their time, found their capture; of the first that did not: %s\n", report.Plain(j.opts.graphs), found.ReplaysJoined, found.Replays,
			tables.FormatShare(tables.ShareOf(found.NSJoined, found.NS)), found.Refused)
	}
	return nil
}

// readCaptures lists the captured graphs in the files of --capture.
func (j *job) readCaptures() (graphs []capture.Graph, err error) {
	f, err := inputs.Find([]string{j.opts.graphs})
	if err != nil {
		return nil, err
	}
	for _, file := range f.Files {
		tr, err := j.in.Load(file.Path)
		if err != nil {
			return nil, err
		}
		graphs = append(graphs, capture.Find(tr, filepath.Base(file.Path))...)
	}
	return graphs, nil
}
