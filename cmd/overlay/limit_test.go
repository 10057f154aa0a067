package main

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
		if got := containerMemory(root); got != c.want {
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
	case err := <-watchMemory(1<<20, &workSize{}, func() { slowed = true }):
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
	case err := <-watchMemory(0, &workSize{}, nil):
		t.Error(err)
	case <-time.After(60 * time.Millisecond):
	}
}

// TestNeeds: the message says what the work would need, from the events when they are counted, before that from the text.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		o            options
		text, events int64
		want         string
	}{
		{options{reportOptions: reportOptions{reports: true}}, 0, 0, ""},
		{options{command: "check"}, 1e9, 1e6, ""},
		{options{reportOptions: reportOptions{reports: true}, inputOptions: inputOptions{many: true}}, 1e9, 1e6, ""},
		{options{reportOptions: reportOptions{reports: true}}, 250e6, 0, "a trace of 250 MB needs about 215 MB"},
		{options{reportOptions: reportOptions{reports: true}}, 250e6, 2_000_000, "2,000,000 events need about 355 MB"},
		{options{reportOptions: reportOptions{reports: true}, pictureOptions: pictureOptions{onlyCritical: true}}, 250e6, 2_000_000, "2,000,000 events need about 429 MB"},
	} {
		var w workSize
		w.expect(&c.o)
		w.text.Store(c.text)
		w.events.Store(c.events)
		if got := w.needs(); got != c.want {
			t.Errorf("report %v of %d bytes, %d events: %q, want %q", c.o.reports, c.text, c.events, got, c.want)
		}
	}
}

// TestTight: events lie in a file where the work may need more than the container has, and only there; what is said to be needed is
// less then.
func TestTight(t *testing.T) {
	for _, c := range []struct {
		reports   bool
		text      int64
		container int64
		want      bool
	}{
		{true, 180e6, 0, false},
		{true, 180e6, 1e9, false},
		{true, 180e6, 200e6, true},
		{true, 1800e6, 1e9, true},
		{false, 1800e6, 1e9, true}, // the events alone may fill it
	} {
		var w workSize
		w.expect(&options{reportOptions: reportOptions{reports: c.reports}})
		w.text.Store(c.text)
		if got := w.tight(c.container); got != c.want {
			t.Errorf("report %v of %d bytes in %d: %v", c.reports, c.text, c.container, got)
		}
	}
	var w workSize
	w.expect(&options{reportOptions: reportOptions{reports: true}})
	w.events.Store(1e6)
	before := w.needs()
	if w.lent.Store(true); w.needs() == before {
		t.Errorf("%q with the events in a file, too", before)
	}
}
