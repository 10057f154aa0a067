package main

import (
	"embed"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// helpFiles are the texts of --help: what each command does, and the forms of the pages.
//
//go:embed help
var helpFiles embed.FS

// helpText is a text of --help, "" where there is none.
func helpText(name string) string {
	b, _ := helpFiles.ReadFile("help/" + name)
	return strings.TrimSuffix(string(b), "\n")
}

// helpWidth is where lines of --help end.
const helpWidth = 100

func init() {
	cli.FlagStringer = flagHelp
	cli.HelpPrinter = func(w io.Writer, page string, data any) {
		cli.HelpPrinterCustom(w, page, data, map[string]any{"wrapAt": func() int { return helpWidth }})
	}
}

// flagHelp is a flag in a page of help: its names and its value, and below them what it does.
func flagHelp(flag cli.Flag) string {
	f := flag.(cli.DocGenerationFlag)
	before, rest, _ := strings.Cut(f.GetUsage(), "`")
	value, rest, _ := strings.Cut(rest, "`")
	usage, names := before+value+rest, "    --"+f.Names()[0]
	if len(f.Names()) > 1 {
		names = "-" + f.Names()[1] + ", --" + f.Names()[0]
	}
	if d := f.GetDefaultText(); d != "" && f.TakesValue() && !strings.Contains(usage, "(default") && d != `""` {
		usage += " (default: " + strings.Trim(d, `"`) + ")"
	}
	return strings.TrimRight(names+" "+value, " ") + "\n" + usage
}
