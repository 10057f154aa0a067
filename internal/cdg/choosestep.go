package cdg

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/trace"
)

// ChooseStep returns the place of the step that a user names: by its number, by its name (decode#7), or by a type alone, of which it is the
// one of median length. The error says what is nearest.
func ChooseStep(steps []Step, name string) (int, error) {
	kind, number, ok := trace.ReadStep(name)
	var lengths []int64
	near, least := "", int64(math.MaxInt64)
	for i := range steps {
		s := &steps[i]
		if !ok || kind != trace.NoIteration && kind != s.Of.Type {
			continue
		}
		lengths = append(lengths, s.End-s.Start)
		d := max(s.Number-number, number-s.Number)
		if d == 0 && number >= 0 {
			return i, nil
		}
		if d < least && (kind != trace.NoIteration || len(steps) > shown) {
			near, least = ", the nearest is "+s.Name, d
		}
	}
	if number >= 0 || lengths == nil {
		return 0, fmt.Errorf("no step %s in the trace%s%s", name, near, there(steps))
	}
	slices.Sort(lengths)
	return slices.IndexFunc(steps, func(s Step) bool { return s.Of.Type == kind && s.End-s.Start == lengths[(len(lengths)-1)/2] }), nil
}

// shown is how many steps an error lists.
const shown = 10

// there says which steps there are, for an error message: all of them where they are few.
func there(steps []Step) string {
	var names []string
	for i := range steps {
		s := &steps[i]
		n := strconv.FormatInt(s.Number, 10)
		if s.Of.Type != trace.NoIteration {
			n += " (" + s.Of.Type.String() + ")"
		}
		names = append(names, n)
	}
	switch n := len(names); {
	case n == 0:
		return ", which has none: the profiler names them where prof.step() is called"
	case n == 1:
		return "; it has step " + names[0]
	case n > shown:
		return fmt.Sprintf("; it has %d, from %s to %s", n, names[0], names[n-1])
	default:
		return "; it has the steps " + strings.Join(names, ", ")
	}
}
