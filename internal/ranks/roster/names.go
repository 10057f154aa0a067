package roster

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// marked are fields of names that are meant to be ranks, as PyTorch's recipes, Megatron, torchtitan, vLLM and SGLang
// write them.
var marked = []*regexp.Regexp{
	regexp.MustCompile(`(?i)rank\[(\d+)\]`),
	regexp.MustCompile(`(?i)rank[-_ ]?(\d+)`),
	regexp.MustCompile(`(?i)worker[-_]?(\d+)`),
	regexp.MustCompile(`_r(\d+)`),
	regexp.MustCompile(`(?i)-tp-(\d+)`),
}

// stamped is the name that TensorBoard's handler gives: host, process and time, but no rank.
var stamped = regexp.MustCompile(`_\d+\.\d{10,}\.pt\.trace\.`)

// longest is how many digits a rank has at most: more are a time stamp.
const longest = 9

// byName gives the ranks that names say: the field that has another value in every one of them; nil when there is none.
// A rank is below limit.
func byName(names []string, limit int64) []int64 {
	if len(names) == 1 {
		return marks([]string{path.Base(names[0])}, limit)
	}
	var last []string
	for _, n := range names {
		last = append(last, path.Base(n))
	}
	for _, list := range [][]string{last, names} {
		if ranks := marks(list, limit); ranks != nil {
			return ranks
		}
	}
	for _, list := range [][]string{last, names} {
		if ranks := onlyField(list, limit); ranks != nil {
			return ranks
		}
	}
	return nil
}

// marks reads the first kind of mark that all names have, each with another value.
func marks(names []string, limit int64) []int64 {
	for _, mark := range marked {
		var ranks []int64
		for _, n := range names {
			found := mark.FindStringSubmatch(n)
			if found == nil {
				break
			}
			ranks = append(ranks, number(found[1]))
		}
		if len(ranks) == len(names) && distinct(ranks, limit) {
			return ranks
		}
	}
	return nil
}

var digits = regexp.MustCompile(`\d+`)

// onlyField reads the one number in which names that are equal but for numbers differ everywhere.
func onlyField(names []string, limit int64) (found []int64) {
	if slices.ContainsFunc(names, stamped.MatchString) {
		return nil
	}
	frame := digits.ReplaceAllString(names[0], "0")
	fields := make([][]int64, len(digits.FindAllString(names[0], -1)))
	for _, n := range names {
		if digits.ReplaceAllString(n, "0") != frame {
			return nil
		}
		for i, d := range digits.FindAllString(n, -1) {
			fields[i] = append(fields[i], number(d))
		}
	}
	for _, values := range fields {
		if !distinct(values, limit) {
			continue
		}
		if found != nil {
			return nil // two of them: which one is meant?
		}
		found = values
	}
	return found
}

// number is the value of a field, -1 of one that is too long for a rank.
func number(s string) int64 {
	if len(s) > longest {
		return -1
	}
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// distinct reports whether values may be the ranks of different processes.
func distinct(values []int64, limit int64) bool {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[0] >= 0 && sorted[len(sorted)-1] < limit && len(slices.Compact(sorted)) == len(values)
}

// compareNames sorts names as people do: numbers in them by value.
func compareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := leading(x), leading(y)
		if dx > 0 && dy > 0 {
			p, q := strings.TrimLeft(x[:dx], "0"), strings.TrimLeft(y[:dy], "0")
			if len(p) != len(q) {
				return len(p) - len(q)
			}
			if c := strings.Compare(p, q); c != 0 {
				return c
			}
			x, y = x[dx:], y[dy:]
			continue
		}
		if x[0] != y[0] {
			return int(x[0]) - int(y[0])
		}
		x, y = x[1:], y[1:]
	}
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(a, b)
}

// leading is the number of digits at the start of a text.
func leading(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// copyOf reports whether a name is what a copy of a file gets: "rank0 (1).json" of "rank0.json".
func copyOf(name, original string) bool {
	stem := func(s string) string {
		first, _, _ := strings.Cut(path.Base(s), ".")
		return path.Join(path.Dir(s), first)
	}
	x, y := stem(name), stem(original)
	return len(x) > len(y) && strings.HasPrefix(x, y)
}
