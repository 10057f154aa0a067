//go:build !quick

package main

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// FuzzCommandLine sends any arguments, one a line, through the order of flags, the flag library and the checks of
// options. A wrong command line is a usageError of one line; a right one loses no argument.
func FuzzCommandLine(f *testing.F) {
	for _, s := range []string{"", "run", "run\n-i\na.json\n-o\nb.pftrace", "check\na\n--json", "diff\na\nb\n--fail-if-slower\n5", "help\nrun", "--version",
		"report\n-i=x\n--step\n-1", "run\n--max-expand=1GiB\n--\n-i", "open\n-", "convert\n-i\n-\n-o\n-\n--format\nchrome", "run\n-i\nx\n--instance\n1:2\n--annotation\na",
		"report\n-i\nx\n--analysis\nidle,queue\n--idle-threshold\n3ms\n--overlap-threshold\nnan", "rnu", "sql\n-h", "run\n-i\n--", "run\n---i\nx", "run\n--jobs\n99999999999999999999"} {
		f.Add(s)
	}
	every := groups{inputFlags(), outputFlags(""), besideFlags(), captureFlags(), jobFlags(), expectFlags(), methodFlags(), windowFlags(), htaFlags(), deviceFlags(), adviceFlags(), pictureFlags(), ranksFlags(), reportFlags(), jsonFlags(),
		pageFlags(), diffFlags(), failOnFlags(), changeFlags(), setFlags(), argsFlags(), queryFlags(), generalFlags()}
	f.Fuzz(func(t *testing.T, text string) {
		args := append([]string{"overlay"}, strings.Split(text, "\n")...)
		if text == "" {
			args = args[:1]
		}
		var stdout bytes.Buffer
		p := &program{stdin: strings.NewReader(""), stdout: &stdout, stderr: io.Discard}
		app := p.app()
		parsed := false
		for _, c := range app.Commands {
			c.Action = func(ctx *cli.Context) error { // all but the work
				parsed = true
				o, err := readOptions(ctx, every)
				r := &flagReader{Context: ctx, err: err}
				checkRun(r, o)
				if r.err == nil && (o.jobs < 1 || o.top < 0 && ctx.IsSet("top") || o.maxExpand < 0 || o.input == "") {
					t.Errorf("%q is accepted as %+v", args, o)
				}
				return r.err
			}
		}
		rest, err := commandLine(app, args)
		if err == nil {
			if len(rest) > 2 && len(args) > 2 && rest[1] == args[1] {
				given, got := slices.Sorted(slices.Values(args)), slices.Sorted(slices.Values(rest))
				if i := slices.Index(got, "--"); i < 0 {
					t.Errorf("%q has no end of flags: %q", args, rest)
				} else if len(got) > len(given) { // not ended by the user
					got = slices.Delete(got, i, i+1)
				}
				if !slices.Equal(given, got) {
					t.Errorf("%q became %q", args, rest)
				}
			}
			err = app.Run(rest)
		}
		var usage *usageError
		if err != nil && !errors.As(err, &usage) {
			t.Errorf("%q: %T %v is no usageError", args, err, err)
		}
		if err == nil && !parsed && stdout.Len() == 0 {
			t.Errorf("%q: nothing happened", args)
		}
	})
}
