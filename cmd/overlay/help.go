package main

import (
	"fmt"
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

// helpWidth is where lines of --help end.
const helpWidth = 100

// readsNothing are the commands that read no trace: general flags mean nothing to them.
var readsNothing = map[string]bool{"version": true, "completion": true, "man": true, "sql": true}

// commandHelp writes the help page of a command. It is a template of the flag library, without anything to fill in.
func commandHelp(c *cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "overlay %s: %s\n\nUsage: overlay %s\n", c.Name, c.Usage, strings.TrimSpace(c.Name+" "+c.ArgsUsage))
	if c.Description != "" {
		b.WriteString("\n" + strings.TrimSpace(c.Description) + "\n")
	}
	group := ""
	for _, f := range c.Flags {
		if readsNothing[c.Name] && f.(cli.CategorizableFlag).GetCategory() == generalGroup {
			continue
		}
		if g := f.(cli.CategorizableFlag).GetCategory(); g != group {
			group = g
			fmt.Fprintf(&b, "\n%s:\n", group)
		}
		writeFlagHelp(&b, f.(cli.DocGenerationFlag))
	}
	if readsNothing[c.Name] {
		var names []string
		for _, f := range generalFlags().flags {
			names = append(names, "--"+f.Names()[0])
		}
		b.WriteString("\n" + wrap("The flags of other commands, "+strings.Join(names, ", ")+", are taken and change nothing here.", helpWidth, 0) + "\n")
	}
	return strings.NewReplacer("{{", `{{"{{"}}`).Replace(b.String())
}

func writeFlagHelp(b *strings.Builder, f cli.DocGenerationFlag) {
	usage := f.GetUsage()
	value := ""
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		value, rest, _ = strings.Cut(rest, "`")
		usage = before + value + rest
	}
	names := "    --" + f.Names()[0]
	if len(f.Names()) > 1 {
		names = "-" + f.Names()[1] + ", --" + f.Names()[0]
	}
	if value != "" {
		names += " " + value
	}
	if d := f.GetDefaultText(); d != "" && f.TakesValue() && !strings.Contains(usage, "(default") && d != `""` {
		usage += " (default: " + strings.Trim(d, `"`) + ")"
	}
	const indent = 8
	fmt.Fprintf(b, "  %s\n%s%s\n", names, strings.Repeat(" ", indent), wrap(usage, helpWidth-indent, indent))
}

// wrap breaks text at blanks; continuation lines are indented.
func wrap(text string, width, indent int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case col+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			col = 0
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += n
	}
	return b.String()
}
