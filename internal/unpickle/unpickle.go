// Package unpickle reads pickles of Python that hold containers, texts and numbers, as PyTorch dumps what it knows. Nothing of a pickle is executed.
package unpickle

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// List is a list or a tuple of a pickle: memos refer to it while it grows.
type List struct{ Items []any }

// mark is where the items of a container begin on the stack.
type mark struct{}

// mostContainers bounds the memory that a pickle of brackets takes.
const mostContainers = 4 << 20

// unpickler is a machine with a stack, as Python's is, without the instructions that call anything: a dump has containers, texts and numbers.
type unpickler struct {
	src        []byte
	at         int
	stack      []any
	memo       map[uint64]any
	containers int
}

// Value reads a pickle, of protocols 2 to 5: dicts are map[string]any, lists and tuples *List, numbers int64 and float64, texts string, and
// there are bool and nil. An error says where it is broken, or what of it would have to be executed.
func Value(src []byte) (v any, err error) {
	u := &unpickler{src: src, memo: map[uint64]any{}}
	defer func() {
		if x := recover(); x != nil {
			broken, ok := x.(broken)
			if !ok {
				panic(x)
			}
			err = fmt.Errorf("byte %d: %s", u.at, string(broken))
		}
	}()
	return u.value(), nil
}

// value runs the instructions.
func (u *unpickler) value() any {
	for {
		at := u.at
		switch op := u.bytes(1)[0]; op {
		case 0x80: // PROTO
			if n := u.uint(1); n > 5 {
				u.fail("a pickle of protocol %d", n)
			}
		case 0x95: // FRAME
			u.bytes(8)
		case '.':
			if len(u.stack) != 1 {
				u.fail("a pickle that ends with %d values", len(u.stack))
			}
			return u.stack[0]
		case '(':
			u.push(mark{})
		case '}':
			u.room()
			u.push(map[string]any{})
		case ']', ')':
			u.room()
			u.push(&List{})
		case 'e', 'a': // APPENDS, APPEND
			items := u.items(op == 'a', 1)
			l, ok := u.top().(*List)
			if !ok {
				u.fail("items of what is no list")
			}
			l.Items = append(l.Items, items...)
		case 'u', 's': // SETITEMS, SETITEM
			items := u.items(op == 's', 2)
			d, ok := u.top().(map[string]any)
			if !ok || len(items)%2 != 0 {
				u.fail("items of what is no dict")
			}
			for i := 0; i < len(items); i += 2 {
				d[u.key(items[i])] = items[i+1]
			}
		case 't':
			u.room()
			u.push(&List{u.items(false, 0)})
		case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
			u.room()
			u.push(&List{u.items(true, int(op-0x84))})
		case 'X':
			u.push(string(u.bytes(u.uint(4))))
		case 0x8c: // SHORT_BINUNICODE
			u.push(string(u.bytes(u.uint(1))))
		case 0x8d: // BINUNICODE8
			u.push(string(u.bytes(u.uint(8))))
		case 'K':
			u.push(int64(u.uint(1)))
		case 'M':
			u.push(int64(u.uint(2)))
		case 'J':
			u.push(int64(int32(u.uint(4))))
		case 0x8a: // LONG1, the lowest byte first, with a sign
			n := u.uint(1)
			if n > 8 {
				u.fail("a number of %d bytes", n)
			}
			shift := 64 - 8*n
			u.push(int64(u.uint(n)<<shift) >> shift)
		case 'G':
			u.push(math.Float64frombits(bits.ReverseBytes64(u.uint(8))))
		case 'N':
			u.push(nil)
		case 0x88, 0x89: // NEWTRUE, NEWFALSE
			u.push(op == 0x88)
		case 'q':
			u.memo[u.uint(1)] = u.top()
		case 'r':
			u.memo[u.uint(4)] = u.top()
		case 0x94: // MEMOIZE
			u.memo[uint64(len(u.memo))] = u.top()
		case 'h':
			u.recall(u.uint(1))
		case 'j':
			u.recall(u.uint(4))
		default:
			u.at = at
			u.fail("the instruction %#02x is none of a dump, which holds containers, texts and numbers only; nothing of a pickle is executed", op)
		}
	}
}

// broken is why a pickle cannot be read.
type broken string

func (u *unpickler) fail(format string, args ...any) { panic(broken(fmt.Sprintf(format, args...))) }

func (u *unpickler) bytes(n uint64) []byte {
	if n > uint64(len(u.src)-u.at) {
		u.at = len(u.src)
		u.fail("the pickle is cut: copy it again")
	}
	u.at += int(n)
	return u.src[u.at-int(n) : u.at]
}

// uint is a number of up to 8 bytes, the lowest first.
func (u *unpickler) uint(n uint64) (v uint64) {
	for i, b := range u.bytes(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (u *unpickler) room() {
	if u.containers++; u.containers > mostContainers {
		u.fail("more than %d containers", mostContainers)
	}
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

func (u *unpickler) top() any {
	if len(u.stack) == 0 {
		u.fail("an instruction without its value")
	}
	return u.stack[len(u.stack)-1]
}

func (u *unpickler) recall(n uint64) {
	v, ok := u.memo[n]
	if !ok {
		u.fail("a reference to %d, which is nothing yet", n)
	}
	u.push(v)
}

// items takes values from the stack: so many, or all behind the last mark.
func (u *unpickler) items(counted bool, n int) []any {
	from := len(u.stack) - n
	if !counted {
		for from = len(u.stack) - 1; from >= 0; from-- {
			if _, ok := u.stack[from].(mark); ok {
				break
			}
		}
		from++
	}
	if from < 0 || !counted && from == 0 {
		u.fail("items without their beginning")
	}
	items := append([]any(nil), u.stack[from:]...)
	if u.stack = u.stack[:from]; !counted {
		u.stack = u.stack[:from-1]
	}
	return items
}

func (u *unpickler) key(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	u.fail("a key of a dict that is neither text nor number")
	return ""
}
