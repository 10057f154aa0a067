package tables

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Format is a value of the unit as people read it; "" for no value.
func (u Unit) Format(v Value) string {
	if v.IsNull() {
		return ""
	}
	switch u {
	case NS, Time:
		return Duration(v.Int())
	case Change:
		return Signed(v.Int())
	case Bytes:
		return FormatBytes(v.Int())
	case PerSecond:
		return FormatRate(v.Float())
	case Flops:
		return FormatFlops(v.Float())
	case Share:
		return FormatShare(v.Float())
	case Percent:
		return FormatPercent(v.Float())
	case Count:
		return formatNumber(v)
	case Ref, ID:
		return Plain(v.Int())
	case Flag:
		if v.Int() != 0 {
			return "yes"
		}
		return ""
	}
	return v.Str()
}

// Duration is a length of time with three digits and more.
func Duration(ns int64) string {
	switch a := max(ns, -ns); {
	case a >= 10_000_000_000:
		return fmt.Sprintf("%.2f s", float64(ns)/1e9)
	case a >= 1_000_000:
		return fmt.Sprintf("%.2f ms", float64(ns)/1e6)
	case a >= 1000:
		return fmt.Sprintf("%.1f µs", float64(ns)/1e3)
	}
	return fmt.Sprintf("%d ns", ns)
}

// ShortDuration is a length of time for a label where room is short. It is never negative there.
func ShortDuration(ns int64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%d ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.1f µs", float64(ns)/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.1f ms", float64(ns)/1e6)
	}
	return fmt.Sprintf("%.2f s", float64(ns)/1e9)
}

// Signed is a difference of times, with a plus where it is longer.
func Signed(ns int64) string {
	if ns > 0 {
		return "+" + Duration(ns)
	}
	return Duration(ns)
}

// Milliseconds is a length of time in ms whatever it is.
func Milliseconds(ns int64) string { return fmt.Sprintf("%.3f ms", float64(ns)/1e6) }

// RankTime is time summed over ranks.
func RankTime(ns int64) string {
	switch a := max(ns, -ns); {
	case a >= 10_000_000_000:
		return fmt.Sprintf("%.1f rank-s", float64(ns)/1e9)
	case a >= 1_000_000:
		return fmt.Sprintf("%.1f rank-ms", float64(ns)/1e6)
	}
	return fmt.Sprintf("%.1f rank-µs", float64(ns)/1e3)
}

// Seconds is a length of time in seconds for a column whose head says so.
func Seconds(ns int64) string { return fmt.Sprintf("%.4f", float64(ns)/1e9) }

// ShareOf is part over whole; 0 without a whole.
func ShareOf(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// FormatShare is a share in per cent with one decimal.
func FormatShare(x float64) string { return FormatPercent(100 * x) }

// FormatPercent is a percentage with one decimal.
func FormatPercent(x float64) string { return fmt.Sprintf("%.1f %%", x) }

// SignedPercent is a percentage with one decimal, with a plus where it is more.
func SignedPercent(x float64) string {
	if x > 0 {
		return "+" + FormatPercent(x)
	}
	return FormatPercent(x)
}

// WholePercent is what part of the whole something is, for a label where room is short: to the nearest per cent.
func WholePercent(part, whole int64) string {
	return fmt.Sprintf("%d %%", int64(float64(part)/float64(whole)*100+0.5))
}

// WholeShare is a share to the nearest per cent.
func WholeShare(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

// GivenPercent is a percentage as it was given.
func GivenPercent(x float64) string { return fmt.Sprintf("%v %%", x) }

// FormatFlops is a number of floating point operations.
func FormatFlops(n float64) string {
	for _, u := range [...]struct {
		size float64
		name string
	}{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}} {
		if n >= u.size {
			return fmt.Sprintf("%.2f %sFLOP", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.0f FLOP", n)
}

// FormatBytes is an amount of memory, decimal as bandwidths are.
func FormatBytes(n int64) string {
	switch a := max(n, -n); {
	case a >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case a >= 1e6:
		return fmt.Sprintf("%.2f MB", float64(n)/1e6)
	case a >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

// Megabytes is an amount of memory in MB for a column whose head says so.
func Megabytes(n int64) string { return Fixed(float64(n)/1e6, 1) }

// FormatMegabytes is an amount of memory in MB with some decimals, whatever it is.
func FormatMegabytes(n int64, decimals int) string { return Fixed(float64(n)/1e6, decimals) + " MB" }

// FormatRate is a bandwidth.
func FormatRate(gbPerS float64) string { return fmt.Sprintf("%.2f GB/s", gbPerS) }

// Plain is an integer without separators.
func Plain(n int64) string { return strconv.FormatInt(n, 10) }

// Number is a number as SQL prints it: with a point, and with as many digits as it has, 15 at most.
func Number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return Fixed(x, 1)
	}
	return strconv.FormatFloat(x, 'g', 15, 64)
}

// Fixed is a number with some decimals and no separators, such as a mean of counts.
func Fixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

// Grouped is an integer with commas between thousands.
func Grouped(n int64) string {
	s := Plain(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted is how many of something there are: 1 slice, 2,000 slices, 3 processes.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	plural := "s"
	if strings.HasSuffix(noun, "s") {
		plural = "es"
	}
	return Grouped(int64(n)) + " " + noun + plural
}

// formatNumber shows five digits of what is not whole.
func formatNumber(v Value) string {
	x := v.Float()
	if v.kind == integer || x == math.Trunc(x) || math.Abs(x) >= 99_999.5 {
		return Grouped(int64(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 5, 64)
}

// Show is the cell of a column as people read it.
func (l Line) Show(col string) string {
	i := l.col(col)
	return l.table.Cols[i].Unit.Format(l.Values[i])
}

// Share is what part of one column another one is.
func (l Line) Share(part, whole string) string {
	return FormatShare(ShareOf(l.Value(part).Int(), l.Value(whole).Int()))
}
