// Command database writes a trace as a database of another profiler, with the tables that its description names: no real
// ones are at hand.
//
//	go run ./internal/testtrace/cmd/database ascend trace.json.gz ascend_pytorch_profiler_0.db
package main

import (
	"fmt"
	"os"

	"overlay/internal/kineto"
	"overlay/internal/testtrace/databases"
	"overlay/internal/testtrace/traceread"
	"overlay/internal/trace"
)

var writers = map[string]func(tr *trace.Trace) ([]byte, error){
	"nsys":   func(tr *trace.Trace) ([]byte, error) { return databases.Nsys(tr, databases.Options{}) },
	"rocpd":  databases.Rocpd,
	"ascend": func(tr *trace.Trace) ([]byte, error) { return databases.Ascend(tr, tr.Rank) },
}

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "database:", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 3 || writers[args[0]] == nil {
		return fmt.Errorf("usage: database nsys|rocpd|ascend TRACE.json.gz OUT.db")
	}
	f, err := os.Open(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	tr, err := traceread.Read(f, args[1], kineto.Options{})
	if err != nil {
		return err
	}
	src, err := writers[args[0]](tr)
	if err != nil {
		return err
	}
	return os.WriteFile(args[2], src, 0o666)
}
