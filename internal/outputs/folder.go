package outputs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Folder is a folder of folders that is being written: everything goes to a hidden folder inside of it, and each part
// is put in its place when all is done. Parts of earlier runs that are not written again stay.
type Folder struct {
	outs   *Outputs
	target string
	own    func(name string, f io.ReaderAt, size int64) bool // may be replaced
	temp   string
	parts  []outPart
	drafts int
	made   bool // target was not there before
}

// outPart is a folder below the target.
type outPart struct {
	path  string // below the target
	draft string // the folder that goes there
	there bool   // it was there when the work began
}

// CreateFolder prepares a folder for parts. Only what is below the parts is ever replaced, and of that files that own says may be.
func (o *Outputs) CreateFolder(target string, own func(name string, f io.ReaderAt, size int64) bool) (*Folder, error) {
	info, err := os.Stat(target)
	switch {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%s is a file: give the name of a folder with -o", target)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, Error(target, err)
	}
	out := &Folder{outs: o, target: target, own: own, made: err != nil}
	o.mu.Lock() // an interruption either finds the folder or prevents it
	defer o.mu.Unlock()
	if o.finished {
		return nil, errInterrupted
	}
	if out.made {
		err := os.Mkdir(target, 0o777)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, Error(target, err)
		}
		out.made = err == nil // else another command, as of one that runs for each trace, made it meanwhile
	}
	for i := 0; ; i++ {
		out.temp = filepath.Join(target, ".overlay.tmp"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i))
		err := os.Mkdir(out.temp, 0o777)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			out.remove()
			return nil, Error(target, err)
		}
		o.folders = append(o.folders, out)
		return out, nil
	}
}

// makeFolder makes a folder below one that CreateFolder made, unless the work has been interrupted: it would
// bring back what was just removed.
func (o *Outputs) makeFolder(dir string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return errInterrupted
	}
	return os.MkdirAll(dir, 0o777)
}

// Draft makes a folder to write to, which a part is made of.
func (out *Folder) Draft() (string, error) {
	out.drafts++
	dir := filepath.Join(out.temp, "draft"+strconv.Itoa(out.drafts))
	if err := out.outs.makeFolder(dir); err != nil {
		return "", Error(out.target, err)
	}
	return dir, nil
}

// Part makes a part of a draft. A part that is there is replaced, if it holds tables of our own only.
func (out *Folder) Part(path, draft string) error {
	target := filepath.Join(out.target, path)
	old, err := os.ReadDir(target)
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Error(target, err)
	}
	for _, e := range old {
		if !out.mayReplace(filepath.Join(target, e.Name())) {
			return fmt.Errorf("%s holds %s, which is no table that 'overlay export' wrote: move it away or choose another folder with -o", target, e.Name())
		}
	}
	out.parts = append(out.parts, outPart{path, draft, there})
	return nil
}

// mayReplace reports whether a file may be replaced.
func (out *Folder) mayReplace(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && out.own(filepath.Base(name), f, info.Size())
}

// commit puts the parts in their places. A part that appeared since the work began is another's, whose work is not
// thrown away in silence.
func (out *Folder) commit() error {
	for i, p := range out.parts {
		target, old := filepath.Join(out.target, p.path), filepath.Join(out.temp, "old"+strconv.Itoa(i))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return Error(target, err)
		}
		if p.there {
			if err := os.Rename(target, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return Error(target, err)
			}
		}
		err := os.Rename(p.draft, target)
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s was written by another command meanwhile: are there two traces of one rank? Tell them apart with --rank or --run", target)
		}
		if err != nil {
			os.Rename(old, target)
			return Error(target, err)
		}
	}
	out.made = false
	out.remove()
	return nil
}

// remove takes away what is not committed, and the folder itself if it was made for it and is empty.
func (out *Folder) remove() {
	for range 10 { // work goes on after a signal, so that a file may appear between the last look and the removal
		if os.RemoveAll(out.temp) == nil {
			break
		}
	}
	if out.made {
		os.Remove(out.target)
	}
}
