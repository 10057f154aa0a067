//go:build !quick

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"overlay/internal/history"
	"overlay/internal/inputs"
	"overlay/internal/outputs"
	"overlay/internal/ranks"
	"overlay/internal/ranks/roster"
	"overlay/internal/report"
)

func (p *program) watchCommand() *cli.Command {
	takes := groups{historyFlags(), watchFlags(), generalFlags()}
	return &cli.Command{Name: "watch", Usage: "add traces to a history as they come, and tell when a run is slower", ArgsUsage: "DIR --history DIR [flags]", Flags: takes.flags(),
		Action: p.action(takes, 1, checkGate, (*job).watch)}
}

func watchFlags() group {
	return group{[]cli.Flag{
		&cli.DurationFlag{Name: "every", Category: filesGroup, Value: 10 * time.Second, Usage: "look for traces every `TIME`; one that has not changed in between is complete"},
		&cli.BoolFlag{Name: "once", Category: filesGroup, Usage: "end when all traces that are there are analysed"},
		&cli.StringFlag{Name: "exec", Category: filesGroup, Usage: "run `COMMAND` for a slower run; the JSON of 'overlay gate' is its standard input"},
	}, func(r *flagReader, o *options) {
		o.once, o.exec = r.Bool("once"), r.path("exec")
		if o.every = r.Duration("every"); o.every <= 0 {
			r.problem("--every %s is no time above 0", r.String("every"))
		}
	}}
}

// watched is what became of a file in one state: a line of the list that the history keeps.
type watched struct {
	File     string `json:"file"`
	Bytes    int64  `json:"bytes"`
	Modified int64  `json:"modified_ns"`
	Run      string `json:"run,omitempty"`
	Problem  string `json:"problem,omitempty"`
	Told     bool   `json:"told,omitempty"` // that this run is slower
}

type state struct{ bytes, modified int64 }

type watcher struct {
	*job
	root     string
	done     map[string]state  // as they were read
	settling map[string]state  // as they were when they were seen last
	owner    map[rankOf]string // file that a rank came from
	told     map[string]bool
	runs     map[string]*history.Run // of the history
}

// watchedName is the list in a history. A line that was cut off says nothing, and its file is read again.
const watchedName = "watched.jsonl"

func (j *job) watch() error {
	root, err := filepath.Abs(j.files[0])
	if err != nil {
		return err
	}
	w := &watcher{j, root, map[string]state{}, map[string]state{}, map[rankOf]string{}, map[string]bool{}, map[string]*history.Run{}}
	if text, err := inputs.ReadFile(filepath.Join(j.opts.history, watchedName)); err == nil {
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			var x watched
			if json.Unmarshal(lines.Bytes(), &x) == nil && x.File != "" {
				w.done[x.File] = state{x.Bytes, x.Modified}
				w.told[x.Run] = w.told[x.Run] || x.Told
				if x.Problem == "" {
					w.owner[memberOf(x.File, x.Run)] = x.File
				}
			}
		}
	}
	for {
		waiting, err := w.look()
		if err != nil || waiting == 0 && j.opts.once {
			return err
		}
		time.Sleep(j.opts.every)
	}
}

// look goes through the folder once: what has settled since the last time is analysed. It returns how many files have not.
func (w *watcher) look() (waiting int, err error) {
	now, err := w.list()
	if err != nil {
		return 0, err
	}
	folders := map[string]string{} // of runs, in which their traces lie
	for _, x := range now {
		at := state{x.Bytes, x.Modified}
		switch {
		case w.done[x.File] == at:
			continue
		case w.settling[x.File] != at:
			w.settling[x.File] = at
			waiting++
			continue
		}
		delete(w.settling, x.File)
		if err := w.take(&x); err != nil {
			return 0, err
		}
		if err := w.note(&x); err != nil {
			return 0, err
		}
		if w.done[x.File] = at; x.Problem != "" {
			fmt.Fprintln(w.stderr, "overlay:", report.Plain(x.Problem))
		} else {
			folders[x.Run] = filepath.Dir(x.File)
		}
	}
	return waiting, w.tell(folders)
}

// detailed stands in the names of traces that python/overlay_torch.py records in detail. That takes time, so that they are not compared with others.
const detailed = ".detail."

// list finds the traces of the folder and of those below it, by name.
func (w *watcher) list() (found []watched, err error) {
	err = inputs.Walk(inputs.Disk, w.root, math.MaxInt, func(file string, e fs.DirEntry) error {
		if e.IsDir() || !inputs.IsTraceName(e.Name()) || strings.Contains(e.Name(), detailed) {
			return nil
		}
		path := filepath.Join(w.root, filepath.FromSlash(file))
		if info, err := inputs.Disk.Stat(path); err == nil && info.Mode().IsRegular() { // it may have gone meanwhile
			found = append(found, watched{File: path, Bytes: info.Size(), Modified: info.ModTime().UnixNano()})
		}
		return nil
	})
	return found, err
}

var traceEnds = regexp.MustCompile(`(?i)(\.(json|gz|zst|pftrace|trace|pt))+$`)

// rankOf is a rank of a run, as far as names tell it.
type rankOf struct {
	run  string
	rank int64
}

func memberOf(file, run string) rankOf {
	rank, _ := roster.Marked(filepath.Base(file))
	return rankOf{run, rank}
}

