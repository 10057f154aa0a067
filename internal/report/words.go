package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"overlay/internal/critpath"
)

// What text and page call things. Reports hold the names that the JSON has; these make words of them.

// kindClass follows the table of kinds of segments.
var kindClass = map[string]string{}

func init() {
	for k := range critpath.NumSegmentKinds {
		kindClass[k.String()] = k.Class().String()
	}
}

// ClassWords is a class of the path in words, letter and colour what it has on a terminal; "" for what is none.
func ClassWords(class string) string { return critpath.ClassNamed(class).Words() }
func letter(class string) string     { return critpath.ClassNamed(class).Letter() }
func colour(class string) string     { return critpath.ClassNamed(class).ANSI() }

// ClassOf is the class that a kind of segments counts to; "" for what is no kind.
func ClassOf(kind string) string { return kindClass[kind] }

// ByTime lists the classes of a map, most time first.
func ByTime(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(critpath.ClassNamed(a), critpath.ClassNamed(b)), cmp.Compare(a, b))
	})
}

// KindWords is a kind of time that no event owns in words.
func KindWords(kind string) string {
	switch kind {
	case critpath.GPUUnrecorded.String():
		return "GPU work not recorded"
	case critpath.HostUnrecorded.String():
		return "unseen" // short enough for a column
	}
	return kind
}

// OutsideSteps reports whether a row of the table of steps is the time before or after them.
func OutsideSteps(step string) bool { return step == "before" || step == "after" }

// Operator is the name of an operator without what stands before those that the autograd engine runs.
func Operator(name string) string {
	return strings.TrimPrefix(name, "autograd::engine::evaluate_function: ")
}

// Words is a name of the JSON as people write it.
func Words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// qualityWords says what is counted as odd about a trace, where the name of the count does not.
func qualityWords(reason string) string {
	switch reason {
	case "cdg_edges_left_out":
		return "edges of the dependency graph left out"
	case "copy_kind_against_times":
		return "copies whose times contradict their kind"
	case "operations_without_release":
		return "operations whose start nothing explains"
	case critpath.CutSync:
		return "synchronisations in which the recording ended"
	case "event_waits_rejected":
		return "waits for events that the times rule out"
	}
	return Words(reason)
}

func classes(c *[critpath.NumClasses]int64) map[string]int64 {
	m := map[string]int64{}
	for k, ns := range c {
		if ns > 0 {
			m[critpath.Class(k).String()] = ns
		}
	}
	return m
}
