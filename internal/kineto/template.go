package kineto

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"overlay/internal/trace"
)

// A trace of hundreds of thousands of events has some hundred different texts once numbers are left out of them. Such a text is a
// template: literals with holes, which are runs of digits. What the first event of a template is, was found out member by member; of
// the others only what stands in the holes is read. What fits no template is read member by member.

// template is what events of one text have alike.
type template struct {
	round     uint32      // of the piece in which what follows is numbered
	number    uint32      // among its templates, from 1 on
	event     trace.Event // without what depends on numbers
	name, cat []byte      // as written
	shapes    bool        // see chunkParser
	marked    bool        // the same

	lits   []string        // one more than holes
	kinds  []holeKind      // of the holes
	first  []uint64        // what stood in them where the template was learned: numbers are kept as differences to these
	fields []templateField // in the order of the text, as what follows
	args   spot            // where the args object begins; of no account where the event has none
	told   []templateArg

	once  sync.Once
	parts []trace.Part // see pattern
}

// templateField is a member that depends on numbers, or is read together with those that do.
type templateField struct {
	what     role
	from, to spot
}

// templateArg is an argument of the top level.
type templateArg struct {
	key      string
	value    trace.Value // where it is fixed
	nested   bool        // an object or an array
	from, to spot
}

// fixed reports whether all events have the same value: none of its digits is in a hole.
func (x *templateArg) fixed() bool { return x.from.hole == x.to.hole }

// spot is a byte of an event, counted from behind a hole; hole 0 is the beginning of the event.
type spot struct{ hole, off int32 }

// node is a literal that stands in the texts of several templates, and what comes behind it.
type node struct {
	lit  string
	keys string    // bytes that may come next
	kids []int32   // where each of them leads; it is not in lit there
	hole holeKind  // what may come next, too
	next int32     // where the hole leads
	leaf *template // the event ends here
}

type holeKind uint8

const (
	noHole    holeKind = iota
	anyDigits          // of a text or a fraction, see trace.AppendDigits
	integer            // begins with 0 only where it is 0
)

// Limits on what is learned.
const (
	maxHoles  = 256
	maxNodes  = 1 << 15 // then all is learned anew
	maxEvent  = 1 << 14 // bytes of an event
	learnFree = 64      // templates that are learned in any case;
	learnRate = 16      // of more, one for so many events
)

// trie holds the templates that one goroutine learned.
type trie struct {
	nodes   []node
	round   uint32 // counts pieces: each numbers names and categories for itself
	events  int    // that were looked for
	learned int
	ends    [maxHoles + 1]int // the beginning of the event, and behind each of its holes
	numbers [maxHoles]uint64  // what stands in the holes, see holeKind
	cutter  cutter
	room    lists // of the last piece
}

// tries are those that nobody uses, no more than were ever used at a time. What one has learned holds for every input.
var tries struct {
	sync.Mutex
	list []*trie
}

// takeTrie is the one that was used last: it has learned most.
func takeTrie() *trie {
	tries.Lock()
	defer tries.Unlock()
	t := &trie{nodes: make([]node, 1)}
	if n := len(tries.list); n > 0 {
		t = tries.list[n-1]
		tries.list = tries.list[:n-1]
	}
	if len(t.nodes) > maxNodes {
		*t = trie{nodes: make([]node, 1), round: t.round, room: t.room}
	}
	t.round++
	return t
}

func (t *trie) leave() {
	tries.Lock()
	defer tries.Unlock()
	tries.list = append(tries.list, t)
}

// match finds the template of the event at i, and the place behind it; nil without one.
func (t *trie) match(s []byte, i int) (*template, int) {
	t.events++
	t.ends[0] = i
	n, holes := &t.nodes[0], 0
	for {
		if len(s)-i < len(n.lit) || string(s[i:i+len(n.lit)]) != n.lit {
			return nil, 0
		}
		if i += len(n.lit); n.leaf != nil {
			return n.leaf, i
		}
		if i >= len(s) {
			return nil, 0
		}
		c := s[i]
		if c-'0' <= 9 && n.hole != noHole {
			v, end := readDigits(s, i)
			if holes == maxHoles || end-i > trace.MaxDigits || c == '0' && end > i+1 && n.hole == integer {
				return nil, 0
			}
			if n.hole == anyDigits {
				v += trace.Shorter(end - i)
			}
			t.numbers[holes] = v
			holes++
			t.ends[holes] = end
			i, n = end, &t.nodes[n.next]
			continue
		}
		k := strings.IndexByte(n.keys, c)
		if k < 0 {
			return nil, 0
		}
		i, n = i+1, &t.nodes[n.kids[k]]
	}
}

