package anonymize

import (
	"regexp"
	"strings"
	"sync"

	"overlay/internal/trace"
)

// isKnown reports whether a part of a name, letters, digits and _, is made of known words. Numbers pass, and so do single
// letters: they are types, sizes and the like.
func isKnown(part string) bool {
	if knownWords()[strings.ToLower(strings.Trim(part, "_"))] {
		return true
	}
	for i := 0; i < len(part); {
		switch c := part[i]; {
		case c == '_':
			i++
		case isDigit(c):
			n := i
			for i < len(part) && isDigit(part[i]) {
				i++
			}
			if i-n > 9 { // no size is that long
				return false
			}
		default:
			end := i + 1
			for end < len(part) && part[end] != '_' && !isDigit(part[end]) {
				end++
			}
			if !knownLetters(part[i:end]) {
				return false
			}
			i = end
		}
	}
	return true
}

// knownLetters cuts letters at changes of case unless they are a word as they are.
func knownLetters(s string) bool {
	if s == "" || knownWords()[strings.ToLower(s)] {
		return true
	}
	upper := 0
	for upper < len(s) && isUpper(s[upper]) {
		upper++
	}
	end := max(upper, 1)
	for end < len(s) && !isUpper(s[end]) {
		end++
	}
	if upper > 1 && upper < len(s) { // CUDAFunctor is CUDA and Functor, NCHWto is NCHW and to
		return knownPiece(s[:upper-1]) && knownLetters(s[upper-1:]) || knownPiece(s[:upper]) && knownLetters(s[upper:])
	}
	return knownPiece(s[:end]) && knownLetters(s[end:])
}

func knownPiece(s string) bool { return len(s) == 1 || knownWords()[strings.ToLower(s)] }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || isUpper(c) || c >= 'a' && c <= 'z'
}

// Signs that names of functions and annotations are written with. A path, an address of mail or of a machine has others.
const (
	codeSigns = " :<>(),*&{}#~[]!=|^+-."
	textSigns = " :<>(),&{}#[]=|+-.*"
)

// lazy is a regular expression that is compiled when it is first used: most runs make nothing anonymous.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	machine = lazy(`\d+\.\d+\.\d+|\d+[-:]\d+[-:]\d+`)    // an address, a date, a time
	regions = lazy(`^(Torch-Compiled Region): \d+/\d+$`) // PyTorch's number of a compiled frame and of its version
	longNum = lazy(`\d{7}`)
)

var (
	numbered = lazy(`[A-Za-z_]*[A-Za-z]\d{2,}\b`)             // node17
	dotted   = lazy(`-\d|[A-Za-z0-9]\.[A-Za-z]\w*\.[A-Za-z]`) // gpu-17, worker.data.center
)

// isMachine reports whether a text may be the name of a machine although its words are known.
func isMachine(s string) bool {
	if dotted().MatchString(s) {
		return true
	}
	for _, w := range numbered().FindAllString(s, -1) {
		if w = strings.ToLower(w); !knownWords()[w] && !knownWords()[w[strings.LastIndexByte(w, '_')+1:]] {
			return true
		}
	}
	return false
}

// isCommon reports whether a text that a user may have written says nothing of anybody.
func isCommon(s string) bool { return isPublic(s) && !isMachine(s) }

// isPublic reports whether a text is made of known words only.
func isPublic(s string) bool {
	if machine().MatchString(s) {
		return false
	}
	if longNum().MatchString(s) && !strings.HasPrefix(s, trace.StepPrefix) && !strings.HasPrefix(s, "execute_") {
		return false
	}
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && isWord(s[end]) {
			end++
		}
		if end == i {
			if strings.IndexByte(textSigns, s[i]) < 0 {
				return false
			}
			i++
		} else if !isKnown(s[i:end]) {
			return false
		} else {
			i = end
		}
	}
	return true
}
