package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Plain is what text of a trace, a file name or a command line looks like where it is printed: on one line, and without
// anything that a terminal obeys or that is not seen. Control characters of both ranges, marks that turn the direction
// of writing, characters without width and broken UTF-8 each become one visible character.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return '·'
		}
		return r
	}, s)
}

// unseen reports whether a character controls what is printed, or does not show.
func unseen(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// PlainJSON writes JSON on to w, with escapes for what Plain would replace: the document stays the same. Close writes
// what is left of a character that was cut by the last write.
func PlainJSON(w io.Writer) io.WriteCloser { return &jsonWriter{w: w} }

type jsonWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character
}

func (j *jsonWriter) Write(b []byte) (int, error) {
	text := append(j.rest, b...)
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 && utf8.FullRune(text) {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n' || r == '\t' || r == '\r' || !unseen(r): // blanks stand between values, never in strings
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	j.rest = append([]byte(nil), text...)
	if _, err := j.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (j *jsonWriter) Close() error {
	if len(j.rest) == 0 {
		return nil
	}
	_, err := io.WriteString(j.w, "\ufffd")
	return err
}
