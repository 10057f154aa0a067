// Package par shares out independent work among the processors.
package par

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, on as many goroutines as there are processors (GOMAXPROCS), and returns when all calls
// have. It passes on the first panic. A bad memory access is such a panic too: the input may be a mapped file that
// shrinks while it is read.
func Each(n int, do func(i int)) { UpTo(n, n, do) }

// UpTo is Each on no more than most goroutines, for work that needs memory.
func UpTo(most, n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n, most)
	if workers <= 1 {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var fault atomic.Pointer[any] // what a worker panicked with
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			debug.SetPanicOnFault(true)
			defer func() {
				if x := recover(); x != nil {
					fault.CompareAndSwap(nil, &x)
				}
			}()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wg.Wait()
	if x := fault.Load(); x != nil {
		panic(*x)
	}
}
