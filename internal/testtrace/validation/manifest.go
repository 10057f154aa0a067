// Package validation holds what overlay predicts from the trace of a loop beside what was measured after the loop was changed. It reads what
// testdata/capture recorded: pairs of loops that differ in one thing, with the times of their steps without the profiler.
package validation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// Manifest is what a recording says of itself: manifest.json.
type Manifest struct {
	Torch struct {
		Torch  string `json:"torch"`
		Device string `json:"device"`
		GPU    string `json:"gpu"`
	} `json:"torch"`
	Machine struct {
		System string `json:"system"`
		CPU    string `json:"cpu"`
		Cores  int    `json:"cores"`
		Python string `json:"python"`
	} `json:"machine"`
	Date    string    `json:"date"`
	Command string    `json:"command"`
	Pairs   []Pair    `json:"pairs"`
	Skipped []Skipped `json:"skipped"`
	Failed  []Skipped `json:"failed"`
}

// Skipped is a pair that was not recorded.
type Skipped struct {
	Pair  string `json:"pair"`
	Why   string `json:"why"`
	Error string `json:"error"`
}

// Pair is two loops and the change between them.
type Pair struct {
	Name     string  `json:"pair"`
	Change   string  `json:"change"`
	Ranks    int     `json:"ranks"`    // of a job; 0 for one process
	Question string  `json:"question"` // flags of whatif for the trace of Before; see fill
	Rule     string  `json:"rule"`     // of advise, that means this change; "" for none
	Truth    Truth   `json:"truth"`
	Error    string  `json:"error"` // of a form that could not be recorded
	Load     float64 `json:"load"`  // of the machine before
	Before   Loop    `json:"before"`
	After    Loop    `json:"after"`
}

// Truth is what holds of a job by construction.
type Truth struct {
	Straggler *int    `json:"straggler"` // nil for none
	Seconds   float64 `json:"seconds"`   // by which it is late in each step; 0 when not known
}

// Loop is one side of a pair.
type Loop struct {
	StepSeconds []float64 `json:"step_seconds"` // profiler off
	Traces      []File    `json:"traces"`
}

// File is a trace that was recorded of a loop.
type File struct {
	Name   string `json:"file"` // below the folder of the manifest, with /
	Stacks bool   `json:"stacks"`
	Sync   bool   `json:"sync"` // with records of synchronisation
	Bytes  int64  `json:"bytes"`
}

// Form is how a loop was recorded.
type Form struct{ Stacks, Sync bool }

func (f Form) String() string {
	switch f {
	case Form{Stacks: true}:
		return "stacks"
	case Form{Sync: true}:
		return "sync"
	case Form{Stacks: true, Sync: true}:
		return "sync, stacks"
	}
	return "plain"
}

// Read reads the manifest of a folder.
func Read(dir string) (*Manifest, error) {
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "manifest.json"), err)
	}
	return m, nil
}

// Forms are those in which both loops were recorded, in the order of the manifest.
func (p *Pair) Forms() []Form {
	var out []Form
	for _, f := range p.Before.Traces {
		if form := (Form{f.Stacks, f.Sync}); !slices.Contains(out, form) && p.After.Files(form) != nil {
			out = append(out, form)
		}
	}
	return out
}

// Files are the traces of a form, by rank.
func (l *Loop) Files(form Form) []string {
	var out []string
	for _, f := range l.Traces {
		if (Form{f.Stacks, f.Sync}) == form {
			out = append(out, f.Name)
		}
	}
	return out
}

// Folder is where the traces of a form lie, of a job: what `overlay report -i` takes.
func (l *Loop) Folder(form Form) string { return path.Dir(l.Files(form)[0]) }

// Load reads a trace of a folder.
func Load(dir, name string) (*trace.Trace, error) {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	var r io.Reader
	switch {
	case strings.HasSuffix(name, ".gz"):
		if r, err = gzip.NewReader(bytes.NewReader(b)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer z.Close()
		r = z
	default:
		r = bytes.NewReader(b)
	}
	if b, err = io.ReadAll(r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return kineto.Parse(b, name, kineto.Options{})
}
