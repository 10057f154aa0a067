package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/transform"
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

// writeJSON writes a document, indented.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// PlainJSON writes JSON on to w, with escapes for what Plain would replace: the document stays the same. Close writes
// what is left of a character that was cut by the last write.
func PlainJSON(w io.Writer) io.WriteCloser { return transform.NewWriter(w, escapes{}) }

// escapes passes runs of what may be seen on as they are: nearly all of a document.
type escapes struct{ transform.NopResetter }

func (escapes) Transform(dst, src []byte, last bool) (to, from int, err error) {
	for from < len(src) {
		room := min(len(dst)-to, len(src)-from)
		n := 0 // blanks stand between values, never in strings
		for ; n < room; n++ {
			if c := src[from+n]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
				break
			}
		}
		shown := src[from : from+n]
		if n == 0 {
			if !last && !utf8.FullRune(src[from:]) {
				return to, from, transform.ErrShortSrc
			}
			var r rune
			r, n = utf8.DecodeRune(src[from:])
			if shown = src[from : from+n]; r == utf8.RuneError || unseen(r) {
				shown = escaped(r)
			}
		}
		if to+len(shown) > len(dst) {
			return to, from, transform.ErrShortDst
		}
		to, from = to+copy(dst[to:], shown), from+n
	}
	return to, from, nil
}

// escaped is how a character that is not seen stands in JSON; what stands for a broken one is seen.
func escaped(r rune) []byte {
	if r == utf8.RuneError {
		return utf8.AppendRune(nil, r)
	}
	var b []byte
	for _, u := range utf16.Encode([]rune{r}) {
		b = fmt.Appendf(b, `\u%04x`, u)
	}
	return b
}
