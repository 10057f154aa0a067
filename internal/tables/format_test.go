package tables

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    Value
		want string
	}{
		{NS, Int(0), "0 ns"}, {NS, Int(999), "999 ns"}, {NS, Int(1000), "1.0 µs"}, {NS, Int(9_503_120), "9.50 ms"}, {NS, Float(9_503_120.7), "9.50 ms"},
		{NS, Int(9_999_999_999), "10000.00 ms"}, {NS, Int(10_000_000_000), "10.00 s"}, {NS, Int(-1500), "-1.5 µs"}, {NS, Float(999.7), "999 ns"},
		{Change, Int(1500), "+1.5 µs"}, {Change, Int(0), "0 ns"}, {Change, Int(-1500), "-1.5 µs"},
		{Share, Int(0), "0.0 %"}, {Share, Float(1), "100.0 %"}, {Share, Float(0.4999), "50.0 %"}, {Percent, Float(12.34), "12.3 %"},
		{Bytes, Int(12), "12 B"}, {Bytes, Int(1500), "1.5 kB"}, {Bytes, Int(9_437_184), "9.44 MB"}, {Bytes, Int(80e9), "80.00 GB"}, {Bytes, Int(-1500), "-1.5 kB"},
		{PerSecond, Float(29.141), "29.14 GB/s"},
		{Flops, Float(999_999), "999999 FLOP"}, {Flops, Int(1_500_000), "1.50 MFLOP"}, {Flops, Float(2.73e12), "2.73 TFLOP"}, {Flops, Float(5e17), "500.00 PFLOP"},
		{Count, Int(1234567), "1,234,567"}, {Count, Float(1458), "1,458"}, {Count, Float(82.6083), "82.608"}, {Count, Float(121_877.4), "121,877"}, {Count, Float(7.8e6 + 0.5), "7,800,001"},
		{ID, Int(1024), "1024"}, {Ref, Int(70000), "70000"}, {Ref, Value{}, ""}, {NS, Value{}, ""},
		{Flag, Int(1), "yes"}, {Flag, Int(0), ""}, {Text, Str("aten::mm"), "aten::mm"}, {Text, List([]string{"a", "b"}), "a → b"},
	} {
		if got := c.unit.Format(c.v); got != c.want {
			t.Errorf("%s %s is shown as %q, want %q", c.unit, c.v.Exact(), got, c.want)
		}
	}
}

// TestEveryUnitIsShown: no unit falls through to text, and each number that has a unit shows it.
func TestEveryUnitIsShown(t *testing.T) {
	shown := map[Unit]*regexp.Regexp{
		NS: regexp.MustCompile(`^7 ns$`), Time: regexp.MustCompile(`^7 ns$`), Change: regexp.MustCompile(`^\+7 ns$`), Bytes: regexp.MustCompile(`^7 B$`),
		PerSecond: regexp.MustCompile(` GB/s$`), Flops: regexp.MustCompile(`^7 FLOP$`), Share: regexp.MustCompile(`^700\.0 %$`), Percent: regexp.MustCompile(`^7\.0 %$`),
		Count: regexp.MustCompile(`^7$`), Ref: regexp.MustCompile(`^7$`), ID: regexp.MustCompile(`^7$`), Flag: regexp.MustCompile(`^yes$`),
	}
	for u := Text + 1; u < numUnits; u++ {
		if got := u.Format(Int(7)); shown[u] == nil || !shown[u].MatchString(got) {
			t.Errorf("%s shows 7 as %q", u, got)
		}
		if u.String() == "" {
			t.Errorf("unit %d has no name", u)
		}
	}
}

func TestWords(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 1234567: "1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for got, want := range map[string]string{
		Counted(1, "process"): "1 process", Counted(2, "process"): "2 processes", Counted(0, "row"): "0 rows", Counted(2000, "slice"): "2,000 slices",
		ShortDuration(999): "999 ns", ShortDuration(1500): "1.5 µs", ShortDuration(26_339_885): "26.3 ms", ShortDuration(2_500_000_000): "2.50 s",
		WholePercent(1, 8): "13 %", WholePercent(2, 3): "67 %", GivenPercent(5): "5 %", GivenPercent(2.5): "2.5 %",
		Duration(999): "999 ns", Duration(1000): "1.0 µs", Duration(1_000_000): "1.00 ms", Duration(9_999_999_999): "10000.00 ms", Duration(10_000_000_000): "10.00 s", Duration(-1_000_000): "-1.00 ms",
		RankTime(999_999): "1000.0 rank-µs", RankTime(1_000_000): "1.0 rank-ms", RankTime(10_000_000_000): "10.0 rank-s", RankTime(-2_000_000): "-2.0 rank-ms",
		ShortDuration(1000): "1.0 µs", ShortDuration(1_000_000): "1.0 ms", ShortDuration(1_000_000_000): "1.00 s", Signed(0): "0 ns", Signed(5): "+5 ns", Signed(-5): "-5 ns",
		SignedPercent(0): "0.0 %", SignedPercent(1): "+1.0 %", SignedPercent(-1): "-1.0 %", FormatBytes(999): "999 B", FormatBytes(1000): "1.0 kB", FormatBytes(1_000_000): "1.00 MB",
		FormatBytes(1_000_000_000): "1.00 GB", FormatBytes(-1000): "-1.0 kB", FormatFlops(999_999): "999999 FLOP", FormatFlops(1e6): "1.00 MFLOP", FormatFlops(1e15): "1.00 PFLOP",
		FormatShare(ShareOf(1, 0)): "0.0 %", FormatShare(ShareOf(1, -1)): "0.0 %", FormatShare(ShareOf(1, 1)): "100.0 %",
		Count.Format(Float(99_999.4)): "99999", Count.Format(Float(99_999.5)): "100,000", Count.Format(Float(100_001.5)): "100,002", Count.Format(Float(2)): "2", Count.Format(Float(1.23456)): "1.2346", Flag.Format(Int(0)): "", NS.Format(Value{}): "",
		Milliseconds(1_234_567): "1.235 ms", Seconds(1_234_560_000): "1.2346",
		Megabytes(1_250_000): "1.2", FormatMegabytes(1_260_000, 1): "1.3 MB", FormatMegabytes(12, 2): "0.00 MB", Fixed(82.65, 0): "83", Plain(-1234): "-1234",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDurationKeepsThreeDigits reads a time back: it is off by less than half of its last digit.
func TestDurationKeepsThreeDigits(t *testing.T) {
	scale := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.OneOf(rapid.Int64Range(-2000, 2000), rapid.Int64Range(-1e7, 1e7), rapid.Int64Range(-1e15, 1e15)).Draw(t, "ns")
		digits, unit, _ := strings.Cut(Duration(ns), " ")
		x, err := strconv.ParseFloat(digits, 64)
		if err != nil || scale[unit] == 0 {
			t.Fatalf("%d is %q", ns, Duration(ns))
		}
		_, decimals, _ := strings.Cut(digits, ".")
		if off := math.Abs(x*scale[unit] - float64(ns)); off > 0.501*scale[unit]*math.Pow(10, -float64(len(decimals))) {
			t.Fatalf("%d is %q: off by %g ns", ns, Duration(ns), off)
		}
	})
}
