// Package buildinfo tells the version of the program, the same one in everything that is built of this module.
package buildinfo

import (
	"runtime/debug"
	"strings"
)

// Version is the version of the module as the build knows it, a tag or one made of the commit, without the leading v;
// "devel" where the build knows none. Outputs carry it.
var Version = version(debug.ReadBuildInfo())

func version(info *debug.BuildInfo, ok bool) string {
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}
