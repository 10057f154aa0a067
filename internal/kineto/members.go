package kineto

// members walks the members of the object at at. After next, key is the key as written and at the position of the
// value; the caller sets at to the position after the value, or calls skip.
type members struct {
	p     *scanner
	at    int
	depth int
	key   []byte
	state uint8 // 0 before the first member, 1 inside, 2 closed, 3 broken
}

// next moves to the next member; false at the end of the object, or when it is broken (end tells).
func (m *members) next() bool {
	s := m.p.s
	j := m.at
	if m.state == 0 {
		m.state = 1
		j = skipSpace(s, j+1)
		if j < len(s) && s[j] == '}' {
			m.at, m.state = j+1, 2
			return false
		}
	} else {
		j = skipSpace(s, j)
		if j >= len(s) {
			m.state = 3
			return false
		}
		switch s[j] {
		case '}':
			m.at, m.state = j+1, 2
			return false
		case ',':
			j = skipSpace(s, j+1)
			if j < len(s) && s[j] == '}' {
				m.p.dirty = true
				m.p.mend(RepairComma, j)
				m.at, m.state = j+1, 2
				return false
			}
		default:
			m.state = 3
			return false
		}
	}
	if j >= len(s) || s[j] != '"' {
		m.state = 3
		return false
	}
	end, f := m.p.str(j, true, true)
	if end < 0 {
		m.state = 3
		return false
	}
	if f&broken != 0 {
		m.p.mendString(f, j)
	}
	m.key = s[j+1 : end]
	j = skipSpace(s, end+1)
	if j >= len(s) || s[j] != ':' {
		m.state = 3
		return false
	}
	m.at = skipSpace(s, j+1)
	m.p.far = m.at
	return true
}

// skip moves past the value.
func (m *members) skip() bool {
	n := m.p.skipValue(m.at, true, m.depth+1)
	if n < 0 {
		m.state = 3
		return false
	}
	m.at = n
	return true
}

// end is the position after the object, -1 when it is broken.
func (m *members) end() int {
	if m.state != 2 {
		return -1
	}
	return m.at
}
