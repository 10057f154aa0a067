package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"overlay/internal/buildinfo"
)

// version is what outputs and reports carry.
var version = buildinfo.Version

// versionText is the version and what the program was built with.
func versionText() string {
	return fmt.Sprintf("overlay %s %s %s/%s%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, leavesOut)
}

func (p *program) versionCommand() *cli.Command {
	takes := groups{generalFlags()}
	return &cli.Command{Name: "version", Usage: "print the version", ArgsUsage: "", Flags: takes.flags(),
		Action: p.action(takes, 0, nil, func(j *job) error { return j.print(versionText()) })}
}
