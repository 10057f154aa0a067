package fromrecords

import "testing"

// TestTimes: times from their digits, to the nearest ns, and what is no time.
func TestTimes(t *testing.T) {
	const no = 1 << 62
	for text, want := range map[string][2]int64{ // in seconds, in ns
		"0": {0, 0}, "7": {7e9, 7}, "-7": {-7e9, -7}, "1.5": {15e8, no}, "-1.5": {-15e8, no}, ".5": {5e8, no}, "1.": {1e9, no}, "0.0000000004": {0, no}, "0.0000000005": {1, no}, "-0.0000000015": {-2, no},
		"0.1234567894": {123456789, no}, "0.1234567895": {123456790, no}, "1e-9": {1, no}, "1.6E-9": {2, no}, "-1e-9": {-1, no}, "": {no, no}, ".": {no, no}, "-": {no, no}, "x": {no, no}, "1.x": {no, no}, "1e": {no, no}, "--1": {no, no},
		"2305843009": {2305843009e9, 2305843009}, "2305843009.213693951": {most, no}, "2305843009.213693952": {no, no}, "-2305843009.213693951": {-most, no}, "-2305843009.213693952": {no, no}, "99999999999": {no, 99999999999},
		"2305843009213693951": {no, most}, "2305843009213693952": {no, no}, "-2305843009213693951": {no, -most}, "-2305843009213693952": {no, no}, "99999999999999999999": {no, no}, "1e10": {no, no}, "-1e10": {no, no}, "2.305843009213693951e9": {no, no},
	} {
		for i, already := range []bool{false, true} {
			got, ok := nanoseconds(text, already)
			if ok != (want[i] != no) || ok && got != want[i] {
				t.Errorf("%q, in ns already %v: %d, %v; want %d", text, already, got, ok, want[i])
			}
		}
	}
}
