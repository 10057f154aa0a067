//go:build !unix

package inputs

import (
	"errors"
	"os"
)

var errNoMapping = errors.New("no mapped files on this system")

func mapFile(*os.File, int64) ([]byte, error) { return nil, errNoMapping }

func reserve(int) ([]byte, error) { return nil, errNoMapping }

func release([]byte) {}
