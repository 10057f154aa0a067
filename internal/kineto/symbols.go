package kineto

// table numbers strings by first appearance.
type table struct {
	ids  map[string]uint32
	list []string
}

func (t *table) id(b []byte) uint32 {
	if id, ok := t.ids[string(b)]; ok { // without a copy
		return id
	}
	return t.add(string(b))
}

func (t *table) add(s string) uint32 {
	if t.ids == nil {
		t.ids = map[string]uint32{}
	}
	id := uint32(len(t.list))
	t.ids[s] = id
	t.list = append(t.list, s)
	return id
}

// idOf interns the text between quotes.
func (t *table) idOf(raw []byte) uint32 {
	if plain(raw) {
		return t.id(raw)
	}
	return t.id([]byte(unquote(raw)))
}

// plain reports whether a string means its own bytes.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}
