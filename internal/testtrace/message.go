package testtrace

import (
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message reads the fields of a protobuf message, `NUMBER:VALUE` each. A value is a whole number (a varint), one with a point (a double),
// one behind an f (eight bytes), a text in quotes, or a message in braces. Lines that begin with # are left out.
func Message(t T, s string) []byte {
	t.Helper()
	var lines []string
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	m, rest := message(t, strings.Join(lines, " "))
	if rest != "" {
		t.Fatalf("closed, not open: %s", rest)
	}
	return m
}

// message reads fields up to a closing brace.
func message(t T, s string) (m []byte, rest string) {
	for s = strings.TrimLeft(s, " "); s != "" && s[0] != '}'; s = strings.TrimLeft(s, " ") {
		number, value, _ := strings.Cut(s, ":")
		n, err := strconv.Atoi(number)
		if err != nil || value == "" {
			t.Fatalf("no field: %s", s)
		}
		add := func(typ protowire.Type) { m = protowire.AppendTag(m, protowire.Number(n), typ) }
		switch value[0] {
		case '{':
			var inner []byte
			if inner, s = message(t, value[1:]); s == "" {
				t.Fatalf("not closed: %s", value)
			}
			add(protowire.BytesType)
			m, s = protowire.AppendBytes(m, inner), s[1:]
		case '"':
			quoted, err := strconv.QuotedPrefix(value)
			if err != nil {
				t.Fatalf("%v: %s", err, value)
			}
			text, _ := strconv.Unquote(quoted)
			add(protowire.BytesType)
			m, s = protowire.AppendString(m, text), value[len(quoted):]
		default:
			end := strings.IndexAny(value+" ", " }")
			word := value[:end]
			s = value[end:]
			fixed, isFixed := strings.CutPrefix(word, "f")
			if f, err := strconv.ParseFloat(word, 64); err == nil && strings.ContainsAny(word, ".NI") {
				add(protowire.Fixed64Type)
				m = protowire.AppendFixed64(m, math.Float64bits(f))
			} else if v, err := strconv.ParseUint(fixed, 10, 64); err == nil && isFixed {
				add(protowire.Fixed64Type)
				m = protowire.AppendFixed64(m, v)
			} else if err == nil {
				add(protowire.VarintType)
				m = protowire.AppendVarint(m, v)
			} else if v, err := strconv.ParseInt(word, 10, 64); err == nil {
				add(protowire.VarintType)
				m = protowire.AppendVarint(m, uint64(v))
			} else {
				t.Fatalf("no value: %s", value)
			}
		}
	}
	return m, s
}
