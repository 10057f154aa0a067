package overlay

// SliceMaker makes the slices of a track when they are asked for: a path has as many segments as a trace has events, and a
// slice with its args takes 350 bytes. Slices are in the order of Track.Slices, and are quickest made in it. What a maker
// returns is for one goroutine; another one takes a maker of its own from ForOne, which may be itself where it remembers nothing.
type SliceMaker interface {
	ForOne() SliceMaker
	Len() int
	Span(i int) (start, dur int64) // ns
	Look(i int) (name, color string)
	Args(i int, to *[MaxArgs]Arg) int // writes the args and returns their number
}

// Alike is a SliceMaker that says which slices have the same keys and the same texts in their args, and differ in numbers alone: those
// with one number.
type Alike interface {
	SliceMaker
	Alike(i int) int
}

// MaxArgs is how many args a slice of a SliceMaker may have.
const MaxArgs = 5

// Len is the number of slices.
func (t *Track) Len() int {
	if t.Maker != nil {
		return t.Maker.Len()
	}
	return len(t.Slices)
}

// Span is where slice i begins, and how long it is, ns.
func (t *Track) Span(i int) (start, dur int64) {
	if t.Maker != nil {
		return t.Maker.Span(i)
	}
	return t.Slices[i].Start, t.Slices[i].Dur
}
