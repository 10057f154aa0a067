package inputs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/kineto"
)

// TestShrunkInput: a mapped file that is cut while it is read is an error, not a crash.
func TestShrunkInput(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace.json")
	src := append([]byte(`{"traceEvents":[`), bytes.Repeat([]byte(`{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},`), 40_000)...)
	if err := os.WriteFile(name, append(src, "]}"...), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Guard(name, func() error {
		in, err := openInput(name, nil, kineto.Options{}, spoolRoom)
		if err != nil {
			return err
		}
		if err := os.Truncate(name, 10_000); err != nil {
			return err
		}
		_, err = kineto.Parse(in.Bytes, name, kineto.Options{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "shrank while it was read") {
		t.Errorf("error %v", err)
	}
}

// TestSpool: what does not fit into memory goes to a file and comes back whole.
func TestSpool(t *testing.T) {
	s := newSpool(100)
	var want []byte
	for i := range 50 {
		p := bytes.Repeat([]byte{byte(i)}, 7)
		want = append(want, p...)
		if _, err := s.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.b)+len(s.reserved) > 0 {
		t.Errorf("%d bytes stay in memory, too", len(s.b))
	}
	got, err := s.Bytes()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
}

func TestRoom(t *testing.T) {
	for container, want := range map[int64]int64{0: spoolRoom, 1 << 30: 1 << 28, 1 << 50: spoolRoom} {
		if got := RoomFor(container); got != want {
			t.Errorf("container of %d: %d, want %d", container, got, want)
		}
	}
}
