package roofline

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"overlay/internal/trace"
)

// elementSizes are bytes of an element by the names that types have in traces, in lower case.
var elementSizes = map[string]int64{"float": 4, "float32": 4, "int": 4, "int32": 4, "long int": 8, "long": 8, "int64": 8, "double": 8, "float64": 8, "bfloat16": 2, "half": 2, "float16": 2,
	"c10::bfloat16": 2, "c10::half": 2, "byte": 1, "char": 1, "uint8": 1, "int8": 1, "bool": 1, "unsigned char": 1, "signed char": 1, "short": 2,
	"c10::float8_e4m3fn": 1, "c10::float8_e5m2": 1, "c10::float8_e4m3fnuz": 1, "c10::float8_e5m2fnuz": 1, "c10::float8_e8m0fnu": 1, float4: 1}

// ElementSize is how many bytes an element of a type takes, 0 for types that are not known.
func ElementSize(typ string) int64 { return elementSizes[strings.ToLower(typ)] }

// Tensor is an input of an operator as it was recorded. One that is no tensor, or of a type that is not known, has no size.
type Tensor struct {
	Dims    []int64
	Strides []int64 // nil where they were not recorded
	Type    string
	Size    int64 // bytes of an element
}

// tooMany is more elements than any device holds: shapes of broken traces.
const tooMany = 1 << 44

// Len is the number of elements, those of a dimension that is only expanded counted.
func (t *Tensor) Len() int64 { return product(t.Dims) }

// stored is the number of elements that there are: a dimension with stride 0 repeats one.
func (t *Tensor) stored() int64 {
	n := int64(1)
	for i, d := range t.Dims {
		if i < len(t.Strides) && t.Strides[i] == 0 {
			continue
		}
		n = times(n, d)
	}
	return n
}

// Bytes is what reading the tensor once moves.
func (t *Tensor) Bytes() int64 { return t.stored() * t.Size }

// scalar reports whether it stands for a single number, which decides no type.
func (t *Tensor) scalar() bool { return len(t.Dims) == 0 }

func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n = times(n, d)
	}
	return n
}

// times multiplies as far as shapes make sense.
func times(a, b int64) int64 {
	if a < 0 || b < 0 || b > 0 && a > tooMany/b {
		return tooMany
	}
	return a * b
}

// Call is an operator with its inputs. Concrete are the values of those that are no tensors, as the profiler prints them.
type Call struct {
	Name      string
	In        []Tensor
	Concrete  []string
	Strides   bool             // they were recorded
	Iteration *trace.Iteration // of a server, in which it was called or replayed; nil for none
	Within    func() []Call    // what it called itself; nil where that is not known
	Gradient  []int64          // of convolutions, where Concrete was not recorded: the shape of the result
}

// callText is what a trace says of a call, as it is written: calls of one text are alike.
type callText struct {
	name                           trace.Sym
	dims, types, strides, concrete string
	strided                        bool
}

// textOf is the text of a call; false when its shapes were not recorded.
func textOf(tr *trace.Trace, id trace.EventID) (callText, bool) {
	dims, ok := tr.InputDims(id)
	if !ok {
		return callText{}, false
	}
	types, _ := tr.Arg(id, "Input type")
	strides, strided := tr.Arg(id, "Input Strides")
	concrete, _ := tr.Arg(id, "Concrete Inputs") // without them there are only fewer models
	return callText{tr.Events[id].Name, dims.Text, types.Text, strides.Text, concrete.Text, strided}, true
}

// ReadCall reads the inputs of an operator; false when its shapes were not recorded.
func ReadCall(tr *trace.Trace, id trace.EventID) (Call, bool) {
	x, ok := textOf(tr, id)
	c := Call{Name: tr.Name(id)}
	if ok {
		c.read(&x)
	}
	return c, len(c.In) > 0
}

// read fills in the inputs, none where the text says nothing of them.
func (c *Call) read(x *callText) {
	shapes, strides := list(x.dims), list(x.strides)
	names, ok := texts(x.types)
	if !ok {
		return
	}
	c.Strides = x.strided
	c.Concrete, _ = texts(x.concrete)
	for i, s := range shapes {
		t := Tensor{Dims: s}
		if i < len(names) {
			t.Type, t.Size = names[i], ElementSize(names[i])
		}
		if i < len(strides) && len(strides[i]) == len(s) {
			t.Strides = strides[i]
		}
		c.In = append(c.In, t)
	}
}

// texts reads a list of strings as JSON has it. Most are plain: no spaces between them but one after a comma, and nothing escaped.
func texts(s string) (out []string, ok bool) {
	if rest, plain := strings.CutPrefix(s, `["`); plain {
		rest = strings.Clone(rest) // what is read lies in the input, which goes
		for {
			n := strings.IndexByte(rest, '"')
			if n < 0 || !isPlain(rest[:n]) {
				break
			}
			out = append(out, rest[:n])
			if rest = rest[n+1:]; rest == "]" {
				return out, true
			}
			if rest, plain = strings.CutPrefix(rest, ","); !plain {
				break
			}
			if rest, plain = strings.CutPrefix(strings.TrimPrefix(rest, " "), `"`); !plain {
				break
			}
		}
	}
	out = nil
	err := json.Unmarshal([]byte(s), &out)
	return out, err == nil
}

// isPlain reports whether a string stands for itself in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= utf8.RuneSelf || s[i] == '\\' {
			return false
		}
	}
	return true
}

// list reads a list of lists of numbers. Where a list holds lists itself, as those of several tensors do, it is empty.
func list(s string) (out [][]int64) {
	depth, nested := 0, false
	var now []int64
	start := -1
	number := func(end int) {
		if start >= 0 && depth == 2 {
			if n, err := strconv.ParseInt(s[start:end], 10, 64); err == nil {
				now = append(now, n)
			}
		}
		start = -1
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '[':
			depth++
			if depth == 2 {
				now, nested = nil, false
			}
			nested = nested || depth == 3
		case c == ']':
			number(i)
			if depth == 2 {
				if nested {
					now = nil
				}
				out = append(out, now)
			}
			depth--
		case c >= '0' && c <= '9' || c == '-':
			if start < 0 {
				start = i
			}
		default:
			number(i)
		}
	}
	return out
}

// numbers reads a value such as "[1, 1]" or "2"; nil where it is something else.
func numbers(s string) (out []int64) {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == '[' || r == ']' || r == ',' || r == ' ' }) {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}
