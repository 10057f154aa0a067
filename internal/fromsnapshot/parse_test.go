package fromsnapshot_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/fromsnapshot"
	"overlay/internal/memory"
)

// TestParse reads what testdata/make.py pickled.
func TestParse(t *testing.T) {
	src, err := os.ReadFile("testdata/snapshot.pickle")
	if err != nil {
		t.Fatal(err)
	}
	got, err := fromsnapshot.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	const base, addr = 1_700_000_000_000_000_000, 0x7f0000000000
	want := &memory.Snapshot{Devices: []memory.Recorded{{Allocated: 5300, Reserved: 20 << 20, Changes: []memory.Change{
		{At: base + 30_000, Addr: addr, Reserved: 2 << 20},
		{At: base + 31_000, Addr: addr, Bytes: 1000, Line: "model.py(12): forward"},
		{At: base + 40_000, Addr: addr + 1024, Bytes: 512, Line: "train.py(9): step"},
		{At: base + 51_000, Addr: addr + 1024, Bytes: -512},
		{At: base + 60_000, Addr: addr + 4096, Bytes: 300, Line: "model.py(12): forward"},
	}}, {}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, c := range []struct {
		src  []byte
		want string
	}{
		{src[:len(src)/2], "is cut"},
		{[]byte("\x80\x02}."), "expected a memory snapshot"},
		{[]byte("\x80\x02cos\nsystem\n."), "nothing of a pickle is executed"},
		{bytes.ReplaceAll(src, []byte("time_us"), []byte("time_ms")), "no entry of device_traces has a time"},
	} {
		if _, err := fromsnapshot.Parse(c.src); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.30q: %v, want %q", c.src, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	src, err := os.ReadFile("testdata/snapshot.pickle")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src)
	f.Fuzz(func(_ *testing.T, src []byte) { fromsnapshot.Parse(src) })
}
