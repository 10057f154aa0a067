// Package outputs writes files that appear whole or not at all. A file goes to a temporary one beside its target, a folder of tables to a hidden
// one inside of it; all are put in their places when the work is done, and nothing is left of work that fails or is interrupted.
package outputs

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

// Outputs are all that a command writes. A file goes to a temporary file beside its target; Commit renames them all when
// the work is done, Abandon removes what was not committed. Standard output, FIFOs and devices are written as they come.
type Outputs struct {
	Stdout   io.Writer
	Held     *atomic.Int64 // counts the bytes of files that lie in memory
	mu       sync.Mutex
	open     []*Output
	folders  []*Folder
	finished bool // abandoned: no file may appear any more
	complete bool // committed: there are outputs, and every one is in its place
}

// Output is one place that is being written.
type Output struct {
	target string // where it goes, symbolic links resolved
	Name   string // as the user wrote it, for messages
	temp   string // "" when the target is written directly: standard output, a device, a FIFO
	file   *os.File
	buf    *bufio.Writer
	Bytes  int64
	held   *atomic.Int64 // counts them too, when the file lies in memory; nil elsewhere
	Err    error         // the first write error; it sticks
	mode   fs.FileMode
}

// Create prepares an output and refuses at once what cannot end well: a missing or read-only folder, or a folder in its
// place. That it is neither an input nor another output, the command line has been checked for.
func (o *Outputs) Create(name string) (*Output, error) {
	if IsStdout(name) {
		return o.add(Stream(o.Stdout, StdoutName))
	}
	out := &Output{target: name, Name: name, mode: 0o666}
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
		return nil, Error(name, err)
	default:
		if link, err := os.Lstat(name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a symbolic link to nothing: remove it or choose another name", name)
		}
	}
	return out, o.createTemp(out)
}

// CreateBeside prepares an output that need not be asked for; "" is none.
func (o *Outputs) CreateBeside(name string) (*Output, error) {
	if name == "" {
		return nil, nil
	}
	return o.Create(name)
}

// Direct reports whether the output is written as it comes: it is standard output, a device or a FIFO.
func (out *Output) Direct() bool { return out.temp == "" }

// checkReplace looks at an existing regular file that the output is to replace.
func (out *Output) checkReplace(old fs.FileInfo) error {
	probe, err := os.OpenFile(out.Name, os.O_WRONLY, 0) // a rename would replace a read-only file too
	if err != nil {
		return Error(out.Name, err)
	}
	probe.Close()
	resolved, err := filepath.EvalSymlinks(out.Name) // replace the file, not the link to it
	if err != nil {
		return Error(out.Name, err)
	}
	out.target, out.mode = resolved, old.Mode().Perm()
	return nil
}

// createTemp creates the temporary file under the lock, so that an interruption either finds it or prevents it.
func (o *Outputs) createTemp(out *Output) error {
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
			return Error(out.Name, err)
		}
		out.temp, out.file, out.buf = temp, f, bufio.NewWriterSize(f, 1<<20)
		if o.Held != nil && InMemory(f) {
			out.held = o.Held
		}
		o.open = append(o.open, out)
		return nil
	}
}

// openDirectly opens a target that cannot be renamed into place, such as a FIFO or a device. It may wait for a reader,
// so no lock is held.
func (out *Output) openDirectly() error {
	f, err := os.OpenFile(out.target, os.O_WRONLY, 0)
	if err != nil {
		return Error(out.Name, err)
	}
	out.file, out.buf = f, bufio.NewWriterSize(f, 1<<20)
	return nil
}

// add takes an output that has no temporary file.
func (o *Outputs) add(out *Output) (*Output, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return nil, errInterrupted
	}
	o.open = append(o.open, out)
	return out, nil
}

// ErrPipe is that nobody reads standard output any more, as behind `| head`: the end of the work, and no news.
var ErrPipe = errors.New("standard output is closed")

// errInterrupted ends work that goes on after a signal; the signal has been reported.
var errInterrupted = errors.New("interrupted")

// StdoutName is what messages call standard output.
const StdoutName = "standard output"

// Stream makes an output of a writer that is there already.
func Stream(w io.Writer, shown string) *Output {
	return &Output{Name: shown, buf: bufio.NewWriterSize(w, 1<<20)}
}

// Write counts bytes and keeps the first error.
func (out *Output) Write(b []byte) (int, error) {
	if out.Err != nil {
		return 0, out.Err
	}
	n, err := out.buf.Write(b)
	out.Bytes += int64(n)
	if out.held != nil {
		out.held.Add(int64(n))
	}
	if err != nil {
		out.Err = Error(out.Name, err)
	}
	return n, out.Err
}

// Close flushes the output. Only then is its size final and its content known to be written.
func (out *Output) Close() error {
	if err := out.buf.Flush(); err != nil && out.Err == nil {
		out.Err = Error(out.Name, err)
	}
	if out.file != nil {
		if err := out.file.Close(); err != nil && out.Err == nil {
			out.Err = Error(out.Name, err)
		}
		out.file = nil
	}
	return out.Err
}

// Commit closes all outputs, then renames those that have a temporary file. If one cannot be closed, none appears.
func (o *Outputs) Commit() error {
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
				return Error(out.Name, err)
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

// Abandon removes every temporary file, and makes sure that none appears later. It tells whether it came too late: whether
// every output was in its place already.
func (o *Outputs) Abandon() (late bool) {
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

// Error says in one line what stands in the way of an output, and what to do.
func Error(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	dir := filepath.Dir(name)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("cannot write %s: no space left; free some or choose another folder", name)
	case errors.Is(err, fs.ErrNotExist) && IsFolder(dir): // such as /proc
		return fmt.Errorf("cannot write %s: the folder takes no files; choose another one", name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %s: no folder %s; create it or choose another one", name, dir)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("cannot write %s: %s is a file, no folder; choose another name", name, fileOnTheWay(name))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("cannot write %s: no permission; choose another folder", name)
	case errors.Is(err, syscall.EPIPE) && name == StdoutName:
		return ErrPipe
	case errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("cannot write %s: nobody reads it any more", name)
	}
	return fmt.Errorf("cannot write %s: %w", name, err)
}

// IsFolder reports whether there is a folder of that name.
func IsFolder(name string) bool {
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

// IsStdout reports whether a name means standard output: "-", or one of its names in the file system.
func IsStdout(name string) bool {
	if name == "-" {
		return true
	}
	for range 40 { // links to links; a circle fails when it is opened
		switch filepath.Clean(name) {
		case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
			return true
		}
		to, err := os.Readlink(name)
		if err != nil {
			return false
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return false
}
