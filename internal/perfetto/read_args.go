package perfetto

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/limits"
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
	p := argParser{state: s.state, room: limits.Free}
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
	depth int // of dicts and arrays around the value
	room  int // bytes that keys may still take: a value far inside of a long name repeats it
}

// maxArgDepth bounds the nesting of arguments, since a file can nest deeper than a stack can.
const maxArgDepth = 100

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

// below is the key of a value inside of another one; false where keys have become too long in all.
func (p *argParser) below(key, step string) (string, bool) {
	if p.room -= len(key) + len(step); p.room < 0 {
		p.bad++
		return "", false
	}
	return key + step, true
}

// value appends what an annotation holds, and reports whether it held anything.
func (p *argParser) value(key string, ann []byte) bool {
	if p.depth > maxArgDepth {
		p.bad++
		return false
	}
	p.depth++
	defer func() { p.depth-- }()
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
				if inner, ok := p.below(key, "."+name); ok {
					p.value(inner, f.S)
				}
			}
			return
		case 12:
			// An element without a value does not use up its index.
			if inner, ok := p.below(key, "["+strconv.Itoa(index)+"]"); ok && p.value(inner, f.S) {
				index++
			}
			return
		case 9:
			p.json(key, f.S)
			return
		default:
			return
		}
		p.args = append(p.args, a)
	})
	return len(p.args) > before
}

// json appends what the text of legacy_json_value holds. The importer drops a text that is no JSON; the text null ends
// trace_processor v58.2.
func (p *argParser) json(key string, text []byte) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || v == nil {
		p.bad++
		return
	}
	if _, err := d.Token(); err != io.EOF {
		p.bad++
		return
	}
	p.jsonValue(key, v)
}

// jsonValue appends a value of JSON. encoding/json has bounded its depth.
func (p *argParser) jsonValue(key string, v any) {
	a := ReadArg{Key: key}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if inner, ok := p.below(key, "."+noSeparators.Replace(name)); ok {
				p.jsonValue(inner, v[name])
			}
		}
		return
	case []any:
		for i := range v {
			if inner, ok := p.below(key, "["+strconv.Itoa(i)+"]"); ok {
				p.jsonValue(inner, v[i])
			}
		}
		return
	case bool:
		a.Kind = 'b'
		if v {
			a.Int = 1
		}
	case string:
		a.Kind, a.Str = 's', v
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			a.Kind, a.Int = 'i', n
		} else if n, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			a.Kind, a.Uint = 'u', n
		} else {
			a.Kind = 'f'
			a.Float, _ = v.Float64()
		}
	default:
		return // null
	}
	p.args = append(p.args, a)
}
