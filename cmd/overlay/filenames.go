package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// fileNames is the value of a flag that names files and may be repeated. The flag library's own list of texts loses bytes
// that are no UTF-8 when it copies a value from one name of a flag to the other, by way of JSON; here both names share it.
type fileNames struct{ list []string }

// copied is what the library sets after it has asked for a value to copy: there is nothing to do.
const copied = "\x00copied"

func (f *fileNames) Set(name string) error {
	if name != copied {
		f.list = append(f.list, name)
	}
	return nil
}

func (f *fileNames) String() string { return strings.Join(f.list, " ") }

func (f *fileNames) Serialize() string { return copied }

// role is what becomes of a file that a flag names.
type role uint8

const (
	reads  role = iota // a file, or a folder with all that is in it
	writes             // a file, or a folder in which files are put
)

// pathFlag is a flag that names a file or a folder. Every such flag is one: places sees it by its type, so that no output can be an
// input.
type pathFlag struct {
	libraryFlag
	role role
}

// libraryFlag is what the flag library asks of its own flags.
type libraryFlag interface {
	cli.DocGenerationFlag
	cli.CategorizableFlag
	cli.VisibleFlag
	cli.RequiredFlag
}

// readsFile is a flag that names a file to be read.
func readsFile(f *cli.StringFlag) cli.Flag { f.TakesFile = true; return &pathFlag{f, reads} }

// writesFile is a flag that names a file, or a folder, to be written.
func writesFile(f *cli.StringFlag) cli.Flag { f.TakesFile = true; return &pathFlag{f, writes} }

// readsFiles is a flag that names files or folders to be read, and may be repeated.
func readsFiles(f *cli.GenericFlag) cli.Flag {
	f.TakesFile, f.Value = true, &fileNames{}
	return &pathFlag{f, reads}
}

// pathsOf gives the names that the flags of a command give to files of a role.
func (r *flagReader) pathsOf(takes groups, want role) (names []string) {
	for _, f := range takes.flags() {
		f, ok := f.(*pathFlag)
		if !ok || f.role != want {
			continue
		}
		if list, ok := r.Generic(f.Names()[0]).(*fileNames); ok {
			names = append(names, list.list...)
		} else {
			names = append(names, r.String(f.Names()[0]))
		}
	}
	return names
}

// paths reads a flag that names files.
func (r *flagReader) paths(name string) []string {
	names, ok := r.Generic(name).(*fileNames)
	if !ok {
		return nil
	}
	list := names.list
	if slices.Contains(list, "") {
		r.problem("--%s has an empty name", name)
	}
	return list
}
