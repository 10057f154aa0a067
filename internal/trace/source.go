package trace

// Source is what stays in the input and is read when somebody wants it. Its methods may be called by several
// goroutines at once.
type Source interface {
	// Args calls visit for each argument of an event, in the order of the input, until visit returns false. An object or an
	// array is told as a value of that kind, then its members (those of an array without key), then a value of kind End.
	// Members that nest deeper than MaxDepth are left out.
	Args(id EventID, visit func(key string, v Value) bool)

	// ArgsBut is Args for who keeps what was made of objects and arrays, most of which come again and again: those that are known are
	// left out. Whole numbers come without their text.
	ArgsBut(id EventID, known Known, visit func(key string, v Value) bool)

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

// Known is what was made of objects and arrays among the arguments of events.
type Known interface {
	// Again reports whether an argument is known by its text, and adds what was made of it then. It must say false for every text that
	// did not come with the End of an object or array that was told.
	Again(key, text string) bool

	// AgainRow is Again for all of a row. When it is not known, it is told between BeginRow and EndRow.
	AgainRow(row Row) bool
	BeginRow()
	EndRow()
}

// Row tells apart rows of objects and arrays that follow one another among the arguments of an event: those alike in it say the same. Numbers
// belongs to the input.
type Row struct {
	Of      uint32
	Numbers string
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
