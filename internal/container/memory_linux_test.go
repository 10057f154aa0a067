package container

import (
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// TestMemoryIsSeen: the watch sees memory that Go took and nothing was written to yet, which the process holds before anybody looks
// again, and memory that Go knows nothing of. Pages of files are none of it.
func TestMemoryIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes more memory than it is about")
	}
	const some = 96 << 20
	mapped := func(file, flags int) func(t *testing.T) {
		return func(t *testing.T) {
			b, err := syscall.Mmap(file, 0, some, syscall.PROT_READ|syscall.PROT_WRITE, flags)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { syscall.Munmap(b) })
			for i := 0; i < len(b); i += 4096 {
				b[i] |= 1
			}
		}
	}
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(some); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		take func(t *testing.T)
		seen bool
	}{
		{"nothing", func(*testing.T) {}, false},
		{"pages of a file", mapped(int(f.Fd()), syscall.MAP_SHARED), false},
		{"memory that is not written to", func(t *testing.T) { b := make([]byte, some); t.Cleanup(func() { runtime.KeepAlive(b) }) }, true},
		{"memory beside the heap", mapped(-1, syscall.MAP_ANON|syscall.MAP_PRIVATE), true},
	} {
		t.Run(c.what, func(t *testing.T) {
			debug.FreeOSMemory()
			held := max(Private(), takenMemory())
			full := Watch(containerFor(held+some/2), &Work{}, func() {})
			wait := 20 * time.Second
			if !c.seen {
				wait = 100 * time.Millisecond
			}
			c.take(t)
			select {
			case err := <-full:
				if !c.seen {
					t.Error(err)
				}
			case <-time.After(wait):
				if c.seen {
					t.Errorf("is not seen: %d MB held before, %d private and %d taken after", held>>20, Private()>>20, takenMemory()>>20)
				}
			}
		})
	}
}

// TestHeapLimit: the heap gets its share of the container, less what lies beside it; what the user set counts more.
func TestHeapLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for _, c := range []struct {
		env                      string
		container, outside, want int64
	}{
		{"", 1000 << 20, 0, 855 << 20},
		{"", 1000 << 20, 100 << 20, 755 << 20},
		{"", 100 << 20, 0, 83047219},
		{"", 1000 << 20, 900 << 20, 32 << 20},
		{"", 0, 0, 7 << 30},
		{"5GiB", 1000 << 20, 0, 7 << 30},
	} {
		t.Setenv("GOMEMLIMIT", c.env)
		debug.SetMemoryLimit(7 << 30)
		LimitHeap(c.container, c.outside)
		if got := debug.SetMemoryLimit(-1); got != c.want {
			t.Errorf("container of %d, %d outside, GOMEMLIMIT=%q: limit of %d, want %d", c.container, c.outside, c.env, got, c.want)
		}
	}
}

// TestMachineMemory: of a container its limit counts.
func TestMachineMemory(t *testing.T) {
	if got := Machine(5 << 30); got != 5<<30 {
		t.Errorf("%d in a container of 5 GB", got)
	}
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	if got, want := Machine(0), int64(info.Totalram)*int64(info.Unit); got != want {
		t.Errorf("%d, the system says %d", got, want)
	}
}
