// Validate prints what overlay predicts from recorded loops beside what was measured after they were changed:
//
//	go run ./internal/testtrace/cmd/validate testdata/real
//
// The folder is one that testdata/capture/capture.py wrote.
package main

import (
	"fmt"
	"os"

	"overlay/internal/testtrace/validation"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: validate FOLDER, which holds manifest.json and the traces of capture.py")
		os.Exit(2)
	}
	m, err := validation.Read(os.Args[1])
	if err == nil {
		var rows []validation.Row
		if rows, err = validation.Judge(os.Args[1], m); err == nil {
			validation.WriteTables(os.Stdout, rows)
			for _, s := range append(m.Skipped, m.Failed...) {
				fmt.Printf("\nnot recorded: %s: %s%s\n", s.Pair, s.Why, s.Error)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "validate:", err)
		os.Exit(1)
	}
}
