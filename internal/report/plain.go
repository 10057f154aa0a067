package report

import (
	"encoding/json"
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

// writeJSON writes a document, indented.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// PlainJSON writes JSON on to w, with escapes for what Plain would replace: the document stays the same. Close writes
// what is left of a character that was cut by the last write.
func PlainJSON(w io.Writer) io.WriteCloser { return &jsonWriter{w: w} }

type jsonWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character
}

func (j *jsonWriter) Write(b []byte) (int, error) {
	size := len(b)
	for len(j.rest) > 0 && len(b) > 0 { // complete the character that was cut
		j.rest, b = append(j.rest, b[0]), b[1:]
		if utf8.FullRune(j.rest) {
			cut := j.rest
			j.rest = nil
			if err := j.write(cut); err != nil {
				return 0, err
			}
		}
	}
	return size, j.write(b)
}

// write passes runs of what may be seen on as they are: nearly all of a document.
func (j *jsonWriter) write(b []byte) error {
	from, i := 0, 0
	for i < len(b) {
		if c := b[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' { // blanks stand between values, never in strings
			i++
			continue
		}
		if !utf8.FullRune(b[i:]) {
			j.rest = append(j.rest, b[i:]...)
			break
		}
		r, n := utf8.DecodeRune(b[i:])
		if broken := r == utf8.RuneError && n == 1; broken || unseen(r) {
			if _, err := j.w.Write(b[from:i]); err != nil {
				return err
			}
			if _, err := io.WriteString(j.w, escaped(r)); err != nil {
				return err
			}
			from = i + n
		}
		i += n
	}
	_, err := j.w.Write(b[from:i])
	return err
}

// escaped is how a character that is not seen stands in JSON; what stands for a broken one is seen.
func escaped(r rune) string {
	switch {
	case r == utf8.RuneError:
		return string(r)
	case r > 0xffff:
		hi, lo := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func (j *jsonWriter) Close() error {
	if len(j.rest) == 0 {
		return nil
	}
	_, err := io.WriteString(j.w, "\ufffd")
	return err
}