// runOf names the run of a file. Two files that would be one rank of it are runs of their own.
func (w *watcher) runOf(file string) string {
	below, _ := filepath.Rel(w.root, filepath.Dir(file))
	base := traceEnds.ReplaceAllString(filepath.Base(file), "")
	name := func(last string) string {
		list := slices.DeleteFunc(append(strings.Split(filepath.ToSlash(below), "/"), strings.Trim(last, "-_.")), func(s string) bool { return s == "" || s == "." })
		if len(list) == 0 {
			list = []string{filepath.Base(w.root)}
		}
		return strings.Join(list, "-")
	}
	_, unranked := roster.Marked(base)
	run := name(unranked)
	if of := w.owner[memberOf(file, run)]; of != "" && of != file {
		run = name(base)
	}
	return run
}

// take analyses a file and adds its ranks to the history. Only what stands in the way of the history is an error.
func (w *watcher) take(x *watched) error {
	x.Run = w.runOf(x.File)
	f, err := inputs.Find([]string{x.File})
	var named []inputs.Set
	var made []*ranks.Summary
	if err == nil {
		w.opts.runName, w.opts.rank = x.Run, -1
		named, made, err = summarize(w.job, f, true)
	}
	if err != nil {
		x.Problem = err.Error()
		return nil
	}
	out, err := w.outs.CreateFolder(w.opts.history, ownTable)
	if err != nil {
		return err
	}
	e := exported{job: w.job, f: f, out: out}
	for i, s := range made {
		if err := e.add(&named[i], s); err != nil {
			return err
		}
	}
	w.owner[memberOf(x.File, x.Run)] = x.File
	return w.outs.Commit()
}

// note adds a line to the list, in one write.
func (w *watcher) note(x *watched) error {
	line, err := json.Marshal(x)
	if err == nil {
		err = os.MkdirAll(w.opts.history, 0o777)
	}
	name := filepath.Join(w.opts.history, watchedName)
	if err != nil {
		return outputs.Error(name, err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_RDWR, fs.FileMode(0o666))
	if err != nil {
		return outputs.Error(name, err)
	}
	defer f.Close()
	last := make([]byte, 1) // a line that was cut off ends here
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return outputs.Error(name, err)
	}
	return nil
}

// mostTold is how many runs are judged at a time: of many old traces that are there at the beginning the last ones.
const mostTold = 16

// tell compares runs with their past, and says once of each that is slower.
func (w *watcher) tell(folders map[string]string) error {
	if len(folders) == 0 {
		return nil
	}
	for name := range folders {
		delete(w.runs, name) // a rank came
	}
	runs, _, err := readHistory(w.opts.history, w.runs)
	if err != nil {
		fmt.Fprintln(w.stderr, "overlay:", report.Plain(err.Error()))
		return nil
	}
	var list []*history.Run
	for _, r := range runs {
		w.runs[r.Name] = r
		if folders[r.Name] != "" && !w.told[r.Name] {
			list = append(list, r)
		}
	}
	history.Sort(list, strings.Compare)
	for _, run := range list[max(0, len(list)-mostTold):] {
		v := judge(runs, run)
		if v.Slower() == nil && !v.Unlike {
			continue
		}
		w.told[run.Name] = true
		fmt.Fprintln(w.stdout, v.Line())
		if err := w.note(&watched{File: filepath.Join(w.root, "run="+run.Name), Run: run.Name, Told: true, Problem: v.Line()}); err != nil {
			return err
		}
		w.ask(folders[run.Name], v)
		if w.opts.exec == "" {
			continue
		}
		var text bytes.Buffer
		if err := v.WriteJSON(&text); err != nil {
			return err
		}
		c := exec.Command("sh", "-c", w.opts.exec)
		c.Stdin, c.Stdout, c.Stderr = &text, w.stdout, w.stderr
		if err := c.Run(); err != nil {
			fmt.Fprintln(w.stderr, "overlay: --exec:", report.Plain(err.Error()))
		}
	}
	return nil
}

// request is what asks a program that is sampled for detail: a file beside its traces, which python/overlay_torch.py made when it began.
type request struct {
	Run   string       `json:"run"`
	Says  string       `json:"says"`
	Ranks []ranks.Rank `json:"ranks,omitempty"` // none: all
}

// ask asks the program whose run is slower for detail in its next windows, where somebody answers.
func (w *watcher) ask(folder string, v *history.Verdict) {
	name := filepath.Join(folder, "detail.request")
	if _, err := os.Stat(name); err != nil || v.Slower() == nil {
		return
	}
	text, err := json.Marshal(request{v.Run.Name, v.Line(), w.concerned(v)})
	if err == nil { // whole or not at all: samplers read it when they like
		err = os.WriteFile(name+".next", append(text, '\n'), 0o666)
	}
	if err == nil {
		err = os.Rename(name+".next", name)
	}
	if err != nil {
		fmt.Fprintln(w.stderr, "overlay:", report.Plain(outputs.Error(name, err).Error()))
	}
}

// concerned are the ranks whose own work takes longer than before, and all that share a group with one of them that is not the whole job; none where no rank stands out, or there are no such groups.
func (w *watcher) concerned(v *history.Verdict) []ranks.Rank {
	slow := map[ranks.Rank]bool{}
	for i := range v.Beyond {
		if p := &v.Beyond[i]; p.Scope == history.Rank && p.Now > p.High {
			if rank, err := strconv.ParseInt(p.Name, 10, 32); err == nil {
				slow[ranks.Rank(rank)] = true
			}
		}
	}
	sets, _ := inputs.SummarySets([]string{filepath.Join(w.opts.history, filepath.Dir(inputs.Partition(v.Run.Name, 0)))})
	all, _, err := readSummaries(sets)
	if err != nil || len(slow) == 0 || 2*len(slow) > v.Run.Ranks {
		return nil
	}
	var list []ranks.Rank
	for _, s := range all.Of {
		if slow[s.Rank] {
			for i := range s.Groups {
				if g := s.Groups[i].Ranks; len(g) < v.Run.Ranks {
					list = append(list, g...)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
