// Demo writes the demo trace of the project.
package main

import (
	"flag"
	"fmt"
	"os"

	"overlay/internal/testtrace"
)

func main() {
	out := flag.String("o", "testdata/demo.json.gz", "file to write")
	flag.Parse()
	data, err := testtrace.Demo()
	if err == nil {
		err = os.WriteFile(*out, data, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}
