package kineto

// maxKnown bounds the texts of which it is asked whether they are known: longer ones hardly ever come twice.
const maxKnown = 512

// nests tells the bytes that matter for where an object or an array ends.
var nests = [256]int8{'[': 1, '{': 1, ']': -1, '}': -1, '"': 2}

// guessEnd returns the place behind the object or array that s begins with, by its brackets alone, and 0 where that is far away.
// It is wrong where quotes stand in strings. That does no harm: the text up to there is taken only where the same bytes
// were read as a whole before, and what an object or an array is, is decided by its own bytes and none behind it.
func guessEnd(s []byte) int {
	s = s[:min(len(s), maxKnown)]
	depth := 0
	for i := 0; i < len(s); i++ {
		switch k := nests[s[i]]; k {
		case 0:
		case 2:
			for i++; i < len(s) && s[i] != '"'; i++ {
			}
		default:
			if depth += int(k); depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
