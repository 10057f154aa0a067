package trace

import "strconv"

// Source is what stays in the input and is read when somebody wants it. Its methods may be called by several
// goroutines at once.
type Source interface {
	// Args calls visit for each argument of an event, in the order of the input, until visit returns false. An object or an
	// array is told as a value of that kind, then its members (those of an array without key), then a value of kind End.
	// Members that nest deeper than MaxDepth are left out.
	Args(id EventID, visit func(key string, v Value) bool)

	// Pattern returns what the arguments of an event have alike with those of others, under a small number, and appends the event's own numbers
	// to numbers. It returns no parts where the arguments are like no others, or where there is nothing to be gained.
	Pattern(id EventID, numbers []uint64) (of int, parts []Part, own []uint64)

	// Arg returns the first argument of an event with a key; an object or array as its text.
	Arg(id EventID, key string) (Value, bool)

	// Member returns what an event says beside its args and the fields of Event, by a path of keys: the scope and id2 of an
	// asynchronous event, the id of a counter.
	Member(id EventID, path ...string) (Value, bool)

	// Digest is a hash of the input that guards against accidents, not attacks.
	Digest() [2]uint32

	// Size is the length of the input in bytes, decompressed.
	Size() int64
}

// Part is a value of a pattern; the values stand in the order in which Source.Args tells them. Where it has holes, the value depends on the numbers of
// an event, and only its kind is the same for all: Int (digits behind Between[0], which is empty or a minus sign), Float or String.
type Part struct {
	Key     string
	Value   Value
	Holes   int      // how many numbers the value depends on
	First   int      // the index of the first of them
	Between []string // what stands before, between and behind the numbers, escapes resolved
	Whole   bool     // the first number is what stands there, every other one tells digits, see AppendDigits
}

// Append appends the value of a part with holes as text.
func (p *Part) Append(dst []byte, numbers []uint64) []byte {
	for k, v := range numbers[p.First : p.First+p.Holes] {
		dst = append(dst, p.Between[k]...)
		if k == 0 && p.Whole {
			dst = strconv.AppendUint(dst, v, 10)
		} else {
			dst = AppendDigits(dst, v)
		}
	}
	return append(dst, p.Between[p.Holes]...)
}

// MaxDigits is how many digits one number can tell.
const MaxDigits = 19

// shorter is how many texts of digits have fewer than so many.
var shorter = [MaxDigits + 1]uint64{0, 0, 10, 110, 1110, 11110, 111110, 1111110, 11111110, 111111110, 1111111110, 11111111110, 111111111110,
	1111111111110, 11111111111110, 111111111111110, 1111111111111110, 11111111111111110, 111111111111111110, 1111111111111111110}

// Shorter is what is added to the number of so many digits to tell them with the zeros that they begin with: the number of shorter texts.
func Shorter(digits int) uint64 { return shorter[digits] }

// AppendDigits appends the digits that a number tells.
func AppendDigits(dst []byte, v uint64) []byte {
	n := 1
	for n < MaxDigits && v >= shorter[n+1] {
		n++
	}
	v -= shorter[n]
	dst = append(dst, "0000000000000000000"[:n]...)
	for i := len(dst) - 1; v > 0; i-- {
		dst[i] = '0' + byte(v%10)
		v /= 10
	}
	return dst
}

// MaxDepth bounds the nesting of arguments.
const MaxDepth = 64

// Args calls visit for each argument of an event; see Source.
func (t *Trace) Args(id EventID, visit func(key string, v Value) bool) {
	if t.Events[id].Flags&HasArgs != 0 {
		t.Source.Args(id, visit)
	}
}

// TopArgs calls visit for each argument of an event, and for nothing that lies inside of objects and arrays.
func (t *Trace) TopArgs(id EventID, visit func(key string, v Value) bool) {
	depth := 0
	t.Args(id, func(key string, v Value) bool {
		top := depth == 0
		switch v.Kind {
		case Object, Array:
			depth++
		case End:
			depth--
		}
		return !top || visit(key, v)
	})
}

// Arg returns an argument of an event; see Source.
func (t *Trace) Arg(id EventID, key string) (Value, bool) {
	if t.Events[id].Flags&HasArgs == 0 {
		return Value{}, false
	}
	return t.Source.Arg(id, key)
}

// InputDims returns the shapes of what an operator was given. Older traces write the key in other letters.
func (t *Trace) InputDims(id EventID) (Value, bool) {
	if v, ok := t.Arg(id, "Input Dims"); ok {
		return v, true
	}
	return t.Arg(id, "Input dims")
}

// ArgInt returns an argument of an event as an integer, also one written as a text.
func (t *Trace) ArgInt(id EventID, key string) (int64, bool) {
	v, ok := t.Arg(id, key)
	if !ok {
		return 0, false
	}
	return v.AsInt()
}

// ArgFloat returns an argument of an event as a number, also one written as a text; N/A, nan and inf are none.
func (t *Trace) ArgFloat(id EventID, key string) (float64, bool) {
	v, ok := t.Arg(id, key)
	if !ok {
		return 0, false
	}
	return v.AsFloat()
}
