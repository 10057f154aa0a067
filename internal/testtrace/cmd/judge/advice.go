package main

import (
	"fmt"
	"io"
	"slices"

	"overlay/internal/advise"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/tables"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// adviceScore is what the advice made of one cause, planted in programs of many seeds.
type adviceScore struct {
	programs, found, first int
	truth                  []float64 // shares of the window
	off                    []float64 // of the truth
	within                 int       // to a tenth of the truth, or to a point of the window
}

// judgeAdvice plants each cause in n programs from a seed on and compares the gain of its finding with what a simulation
// of the program without it shows. Without a cause nothing may be found that gains anything.
func judgeAdvice(w io.Writer, n int, seed uint64) error {
	fmt.Fprintf(w, "%-20s %8s %8s %8s %12s %12s %12s %10s\n", "cause", "programs", "found", "first", "gain, median", "off, median", "off, largest", "within")
	for _, cause := range testtrace.Causes {
		var s adviceScore
		for i := range n {
			if err := s.judge(cause, seed+uint64(i)); err != nil {
				return err
			}
		}
		slices.Sort(s.truth)
		slices.Sort(s.off)
		median, largest := 0.0, 0.0
		if k := len(s.off); k > 0 {
			median, largest = s.off[k/2], s.off[k-1]
		}
		fmt.Fprintf(w, "%-20s %8d %8d %8d %12s %12s %12s %10d\n", cause, s.programs, s.found, s.first, tables.FormatShare(s.truth[len(s.truth)/2]), tables.FormatShare(median), tables.FormatShare(largest), s.within)
	}
	silent := 0
	for i := range n {
		a, err := adviceOn(testtrace.Plant("", seed+uint64(i)).With)
		if err != nil {
			return err
		}
		if len(a.Top(1)) == 0 {
			silent++
		}
	}
	fmt.Fprintf(w, "%-20s %8d without a finding that gains: %d\n", "nothing", n, silent)
	return nil
}

// judge judges one program.
func (s *adviceScore) judge(cause string, seed uint64) error {
	p := testtrace.Plant(cause, seed)
	var with, without testtrace.Run
	with.Simulate(p.With)
	without.Simulate(p.Without)
	a, err := adviceOn(p.With)
	if err != nil {
		return err
	}
	truth := with.End - without.End
	s.programs++
	s.truth = append(s.truth, tables.ShareOf(truth, a.Window))
	top := a.Top(1)
	if len(top) > 0 && top[0].ID == cause {
		s.first++
	}
	for i := range a.Findings {
		if f := &a.Findings[i]; f.ID == cause {
			s.found++
			off := max(f.Gain-truth, truth-f.Gain)
			s.off = append(s.off, tables.ShareOf(off, truth))
			if off*10 <= truth || off*100 <= a.Window {
				s.within++
			}
		}
	}
	return nil
}

// adviceOn is the advice on the trace of a program.
func adviceOn(p *testtrace.Program) (*advise.Advice, error) {
	var run testtrace.Run
	run.Simulate(p)
	b, _ := run.Build()
	tr, err := kineto.Parse(b.JSON(), "planted.json", kineto.Options{})
	if err != nil {
		return nil, err
	}
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		return nil, err
	}
	path, err := critpath.Exact(g)
	if err != nil {
		return nil, err
	}
	return advise.Find(g, path, func() *whatif.Model { return whatif.New(g) }), nil
}
