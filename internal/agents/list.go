package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/inputs"
	"overlay/internal/limits"
	"overlay/internal/nearest"
	"overlay/internal/ranks/roster"
	"overlay/internal/tables"
)

type listQuestion struct {
	Folder string `json:"folder,omitempty" jsonschema:"list what lies below this folder only"`
}

// traceList is what lies below the roots.
type traceList struct {
	Traces []listed `json:"traces"`
	More   int      `json:"more" jsonschema:"how many are not shown"`
}

type listed struct {
	File   string `json:"file"`
	Kind   string `json:"kind" jsonschema:"trace, archive, database, tables, or folder: several traces right in it, which may be the ranks of one job"`
	Bytes  int64  `json:"bytes,omitempty"`
	Traces int    `json:"traces,omitempty" jsonschema:"of a folder: how many"`
}

// listTraces lists the traces below a folder, or below all roots.
func (a *Agents) listTraces(ctx context.Context, q *listQuestion) (*answer, error) {
	all, err := a.tracesBelow(ctx, q.Folder)
	if err != nil {
		return nil, err
	}
	list := traceList{Traces: all[:min(len(all), limits.AgentList)]}
	list.More = len(all) - len(list.Traces)
	data, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, x := range list.Traces {
		what := x.Kind
		if x.Traces > 0 {
			what = fmt.Sprintf("%s of %s", x.Kind, tables.Counted(x.Traces, "trace"))
		}
		if x.Bytes > 0 {
			what += ", " + tables.Grouped(x.Bytes) + " bytes"
		}
		fmt.Fprintf(&b, "%s  (%s)\n", strconv.Quote(x.File), what)
	}
	if list.More > 0 {
		fmt.Fprintf(&b, "… %d more: name a folder\n", list.More)
	}
	if len(list.Traces) == 0 {
		b.WriteString("no traces (looked for *.json and *.pftrace, also .gz and .zst, archives, and databases of profilers)\n")
	}
	return &answer{b.String(), data}, nil
}

// tracesBelow lists what may be a trace, by its name: what it is, reading it says.
func (a *Agents) tracesBelow(ctx context.Context, folder string) ([]listed, error) {
	folders := []string{folder}
	if folder == "" {
		folders = nil
		for _, root := range a.Files.Roots {
			folders = append(folders, root.Name())
		}
	}
	list := []listed{}
	add := func(x listed) {
		if rel, err := filepath.Rel(a.Files.Roots[0].Name(), x.File); err == nil && filepath.IsLocal(rel) {
			x.File = rel
		}
		list = append(list, x)
	}
	for _, dir := range folders {
		if err := a.check(ctx, &dir); err != nil {
			return nil, err
		}
		counts := map[string]int{}
		err := inputs.Walk(a.Files, dir, limits.AgentSeen, func(name string, e fs.DirEntry) error {
			path, kind := filepath.Join(dir, filepath.FromSlash(name)), kindByName(e.Name())
			switch {
			case ctx.Err() != nil:
				return fs.SkipAll
			case e.IsDir():
				add(listed{File: filepath.Dir(path), Kind: "tables"})
				return nil
			case kind == "":
				return nil
			}
			info, err := a.Files.Stat(path) // of what a link leads to, if it may be read
			if err != nil || info.IsDir() {
				return nil
			}
			if kind == "trace" {
				counts[filepath.Dir(path)]++
			}
			add(listed{File: path, Kind: kind, Bytes: info.Size()})
			return nil
		})
		if err != nil {
			return nil, err
		}
		for path, n := range counts {
			if n > 1 {
				add(listed{File: path, Kind: "folder", Traces: n})
			}
		}
	}
	slices.SortFunc(list, func(x, y listed) int { return cmp.Or(roster.CompareNames(x.File, y.File), cmp.Compare(x.Kind, y.Kind)) })
	return slices.Compact(list), nil
}

// kindByName is what a file may be, by its name; "" of what is no input.
func kindByName(name string) string {
	for _, end := range []string{".tar", ".tar.gz", ".tgz", ".tar.zst", ".zip"} {
		if strings.HasSuffix(name, end) {
			return "archive"
		}
	}
	for _, end := range []string{".sqlite", ".sqlite3", ".db", ".rpd"} {
		if strings.HasSuffix(name, end) {
			return "database"
		}
	}
	if inputs.IsTraceName(name) {
		return "trace"
	}
	return ""
}

// nearestTrace names the trace whose name is most like one that does not exist, apart from folders and endings.
func (a *Agents) nearestTrace(ctx context.Context, wanted string, err error) string {
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	list, e := a.tracesBelow(ctx, "")
	list = slices.DeleteFunc(list, func(x listed) bool { return x.Kind == "folder" })
	if e != nil || len(list) == 0 {
		return "; there are no traces below the root"
	}
	stem := func(path string) string {
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		return shortened(strings.ToLower(name), 255)
	}
	var stems []string
	for _, x := range list {
		stems = append(stems, stem(x.File))
	}
	if i := slices.Index(stems, nearest.Name(stem(wanted), stems)); i >= 0 {
		return "; the nearest is " + strconv.Quote(list[i].File) + ", and list_traces lists all"
	}
	return "; list_traces lists " + tables.Counted(len(list), "trace") + " below the root"
}

// check makes names of files absolute, and refuses those that no agent may read.
func (a *Agents) check(ctx context.Context, files ...*string) error {
	for _, file := range files {
		name := *file
		if !filepath.IsAbs(name) {
			name = filepath.Join(a.Files.Roots[0].Name(), name)
		}
		if _, err := a.Files.Stat(name); err != nil {
			return errors.New(inputs.Error(*file, err).Error() + a.nearestTrace(ctx, *file, err))
		}
		*file = name
	}
	return nil
}
