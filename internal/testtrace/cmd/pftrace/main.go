// Command pftrace writes a trace in Perfetto's format as another program would have written it: no real files of these
// programs are at hand, so tests and measurements use these.
//
//	go run ./internal/testtrace/cmd/pftrace pytorch trace.json.gz out.pftrace
package main

import (
	"fmt"
	"os"

	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/traceread"
)

var layouts = map[string]testtrace.PftraceLayout{
	"pytorch": testtrace.PyTorch, "pytorch-first": testtrace.PyTorchFirst, "rocprof": testtrace.Rocprof, "live": testtrace.Live,
}

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pftrace:", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: pftrace pytorch|pytorch-first|rocprof|live TRACE.json.gz OUT.pftrace")
	}
	layout, ok := layouts[args[0]]
	if !ok {
		return fmt.Errorf("no layout %q", args[0])
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
	return os.WriteFile(args[2], testtrace.Pftrace(tr, testtrace.PftraceOptions{Layout: layout}), 0o666)
}
