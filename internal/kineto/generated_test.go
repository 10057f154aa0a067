package kineto

import "fmt"

// generated is a trace of n events laid out as Kineto lays it out: an operator, a call, a flow and a kernel in turn.
func generated(n int) []byte {
	b := []byte("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"GPU\"\n    }\n  ],\n  \"traceEvents\": [\n")
	for i := range n {
		if i > 0 {
			b = append(b, ",\n"...)
		}
		ts := fmt.Sprintf("%d.%03d", 4458676416789+int64(i/4)*20, i%1000)
		switch i % 4 {
		case 0:
			b = fmt.Appendf(b, "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_%d\", \"pid\": 4242, \"tid\": 4242,\n    \"ts\": %s, \"dur\": 15.250,\n    \"args\": {\n      \"External id\": %d,\"Ev Idx\": %d, \"Input Dims\": [[64, 1024, 3], [], [3]], \"Input type\": [\"float\", \"\", \"Scalar\"]\n    }\n  }", i%97, ts, i, i)
		case 1:
			b = fmt.Appendf(b, "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4242, \"tid\": 4242,\n    \"ts\": %s, \"dur\": 5.125,\n    \"args\": {\n      \"External id\": %d, \"cbid\": 211, \"correlation\": %d\n    }\n  }", ts, i-1, i)
		case 2:
			b = fmt.Appendf(b, "  {\n    \"ph\": \"s\", \"id\": %d, \"pid\": 4242, \"tid\": 4242, \"ts\": %s,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }", i, ts)
		case 3:
			b = fmt.Appendf(b, "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::kernel_%d<float>(int, float*)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": %s, \"dur\": 11.500,\n    \"args\": {\n      \"External id\": %d, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %d, \"grid\": [128, 1, 1], \"block\": [256, 1, 1]\n    }\n  }", i%61, ts, i-3, i-2)
		}
	}
	return append(b, "\n  ],\n  \"traceName\": \"generated\"\n}\n"...)
}
