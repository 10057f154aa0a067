//go:build unix

package kineto

import (
	"syscall"
	"testing"
	"time"
)

// processor is the processor time that the process has taken: how long a test took also tells what else the machine did.
func processor(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
