package testtrace

import (
	"fmt"
	"strconv"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// oldNames are categories as the first Kineto wrote them.
var oldNames = map[string]string{"cpu_op": "Operator", "cuda_runtime": "Runtime", "cuda_driver": "Runtime", "kernel": "Kernel",
	"gpu_memcpy": "Memcpy", "gpu_memset": "Memset"}

// JSON writes the trace.
func (b *Builder) JSON() []byte { return b.AppendJSON(nil) }

// AppendJSON writes the trace behind buf.
func (b *Builder) AppendJSON(buf []byte) []byte {
	if b.ArrayForm {
		return append(b.appendEvents(buf), '\n')
	}
	buf = append(buf, "{\n  \"schemaVersion\": 1,\n"...)
	buf = b.appendDevices(buf)
	if b.Rank >= 0 {
		buf = fmt.Appendf(buf, "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d},\n", b.Rank, max(b.World, b.Rank+1))
	}
	if b.Extra != "" {
		buf = fmt.Appendf(buf, "  %s,\n", b.Extra)
	}
	if b.BaseTime != 0 && !b.BaseAtTail {
		buf = fmt.Appendf(buf, "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": %d,\n", b.BaseTime)
	}
	buf = append(buf, "  \"traceEvents\": "...)
	buf = b.appendEvents(buf)
	if b.BaseTime != 0 && b.BaseAtTail {
		buf = fmt.Appendf(buf, ",\n  \"baseTimeNanoseconds\": %d", b.BaseTime)
	}
	return append(buf, "\n}\n"...)
}

func (b *Builder) appendDevices(buf []byte) []byte {
	buf = append(buf, "  \"deviceProperties\": ["...)
	first := true
	for _, p := range b.procs {
		if b.Device == "" || p.label == "CPU" {
			continue
		}
		if !first {
			buf = append(buf, ',')
		}
		first = false
		buf = append(fmt.Appendf(buf, "\n    {\"id\": %d, \"name\": ", p.pid), appendString(nil, b.Device)...)
		buf = append(buf, ", \"totalGlobalMem\": 85045084160, \"computeMajor\": 9, \"computeMinor\": 0, \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048, \"regsPerBlock\": 65536, \"warpSize\": 32, \"sharedMemPerBlock\": 49152, \"numSms\": 132, \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, \"sharedMemPerMultiprocessor\": 233472}"...)
	}
	return append(buf, "],\n"...)
}

func (b *Builder) appendEvents(buf []byte) []byte {
	buf = append(buf, '[')
	sep := "\n"
	for i := range b.events {
		buf = append(buf, sep...)
		buf = b.appendEvent(buf, &b.events[i])
		sep = ",\n"
	}
	// The builder itself stays as it is: writing twice gives the same bytes.
	meta := Builder{IntegerMicros: b.IntegerMicros}
	for _, p := range b.procs {
		meta.Meta("process_name", p.pid, 0, "name", p.name)
		meta.Meta("process_labels", p.pid, 0, "labels", p.label)
		meta.Meta("process_sort_index", p.pid, 0, "sort_index", p.sort)
	}
	for _, r := range b.rows {
		meta.Meta("thread_name", r.pid, r.tid, "name", r.name)
		meta.Meta("thread_sort_index", r.pid, r.tid, "sort_index", r.sort)
	}
	for i := range meta.events {
		buf = append(buf, sep...)
		buf = meta.appendEvent(buf, &meta.events[i])
		sep = ",\n"
	}
	return append(buf, "\n  ]"...)
}

func (b *Builder) appendEvent(buf []byte, e *event) []byte {
	if e.ph == 0 {
		return append(buf, e.raw...)
	}
	buf = append(buf, `    {"ph": "`...)
	buf = append(buf, e.ph, '"')
	if e.cat != "" {
		cat := e.cat
		if old, ok := oldNames[cat]; ok && b.OldNames {
			cat = old
		}
		buf = append(buf, `, "cat": `...)
		buf = appendString(buf, cat)
	}
	buf = append(buf, `, "name": `...)
	buf = appendString(buf, e.name)
	if e.flags&hasFlow != 0 {
		buf = append(buf, `, "id": `...)
		buf = strconv.AppendInt(buf, e.flow, 10)
	}
	buf = append(buf, `, "pid": `...)
	buf = strconv.AppendInt(buf, e.pid, 10)
	buf = append(buf, `, "tid": `...)
	buf = strconv.AppendInt(buf, e.tid, 10)
	if e.ph != 'M' {
		buf = append(buf, `, "ts": `...)
		buf = b.appendTime(buf, e.start)
	}
	if e.ph == 'X' {
		buf = append(buf, `, "dur": `...)
		if b.IntegerMicros {
			buf = strconv.AppendInt(buf, micros(e.start+e.dur)-micros(e.start), 10)
		} else {
			buf = b.appendTime(buf, e.dur)
		}
	}
	switch {
	case e.flags&bindEnd != 0:
		buf = append(buf, `, "bp": "e"`...)
	case e.ph == 'i':
		buf = append(buf, `, "s": "t"`...)
	}
	if e.argTo > e.argFrom {
		buf = append(buf, `, "args": {`...)
		buf = append(buf, b.args[e.argFrom:e.argTo]...)
		buf = append(buf, '}')
	}
	return append(buf, '}')
}

// micros rounds toward minus infinity, also for times before the base.
func micros(ns int64) int64 {
	us := ns / 1000
	if ns%1000 < 0 {
		us--
	}
	return us
}

func (b *Builder) appendTime(buf []byte, ns int64) []byte {
	if b.IntegerMicros {
		return strconv.AppendInt(buf, micros(ns), 10)
	}
	if ns < 0 {
		buf = append(buf, '-')
		ns = -ns
	}
	buf = strconv.AppendInt(buf, ns/1000, 10)
	f := ns % 1000
	return append(buf, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
}

func appendValue(buf []byte, v any) []byte {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(buf, int64(v), 10)
	case int64:
		return strconv.AppendInt(buf, v, 10)
	case bool:
		return strconv.AppendBool(buf, v)
	case string:
		return appendString(buf, v)
	case Raw:
		return append(buf, v...)
	}
	panic(fmt.Sprintf("testtrace: internal error: no JSON for %T", v))
}

// appendString quotes what JSON needs quoted and leaves other bytes alone, invalid UTF-8 included.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			buf = append(buf, '\\', c)
		case c < 0x20:
			buf = fmt.Appendf(buf, `\u%04x`, c)
		default:
			buf = append(buf, c)
		}
	}
	return append(buf, '"')
}
