package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"overlay/internal/overlay"
	"overlay/internal/perfetto"
	"overlay/internal/testtrace/viewer"
)

// wantSound wants a .pftrace in which the viewer finds nothing wrong and whose segments, but for methods that leave holes, tile the window: viewer FILE [what it says].
func wantSound(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: viewer FILE [wanted]")
	}
	found, err := viewed([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	for _, want := range args[1:] {
		if !slices.Contains(found, want) {
			ts.Fatalf("%s is not among %s", want, strings.Join(found, ", "))
		}
	}
}

// viewed is what the viewer shows of a trace: how many slices there are, and the attributes.
func viewed(src []byte) ([]string, error) {
	if bytes.HasPrefix(src, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		if src, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	im, err := viewer.Parse(src)
	if err != nil {
		return nil, err
	}
	im.CheckArgs()
	if len(im.Problems) > 0 {
		return nil, fmt.Errorf("problems: %v", im.Problems)
	}
	tiles := !slices.ContainsFunc(im.Attrs, func(a perfetto.Attr) bool { return a.Str == "ctda" || a.Str == "hta" })
	tiled, begin, end := int64(0), int64(0), int64(-1)
	for i := range im.Slices {
		if s := &im.Slices[i]; s.Category == overlay.CategoryPath && tiles {
			if end >= 0 && s.TS != end {
				return nil, fmt.Errorf("a segment begins at %d, and the one before ends at %d", s.TS, end)
			}
			if end < 0 {
				begin = s.TS
			}
			end, tiled = s.TS+s.Dur, tiled+s.Dur
		}
	}
	found := []string{fmt.Sprint("slices ", len(im.Slices))}
	for _, a := range im.Attrs {
		if a.IsStr {
			found = append(found, a.Key+" "+a.Str)
		} else {
			found = append(found, fmt.Sprint(a.Key, " ", a.Int))
		}
		cut := begin == 0 && a.Int > tiled // the picture begins at time 0, also where the window begins before
		if a.Key == "overlay.window_ns" && end >= 0 && a.Int != tiled && !cut {
			return nil, fmt.Errorf("the segments take %d ns of a window of %d ns", tiled, a.Int)
		}
	}
	return found, nil
}
