package pftrace

// digest is FNV-1a of 64 bits, of a word at a time: as a hash.Hash it would take every eight bytes through an interface.
type digest uint64

const (
	digestStart digest = 14695981039346656037
	digestPrime        = 1099511628211
)

// word adds a number, the lowest byte first.
func (h *digest) word(v int64) {
	x := uint64(*h)
	for range 8 {
		x = (x ^ uint64(byte(v))) * digestPrime
		v >>= 8
	}
	*h = digest(x)
}

// text adds a text and a byte that ends it.
func (h *digest) text(s string) {
	x := uint64(*h)
	for i := range len(s) {
		x = (x ^ uint64(s[i])) * digestPrime
	}
	*h = digest(x * digestPrime)
}
