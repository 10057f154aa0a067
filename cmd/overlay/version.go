package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is the version of the program, which outputs carry too: that of the module as the build knows it, a tag or
// one made of the commit; "devel" where the build knows none.
var version = buildVersion(debug.ReadBuildInfo())

func buildVersion(info *debug.BuildInfo, ok bool) string {
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

// versionText is the version and what the program was built with.
func versionText() string {
	return fmt.Sprintf("overlay %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
