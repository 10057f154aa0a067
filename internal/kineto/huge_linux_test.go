package kineto

import (
	"bytes"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/tracecheck"
)

// TestAbove4GiB reads events that lie behind 4 GiB of blanks. The blanks are one block of memory that is mapped again
// and again, so nothing of that size is stored.
func TestAbove4GiB(t *testing.T) {
	corpus.Heavy(t)
	const block, blocks = 16 << 20, 258
	blank := bytes.Repeat([]byte{' '}, block)
	first, last := bytes.Clone(blank), bytes.Clone(blank)
	copy(first, `{"schemaVersion": 1, "traceEvents": [`+goodOp+`,`)
	const tail = nextOp + `, {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":120,"dur":1,"args":{"stream":7}}], "baseTimeNanoseconds": 7}`
	copy(last[block-len(tail):], tail)

	base, err := unix.MmapPtr(-1, 0, nil, block*(blocks+2), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Skip("no address space of this size: ", err)
	}
	defer unix.MunmapPtr(base, block*(blocks+2))
	place := func(content []byte, from, to int) {
		fd, err := unix.MemfdCreate("block", 0)
		if err != nil {
			t.Skip("no memory files here: ", err)
		}
		defer unix.Close(fd)
		if _, err := unix.Write(fd, content); err != nil {
			t.Fatal(err)
		}
		for i := from; i < to; i++ {
			if _, err := unix.MmapPtr(fd, 0, unsafe.Add(base, i*block), block, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
				t.Fatal(err)
			}
		}
	}
	place(first, 0, 1)
	place(blank, 1, blocks+1)
	place(last, blocks+1, blocks+2)

	tr, err := Parse(unsafe.Slice((*byte)(base), block*(blocks+2)), "huge", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	if len(tr.Events) != 3 || tr.Base != 7 {
		t.Fatalf("%d events, base %d", len(tr.Events), tr.Base)
	}
	e := &tr.Events[2]
	if TextOf(tr).Offset(2) < 4<<30 || tr.Name(2) != "k" || e.Start != 120_000 || tr.Name(1) != "z" {
		t.Errorf("event %+v is named %q", *e, tr.Name(2))
	}
	if v, ok := tr.ArgInt(2, "stream"); !ok || v != 7 {
		t.Errorf("stream %d", v)
	}
}
