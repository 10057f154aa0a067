package kineto

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote returns the text between the quotes of a string, escapes resolved; what is no escape is a backslash, bytes
// that are no UTF-8 become U+FFFD.
func unquote(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\':
			n := escapeLen(raw, i)
			if n == 0 {
				out = append(out, '\\')
				i++
				continue
			}
			if n == 6 {
				r := hexRune(raw[i+2 : i+6])
				if utf16.IsSurrogate(r) && escapeLen(raw, i+6) == 6 && i+8 <= len(raw) && raw[i+6] == '\\' {
					if both := utf16.DecodeRune(r, hexRune(raw[i+8:i+12])); both != utf8.RuneError {
						r = both
						i += 6
					}
				}
				out = utf8.AppendRune(out, r)
			} else {
				out = append(out, escapes[raw[i+1]])
			}
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return string(out)
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func hexRune(b []byte) rune {
	v, _ := strconv.ParseUint(string(b), 16, 32)
	return rune(v)
}
