package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// outFolder is a folder of folders that is being written: everything goes to a hidden folder inside of it, and each part
// is put in its place when all is done. Parts of earlier runs that are not written again stay.
type outFolder struct {
	outs   *outputs
	target string
	temp   string
	parts  []outPart
	made   bool // target was not there before
}

// outPart is a folder below the target.
type outPart struct {
	path  string // below the target
	there bool   // it was there when the work began
}

// createFolder prepares a folder for parts. Only what is below the parts is ever replaced.
func (o *outputs) createFolder(target string) (*outFolder, error) {
	info, err := os.Stat(target)
	switch {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%s is a file: give the name of a folder with -o", target)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, outputError(target, err)
	}
	out := &outFolder{outs: o, target: target, made: err != nil}
	o.mu.Lock() // an interruption either finds the folder or prevents it
	defer o.mu.Unlock()
	if o.finished {
		return nil, errInterrupted
	}
	if out.made {
		if err := os.Mkdir(target, 0o777); err != nil {
			return nil, outputError(target, err)
		}
	}
	for i := 0; ; i++ {
		out.temp = filepath.Join(target, ".overlay.tmp"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i))
		err := os.Mkdir(out.temp, 0o777)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			out.remove()
			return nil, outputError(target, err)
		}
		o.folders = append(o.folders, out)
		return out, nil
	}
}

// createScratch makes a folder for what is needed only until the command ends.
func (o *outputs) createScratch() (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return "", errInterrupted
	}
	dir, err := os.MkdirTemp("", "overlay-query-")
	if err != nil {
		return "", outputError(filepath.Join(os.TempDir(), "overlay-query"), err)
	}
	o.folders = append(o.folders, &outFolder{temp: dir})
	return dir, nil
}

// makeFolder makes a folder below one that createFolder or createScratch made, unless the work has been interrupted: it would
// bring back what was just removed.
func (o *outputs) makeFolder(dir string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return errInterrupted
	}
	return os.MkdirAll(dir, 0o777)
}

// part makes a part and returns the folder to write it to. A part that is there is replaced, if it holds tables only.
func (out *outFolder) part(path string) (string, error) {
	target := filepath.Join(out.target, path)
	old, err := os.ReadDir(target)
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", outputError(target, err)
	}
	for _, e := range old {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".parquet") {
			return "", fmt.Errorf("%s holds %s, which is no table: move it away or choose another folder with -o", target, e.Name())
		}
	}
	dir := filepath.Join(out.temp, path)
	if err := out.outs.makeFolder(dir); err != nil {
		return "", outputError(target, err)
	}
	out.parts = append(out.parts, outPart{path, there})
	return dir, nil
}

// commit puts the parts in their places. A part that appeared since the work began is another's, whose work is not
// thrown away in silence.
func (out *outFolder) commit() error {
	for i, p := range out.parts {
		target, old := filepath.Join(out.target, p.path), filepath.Join(out.temp, "old"+strconv.Itoa(i))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return outputError(target, err)
		}
		if p.there {
			if err := os.Rename(target, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return outputError(target, err)
			}
		}
		err := os.Rename(filepath.Join(out.temp, p.path), target)
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s was written by another command meanwhile: are there two traces of one rank? Tell them apart with --rank or --run", target)
		}
		if err != nil {
			os.Rename(old, target)
			return outputError(target, err)
		}
	}
	out.made = false
	out.remove()
	return nil
}

// remove takes away what is not committed, and the folder itself if it was made for it and is empty.
func (out *outFolder) remove() {
	for range 10 { // work goes on after a signal, so that a file may appear between the last look and the removal
		if os.RemoveAll(out.temp) == nil {
			break
		}
	}
	if out.made {
		os.Remove(out.target)
	}
}
