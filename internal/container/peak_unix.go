//go:build unix

package container

import (
	"runtime"
	"syscall"
)

// Peak is the most memory the process had at one time, in bytes, mapped input included.
func Peak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return u.Maxrss // already in bytes there
	}
	return int64(u.Maxrss) * 1024
}
