//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the most memory that a process held.
func peak(p *os.ProcessState) int64 {
	n := int64(p.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "darwin" {
		return n
	}
	return n << 10
}
