//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "overlay-web runs in a web page: build it with 'make web'; the program for this machine is ./cmd/overlay")
	os.Exit(2)
}
