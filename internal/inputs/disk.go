package inputs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Files is where inputs are read from.
type Files interface {
	Open(name string) (*os.File, error)
	Stat(name string) (fs.FileInfo, error) // of what a link leads to
	ReadDir(name string) ([]fs.DirEntry, error)
	Glob(pattern string) ([]string, error)
	Tree(folder string) (fs.FS, error) // links in it lead nowhere outside
}

// Disk is what every input of this process is read from: all files of the machine, or, where the process answers an agent, those
// below some folders. It is set before a command begins. Nothing else of the program opens an input.
var Disk Files = machine{}

// machine is all files.
type machine struct{}

func (machine) Open(name string) (*os.File, error) { return os.Open(name) }

func (machine) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

func (machine) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (machine) Glob(pattern string) ([]string, error) { return filepath.Glob(pattern) }

func (machine) Tree(folder string) (fs.FS, error) { return os.DirFS(folder), nil }

// ReadFile is the content of a file that belongs to the input.
func ReadFile(name string) ([]byte, error) {
	f, err := Disk.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Below is the regular files and the folders below some folders, the roots. A name that is not absolute counts from the first of
// them. Wherever a link stands, in a name, in a folder, in a folder of tables, it may lead to another place below the roots and
// nowhere else: the system itself opens every file step by step from its root.
type Below struct{ Roots []*os.Root }

// OpenBelow opens the folders that may be read.
func OpenBelow(names []string) (*Below, error) {
	b := &Below{}
	for _, name := range names {
		real, err := filepath.EvalSymlinks(name)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		var root *os.Root
		if err == nil {
			root, err = os.OpenRoot(real)
		}
		if err != nil {
			return nil, Error(name, err)
		}
		b.Roots = append(b.Roots, root)
	}
	return b, nil
}

// find finds the root of a name, its path from there, and what lies there.
func (b *Below) find(name string) (*os.Root, string, fs.FileInfo, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(b.Roots[0].Name(), name)
	}
	missing := error(nil)
	for _, path := range []func() (string, error){
		func() (string, error) { return name, nil },
		func() (string, error) { return filepath.EvalSymlinks(name) }, // the system refuses absolute links, also those that lead back
	} {
		at, err := path()
		if err != nil {
			continue
		}
		for _, root := range b.Roots {
			rel, err := filepath.Rel(root.Name(), at)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			info, err := root.Stat(rel)
			switch {
			case err == nil && !info.Mode().IsRegular() && !info.IsDir():
				return nil, "", nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is neither a file nor a folder")}
			case err == nil:
				return root, rel, info, nil
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
				missing = err
			}
		}
		if missing != nil {
			return nil, "", nil, missing
		}
	}
	var list []string
	for _, root := range b.Roots {
		list = append(list, root.Name())
	}
	return nil, "", nil, &outsideError{fmt.Sprintf("%s is outside of %s", strconv.Quote(name), strings.Join(list, ", "))}
}

func (b *Below) Open(name string) (*os.File, error) {
	root, rel, _, err := b.find(name)
	if err != nil {
		return nil, err
	}
	return root.Open(rel)
}

func (b *Below) Stat(name string) (fs.FileInfo, error) {
	_, _, info, err := b.find(name)
	return info, err
}

func (b *Below) ReadDir(name string) ([]fs.DirEntry, error) {
	root, rel, _, err := b.find(name)
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(root.FS(), filepath.ToSlash(rel))
}

func (b *Below) Glob(string) ([]string, error) {
	return nil, errors.New("patterns are not read: name a file or a folder")
}

func (b *Below) Tree(folder string) (fs.FS, error) {
	root, rel, _, err := b.find(folder)
	if err != nil {
		return nil, err
	}
	return fs.Sub(root.FS(), filepath.ToSlash(rel))
}
