package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"overlay/internal/capture"
	"overlay/internal/inputs"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// captures are the files of --capture, of which those are read that a trace needs.
type captures struct {
	*job
	sync.Mutex
	files  []inputs.File
	graphs map[string][]capture.Graph // of those that were read, by path
}

// join gives a trace what the captures of its graphs tell (--capture): those for its batches, and all others where that is not enough.
func (c *captures) join(tr *trace.Trace) error {
	c.Lock() // several traces are read at a time
	defer c.Unlock()
	if c.graphs == nil {
		f, err := inputs.Find([]string{c.opts.graphs})
		if err != nil {
			return err
		}
		c.files, c.graphs = f.Files, map[string][]capture.Graph{}
	}
	first := forBatches(c.files, capture.Batches(tr))
	found, err := c.joinFiles(tr, first)
	if (err != nil || found.ReplaysJoined < found.Replays) && len(first) < len(c.files) {
		found, err = c.joinFiles(tr, c.files)
	}
	where := "--capture " + report.Plain(c.opts.graphs)
	switch {
	case errors.As(err, new(notJoined)):
		return fmt.Errorf("%s: %w", where, err)
	case err != nil:
		return err
	case found.ReplaysJoined < found.Replays:
		fmt.Fprintf(c.stderr, "overlay: %s: %d of %d replayed graphs, %s of their time, found their capture; of the first that did not: %s\n", where, found.ReplaysJoined, found.Replays,
			tables.FormatShare(tables.ShareOf(found.NSJoined, found.NS)), found.Refused)
	}
	if found.ByOrder > 0 {
		fmt.Fprintf(c.stderr, "overlay: %s: %d of %d operations by number, kind and order alone: its launch calls do not name their kernels\n", where, found.ByOrder, found.OperationsJoined)
	}
	return nil
}

// notJoined is an error of the join, not of a file.
type notJoined struct{ error }

// joinFiles reads those of some files that were not read, and joins what they captured with a trace.
func (c *captures) joinFiles(tr *trace.Trace, files []inputs.File) (capture.Joined, error) {
	var graphs []capture.Graph
	for _, file := range files {
		list, ok := c.graphs[file.Path]
		if !ok {
			of, err := c.in.Load(file.Path)
			if err != nil {
				return capture.Joined{}, err
			}
			list = capture.Find(of, filepath.Base(file.Path))
			c.graphs[file.Path] = list
		}
		graphs = append(graphs, list...)
	}
	found, err := capture.Join(tr, graphs)
	if err != nil {
		err = notJoined{err}
	}
	return found, err
}

// forBatches are the files whose names tell no batch, and for each batch the one of the least that is as large, which a server takes.
func forBatches(files []inputs.File, batches []int64) []inputs.File {
	if len(batches) == 0 {
		return files
	}
	var sizes []int64
	for _, file := range files {
		sizes = append(sizes, capture.FileBatch(filepath.Base(file.Path)))
	}
	sorted := slices.Sorted(slices.Values(sizes))
	wanted := map[int64]bool{-1: true}
	for _, n := range batches {
		if i, _ := slices.BinarySearch(sorted, n); i < len(sorted) {
			wanted[sorted[i]] = true
		}
	}
	var out []inputs.File
	for i, file := range files {
		if wanted[sizes[i]] {
			out = append(out, file)
		}
	}
	return out
}
