package perfetto_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/perfetto"
	"overlay/internal/testtrace/viewer"
)

func TestWriteReadText(t *testing.T) {
	data, st := write(t, small())
	im, err := viewer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	im.CheckArgs()
	var got strings.Builder
	viewer.Write(&got, im)
	want := `row "Critical path" order=0 explicit
  1000 +50 "tick" cpu_op
  counter "Queue length" order=0 unit=ops
    1000 3
    1010 2.5
    1020 0
process "python 42" pid=42 order=0 labels=CPU | pid=42
  thread "thread 43" pid=42 tid=43 order=0 | pid=42 tid=43
    1000 +200 "outer" cpu_op {n=-3 u=18446744073709551615 f=0.5 b=true s="é\"x" dims[0][0]=2 dims[0][1]=3 dims[1]="[]" dims[2].a_b="` + strings.Repeat("long ", 40) + `"}
      1100 +100 "inner" cpu_op color=critical#2796
        1100 instant "tick" cpu_op
    1200 +0 "" cpu_op
    lane "thread 43 overlap" order=1048576 key=overlap
      1150 +100 "over�lap" cpu_op
flow 7 "inner"@1100 -> "over�lap"@1150
attribute overlay.method = "exact"
attribute overlay.n = -5
uuid 0000000000000001ffffffffffffffff
realtime +1700000000000000000
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if st != (perfetto.Stats{Slices: 5, Instants: 1, Points: 3, Lanes: 1, Bytes: st.Bytes}) {
		t.Errorf("stats: %+v", st)
	}
}

// TestUnits writes times in ns, µs and units of neither, and reads them back.
func TestUnits(t *testing.T) {
	for _, unit := range []int64{1, 1000, 3000, 77} {
		tr := &perfetto.Trace{Tracks: []perfetto.Track{{Kind: perfetto.Row, Parent: -1, Name: "row", Fill: perfetto.Same(func(b *perfetto.Body, i int32) { b.Name("slice") })}}}
		want := ""
		for i := range int64(50) {
			it := perfetto.Item{Start: unit * (1_000_000 + 100*i), Dur: unit * i, Ref: int32(i)}
			tr.Tracks[0].Items = append(tr.Tracks[0].Items, it)
			want += fmt.Sprintf("  %d +%d \"slice\"\n", it.Start, it.Dur)
		}
		data, _ := write(t, tr)
		im, err := viewer.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		viewer.Write(&got, im)
		if !strings.Contains(got.String(), want) {
			t.Errorf("unit of %d ns: read %s", unit, got.String())
		}
	}
}
