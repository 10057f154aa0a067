package pftrace

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/viewer"
	"overlay/internal/trace"
)

// TestStages reads the operations that stand beside the slices as the viewer does: each is a slice too, with the same times
// and name; what they wait for is there and over before; and they cost at most 110 bytes each.
func TestStages(t *testing.T) {
	for _, m := range testtrace.Made(t) {
		t.Run(m.Name, func(t *testing.T) { checkStages(t, m.Trace) })
	}
	for _, name := range append(corpus.Find(t, "*nccl_data*", "*mi300*", "*trace_diff*"), corpus.Demo(t)) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json.gz"), func(t *testing.T) { checkStages(t, testtrace.Read(t, name)) })
	}
}

func checkStages(t *testing.T, tr *trace.Trace) {
	g, p, ok := testtrace.Analyse(t, tr)
	if !ok {
		t.Skip("nothing to analyse")
	}
	write := func(stages bool) (*viewer.Imported, []viewer.Stage, int) {
		var out bytes.Buffer
		if _, err := Write(&out, tr, overlay.Annotate(g.Layout(), p, overlay.Options{GPUCompute: stages})); err != nil {
			t.Fatal(err)
		}
		im, err := viewer.Parse(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return im, viewer.Stages(out.Bytes()), out.Len()
	}
	plain, none, plainSize := write(false)
	im, stages, size := write(true)
	if len(none) > 0 || len(im.Problems) > len(plain.Problems) {
		t.Fatalf("%d stages without the option, problems %v and %v", len(none), plain.Problems, im.Problems)
	}
	if len(im.Slices) != len(plain.Slices) || len(im.Flows) != len(plain.Flows) {
		t.Errorf("%d slices and %d arrows, %d and %d without stages", len(im.Slices), len(im.Flows), len(plain.Slices), len(plain.Flows))
	}
	want := map[string]int{}
	for i := range im.Slices {
		s := &im.Slices[i]
		k := &im.Tracks[s.Track]
		for k.GPU == nil && k.Parent >= 0 { // as rows below a row do in the viewer
			k = &im.Tracks[k.Parent]
		}
		if !s.Instant && k.GPU != nil && k.GPU.Stream >= 0 {
			want[fmt.Sprint(s.TS, max(s.Dur, 1), k.GPU.ID, k.GPU.Stream, s.Name)]++
		}
	}
	got := map[string]int{}
	for i := range stages {
		x := &stages[i]
		if x.Stream >= 0 {
			got[fmt.Sprint(x.TS, x.Dur, x.GPU, x.Stream, x.Name)]++
		}
		if x.ID != int64(i)+1 || x.PID <= 0 || x.Compute != (x.Kind == "Kernel") || !x.Compute && x.Kind != "Memcpy" && x.Kind != "Memset" {
			t.Fatalf("stage %d: %+v", i, x)
		}
		for _, id := range x.Waits {
			if id == 0 || id >= uint64(x.ID) {
				t.Errorf("stage %d waits for %d", x.ID, id)
			}
		}
		if x.Launch["grid x"] > 0 && (!x.Compute || x.Launch["grid z"] == 0 || x.Launch["group z"] == 0) {
			t.Errorf("stage %d: %v", i, x.Launch)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d stages with a stream are not the %d slices there", len(got), len(want))
	}
	names, text := map[string]bool{}, 0 // are written once
	for i := range stages {
		if x := &stages[i]; !names[x.Name] {
			names[x.Name], text = true, text+len(x.Name)+10
		}
	}
	if n := len(stages); n > 100 && (size-plainSize-text)/n > 110 {
		t.Errorf("%d bytes a stage", (size-plainSize-text)/n)
	}
	t.Logf("%d stages, %d bytes more than %d", len(stages), size-plainSize, plainSize)
}
