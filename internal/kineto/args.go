package kineto

// Member walks the members of an object in the bytes of an event: its args, or the event itself.
type Member struct {
	Key   []byte // as written, without quotes
	Value []byte // as written
	m     members
	p     scanner
}

// Members starts at the object that raw begins with. Broken values are mended as Parse mends them; what cannot be
// mended ends the walk.
func Members(raw []byte) *Member {
	it := &Member{p: scanner{s: raw}}
	it.m = members{p: &it.p, depth: 1}
	if len(raw) == 0 || raw[0] != '{' {
		it.m.state = 3
	}
	return it
}

// Next moves to the next member.
func (it *Member) Next() bool {
	if it.m.state >= 2 || !it.m.next() {
		return false
	}
	at := it.m.at
	it.Key = it.m.key
	if !it.m.skip() {
		return false
	}
	it.Value = it.p.s[at:it.m.at]
	return true
}

// Broken reports whether the walk ended elsewhere than at the end of the object, and behind which byte.
func (it *Member) Broken() (at int, broken bool) { return it.p.far, it.m.state != 2 }

// Int is a value as an integer, also one written as a string; 0 where it is none.
func Int(value []byte) int64 {
	d, _ := unquote1(value)
	n, _ := parseInt(d)
	return n
}

// arg finds the value of a key in the args object that raw begins with.
func arg(raw []byte, key string) []byte {
	for m := Members(raw); m.Next(); {
		if string(m.Key) == key {
			return m.Value
		}
	}
	return nil
}

// argInt returns an integer of the args object that raw begins with, also one written as a string.
func argInt(raw []byte, key string) (int64, bool) {
	d, _ := unquote1(arg(raw, key))
	return parseInt(d)
}

// argString returns a value of the args object as text: a string without quotes and escapes, other values as written.
func argString(raw []byte, key string) (string, bool) {
	v := arg(raw, key)
	if v == nil {
		return "", false
	}
	return Unquoted(v), true
}

// Unquoted is a value as text: a string without quotes and escapes, other values as written.
func Unquoted(value []byte) string {
	if len(value) >= 2 && value[0] == '"' {
		value = value[1 : len(value)-1]
		if !plain(value) {
			return unquote(value)
		}
	}
	return string(value)
}

// Elements calls visit for each element of the array that raw begins with.
func Elements(raw []byte, visit func(value []byte)) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	p := scanner{s: raw}
	for i := skipSpace(raw, 1); i < len(raw) && raw[i] != ']'; {
		end := p.skipValue(i, false, 1)
		if end < 0 {
			return
		}
		visit(raw[i:end])
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
}
