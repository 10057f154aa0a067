package main

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"
)

// TestFlagsFirst mixes flags and file names in any order and wants both lists back in their order.
func TestFlagsFirst(t *testing.T) {
	c := &cli.Command{Name: "x", Flags: []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}}, &cli.BoolFlag{Name: "quiet"}, &cli.IntFlag{Name: "step"}}}
	rapid.Check(t, func(t *rapid.T) {
		var args, flags, files []string
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				args, flags = append(args, "--quiet"), append(flags, "--quiet")
			case 1:
				args, flags = append(args, "-o", "a.json"), append(flags, "-o", "a.json")
			case 2:
				args, flags = append(args, "--output=-"), append(flags, "--output=-")
			case 3:
				args, flags = append(args, "--step", "-1"), append(flags, "--step", "-1")
			case 4:
				args, files = append(args, "-"), append(files, "-")
			case 5:
				args, files = append(args, "b.json"), append(files, "b.json")
			}
		}
		if rapid.Bool().Draw(t, "dashes") {
			args, files = append(args, "--", "--quiet"), append(files, "--quiet")
		}
		got, err := flagsFirst(c, args)
		if err != nil {
			t.Fatal(err)
		}
		if want := append(append(flags, "--"), files...); !slices.Equal(got, want) {
			t.Fatalf("%q gives %q, want %q", args, got, want)
		}
	})
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"1": 1, "500MB": 500e6, "2GiB": 2 << 30, "1.5k": 1536, "64GiB": 64 << 30, "10 kB": 10000, "3B": 3} {
		if got, ok := parseSize(s); !ok || got != want {
			t.Errorf("%s: %d %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "0", "-1", "x", "1x", "1GG", "nan", "inf", "1e30", "0.1", "GiB"} {
		if got, ok := parseSize(s); ok {
			t.Errorf("%q is taken for %d", s, got)
		}
	}
}

func TestOverlaidName(t *testing.T) {
	for in, want := range map[string]string{"a.json.gz": "a", "a.json": "a", "dir.json/a.pt.trace.json.zst": "dir.json/a.pt.trace",
		"a.gz": "a", "a": "a", "a.json.json": "a.json"} {
		if got := overlaidName(in); got != want+".overlaid.pftrace" {
			t.Errorf("%s: %s", in, got)
		}
	}
}
