//go:build !unix

package main

import (
	"errors"
	"os"
)

func mapFile(*os.File, int64) ([]byte, error) {
	return nil, errors.New("no mapped files on this system")
}
