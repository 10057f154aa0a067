package main

import "strings"

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

func (f *fileNames) String() string    { return strings.Join(f.list, " ") }
func (f *fileNames) Serialize() string { return copied }
