package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
)

// outputs are all that a command writes. A file goes to a temporary file beside its target; commit renames them all when
// the work is done, abandon removes what was not committed. Standard output, FIFOs and devices are written as they come.
type outputs struct {
	stdout   io.Writer
	inMemory *atomic.Int64 // counts the bytes of files that lie in memory
	mu       sync.Mutex
	open     []*output
	folders  []*outFolder
	finished bool // abandoned: no file may appear any more
	complete bool // committed: there are outputs, and every one is in its place
}

// output is one place that is being written.
type output struct {
	target string // where it goes, symbolic links resolved
	shown  string // as the user wrote it, for messages
	temp   string // "" when the target is written directly: standard output, a device, a FIFO
	file   *os.File
	buf    *bufio.Writer
	n      int64
	held   *atomic.Int64 // counts them too, when the file lies in memory; nil elsewhere
	err    error         // the first write error; it sticks
	mode   fs.FileMode
}

// create prepares an output and refuses at once what cannot end well: a missing or read-only folder, or a folder in its
// place. That it is neither an input nor another output, the command line has been checked for.
func (o *outputs) create(name string) (*output, error) {
	if isStdout(name) {
		return o.add(stream(o.stdout, stdoutName))
	}
	out := &output{target: name, shown: name, mode: 0o666}
	old, err := os.Stat(name)
	switch {
	case err == nil && old.IsDir():
		return nil, fmt.Errorf("%s is a folder: give the name of a file in it", name)
	case err == nil && !old.Mode().IsRegular():
		if err := out.openDirectly(); err != nil {
			return nil, err
		}
		return o.add(out)
	case err == nil:
		if err := out.checkReplace(old); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, outputError(name, err)
	default:
		if link, err := os.Lstat(name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a symbolic link to nothing: remove it or choose another name", name)
		}
	}
	return out, o.createTemp(out)
}

// createBeside prepares an output that need not be asked for; "" is none.
func (o *outputs) createBeside(name string) (*output, error) {
	if name == "" {
		return nil, nil
	}
	return o.create(name)
}

// checkReplace looks at an existing regular file that the output is to replace.
func (out *output) checkReplace(old fs.FileInfo) error {
	probe, err := os.OpenFile(out.shown, os.O_WRONLY, 0) // a rename would replace a read-only file too
	if err != nil {
		return outputError(out.shown, err)
	}
	probe.Close()
	resolved, err := filepath.EvalSymlinks(out.shown) // replace the file, not the link to it
	if err != nil {
		return outputError(out.shown, err)
	}
	out.target, out.mode = resolved, old.Mode().Perm()
	return nil
}

// createTemp creates the temporary file under the lock, so that an interruption either finds it or prevents it.
func (o *outputs) createTemp(out *output) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return errInterrupted
	}
	dir, base := filepath.Split(out.target)
	for i := 0; ; i++ {
		tail := ".tmp" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(i)
		temp := dir + "." + base + tail
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, out.mode) // the mode a plain create would give
		if errors.Is(err, syscall.ENAMETOOLONG) {                                // create has seen that the target's name is not
			temp = dir + ".overlay" + tail
			f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, out.mode)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return outputError(out.shown, err)
		}
		out.temp, out.file, out.buf = temp, f, bufio.NewWriterSize(f, 1<<20)
		if o.inMemory != nil && liesInMemory(f) {
			out.held = o.inMemory
		}
		o.open = append(o.open, out)
		return nil
	}
}

// openDirectly opens a target that cannot be renamed into place, such as a FIFO or a device. It may wait for a reader,
// so no lock is held.
func (out *output) openDirectly() error {
	f, err := os.OpenFile(out.target, os.O_WRONLY, 0)
	if err != nil {
		return outputError(out.shown, err)
	}
	out.file, out.buf = f, bufio.NewWriterSize(f, 1<<20)
	return nil
}

// add takes an output that has no temporary file.
func (o *outputs) add(out *output) (*output, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return nil, errInterrupted
	}
	o.open = append(o.open, out)
	return out, nil
}

// errInterrupted ends work that goes on after a signal; the signal has been reported.
var errInterrupted = errors.New("interrupted")

// stdoutName is what messages call standard output.
const stdoutName = "standard output"

// stream makes an output of a writer that is there already.
func stream(w io.Writer, shown string) *output {
	return &output{shown: shown, buf: bufio.NewWriterSize(w, 1<<20)}
}

// Write counts bytes and keeps the first error.
func (out *output) Write(b []byte) (int, error) {
	if out.err != nil {
		return 0, out.err
	}
	n, err := out.buf.Write(b)
	out.n += int64(n)
	if out.held != nil {
		out.held.Add(int64(n))
	}
	if err != nil {
		out.err = outputError(out.shown, err)
	}
	return n, out.err
}

// Close flushes the output. Only then is its size final and its content known to be written.
func (out *output) Close() error {
	if err := out.buf.Flush(); err != nil && out.err == nil {
		out.err = outputError(out.shown, err)
	}
	if out.file != nil {
		if err := out.file.Close(); err != nil && out.err == nil {
			out.err = outputError(out.shown, err)
		}
		out.file = nil
	}
	return out.err
}

// commit closes all outputs, then renames those that have a temporary file. If one cannot be closed, none appears.
func (o *outputs) commit() error {
	o.mu.Lock()
	open := o.open
	o.mu.Unlock()
	for _, out := range open { // without the lock: the reader of a FIFO may take its time, and a signal may come
		if err := out.Close(); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return errInterrupted
	}
	some := len(o.open)+len(o.folders) > 0
	for len(o.open) > 0 {
		out := o.open[0]
		if out.temp != "" {
			if err := os.Rename(out.temp, out.target); err != nil {
				return outputError(out.shown, err)
			}
		}
		o.open = o.open[1:]
	}
	for len(o.folders) > 0 {
		if err := o.folders[0].commit(); err != nil {
			return err
		}
		o.folders = o.folders[1:]
	}
	o.complete = some
	return nil
}

// abandon removes every temporary file, and makes sure that none appears later. It tells whether it came too late: whether
// every output was in its place already.
func (o *outputs) abandon() (late bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
	for _, out := range o.open {
		if out.temp == "" {
			continue
		}
		os.Remove(out.temp) // best effort: an error is being reported already
	}
	o.open = nil
	for _, out := range o.folders {
		out.remove()
	}
	o.folders = nil
	return o.complete
}

// outputError says in one line what stands in the way of an output, and what to do.
func outputError(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	dir := filepath.Dir(name)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("cannot write %s: no space left; free some or choose another folder", name)
	case errors.Is(err, fs.ErrNotExist) && isFolder(dir): // such as /proc
		return fmt.Errorf("cannot write %s: the folder takes no files; choose another one", name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %s: no folder %s; create it or choose another one", name, dir)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("cannot write %s: %s is a file, no folder; choose another name", name, fileOnTheWay(name))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("cannot write %s: no permission; choose another folder", name)
	case errors.Is(err, syscall.EPIPE) && name == stdoutName:
		return errPipe
	case errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("cannot write %s: nobody reads it any more", name)
	}
	return fmt.Errorf("cannot write %s: %w", name, err)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// fileOnTheWay is the part of a path that is a file and should be a folder, or should not be there.
func fileOnTheWay(name string) string {
	for at := name; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			return at
		}
	}
}
