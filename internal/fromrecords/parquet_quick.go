//go:build quick

package fromrecords

import "errors"

// parquet is left out of the quick build, as in all of the program: compiling it takes long.
func (r *reader) parquet([]byte) error {
	return errors.New("reading Parquet is not in this quick build of 'make demo': 'make build' makes the whole program, in a minute or two")
}
