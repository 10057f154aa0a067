//go:build unix

// Package processor tells tests how much processor time they took: how long a test took also tells what else the
// machine did.
package processor

import (
	"syscall"
	"time"
)

// Time is the processor time that the process has taken so far, in user and in system mode.
func Time() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
