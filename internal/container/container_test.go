package container

import (
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestContainerMemory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no cgroups":             {nil, 0},
		"version 2":              {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000000000\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 1e9},
		"version 2, parent":      {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "2000000000\n"}, 2e9},
		"version 2, namespace":   {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000000\n"}, 1e9},
		"version 1":              {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:memory:/x/y\n0::/\n", "sys/fs/cgroup/memory/x/y/memory.limit_in_bytes": "1000000000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 1e9},
		"version 1, host's path": {map[string]string{"proc/self/cgroup": "4:memory:/docker/id\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000000000\n"}, 1e9},
		"no limit":               {map[string]string{"proc/self/cgroup": "4:memory:/\n0::/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		"nonsense":               {map[string]string{"proc/self/cgroup": "4\n:::\n0::/\n", "sys/fs/cgroup/memory.max": "-3\n"}, 0},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := Memory(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestMemoryIsWatched: a process that holds more than its container allows says so; without a limit nothing is said.
func TestMemoryIsWatched(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nobody says here how much memory is held")
	}
	slowed := false
	select {
	case err := <-Watch(1<<20, &Work{}, func() { slowed = true }):
		if !slowed {
			t.Error("the work goes on as fast as before")
		}
		if !strings.Contains(err.Error(), "out of memory: the container allows 1 MB") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a full container is not noticed")
	}
	select {
	case err := <-Watch(0, &Work{}, nil):
		t.Error(err)
	case <-time.After(60 * time.Millisecond):
	}
}

// TestNeeds: the message says what the work would need, from the events when they are counted, before that from the text.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		kind         Kind
		text, events int64
		want         string
	}{
		{Usual, 0, 0, ""},
		{Other, 1e9, 1e6, ""},
		{Usual, 250e6, 0, "a trace of 250 MB needs about 215 MB"},
		{Usual, 250e6, 2_000_000, "2,000,000 events need about 355 MB"},
		{Slim, 250e6, 2_000_000, "2,000,000 events need about 429 MB"},
	} {
		var w Work
		w.expect(c.kind)
		w.text.Store(c.text)
		w.events.Store(c.events)
		if got := w.needs(); got != c.want {
			t.Errorf("kind %d, %d bytes, %d events: %q, want %q", c.kind, c.text, c.events, got, c.want)
		}
	}
}

// TestTight: events lie in a file where the work may need more than the container has, and only there; what is said to be needed is
// less then.
func TestTight(t *testing.T) {
	for _, c := range []struct {
		kind      Kind
		text      int64
		container int64
		want      bool
	}{
		{Usual, 180e6, 0, false},
		{Usual, 180e6, 1e9, false},
		{Usual, 180e6, 200e6, true},
		{Usual, 1800e6, 1e9, true},
		{Other, 1800e6, 1e9, true}, // the events alone may fill it
	} {
		var w Work
		w.expect(c.kind)
		w.text.Store(c.text)
		if got := w.tight(c.container); got != c.want {
			t.Errorf("kind %d, %d bytes in %d: %v", c.kind, c.text, c.container, got)
		}
	}
	var w Work
	w.expect(Usual)
	w.events.Store(1e6)
	before := w.needs()
	if w.lent.Store(true); w.needs() == before {
		t.Errorf("%q with the events in a file, too", before)
	}
}
