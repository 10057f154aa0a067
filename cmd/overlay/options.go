package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// options are the checked flags of one command, by what they belong to. What a command has no flags for is at its default.
type options struct {
	command string

	inputOptions
	outputOptions
	windowOptions
	methodOptions
	jobOptions
	pictureOptions
	reportOptions
	diffOptions
	adviseOptions
	whatifOptions
	tableOptions
	queryOptions
	generalOptions

	noBrowser bool     // of open
	roots     []string // of mcp
}

// group is flags that belong together, with the function that reads and checks them into their part of the options.
type group struct {
	flags []cli.Flag
	read  func(r *flagReader, o *options)
}

// groups are the flags that a command takes, in the order of its help.
type groups []group

// flags are those of all groups.
func (g groups) flags() (list []cli.Flag) {
	for i := range g {
		list = append(list, g[i].flags...)
	}
	return list
}

// flagReader collects the first problem of a command line.
type flagReader struct {
	*cli.Context
	err error
}

// readOptions checks every flag of a command before the first byte is read.
func readOptions(c *cli.Context, takes groups) (*options, error) {
	r := &flagReader{Context: c}
	o := &options{command: c.Command.Name}
	o.step, o.against, o.rank, o.failIfSlower = -1, -1, -1, -1
	for i := range takes {
		takes[i].read(r, o)
	}
	return o, r.err
}

func (r *flagReader) problem(format string, args ...any) {
	if r.err == nil {
		r.err = &usageError{fmt.Sprintf(format, args...), r.Command.Name}
	}
}

// oneOf reads a flag that takes one of a few words.
func (r *flagReader) oneOf(name string, words ...string) string {
	v := r.String(name)
	if v != "" && !slices.Contains(words, v) {
		r.problem("--%s %s is unknown: %s", name, quote(v), strings.Join(words, ", "))
	}
	return v
}

// path reads a flag that names a file.
func (r *flagReader) path(name string) string {
	v := r.String(name)
	if v == "" && r.IsSet(name) {
		r.problem("--%s has an empty name", name)
	}
	return v
}

// paths reads a flag that names files.
func (r *flagReader) paths(name string) []string {
	names, ok := r.Generic(name).(*fileNames)
	if !ok {
		return nil
	}
	list := names.list
	if slices.Contains(list, "") {
		r.problem("--%s has an empty name", name)
	}
	return list
}

// bytes reads a flag that takes a size; 0 where there is none.
func (r *flagReader) bytes(name string) int64 {
	v := r.String(name)
	if v == "" {
		return 0
	}
	n, ok := parseSize(v)
	if !ok {
		r.problem("--%s %s is no size such as 500MB or 2GiB", name, quote(v))
	}
	return n
}

// parseSize reads a number of bytes with an optional unit: decimal kB to TB, binary KiB to TiB or a bare letter.
func parseSize(s string) (int64, bool) {
	digits := strings.TrimRight(s, "BbiKkMmGgTt ")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(n > 0) {
		return 0, false
	}
	unit := strings.ToLower(strings.TrimSpace(s[len(digits):]))
	scale, ok := map[string]float64{"": 1, "b": 1,
		"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
		"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}[unit]
	if n *= scale; !ok || n < 1 || n >= 1<<62 {
		return 0, false
	}
	return int64(n), true
}

// quote is %q for messages.
func quote(s string) string { return strconv.Quote(s) }
