package inputs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"overlay/internal/report"
)

// Error says in one line why an input cannot be read, and what to do.
func Error(name string, err error) error {
	if leadsOutside(err) {
		return err
	}
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

// Name is what messages call an input.
func Name(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// ShellWord is a file name as it can be pasted into a shell; false when it cannot be shown.
func ShellWord(name string) (string, bool) {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%"
	if strings.HasPrefix(name, "-") {
		name = "./" + name // else it would be a flag
	}
	if strings.Trim(name, harmless) != "" {
		name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name, report.Plain(name) == name
}

// outsideError is that a name leads out of the roots, or that nobody may know where it leads.
type outsideError struct{ text string }

func (e *outsideError) Error() string { return e.text }

// leadsOutside reports whether an error is one: such a file is refused where others that cannot be read are passed over, since it is
// not to be missing without a word.
func leadsOutside(err error) bool {
	var outside *outsideError
	return errors.As(err, &outside)
}
