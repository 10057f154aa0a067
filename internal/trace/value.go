package trace

import (
	"math"
	"strconv"
	"strings"
)

// ValueKind is the type of a value.
type ValueKind uint8

// The kinds.
const (
	Null   ValueKind = iota
	Bool             // Bits is 1 for true
	Int              // Bits is an int64
	Uint             // Bits is a number beyond int64
	Float            // Bits is a float64; NaN and infinities too, as far as the input has them
	String           // Text is its content
	Word             // Text is a bare word that is no number: N/A
	Object           // Text is its JSON, or empty where its members follow
	Array            // the same
	End              // of an object or array whose members were told; Text is its JSON, or empty
)

// Value is a typed value of an argument. Its text belongs to the input.
type Value struct {
	Text string // a string's content, everything else as written
	Bits uint64
	Kind ValueKind
}

// Int64 is the value of an Int.
func (v Value) Int64() int64 { return int64(v.Bits) }

// Float64 is the value of a Float.
func (v Value) Float64() float64 { return math.Float64frombits(v.Bits) }

// AsInt is the value as an integer: whole numbers in any form, also in a text; unsigned ones beyond int64 wrap, as ids do.
func (v Value) AsInt() (int64, bool) {
	switch v.Kind {
	case Int, Uint:
		return int64(v.Bits), true
	case Float:
		return wholeNumber(v.Text)
	case String:
		text := trimNumber(v.Text)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return int64(n), true
		}
		return wholeNumber(text)
	}
	return 0, false
}

// AsFloat is the value as a number, also in a text; what is not finite is none.
func (v Value) AsFloat() (float64, bool) {
	switch v.Kind {
	case Int:
		return float64(int64(v.Bits)), true
	case Uint:
		return float64(v.Bits), true
	case Float, String:
		text := trimNumber(v.Text)
		if !plainNumber(text) {
			return 0, false
		}
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil
	}
	return 0, false
}

// trimNumber removes the blanks that some writers leave around a number in a text.
func trimNumber(s string) string { return strings.Trim(s, " \t") }

// plainNumber holds for digits with an optional sign, fraction and exponent: no words, no hexadecimal form.
func plainNumber(s string) bool {
	return s != "" && strings.Trim(s, "+-.0123456789eE") == "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9')
}

// wholeNumber reads forms such as 1.0 and 1e3.
func wholeNumber(s string) (int64, bool) {
	if !plainNumber(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// NumberValue is the typed value of a bare token as JSON writes numbers and words; those that JSON lacks count as what
// they mean.
func NumberValue(text string) Value {
	switch text {
	case "true":
		return Value{Text: text, Bits: 1, Kind: Bool}
	case "false":
		return Value{Text: text, Kind: Bool}
	case "null":
		return Value{Text: text, Kind: Null}
	}
	if !strings.ContainsAny(text, ".eE") { // a failed attempt costs an error value
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Value{Text: text, Bits: uint64(n), Kind: Int}
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return Value{Text: text, Bits: n, Kind: Uint}
		}
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil || math.IsInf(f, 0) {
		return Value{Text: text, Bits: math.Float64bits(f), Kind: Float}
	}
	return Value{Text: text, Kind: Word}
}
