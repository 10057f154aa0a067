package par

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestEach wants every call made once on any number of CPUs, also where there is less work than there are CPUs.
func TestEach(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cpus := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cpus)
		for _, n := range []int{0, 1, 3, 1000} {
			calls := make([]atomic.Int32, n)
			Each(n, func(i int) { calls[i].Add(1) })
			for i := range calls {
				if got := calls[i].Load(); got != 1 {
					t.Fatalf("%d CPUs: %d of %d was called %d times", cpus, i, n, got)
				}
			}
		}
	}
}

// TestEachPanic wants the caller to get the panic of a worker, after all other workers have ended.
func TestEachPanic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cpus := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cpus)
		func() {
			defer func() {
				if x := recover(); x != "seven" {
					t.Errorf("%d CPUs: recovered %v", cpus, x)
				}
			}()
			Each(100, func(i int) {
				if i == 7 {
					panic("seven")
				}
			})
		}()
	}
}

// TestEachRange wants each thing in one range, the ranges in order, and none too small.
func TestEachRange(t *testing.T) {
	for _, n := range []int{0, 1, 5, 99, 207, 1003} {
		for _, size := range []int{1, 7, 100, 5000} {
			ranges := Ranges(n, size)
			if ranges < 1 || ranges > 1 && n/ranges < size || n >= size && ranges != n/size {
				t.Errorf("%d things in ranges of %d: %d", n, size, ranges)
			}
			from, to := make([]int, ranges), make([]int, ranges)
			EachRange(n, ranges, func(i, lo, hi int) { from[i], to[i] = lo, hi })
			at := 0
			for i := range ranges {
				if from[i] != at || to[i]-from[i] != n/ranges && to[i]-from[i] != n/ranges+1 {
					t.Errorf("%d things: range %d of %d is [%d, %d)", n, i, ranges, from[i], to[i])
				}
				at = to[i]
			}
			if at != n {
				t.Errorf("%d things: the last range ends at %d", n, at)
			}
		}
	}
}

// TestInOrder wants the pieces of streams in order on any number of CPUs, an end where write says so, and the panic of a worker passed on.
func TestInOrder(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	maker := func() Maker {
		return func(i int, buf []byte, put func([]byte) []byte) []byte {
			for k := range byte(i % 5) {
				if buf = put(append(buf, byte(i), k)); buf == nil {
					return nil
				}
			}
			return buf
		}
	}
	for _, cpus := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cpus)
		var got []byte
		InOrder(100, 16, maker, func(b []byte) bool { got = append(got, b...); return true })
		at := 0
		for i := range byte(100) {
			for k := range i % 5 {
				if got[at] != i || got[at+1] != k {
					t.Fatalf("%d CPUs: byte %d is %v", cpus, at, got[at:at+2])
				}
				at += 2
			}
		}
		calls := 0
		InOrder(100, 16, maker, func([]byte) bool { calls++; return calls < 3 })
		if len(got) != at || calls != 3 {
			t.Errorf("%d CPUs: %d bytes of %d, %d calls", cpus, at, len(got), calls)
		}
		func() {
			defer func() {
				if x := recover(); x != "seven" {
					t.Errorf("%d CPUs: recovered %v", cpus, x)
				}
			}()
			InOrder(100, 16, func() Maker {
				return func(i int, buf []byte, _ func([]byte) []byte) []byte {
					if i == 7 {
						panic("seven")
					}
					return buf
				}
			}, func([]byte) bool { return true })
		}()
	}
}
