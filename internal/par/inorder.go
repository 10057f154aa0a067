package par

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// ahead is how many pieces of a stream may be made before it is its turn to be written.
const ahead = 32

// Maker makes a stream of bytes. It appends to buf, and to what put gives back for each piece that is complete: a buffer to
// go on with, or nil where nothing more is wanted. It returns the buffer that it has then, for the next stream.
type Maker func(stream int, buf []byte, put func(piece []byte) []byte) []byte

// InOrder makes n streams side by side and hands their pieces to write, stream after stream, until write returns false. Each
// goroutine has a maker of its own. Buffers have room for so many bytes, or grow. It passes on the first panic.
func InOrder(n, room int, maker func() Maker, write func(piece []byte) bool) {
	workers := runtime.GOMAXPROCS(0)
	if workers <= 1 || n <= 1 {
		work, buf, ok := maker(), make([]byte, 0, room), true
		for i := 0; i < n && ok; i++ {
			buf = work(i, buf, func(piece []byte) []byte {
				if ok = write(piece); !ok {
					return nil
				}
				return piece[:0]
			})
		}
		return
	}
	type task struct {
		stream int
		pieces chan []byte
	}
	var stop atomic.Bool
	var fault atomic.Pointer[any] // what a worker panicked with
	free := make(chan []byte, ahead)
	get := func() []byte {
		select {
		case b := <-free:
			return b[:0]
		default:
			return make([]byte, 0, room)
		}
	}
	queue, order := make(chan *task), make(chan *task, 2*workers)
	go func() {
		for i := range n {
			t := &task{i, make(chan []byte, ahead)}
			order <- t
			queue <- t // the oldest unfinished task always has a worker, so its pieces always come
		}
		close(order)
		close(queue)
	}()
	for range workers {
		go func() {
			debug.SetPanicOnFault(true) // the input may be a mapped file that shrinks
			work, buf := maker(), get()
			for t := range queue {
				func() {
					defer close(t.pieces)
					defer func() {
						if x := recover(); x != nil {
							fault.CompareAndSwap(nil, &x)
							stop.Store(true)
						}
					}()
					if stop.Load() {
						return
					}
					buf = work(t.stream, buf, func(piece []byte) []byte {
						t.pieces <- piece
						if stop.Load() {
							return nil
						}
						return get()
					})
				}()
			}
		}()
	}
	for t := range order {
		for piece := range t.pieces {
			if !stop.Load() && !write(piece) {
				stop.Store(true)
			}
			select {
			case free <- piece:
			default:
			}
		}
	}
	if x := fault.Load(); x != nil {
		panic(*x)
	}
}
