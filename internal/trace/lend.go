package trace

import "unsafe"

// Lender gives n bytes of memory that is not the collector's, all 0 and valid until the program ends; nil where there is none. A nil
// Lender has none.
type Lender func(n int) []byte

// Room is make([]T, n), in memory that is lent where there is some. T holds no pointers.
func Room[T any](lend Lender, n int) []T {
	if lend != nil && n > 0 {
		if lent := lend(n * int(unsafe.Sizeof(*new(T)))); lent != nil {
			return unsafe.Slice((*T)(unsafe.Pointer(&lent[0])), n)
		}
	}
	return make([]T, n)
}

// Borrow is b as a string without a copy, for bytes that never change.
func Borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
