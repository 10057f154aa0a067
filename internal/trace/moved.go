package trace

import "strings"

// elementSize is the size of types in bytes, by the names that traces have for them: those of c10::ScalarType, of NumPy and
// of C++, in small letters and without their namespace.
var elementSize = map[string]int64{"byte": 1, "char": 1, "bool": 1, "short": 2, "int": 4, "long": 8, "long int": 8, "half": 2, "bfloat16": 2, "float": 4, "double": 8,
	"uint8": 1, "int8": 1, "unsigned char": 1, "signed char": 1, "int32": 4, "int64": 8, "float16": 2, "float32": 4, "float64": 8,
	"complexhalf": 4, "complexfloat": 8, "complexdouble": 16, "uint16": 2, "uint32": 4, "uint64": 8,
	"float8_e5m2": 1, "float8_e4m3fn": 1, "float8_e5m2fnuz": 1, "float8_e4m3fnuz": 1, "float8_e8m0fnu": 1}

// ElementSize is the size of a type in bytes, by its name in a trace; 0 when it is not known.
func ElementSize(dtype string) int64 {
	return elementSize[strings.TrimPrefix(strings.ToLower(dtype), "c10::")]
}

// Bytes is how much a collective moves: the larger of what this rank gives and takes; -1 when not said.
func (c *Collective) Bytes() int64 {
	n, size := max(c.In, c.Out), ElementSize(c.Dtype)
	if n < 0 || n >= 1<<56 || size == 0 {
		return -1
	}
	return n * size
}

// BusFactor is how many bytes a link carries for each byte of a collective among n ranks (doc/PERFORMANCE.md of
// nccl-tests): an allreduce is a reduce-scatter and an allgather, of which each leaves out a rank's own part.
func BusFactor(op string, n int64) float64 {
	if n < 1 {
		return 1
	}
	part := float64(n-1) / float64(n)
	switch name := strings.ToLower(strings.ReplaceAll(op, "_", "")); {
	case strings.HasPrefix(name, "allreduce"):
		return 2 * part
	case strings.HasPrefix(name, "broadcast"), strings.HasPrefix(name, "send"), strings.HasPrefix(name, "recv"), name == "reduce":
		return 1
	case strings.Contains(name, "gather"), strings.Contains(name, "scatter"), strings.HasPrefix(name, "alltoall"):
		return part
	}
	return 1
}
