// Large writes a generated trace of about so many events to standard output: go run ./internal/testtrace/cmd/large N
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"overlay/internal/testtrace"
)

func main() {
	n := 0
	if len(os.Args) == 2 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	if n <= 0 {
		fmt.Fprintln(os.Stderr, "large: give the number of events")
		os.Exit(2)
	}
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	err := testtrace.Large(w, n, false)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "large:", err)
		os.Exit(1)
	}
}
