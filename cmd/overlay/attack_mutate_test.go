package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/klauspost/compress/gzip"

	"overlay/internal/testtrace"
)

// everyLetter has an event of each phase letter, both kinds of rows, and values that traces of other programs have.
const everyLetter = `{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU"}],"distributedInfo":{"rank":1,"world_size":2},"displayTimeUnit":"ms",
"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"thread 1 (pt_main_thread)"}},
{"ph":"M","name":"process_sort_index","pid":1,"tid":0,"args":{"sort_index":5}},{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":100,"dur":900},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":110,"dur":50,"args":{"External id":1,"Sequence number":3,"Fwd thread id":0,"Input Dims":[[1,2],[]]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":120,"dur":9,"args":{"correlation":7}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":140,"dur":99,"args":{"correlation":7,"device":0,"stream":7}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":7,"ts":245,"dur":20,"args":{"device":0,"stream":7,"bytes":10}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":170,"dur":110,"args":{"correlation":9}},
{"ph":"X","cat":"cuda_sync","name":"Context Sync","pid":0,"tid":7,"ts":170,"dur":110,"args":{"correlation":9,"stream":-1,"device":0,"cuda_sync_kind":"Context Sync"}},
{"ph":"B","name":"b","cat":"cpu_op","pid":1,"tid":2,"ts":300},{"ph":"X","name":"in","cat":"cpu_op","pid":1,"tid":2,"ts":301,"dur":2},{"ph":"E","pid":1,"tid":2,"ts":310},{"ph":"B","name":"open","pid":1,"tid":2,"ts":320},{"ph":"E","pid":1,"tid":3,"ts":300},
{"ph":"s","id":1,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":120},{"ph":"t","id":1,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":121},{"ph":"f","bp":"e","id":1,"cat":"ac2g","name":"ac2g","pid":0,"tid":7,"ts":140},
{"ph":"C","name":"memory","pid":1,"tid":0,"ts":130,"args":{"a":1,"b":2.5}},{"ph":"C","name":"memory","pid":1,"tid":0,"ts":140,"args":{"a":3,"b":"x"}},
{"ph":"b","id":"0x1","cat":"q","name":"async","pid":1,"tid":1,"ts":400},{"ph":"n","id":"0x1","cat":"q","name":"async","pid":1,"tid":1,"ts":401},{"ph":"e","id":"0x1","cat":"q","name":"async","pid":1,"tid":1,"ts":405},
{"ph":"S","id":5,"cat":"q","name":"old","pid":1,"tid":1,"ts":410},{"ph":"T","id":5,"cat":"q","name":"old","pid":1,"tid":1,"ts":411,"args":{"step":"x"}},{"ph":"F","id":5,"cat":"q","name":"old","pid":1,"tid":1,"ts":415},
{"ph":"i","s":"t","name":"[memory]","cat":"cpu_instant_event","pid":1,"tid":1,"ts":420,"args":{"Bytes":-5}},{"ph":"I","name":"x","pid":"text","tid":"row","ts":421},{"ph":"R","name":"x","pid":1,"tid":1,"ts":422},
{"ph":"N","id":1,"name":"o","pid":1,"tid":1,"ts":430},{"ph":"O","id":1,"name":"o","pid":1,"tid":1,"ts":431,"args":{"snapshot":{}}},{"ph":"D","id":1,"name":"o","pid":1,"tid":1,"ts":432},
{"ph":"P","name":"p","pid":1,"tid":1,"ts":440},{"ph":"c","name":"c","ts":441},{"ph":"V","id":1,"ts":442},12,"text",null,
{"ph":"X","cat":"python_function","name":"train.py(1): step","pid":1,"tid":1,"ts":500,"dur":100,"args":{"Python id":1,"Python parent id":null}},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":100,"dur":900},{"ph":"i","name":"Record Window End","pid":"","tid":"","ts":1000,"s":"g"}
],"traceName":"a.json"}`

