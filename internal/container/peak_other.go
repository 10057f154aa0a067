//go:build !unix

package container

import "runtime"

// Peak is the memory that the runtime has from the system, in bytes.
func Peak() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
