package par

import "runtime/debug"

// Beside runs work on a goroutine of its own. The returned function waits for its end and passes on its panic: the
// input may be a mapped file that shrinks.
func Beside(work func()) (wait func()) {
	done := make(chan struct{})
	var trap any
	go func() {
		defer close(done)
		defer func() { trap = recover() }()
		debug.SetPanicOnFault(true)
		work()
	}()
	return func() {
		<-done
		if trap != nil {
			panic(trap)
		}
	}
}
