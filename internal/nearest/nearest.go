// Package nearest finds what a mistyped word most likely means.
package nearest

import "strings"

// Name is the one of some names that a mistyped word most likely means, the first of those that are as near; "" where none
// is near. It is one that the word begins, or one that takes at most a third of the word's letters to change.
func Name(word string, names []string) string {
	best, least := "", len(word)/3
	for _, name := range names {
		if len(word) > 1 && strings.HasPrefix(name, word) {
			return name
		}
		if d := edits(word, name); d <= least && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// edits is how many bytes have to be put in, taken out, replaced or swapped with their neighbour to make one word of another.
func edits(a, b string) int {
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			d := last[j]
			if a[i] != b[j] {
				d++
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1] = min(d, last[j+1]+1, next[j]+1)
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
