package cdg

import "overlay/internal/par"

// rangeSize is about how many events or activities are looked at by one processor in one go: enough to forget what a range
// costs, few enough to share out. Tests make it small.
var rangeSize = 1 << 15

// ranges is into how many ranges n of them are cut. width is how much is kept for each range, in the same unit.
func ranges(n, width int) int { return par.Ranges(n, max(rangeSize, width)) }
