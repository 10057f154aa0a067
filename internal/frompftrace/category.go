package frompftrace

import (
	"bytes"

	"overlay/internal/trace"
)

// seen are the arguments that tell what an event without a category is.
type seen uint8

const (
	seenSyncKind seen = 1 << iota
	seenCallback      // cbid
	seenPython
	seenLaunch // grid, registers
	seenCopy
	seenCorrelation
)

// guessed is the category of an event that has none, by its row, its arguments and its name. The first versions of
// PyTorch's exporter wrote no categories: bare says that the whole trace has none.
func guessed(x *row, s seen, name []byte, bare bool) string {
	switch {
	case x.own && !x.added:
		return "" // the trace that was drawn has none here
	case s&seenSyncKind != 0:
		return "cuda_sync"
	case x.guess == overheadRow:
		return "overhead"
	case x.added:
		return "critical_path_analysis"
	case x.guess == gpuRow:
		switch {
		case bytes.HasPrefix(name, []byte("Memset")):
			return "gpu_memset"
		case bytes.HasPrefix(name, []byte("Memcpy")) || s&seenCopy != 0:
			return "gpu_memcpy"
		case s&(seenLaunch|seenCorrelation) != 0:
			return "kernel"
		}
		return "gpu_user_annotation"
	case s&seenCallback != 0:
		if bytes.HasPrefix(name, []byte("cuda")) {
			return "cuda_runtime"
		}
		return "cuda_driver"
	case s&seenPython != 0:
		return "python_function"
	case bytes.HasPrefix(name, []byte(trace.StepPrefix)):
		return "user_annotation"
	case x.numbers || !bare:
		return "" // a row that is no thread, or a trace that has categories where it wants them
	}
	return "cpu_op"
}
