//go:build !unix

package main

import "runtime"

// peakMemory is the memory that the runtime has from the system, in bytes.
func peakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
