package viewer

import (
	"math"
	"strconv"
	"strings"

	"overlay/internal/wire"
)

// ReadArg is an argument of a slice. Nested ones are flat, with Perfetto's keys: a.b for an entry of a dict, a[0] for
// an element of an array.
type ReadArg struct {
	Key   string
	Kind  byte // 'i' Int, 'u' Uint, 'f' Float, 's' Str, 'b' Bool (Int 0 or 1), 'p' pointer (Uint)
	Int   int64
	Uint  uint64
	Float float64
	Str   string
}

// Value is the argument's value as text.
func (a *ReadArg) Value() string {
	switch a.Kind {
	case 'i':
		return strconv.FormatInt(a.Int, 10)
	case 'u':
		return strconv.FormatUint(a.Uint, 10)
	case 'f':
		return strconv.FormatFloat(a.Float, 'g', -1, 64)
	case 'b':
		return strconv.FormatBool(a.Int != 0)
	case 'p':
		return "0x" + strconv.FormatUint(a.Uint, 16)
	}
	return strconv.Quote(a.Str)
}

// Args returns the arguments of a slice in the order of the file, without Perfetto's prefix "debug.". Entries that the
// importer cannot read are counted in Problems by CheckArgs only.
func (im *Imported) Args(slice int32) []ReadArg {
	args, _ := im.args(slice)
	return args
}

// CheckArgs reads the arguments of all slices and counts what the importer would drop.
func (im *Imported) CheckArgs() {
	for i := range im.Slices {
		_, bad := im.args(int32(i))
		if bad > 0 {
			im.Problems["track_event_parser_errors"] += bad
		}
	}
}

func (im *Imported) args(slice int32) (args []ReadArg, bad int) {
	s := &im.Slices[slice]
	p := argParser{state: s.state}
	for _, ann := range s.args {
		if key, ok := p.name(ann); ok {
			p.value(key, ann)
		}
	}
	return p.args, p.bad
}

type argParser struct {
	state *sequence
	args  []ReadArg
	bad   int
}

// noSeparators is what the importer does to keys.
var noSeparators = strings.NewReplacer(".", "_", "[", "_", "]", "_")

// name returns the key of an annotation.
func (p *argParser) name(ann []byte) (string, bool) {
	name, ok := "", false
	wellFormed := wire.Each(ann, func(f *wire.Fields) {
		switch f.Num {
		case 1:
			name, ok = p.state.strings[3][f.V]
		case 10:
			name, ok = string(f.S), true
		}
	})
	if !ok || !wellFormed {
		p.bad++
		return "", false
	}
	return noSeparators.Replace(name), true
}

// value appends what an annotation holds, and reports whether it held anything.
func (p *argParser) value(key string, ann []byte) bool {
	before := len(p.args)
	index := 0
	wire.Each(ann, func(f *wire.Fields) {
		a := ReadArg{Key: key}
		switch f.Num {
		case 2:
			a.Kind, a.Int = 'b', int64(f.V)
		case 3:
			a.Kind, a.Uint = 'u', f.V
		case 4:
			a.Kind, a.Int = 'i', int64(f.V)
		case 5:
			a.Kind, a.Float = 'f', math.Float64frombits(f.V)
		case 6:
			a.Kind, a.Str = 's', string(f.S)
		case 7:
			a.Kind, a.Uint = 'p', f.V
		case 17:
			str, ok := p.state.strings[29][f.V]
			if !ok {
				p.bad++
				return
			}
			a.Kind, a.Str = 's', str
		case 11:
			if name, ok := p.name(f.S); ok {
				p.value(key+"."+name, f.S)
			}
			return
		case 12:
			// An element without a value does not use up its index.
			if p.value(key+"["+strconv.Itoa(index)+"]", f.S) {
				index++
			}
			return
		default:
			return
		}
		p.args = append(p.args, a)
	})
	return len(p.args) > before
}
