package relations

import (
	"math"
	"strings"

	"overlay/internal/trace"
)

// quoteJSON writes a text as JSON does.
func quoteJSON(b *strings.Builder, s string) {
	const hex = "0123456789abcdef"
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			b.WriteString(`\u00`)
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}

// writeNumber writes a number or a truth value as it stands; what JSON has no form for becomes a text.
func writeNumber(b *strings.Builder, v trace.Value) {
	if v.Kind == trace.Float && (math.IsNaN(v.Float64()) || math.IsInf(v.Float64(), 0)) {
		quoteJSON(b, v.Text)
		return
	}
	b.WriteString(v.Text)
}