// readDigits reads the digits at i, and goes behind them. More than 19 may give any number.
func readDigits(s []byte, i int) (v uint64, end int) {
	for ; len(s)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(s[i:]) ^ '0'*lowBits
		if m := ((x&^highBits + (0x80-10)*lowBits) | x) & highBits; m != 0 {
			n := bits.TrailingZeros64(m) >> 3
			return v*tens[n] + eightDigits(x<<(64-8*n)), i + n
		}
		v = v*1e8 + eightDigits(x)
	}
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		v = v*10 + uint64(s[i]-'0')
	}
	return v, i
}

// eightDigits is the number of eight digits, a byte each, the first in the lowest: pairs, then fours, then all are joined.
func eightDigits(x uint64) uint64 {
	x = x * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	x = x * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return x * (10000<<32 + 1) >> 32
}

// at is where a spot lies in the event that was matched.
func (t *trie) at(x spot) int { return t.ends[x.hole] + int(x.off) }

// tens are the powers of ten, by exponent.
var tens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// learn makes a template of an event, of which f and e were read, unless that cannot be, or does not pay.
func (t *trie) learn(event []byte, f *fields, e *trace.Event) bool {
	if len(event) > maxEvent || len(t.nodes) > maxNodes || t.learned > learnFree+t.events/learnRate {
		return false
	}
	t.learned++
	c := &t.cutter
	*c = cutter{s: event, text: string(event), lits: c.lits[:0], kinds: c.kinds[:0], fields: c.fields[:0], told: c.told[:0]}
	ok := c.cut()
	if c.s = nil; !ok { // the block may go
		return false
	}
	tp := &template{args: c.args, fields: slices.Clone(c.fields), told: slices.Clone(c.told), lits: slices.Clone(c.lits), kinds: slices.Clone(c.kinds), shapes: c.shapes, marked: c.marked,
		name: bytes.Clone(f.name), cat: bytes.Clone(f.cat)}
	tp.event = trace.Event{Track: trace.NoTrack, Ph: e.Ph, Flags: e.Flags & (trace.HasArgs | trace.BindEnd | trace.Moved | trace.GraphOp)}
	t.insert(c, tp)
	return true
}

// end is behind the event.
func (tp *template) end() spot {
	return spot{int32(len(tp.kinds)), int32(len(tp.lits[len(tp.kinds)]))}
}

// insert adds a template.
func (t *trie) insert(c *cutter, tp *template) {
	at := int32(0)
	for k, lit := range c.lits {
		if at = t.grow(at, lit); at < 0 {
			return
		}
		if k == len(c.kinds) {
			break
		}
		n := &t.nodes[at]
		if n.hole == noHole && strings.ContainsAny(n.keys, "0123456789") || n.hole != noHole && n.hole != c.kinds[k] {
			return
		}
		if n.hole == noHole {
			n.hole, n.next = c.kinds[k], int32(len(t.nodes))
			t.nodes = append(t.nodes, node{})
		}
		at = t.nodes[at].next
	}
	if n := &t.nodes[at]; n.hole == noHole && n.keys == "" {
		n.leaf = tp
	}
}

// grow goes from a node along a literal, as far as there is something, and adds the rest. It returns where the literal ends, -1
// where a digit could be both literal and hole.
func (t *trie) grow(at int32, lit string) int32 {
	for {
		n := &t.nodes[at]
		if n.lit == "" && n.keys == "" && n.hole == noHole && n.leaf == nil {
			n.lit = lit
			return at
		}
		same := 0
		for same < len(lit) && same < len(n.lit) && lit[same] == n.lit[same] {
			same++
		}
		if same < len(n.lit) {
			rest := *n
			rest.lit = n.lit[same+1:]
			*n = node{lit: n.lit[:same], keys: n.lit[same : same+1], kids: []int32{int32(len(t.nodes))}}
			t.nodes = append(t.nodes, rest)
			n = &t.nodes[at]
		}
		if lit = lit[same:]; lit == "" {
			return at
		}
		if n.leaf != nil || n.hole != noHole && lit[0]-'0' <= 9 {
			return -1
		}
		k := strings.IndexByte(n.keys, lit[0])
		if k < 0 {
			n.keys, n.kids = n.keys+lit[:1], append(n.kids, int32(len(t.nodes)))
			t.nodes = append(t.nodes, node{lit: lit[1:]})
			return int32(len(t.nodes) - 1)
		}
		at, lit = n.kids[k], lit[1:]
	}
}