// oldForm is the autograd profiler's own: no categories, processes say what events are, the list is all.
const oldForm = `[{"name":"mm","ph":"X","ts":1,"dur":50,"tid":1,"pid":"CPU functions","args":{}},{"name":"mm","ph":"s","ts":2,"tid":1,"pid":"CPU functions","id":1,"cat":"cpu_to_cuda","args":{}},
{"name":"mm","ph":"f","ts":20,"tid":7,"pid":"CUDA functions","id":1,"cat":"cpu_to_cuda","args":{}},{"name":"gemm","ph":"X","ts":20,"dur":60,"tid":7,"pid":"CUDA functions","args":{}}]`

// attacker makes inputs. Everything it does follows from its seed.
type attacker struct{ *rand.Rand }

func pick[T any](a *attacker, list []T) T { return list[a.IntN(len(list))] }

// trace is a small trace that nobody has touched.
func (a *attacker) trace() []byte {
	switch a.IntN(5) {
	case 0:
		return []byte(everyLetter)
	case 1:
		return []byte(oldForm)
	}
	p := testtrace.Tiny(a.Uint64N(1000))
	if a.IntN(3) == 0 {
		p = testtrace.Random(pick(a, testtrace.Classes), a.Uint64N(1000))
	}
	var r testtrace.Run
	r.Simulate(p)
	b, _ := r.Build()
	return b.JSON()
}

// The pieces of text that mutations put in. Those of an open defect are left out.
var (
	oddNumbers = []string{"0", "-0", "1", "3", "7", "00", "0x10", "1.5", ".5", "5.", "1e3", "1e18", "1e308", "1e400", "1e-400", "4294967296", "2147483648", "9007199254740993",
		"9223372036854775807", "9223372036854775808", "18446744073709551616", "0.0000000000001", "123456789012345.123456789", "1700000000000000.001", "NaN", "Infinity", "nan", "N/A", "\"5\"", "\"0x7\""}
	negatives  = []string{"-1", "-5.5", "-1e18", "-9223372036854775808", "-9223372036854775809"}
	oddStrings = []string{`""`, `"\u0000"`, `"\ud800"`, `"\udc00\ud800"`, `"a"b"`, `"\x"`, `"\`, "\"\xff\xfe\"", "\"tab\there\"", "\"line\nbreak\"", `"\u001b[31m"`, "\"\u202e\"", `"critical_path"`, `"ProfilerStep#7"`,
		`"` + strings.Repeat("long ", 2000) + `"`, `"cudaStreamSynchronize"`, `"ncclKernel_AllReduce"`, `"X"`, `"B"`, `"E"`, `"C"`, `"b"`, `"e"`, `"M"`, `"f"`, `"kernel"`, `"cpu_op"`, `"cuda_sync"`, `"gpu_user_annotation"`}
	oddValues = []string{`null`, `true`, `{}`, `[]`, `[[]]`, `{"a":{"b":[1,"x",null]}}`, strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), ``, `,`, `}`, `]`, `"x":`}
	oddKeys   = []string{"ph", "name", "cat", "pid", "tid", "ts", "dur", "args", "id", "bp", "scope", "correlation", "stream", "device", "External id", "Sequence number", "traceEvents", "metadata",
		"distributedInfo", "deviceProperties", "critical", "cdg_node", "", "name\\u0061", "wait_on_stream", "graph node id"}
)

var (
	numberToken = regexp.MustCompile(`-?\d+(\.\d+)?`)
	stringToken = regexp.MustCompile(`"[^"]*"`)
	keyToken    = regexp.MustCompile(`"[^"]*"\s*:`)
	memberToken = regexp.MustCompile(`"[^"]*"\s*:\s*("[^"]*"|[-\d.]+|\[\]|\{\})\s*,?`)
	valueToken  = regexp.MustCompile(`:\s*("[^"]*"|[-\d.]+|\[\]|\{\})`)
)

