package testtrace

import (
	"bufio"
	"io"
)

// Large writes a trace of about n events, of any size, without keeping it: one thread launches one kernel after the
// other on one of two streams, in steps of 1,000 launches that end with a device synchronisation. With stacks, every
// operator stands in four Python frames. Same arguments, same bytes.
func Large(w io.Writer, n int, stacks bool) error {
	l := &large{w: bufio.NewWriterSize(w, 1<<20), stacks: stacks, host: 1_700_000_000_000_000_000}
	l.w.WriteString("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"GPU\"\n    }\n  ],\n  \"traceEvents\": [\n")
	for l.n < n {
		l.step(n)
	}
	l.w.WriteString("\n  ],\n  \"traceName\": \"large.json\"\n}\n")
	return l.w.Flush()
}

type large struct {
	w      *bufio.Writer
	stacks bool
	n      int      // events written
	corr   int64    // of the last launch
	host   int64    // time of the thread, ns
	busy   [2]int64 // ends of the streams, ns
	buf    []byte
}

func (l *large) step(n int) {
	start := l.host
	for k := 0; k < 1000 && l.n < n; k++ {
		l.launch(k)
	}
	call := l.host
	l.host = max(l.host, l.busy[0], l.busy[1]) + 3000
	l.corr++
	l.event("X", "cuda_runtime", "cudaDeviceSynchronize", 4242, 4242, call, l.host-call, `"cbid": 165, "correlation": `+itoa(l.corr))
	l.host += 2000
	l.event("X", "user_annotation", "ProfilerStep#"+itoa((l.corr-1)/1001+1), 4242, 4242, start, l.host-start, "")
	l.host += 1000
}

// launch writes an operator, its call, the kernel and the flow between them.
func (l *large) launch(k int) {
	l.corr++
	id, start := itoa(l.corr), l.host
	spread := l.corr * 2654435761 >> 7 % 4096
	if spread < 0 {
		spread = -spread
	}
	call, dur := start+1500, 3000+spread
	end := call + dur + 1200
	if l.stacks {
		for f := range int64(4) {
			l.event("X", "python_function", "model.py("+itoa(100+10*f+int64(k%7))+"): forward_"+itoa(f), 4242, 4242, start-400+100*f, end-start+800-200*f,
				`"Python id": `+itoa(4*l.corr+f)+`, "Python parent id": `+itoa(4*l.corr+f-1)+`, "Ev Idx": `+id)
		}
	}
	l.event("X", "cpu_op", "aten::op_"+itoa(int64(k%97)), 4242, 4242, start, end-start,
		`"External id": `+id+`,"Ev Idx": `+id+`, "Input Dims": [[64, 1024, 3], [], [3]], "Input type": ["float", "", "Scalar"]`)
	l.event("X", "cuda_runtime", "cudaLaunchKernel", 4242, 4242, call, dur, `"External id": `+id+`, "cbid": 211, "correlation": `+id)
	l.flow("s", 4242, 4242, call)
	stream := 0
	if k%8 == 0 {
		stream = 1
	}
	at := max(call+dur+1000, l.busy[stream]+1100)
	length := 2000 + 7*spread%9000
	l.busy[stream] = at + length
	row := int64(7 + stream)
	l.event("X", "kernel", "void at::native::kernel_"+itoa(int64(k%61))+"<float>(int, float*)", 0, row, at, length,
		`"External id": `+id+`, "device": 0, "context": 1, "stream": `+itoa(row)+`, "correlation": `+id+`, "grid": [128, 1, 1], "block": [256, 1, 1]`)
	l.flow("f", 0, row, at)
	l.host = end + 1500
}

func (l *large) event(ph, cat, name string, pid, tid, start, dur int64, args string) {
	b := l.begin(ph, cat, name, pid, tid, start)
	b = append(b, `, "dur": `...)
	b = appendMicros(b, dur)
	if args != "" {
		b = append(append(append(b, ",\n    \"args\": {\n      "...), args...), "\n    }"...)
	}
	l.w.Write(append(b, "\n  }"...))
	l.buf = b
}

func (l *large) flow(ph string, pid, tid, at int64) {
	b := l.begin(ph, "ac2g", "ac2g", pid, tid, at)
	b = append(append(b, `, "id": `...), itoa(l.corr)...)
	if ph == "f" {
		b = append(b, `, "bp": "e"`...)
	}
	l.w.Write(append(b, "\n  }"...))
	l.buf = b
}

func (l *large) begin(ph, cat, name string, pid, tid, start int64) []byte {
	b := l.buf[:0]
	if l.n > 0 {
		b = append(b, ",\n"...)
	}
	l.n++
	b = append(b, "  {\n    \"ph\": \""+ph+"\", \"cat\": \""+cat+"\", \"name\": \""+name+"\", \"pid\": "+itoa(pid)+", \"tid\": "+itoa(tid)+",\n    \"ts\": "...)
	return appendMicros(b, start)
}

// appendMicros writes ns as µs with three decimals.
func appendMicros(b []byte, ns int64) []byte {
	b = append(b, itoa(ns/1000)...)
	f := ns % 1000
	return append(b, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
}
