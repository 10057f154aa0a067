package report

import (
	"testing"

	"overlay/internal/tables"
)

// TestFill: a pattern takes values with their units, shares, counts and words.
func TestFill(t *testing.T) {
	type row struct {
		Name  string `json:"name"`
		Cause string `json:"cause"`
		NS    int64  `json:"ns" unit:"ns"`
		Whole int64  `json:"whole" unit:"ns"`
		Calls int    `json:"calls" unit:"count"`
		None  *int64 `json:"none" unit:"ns"`
	}
	list := tables.From("rows", "", []row{{"a {calls} name\x1b[0m", "host_wait", 1500, 6000, 1, nil}})
	l := list[0].Line(0)
	for pattern, want := range map[string]string{
		"":                          "",
		"{ns}":                      "1.5 µs",
		"{ns/whole} of it":          "25.0 % of it",
		"in {calls#call}":           "in 1 call",
		"{words cause}.":            "host wait.",
		"{name}":                    "a {calls} name·[0m", // what a value says is no pattern
		"{from cause} {mean calls}": "from host_wait 1.0",
	} {
		if got := say(l, pattern); got != want {
			t.Errorf("%q gives %q, not %q", pattern, got, want)
		}
	}
}
