package container

import (
	"bytes"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// Memory is how much memory the container of this process may use, in bytes: the least limit of its memory
// cgroup and of those around it, of either version; 0 for none. root is the root of the file system.
func Memory(root fs.FS) int64 {
	list, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0 // not Linux
	}
	least := int64(math.MaxInt64)
	for line := range strings.Lines(string(list)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		dir, file := "sys/fs/cgroup", "memory.max"
		switch {
		case parts[0] == "0":
		case strings.Contains(","+parts[1]+",", ",memory,"):
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// In a container the path may be that of the host, and the mounted folder the cgroup itself: then the folders
		// of the path are not there, and the walk to the top finds the limit.
		for at := path.Join("/", parts[2]); ; at = path.Dir(at) {
			if text, err := fs.ReadFile(root, path.Join(dir, at, file)); err == nil {
				if n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && n > 0 {
					least = min(least, n)
				}
			}
			if at == "/" {
				break
			}
		}
	}
	if least > 1<<50 { // "max", or version 1's word for it: nearly 2^63
		return 0
	}
	return least
}
