package kineto

import (
	"bytes"
	"runtime"
)

// The library's search is written in assembly with wide registers, but for WebAssembly: there it hashes every byte of the
// input. A search that looks at the last byte of what is wanted and skips what cannot fit is faster.

// count is bytes.Count of a text that is not empty.
func count(src, want []byte) (n int) {
	if runtime.GOARCH != "wasm" {
		return bytes.Count(src, want)
	}
	s := newSkipSearch(want)
	for {
		at := s.index(src)
		if at < 0 {
			return n
		}
		n++
		src = src[at+len(want):]
	}
}

// skipSearch is Horspool's algorithm: the byte under the last one wanted says how far the text can be moved on.
type skipSearch struct {
	want []byte
	skip [256]uint8
}

func newSkipSearch(want []byte) skipSearch {
	s := skipSearch{want: want}
	for i := range s.skip {
		s.skip[i] = uint8(len(want))
	}
	last := len(want) - 1
	for i, c := range want[:last] {
		s.skip[c] = uint8(last - i)
	}
	return s
}

func (s *skipSearch) index(src []byte) int {
	last := len(s.want) - 1
	for at := last; at < len(src); at += int(s.skip[src[at]]) {
		if src[at] == s.want[last] && bytes.Equal(src[at-last:at+1], s.want) {
			return at - last
		}
	}
	return -1
}