// cutter cuts the text of an event into literals and holes.
type cutter struct {
	s      []byte
	text   string   // the same
	lits   []string // one more than holes
	kinds  []holeKind
	lit    int // where the literal begins that was not cut off yet
	args   spot
	fields []templateField
	told   []templateArg
	depth  int  // of objects and arrays that are open
	inArgs bool // the outermost of them but for the event is an args object
	long   bool // a hole has too many digits
	shapes bool // see chunkParser
	marked bool // the same
}

// cut takes an event apart that holds nothing broken. It reports false for one that cannot be a template.
func (c *cutter) cut() bool {
	key := roleNone
	for i := 0; i < len(c.s); {
		end := i + 1
		switch c.s[i] {
		case '{', '[':
			if c.depth++; c.depth == 2 {
				if c.inArgs = key == roleArgs && c.s[i] == '{'; c.inArgs {
					c.args, c.told = c.spot(i), c.told[:0] // of several, the last one counts
				}
			}
			if key.literal() || key.value() {
				return false
			}
			key = roleNone
		case '}', ']':
			c.depth--
			c.tell(end)
		case ',', ':', ' ', '\t', '\n', '\r':
		case '"':
			for ; c.s[end] != '"'; end++ {
				if c.s[end] == '\\' {
					end++
				}
			}
			text := c.text[i+1 : end]
			end++
			if j := skipSpace(c.s, end); j < len(c.s) && c.s[j] == ':' {
				if key = roleNone; c.depth == 1 {
					key = roles[text]
				} else if j = skipSpace(c.s, j+1); c.depth == 2 && c.inArgs {
					key = argRoles[text]
					c.shapes, c.marked = c.shapes || key == argShapes, c.marked || strings.HasPrefix(text, markHint)
					c.told = append(c.told, templateArg{key: text, nested: c.s[j] == '{' || c.s[j] == '[', from: c.spot(j)})
				}
				if strings.IndexByte(text, '\\') >= 0 {
					return false
				}
				break
			}
			if strings.Contains(text, `\u`) && !key.literal() { // its digits are no number
				return false
			}
			c.take(i, end, key, anyDigits)
			key = roleNone
		default:
			for !ends[c.s[end]] {
				end++
			}
			c.take(i, end, key, integer)
			key = roleNone
		}
		i = end
	}
	c.lits = append(c.lits, c.text[c.lit:])
	return len(c.kinds) <= maxHoles && !c.long
}

// take takes a text, a number or a word apart. The digits of names stay, and those of exponents.
func (c *cutter) take(from, to int, key role, kind holeKind) {
	start := c.spot(from)
	for i := from; i < to && !key.literal(); {
		switch end := digits(c.s, i); {
		case end > i:
			c.long = c.long || end-i > trace.MaxDigits
			c.lits, c.kinds = append(c.lits, c.text[c.lit:i]), append(c.kinds, kind)
			c.lit, i = end, end
		case c.s[from] != '"' && c.s[i]|0x20 == 'e':
			i = to
		default:
			kind = anyDigits
			if i == from && c.s[i] == '-' {
				kind = integer
			}
			i++
		}
	}
	if key.value() {
		c.fields = append(c.fields, templateField{key, start, c.spot(to)})
	}
	c.tell(to)
}

// tell ends a value, which may be an argument.
func (c *cutter) tell(end int) {
	if !c.inArgs || c.depth != 2 {
		return
	}
	a := &c.told[len(c.told)-1]
	if a.to = c.spot(end); a.fixed() {
		a.value = value([]byte(c.text[c.lit+int(a.from.off) : end]))
	}
}

// spot is a place of the text that lies behind all holes so far.
func (c *cutter) spot(i int) spot { return spot{int32(len(c.kinds)), int32(i - c.lit)} }
