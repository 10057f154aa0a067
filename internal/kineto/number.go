package kineto

import (
	"bytes"
	"strconv"
)

// unquote1 removes the quotes around a number that is written as a string.
func unquote1(w []byte) (digits []byte, quoted bool) {
	if len(w) >= 2 && w[0] == '"' && w[len(w)-1] == '"' {
		w = w[1 : len(w)-1]
		w = bytes.TrimLeft(w, " \t")
		w = bytes.TrimSuffix(w, []byte(`\t`)) // Ascend writes a tab after ts
		w = bytes.TrimRight(w, " \t")
		return w, true
	}
	return w, false
}

// parseInt reads an integer; unsigned 64-bit values wrap, as ids do. Integral floats (1.0, 1e3) count.
func parseInt(w []byte) (int64, bool) {
	neg := false
	d := w
	if len(d) > 0 && d[0] == '-' {
		neg, d = true, d[1:]
	}
	if len(d) == 0 {
		return 0, false
	}
	v, end := readDigits(d, 0)
	if end < len(d) || end > 18 {
		return parseIntSlow(w)
	}
	if neg {
		return -int64(v), true
	}
	return int64(v), true
}

func parseIntSlow(w []byte) (int64, bool) {
	if v, err := strconv.ParseInt(string(w), 10, 64); err == nil {
		return v, true
	}
	if v, err := strconv.ParseUint(string(w), 10, 64); err == nil {
		return int64(v), true
	}
	if !isNumber(w) {
		return 0, false
	}
	ns, _, ok := parseMicros(w)
	if !ok || ns%1000 != 0 {
		return 0, false
	}
	return ns / 1000, true
}

// fraction tells how the decimals of a time were written; see unpadded.
type fraction uint8

const (
	fracThree  fraction = 1 << iota // three decimals
	fracShort                       // one or two
	fracShort0                      // one or two, the first one 0
)

// farMicros is how far from 0 a time may lie, 146 years: the difference of any two times fits into 64 bits of ns.
const farMicros = 4_611_000_000_000_000

// parseMicros turns the decimal digits of µs into ns, exactly; what lies below a ns is rounded half up.
func parseMicros(w []byte) (ns int64, f fraction, ok bool) {
	i := 0
	neg := false
	if i < len(w) && w[i] == '-' {
		neg = true
		i++
	}
	start := i
	for i < len(w) && w[i] == '0' {
		i++
	}
	v, end := readDigits(w, i)
	if end == start || end-i > 16 || v > farMicros {
		return 0, 0, false
	}
	v, i = v*1000, end
	if i < len(w) && w[i] == '.' {
		i++
		n := digits(w, i) - i
		if n == 0 {
			return 0, 0, false
		}
		frac, _ := readDigits(w[:i+min(n, 4)], i)
		v += (frac*tens[4-min(n, 4)] + 5) / 10
		switch {
		case n >= 3:
			f = fracThree
		case w[i] == '0':
			f = fracShort | fracShort0
		default:
			f = fracShort
		}
		i += n
	}
	if i < len(w) {
		return parseMicrosExp(w)
	}
	if neg {
		return -int64(v), f, true
	}
	return int64(v), f, true
}

// parseMicrosExp reads the forms with an exponent by moving the point in the digits.
func parseMicrosExp(w []byte) (int64, fraction, bool) {
	if !isNumber(w) {
		return 0, 0, false
	}
	e := 0
	for e < len(w) && w[e]|0x20 != 'e' {
		e++
	}
	exp, err := strconv.Atoi(string(w[e+1:]))
	if err != nil || exp > 40 || exp < -40 {
		return 0, 0, err == nil && exp < 0
	}
	var intPart, frac []byte
	neg := w[0] == '-'
	m := w[:e]
	if neg {
		m = m[1:]
	}
	intPart = m
	for i, c := range m {
		if c == '.' {
			intPart, frac = m[:i], m[i+1:]
		}
	}
	all := append(append([]byte(nil), intPart...), frac...)
	point := len(intPart) + exp
	for point > len(all) {
		all = append(all, '0')
	}
	for point < 1 {
		all = append([]byte{'0'}, all...)
		point++
	}
	text := append(append([]byte(nil), all[:point]...), '.')
	text = append(append(text, all[point:]...), '0', '0', '0')
	if neg {
		text = append([]byte{'-'}, text...)
	}
	ns, _, ok := parseMicros(text)
	return ns, fracThree, ok
}

// unpaddedMicros reads the fraction as a whole number of ns: 12.5 is 12 µs and 5 ns (Kineto nightlies of March 2024).
func unpaddedMicros(w []byte) (int64, bool) {
	for i, c := range w {
		if c != '.' {
			continue
		}
		ns, _, ok := parseMicros(w[:i])
		frac, ok2 := parseInt(w[i+1:])
		if ns < 0 || len(w) > 0 && w[0] == '-' {
			frac = -frac
		}
		return ns + frac, ok && ok2
	}
	ns, _, ok := parseMicros(w)
	return ns, ok
}
