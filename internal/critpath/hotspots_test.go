package critpath_test

import (
	"bytes"
	"reflect"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
)

// TestHotspotsInParts: however few marks processors sum up in one go, the hotspots are the same, those of a copy of the path
// that nobody has added up too.
func TestHotspotsInParts(t *testing.T) {
	for _, python := range []bool{false, true} {
		var text bytes.Buffer
		if err := testtrace.Large(&text, 20_000, python); err != nil {
			t.Fatal(err)
		}
		tr := testtrace.Parse(t, text.Bytes())
		g, p := testtrace.Exact(t, tr)
		want := critpath.Hotspots(g, p)
		again := &critpath.Path{Method: p.Method, Window: p.Window, Segments: p.Segments, Edges: p.Edges, Marks: p.Marks, Duration: p.Duration}
		defer critpath.SmallHotMarks(10)()
		for _, x := range []*critpath.Path{p, again} {
			if got := critpath.Hotspots(g, x); !reflect.DeepEqual(got, want) {
				t.Errorf("python %v: %v, want %v", python, got, want)
			}
		}
		if p.Marks.Len() < 2*max(10, len(tr.Syms)) {
			t.Errorf("%d marks and %d names are one part", p.Marks.Len(), len(tr.Syms))
		}
	}
}

// TestUserFrame: what the profiler has cut the path of is the user's unless Python or PyTorch has it.
func TestUserFrame(t *testing.T) {
	for name, want := range map[string]bool{
		"train.py(3): step": true, "profile.py(9): main": true, "vllm/logging.py(4): info": true, "/home/x/queue.py(171): get": true, "queues.py(1): get": true,
		"queue.py(171): get": false, "typing.py(1): cast": false, "multiprocessing/queues.py(96): get": false, "_collections_abc.py(767): get": false,
		"torch/nn/functional.py(1): relu": false, "/usr/lib/python3.11/queue.py(171): get": false, "<built-in method mm>": false,
	} {
		if got := critpath.UserFrame(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
