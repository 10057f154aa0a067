package roster

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A mark is a field of a name that is meant to be a rank, as PyTorch's recipes, Megatron, torchtitan, vLLM and SGLang write them. Where several
// files have one value, a field before it may tell them apart, of which each holds a whole range of ranks: the node, or the stage of a pipeline.
type mark struct {
	field, above *regexp.Regexp
	sure         bool // files of one value are captures of one rank
}

var marked = []mark{
	{regexp.MustCompile(`(?i)rank\[(\d+)\]`), nodeMark, true},
	{regexp.MustCompile(`(?i)rank[-_ =.]?(\d+)`), nodeMark, true},
	{regexp.MustCompile(`(?i)-tp-(\d+)`), regexp.MustCompile(`(?i)-pp-(\d+)`), false},
	{regexp.MustCompile(`(?i)worker[-_]?(\d+)`), nil, false},
	{regexp.MustCompile(`(?i)gpu[-_]?(\d+)`), nodeMark, false},
	{regexp.MustCompile(`(?:^|[^A-Za-z0-9])r(\d+)`), nil, false},
}

var nodeMark = regexp.MustCompile(`(?i)(?:node|host)[-_]?(\d+)`)

// stepMark is a number that counts what the program does: never a rank.
var stepMark = regexp.MustCompile(`(?i)(?:step|iter(?:ation)?|epoch|batch|cycle)s?[-_ =.]?\d+`)

// stamped is the name that TensorBoard's handler gives: host, process and time, but no rank.
var stamped = regexp.MustCompile(`_\d+\.\d{10,}\.pt\.trace\.`)

// longest is how many digits a rank has at most: more are a time stamp.
const longest = 9

// byName gives the ranks that names say: by a mark that all of them have, else by the one number in which they differ; nil when there is neither.
// Names of one rank are captures of it. A rank is below limit.
func byName(names []string, limit int64) []int64 {
	var last []string
	for _, n := range names {
		last = append(last, path.Base(n))
	}
	for _, list := range [][]string{last, names} {
		if ranks := marks(list, limit); ranks != nil {
			return ranks
		}
		if len(names) == 1 {
			return nil
		}
	}
	for _, list := range [][]string{last, names} {
		if ranks := onlyField(list, limit); ranks != nil {
			return ranks
		}
	}
	return nil
}

// marks reads the ranks in names: by the first kind of mark that all names have with different numbers, else by a kind that marks files as captures of one rank.
func marks(names []string, limit int64) []int64 {
	var captures []int64
	stepped := !slices.ContainsFunc(names, func(n string) bool { return !stepMark.MatchString(n) })
	for _, mark := range marked {
		for _, ranks := range fields(mark.field, names) {
			switch composed := mark.compose(names, ranks); {
			case distinct(ranks, limit):
				return ranks
			case composed != nil && distinct(composed, limit):
				return composed
			case captures == nil && (mark.sure || stepped) && slices.Min(ranks) >= 0 && slices.Max(ranks) < limit:
				captures = ranks
			}
		}
	}
	return captures
}

// Marked is the rank that a name says by itself, and the name without it; -1 where it says none.
func Marked(name string) (rank int64, rest string) {
	for _, mark := range marked {
		for _, at := range mark.field.FindAllStringSubmatchIndex(name, -1) {
			if rank := number(name[at[2]:at[3]]); rank >= 0 && rank < worldLimit {
				return rank, strings.TrimRight(name[:at[0]], "-_. ") + name[at[1]:]
			}
		}
	}
	return -1, name
}

// fields are the values of a field that all names have, a list for each time that it stands in them.
func fields(field *regexp.Regexp, names []string) (lists [][]int64) {
	for i, name := range names {
		found := field.FindAllStringSubmatch(name, -1)
		if i == 0 {
			lists = make([][]int64, len(found))
		}
		lists = lists[:min(len(lists), len(found))]
		for k := range lists {
			lists[k] = append(lists[k], number(found[k][1]))
		}
	}
	return lists
}

// compose counts ranks on over the values of the field above, nil without one.
func (m *mark) compose(names []string, ranks []int64) []int64 {
	if m.above == nil {
		return nil
	}
	above := fields(m.above, names)
	if len(above) == 0 || slices.Min(above[0]) < 0 {
		return nil
	}
	first, each := slices.Min(above[0]), slices.Max(ranks)+1 // nodes are counted from 0 or from 1
	if first > 1 {
		first = 0
	}
	var out []int64
	for i, r := range ranks {
		out = append(out, (above[0][i]-first)*each+r)
	}
	return out
}

var digits = regexp.MustCompile(`\d+`)

// onlyField reads the one number in which names that are equal but for numbers differ everywhere. Steps are none.
func onlyField(names []string, limit int64) (found []int64) {
	if slices.ContainsFunc(names, stamped.MatchString) {
		return nil
	}
	var plain []string
	for _, n := range names {
		plain = append(plain, stepMark.ReplaceAllString(n, "#"))
	}
	frame := digits.ReplaceAllString(plain[0], "0")
	fields := make([][]int64, len(digits.FindAllString(plain[0], -1)))
	for _, n := range plain {
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

// CompareNames sorts names as people do: numbers in them by value.
func CompareNames(a, b string) int {
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
