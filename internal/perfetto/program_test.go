package perfetto

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// TestPlay wants of programs the bytes that the same arguments become one by one, with numbers of every length, dicts and arrays
// longer than one byte of length can say, and strings that come again.
func TestPlay(t *testing.T) {
	played, plain := newBody(), newBody()
	random := rand.New(rand.NewPCG(1, 2))
	for shape := range 60 {
		var program *Program
		for range 40 {
			numbers := make([]uint64, 12)
			for i := range numbers {
				numbers[i] = random.Uint64N(TooLarge) >> random.IntN(60)
			}
			text := func(dst []byte, hole int) []byte {
				if dst = strconv.AppendUint(dst, numbers[hole]%7, 10); hole >= 8 {
					dst = append(append(dst, '.'), strconv.Itoa(int(numbers[hole+1]))...)
				}
				return dst
			}
			// write adds arguments whose shape depends on nothing but the number of the shape.
			write := func(b *Body, record bool) {
				order := rand.New(rand.NewPCG(uint64(shape), 3))
				number := func(key string, i int, negative bool) {
					if record {
						b.IntHole(key, numbers[i], negative, Hole{First: i, Count: 1})
					} else if v := int64(numbers[i]); negative {
						b.Int(key, -v)
					} else {
						b.Int(key, v)
					}
				}
				for range order.IntN(12) {
					key, depth := fmt.Sprint("key ", order.IntN(300)), order.IntN(4)
					for d := range depth {
						if d%2 == 0 {
							b.Array(key)
						} else {
							b.Dict(key)
						}
					}
					if order.IntN(3) == 0 {
						for range order.IntN(60) {
							b.Str(key, "fixed")
						}
						b.Bool(key, true)
					}
					for range order.IntN(30) {
						switch i := order.IntN(8); order.IntN(4) {
						case 0:
							number(key, i, order.IntN(2) == 0)
						case 1:
							if s := string(text(nil, i)); record {
								b.StrHole(key, s, Hole{i, 1, i})
							} else {
								b.Str(key, s)
							}
						case 2:
							f, _ := strconv.ParseFloat(string(text(nil, 8)), 64)
							if record {
								b.FloatHole(key, f, Hole{8, 2, 8})
							} else {
								b.Float(key, f)
							}
						default:
							b.Array(key)
							b.End()
						}
					}
					for range depth {
						b.End()
					}
				}
			}
			played.ev, plain.ev = append(played.ev[:0], "before"...), append(plain.ev[:0], "before"...)
			write(plain, false)
			if program == nil {
				program = &Program{}
				played.Record(program)
				write(played, true)
				played.Recorded()
			} else if !played.Play(program, numbers, text) {
				t.Fatalf("shape %d: not played", shape)
			}
			if !bytes.Equal(played.ev, plain.ev) || !bytes.Equal(played.in, plain.in) {
				t.Fatalf("shape %d:\n%x\nplayed\n%x", shape, plain.ev, played.ev)
			}
		}
		large := make([]uint64, 12)
		for i := range large {
			large[i] = TooLarge
		}
		text := func(dst []byte, hole int) []byte { return append(dst, '1') }
		ints := slices.ContainsFunc(program.ops, func(o op) bool { return o.kind <= opNegative })
		if played.Play(program, large, text) == ints || ints && !bytes.Equal(played.ev, plain.ev) {
			t.Fatalf("shape %d: too large a number is not refused, or leaves something", shape)
		}
		played, plain = newBody(), newBody()
	}
}

// TestInternSharedMemory interns strings that begin at one address.
func TestInternSharedMemory(t *testing.T) {
	b := newBody()
	const s = "abcdefghijklmnopqrst"
	for range 2 {
		for n := range len(s) {
			if id := b.intern(&b.names, s[:n]); id != uint64(n)+1 {
				t.Fatalf("%q has the number %d", s[:n], id)
			}
		}
	}
}
