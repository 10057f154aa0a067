package chrome

import (
	"math"
	"strconv"
)

// AppendMicros appends a time of ns in µs, as decimal text without loss: whole µs as an integer, else three digits
// behind the point.
func AppendMicros(dst []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		dst, u = append(dst, '-'), -u // also for the least of all
	}
	dst = strconv.AppendUint(dst, u/1000, 10)
	if f := u % 1000; f != 0 {
		dst = append(dst, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
	}
	return dst
}

// ExactBelow is the time, ns, below which Perfetto's JSON import keeps every ns: 2^42 µs, or 50.9 days.
const ExactBelow = 1 << 42 * 1000

// Imported is the time that Perfetto's JSON import makes of a time written by AppendMicros, ns. Whole µs are exact;
// all others go through a double of µs (json_trace_tokenizer.cc), which rounds times since 1970 to 256 ns.
func Imported(ns int64) int64 {
	if ns%1000 == 0 {
		return ns
	}
	var buf [32]byte
	us, err := strconv.ParseFloat(string(AppendMicros(buf[:0], ns)), 64)
	if err != nil {
		panic("chrome: internal error: " + err.Error())
	}
	if whole := math.Trunc(us); whole == us {
		return int64(whole) * 1000
	}
	return int64(math.Round(us * 1000)) // adding a half and cutting off would be rounded itself from 2^52 ns on
}
