package main

import (
	"fmt"
	"runtime"

	"overlay/internal/buildinfo"
)

// version is what outputs and reports carry.
var version = buildinfo.Version

// versionText is the version and what the program was built with.
func versionText() string {
	return fmt.Sprintf("overlay %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
