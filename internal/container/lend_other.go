//go:build !linux

package container

// lendFile returns bytes of a file, where a container makes that worth while: on Linux.
func lendFile(int) []byte { return nil }
