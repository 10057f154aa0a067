package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// appHelp is `overlay --help`.
const appHelp = `overlay shows what bounds a PyTorch run: it reads a profiler trace (Kineto JSON), finds the critical path over CPU
threads and GPU streams, and draws it into a trace for ui.perfetto.dev.

Usage: overlay COMMAND [flags]

Commands:
{{range .VisibleCommands}}  {{printf "%-10s" .Name}} {{.Usage}}
{{end}}
Examples:
  overlay run -i trace.json.gz                    analyse, write trace.overlaid.pftrace, print a summary
  overlay open trace.overlaid.pftrace             show it in ui.perfetto.dev
  overlay report -i trace.json.gz --step 3        print the analysis of one step

'overlay COMMAND --help' lists the flags of a command.
Exit status: 0 done, 1 the work failed, 2 the command line is wrong, 3 diff --fail-if-slower or advise --fail-on,
130 interrupted (after other signals 128 and their number).
`

// commandHelp is `overlay COMMAND --help`: the flags under the headings of their groups.
const commandHelp = `overlay {{.Name}}: {{.Usage}}

Usage: {{trim (printf "overlay %s %s" .Name .ArgsUsage)}}
{{if .Description}}
{{trim .Description}}
{{end}}{{$group := ""}}{{range .Flags}}{{if .GetCategory}}{{if ne $group .GetCategory}}{{$group = .GetCategory}}
{{$group}}:
{{end}}  {{wrap .String 8}}
{{end}}{{end}}`

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
