package main

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/inputs"
	"overlay/internal/nearest"
	"overlay/internal/trace"
)

// commandLine checks the name of the command and puts its flags before its file names, because the flag library stops
// reading flags at the first argument that is none and would hand `-o x` on as two file names.
func commandLine(app *cli.App, args []string) ([]string, error) {
	if len(args) < 2 {
		return nil, &usageError{msg: "no command: " + commandNames(app)}
	}
	if completing(args) {
		return args, nil
	}
	name, rest := args[1], args[2:]
	switch name {
	case "help", "--help", "-h", "-help":
		if len(rest) == 0 {
			return []string{args[0], "--help"}, nil
		}
		name, rest = rest[0], []string{"--help"}
	case "--version", "-version":
		name = "version"
	}
	if strings.HasPrefix(name, "-") {
		return nil, &usageError{msg: "flag " + name + " before the command: flags go behind it, as in 'overlay run " + name + "'"}
	}
	for _, c := range app.Commands {
		if c.Name == name {
			rest, err := flagsFirst(c, rest)
			return append([]string{args[0], name}, rest...), err
		}
	}
	return nil, unknownCommand(app, name)
}

// commandNames lists the commands as a sentence does.
func commandNames(app *cli.App) string {
	names := visibleCommands(app)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func visibleCommands(app *cli.App) (names []string) {
	for _, c := range app.Commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

func unknownCommand(app *cli.App, name string) error {
	msg := "no command " + quote(name)
	if strings.ContainsAny(name, "./") {
		if word, ok := inputs.ShellWord(name); ok {
			msg += "; to analyse a file: overlay run -i " + word
		}
		return &usageError{msg: msg}
	}
	if near := nearest.Name(name, visibleCommands(app)); near != "" {
		msg += " (did you mean " + quote(near) + "?)"
	}
	return &usageError{msg: msg}
}

// flagsFirst moves flags before file names and keeps the order within each. "--" ends the flags, "-" is a file name.
// An unknown flag is moved too, so that the flag library refuses it.
func flagsFirst(c *cli.Command, args []string) ([]string, error) {
	takesValue := map[string]bool{"help": false, "h": false}
	for _, f := range c.Flags {
		for _, n := range f.Names() {
			takesValue[n] = f.(cli.DocGenerationFlag).TakesValue()
		}
	}
	var flags, files []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			files = append(files, args[i+1:]...)
			i = len(args)
		case len(a) < 2 || a[0] != '-':
			files = append(files, a)
		default:
			flags = append(flags, a)
			if takesValue[strings.TrimLeft(a, "-")] {
				i++
				if i == len(args) {
					return nil, &usageError{"flag " + a + " needs a value", c.Name}
				}
				if _, known := takesValue[strings.TrimLeft(args[i], "-")]; known && strings.HasPrefix(args[i], "-") {
					return nil, &usageError{"flag " + a + " needs a value before " + args[i], c.Name}
				}
				flags = append(flags, args[i])
				for a == "--against" && !isStep(args[i]) && i+1 < len(args) && (len(args[i+1]) < 2 || args[i+1][0] != '-') { // all runs of the second side
					i++
					flags = append(flags, a, args[i])
				}
			}
		}
	}
	return append(append(flags, "--"), files...), nil
}

// isStep reports whether an argument is the number or the name of a step.
func isStep(arg string) bool {
	_, err := strconv.Atoi(arg)
	_, _, ok := trace.ReadStep(arg)
	return err == nil || ok
}
