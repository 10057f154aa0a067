package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// archiveInputs lists the traces of an archive, with the rank of each. The job is called like the archive, as it would be
// like a folder.
func archiveInputs(t *traceFile, run string, limit int64) ([]rankInput, error) {
	if run == "" {
		run = filepath.Base(t.path)
		for _, end := range []string{".gz", ".zst", ".tgz", ".tar", ".zip"} {
			run = strings.TrimSuffix(run, end)
		}
	}
	var list []rankInput
	err := t.eachMember(cmp.Or(limit, 64<<30), func(name string, r io.Reader, _ func() bool) error {
		in := rankInput{name: t.path + "/" + name, run: run, archive: t, member: name}
		in.rank, in.format = rankOf(name, headIn(r))
		list = append(list, in)
		return nil
	})
	if errors.Is(err, errExpands) {
		err = fmt.Errorf("%s: %w", report.Plain(t.path), errExpands)
	}
	if err == nil && len(list) == 0 {
		err = noMembers(t.path)
	}
	return list, err
}

// archives read members in the order in which they stand in their archives, each archive once.
type archives struct {
	j    *job
	open map[*traceFile]*openArchive
}

type openArchive struct {
	next func() (opened, error, bool)
	stop func()
}

// opened is a member, decompressed.
type opened struct {
	member string
	in     *input
}

// close ends what is under way.
func (a *archives) close() {
	for _, x := range a.open {
		x.stop()
	}
}

// load reads a member of an archive. Those before it that nobody asked for are passed over.
func (a *archives) load(in *rankInput) (*trace.Trace, error) {
	x := a.open[in.archive]
	if x == nil {
		x = &openArchive{}
		x.next, x.stop = iter.Pull2(a.members(in.archive))
		if a.open == nil {
			a.open = map[*traceFile]*openArchive{}
		}
		a.open[in.archive] = x
	}
	a.j.stages.start("reading")
	for {
		m, err, ok := x.next()
		if !ok {
			return nil, fmt.Errorf("%s is no longer in the archive: did it change?", report.Plain(in.name))
		}
		if err != nil {
			return nil, err
		}
		if m.member != in.member {
			m.in.close()
			continue
		}
		limitHeap(a.j.memory, m.in.held)
		return a.j.decoded(in.name, m.in, m.in.options(a.j.readOptions()))
	}
}

// members gives the traces of an archive one after another.
func (a *archives) members(t *traceFile) iter.Seq2[opened, error] {
	return func(yield func(opened, error) bool) {
		o := a.j.readOptions()
		err := t.eachMember(cmp.Or(o.MaxExpand, 64<<30), func(name string, r io.Reader, cut func() bool) error {
			in, err := spoolInput(r, t.path+"/"+name, o, roomFor(a.j.memory))
			if err == nil {
				in.cut = in.cut || cut()
			}
			if !yield(opened{name, in}, err) || err != nil {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(opened{}, err)
		}
	}
}

// errStopped ends the reading of an archive of which nothing more is wanted.
var errStopped = errors.New("stopped")

// decoded makes a trace of an input that is to be analysed.
func (j *job) decoded(name string, in *input, o kineto.Options) (*trace.Trace, error) {
	j.stages.start("parsing")
	tr, err := decode(name, in, o, roomFor(j.memory))
	if err == nil {
		limitHeap(j.memory, in.held)
	}
	return analysable(name, tr, err)
}