// replaceOne puts another text in the place of one match.
func (a *attacker) replaceOne(b []byte, re *regexp.Regexp, with func(old string) string) []byte {
	all := re.FindAllIndex(b, -1)
	if len(all) == 0 {
		return b
	}
	m := pick(a, all)
	return slicesConcat(b[:m[0]], []byte(with(string(b[m[0]:m[1]]))), b[m[1]:])
}

func slicesConcat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// mutate changes an input in one way.
func (a *attacker) mutate(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	at := a.IntN(len(b))
	switch a.IntN(14) {
	case 0:
		b = bytes.Clone(b)
		b[at] = byte(a.Uint32())
		return b
	case 1:
		b = bytes.Clone(b)
		b[at] ^= 1 << a.IntN(8)
		return b
	case 2:
		return slicesConcat(b[:at], []byte(pick(a, []string{"\"", "{", "}", "[", "]", ",", ":", "\\", "\x00", "\n", "1", "e", "\xff"})), b[at:])
	case 3:
		return slicesConcat(b[:at], b[min(len(b), at+1+a.IntN(20)):])
	case 4:
		numbers := append(negatives, oddNumbers...)
		return a.replaceOne(b, numberToken, func(string) string { return pick(a, numbers) })
	case 5:
		return a.replaceOne(b, stringToken, func(string) string { return pick(a, oddStrings) })
	case 6:
		return a.replaceOne(b, keyToken, func(string) string { return `"` + pick(a, oddKeys) + `":` })
	case 7:
		return a.replaceOne(b, memberToken, func(old string) string {
			return pick(a, []string{"", old + old, strings.TrimSuffix(old, ",") + "," + old})
		})
	case 8:
		return a.replaceOne(b, valueToken, func(string) string { return ":" + pick(a, oddValues) })
	case 9, 10, 11:
		return a.events(b)
	case 12:
		if a.IntN(3) == 0 {
			return b[:at]
		}
		return b[:max(1, len(b)-1-a.IntN(min(len(b), 400)))]
	}
	return slicesConcat(b, []byte(pick(a, []string{"", "\n", "garbage", "\x00\x00", "]"})), a.trace()[:1+a.IntN(30)])
}

// events drops, doubles and reorders whole events of an input that is still JSON.
func (a *attacker) events(b []byte) []byte {
	var list []json.RawMessage
	var doc map[string]json.RawMessage
	if json.Unmarshal(b, &list) != nil && (json.Unmarshal(b, &doc) != nil || json.Unmarshal(doc["traceEvents"], &list) != nil) || len(list) == 0 {
		return b
	}
	i, k := a.IntN(len(list)), a.IntN(len(list))
	i, k = min(i, k), max(i, k)
	switch a.IntN(5) {
	case 0:
		list = append(list[:i:i], list[k:]...)
	case 1:
		list = append(list[:k:k], list[i:]...)
	case 2:
		a.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	case 3:
		for range 1 + a.IntN(50) {
			list = append(list, list[i])
		}
	case 4:
		list = list[i:k]
	}
	text, err := json.Marshal(list)
	if err != nil {
		return b
	}
	if doc == nil {
		return text
	}
	return slicesConcat([]byte(`{"schemaVersion":1,"traceEvents":`), text, []byte(`,"traceName":"a"}`))
}

// compressed is an input in the form of a .json.gz, which may be broken too.
func (a *attacker) compressed(b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b)
	w.Close()
	out := z.Bytes()
	switch a.IntN(6) {
	case 0:
		out = out[:a.IntN(len(out))+1]
	case 1:
		out[a.IntN(len(out))] ^= byte(1 + a.IntN(255))
	}
	return out
}

// input makes one input.
func (a *attacker) input() []byte {
	b := a.trace()
	for range 1 + a.IntN(5) {
		b = a.mutate(b)
	}
	if a.IntN(8) == 0 {
		b = a.compressed(b)
	}
	return b
}
