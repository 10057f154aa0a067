package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// inputError says in one line why an input cannot be read, and what to do.
func inputError(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("no file %s; check the name", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot read %s: no permission", name)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s is a folder: give a trace file", name)
	}
	return fmt.Errorf("cannot read %s: %w", name, err)
}
