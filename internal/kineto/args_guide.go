package kineto

// guide remembers which keys come after which in args: those of one category have the same, in one order. Where the bytes of a
// key stand as before, from the value in front of it up to its own, they need no reading. What it expects is compared with
// every byte, so it may be wrong but never misleads.
type guide struct {
	keys []guideKey // the first stands for the beginning of args
}

// guideKey is a key with what stands around it.
type guideKey struct {
	lead string             // from behind the value before, or from behind '{', to the value: `, "Ev Idx": `
	key  string             // part of lead
	next [guideWidth]uint16 // what came after it, by the place in keys; 0 for none
	turn uint8              // the next one to replace
}

const (
	guideWidth = 4
	guideKeys  = 1 << 9
	maxLead    = 64
)

func newGuide() *guide { return &guide{keys: make([]guideKey, 1, 64)} }

// expect returns the key that s begins with if it was seen after key k, and 0 if not.
func (g *guide) expect(k int, s []byte) int {
	for _, n := range g.keys[k].next {
		if n == 0 {
			break
		}
		lead := g.keys[n].lead
		// A blank more would belong to what stands in front of the value.
		if len(s) > len(lead) && string(s[:len(lead)]) == lead && s[len(lead)] > ' ' {
			return int(n)
		}
	}
	return 0
}

// learn adds what came after key k, and returns its place; 0 where there is no room. The bytes must never change.
func (g *guide) learn(k int, lead []byte, key string) int {
	if len(lead) > maxLead {
		return 0
	}
	at := &g.keys[k]
	n := &at.next[at.turn]
	at.turn = (at.turn + 1) % guideWidth
	if *n == 0 {
		if len(g.keys) == guideKeys {
			return 0
		}
		*n = uint16(len(g.keys))
		g.keys = append(g.keys, guideKey{})
	}
	k = int(*n)
	g.keys[k].lead, g.keys[k].key = borrow(lead), key
	return k
}
