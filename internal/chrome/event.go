package chrome

// Edit says what changes in an event that is copied. The zero value changes nothing.
type Edit struct {
	Args    int                   // offset of the value of args, 0 when the event has none
	Members []byte                // members to add to args, as JSON without braces: "critical":1,"cdg_node":4
	Drop    func(key []byte) bool // members of args to leave out; nil drops none
	PID     []byte                // new tokens of pid and tid; nil leaves them
	TID     []byte
}

// AppendEvent appends the event raw, from '{' to '}', with the changes of e. Every byte that no change touches is
// copied. An args that is null becomes an object; one of another type is left alone and gets no members.
func AppendEvent(dst, raw []byte, e *Edit) []byte {
	at := 0 // copied so far
	editArgs := len(e.Members) > 0 || e.Drop != nil && e.Args > 0
	if e.PID == nil && e.TID == nil && editArgs && e.Args > 0 {
		dst = append(dst, raw[:e.Args]...)
		dst, at = appendArgs(dst, raw, e)
		return append(dst, raw[at:]...)
	}
	for i := 1; e.PID != nil || e.TID != nil; {
		m, ok := NextMember(raw, i)
		if !ok {
			break
		}
		i = m.End
		var token []byte
		switch {
		case editArgs && m.At == e.Args:
			dst = append(dst, raw[at:m.At]...)
			dst, at = appendArgs(dst, raw, e)
		case string(m.Key) == "pid":
			token = e.PID
		case string(m.Key) == "tid":
			token = e.TID
		}
		if token != nil {
			dst = append(dst, raw[at:m.At]...)
			dst = append(dst, token...)
			at = m.End
		}
	}
	if editArgs && e.Args == 0 {
		return appendNewArgs(dst, raw, at, e.Members)
	}
	return append(dst, raw[at:]...)
}

// appendNewArgs gives an event without args some.
func appendNewArgs(dst, raw []byte, at int, members []byte) []byte {
	end := len(raw) - 1 // the closing brace
	for end > at && SkipSpace(raw[end-1:end], 0) == 1 {
		end--
	}
	dst = append(dst, raw[at:end]...)
	if raw[end-1] != '{' && raw[end-1] != ',' {
		dst = append(dst, ',', ' ')
	}
	dst = append(dst, `"args":{`...)
	dst = append(dst, members...)
	dst = append(dst, '}')
	return append(dst, raw[end:]...)
}

// appendArgs copies the value of args with its changes, and returns the position behind it.
func appendArgs(dst, raw []byte, e *Edit) ([]byte, int) {
	end := SkipValue(raw, e.Args)
	args := raw[e.Args:end]
	switch {
	case isObject(args):
		return AppendObject(dst, args, e.Drop, e.Members), end
	case string(args) == "null" && len(e.Members) > 0:
		return AppendObject(dst, []byte("{}"), nil, e.Members), end
	}
	return append(dst, args...), end
}

func isObject(b []byte) bool { return len(b) > 1 && b[0] == '{' && b[len(b)-1] == '}' }

// AppendObject appends the object obj without the members that drop names (nil: none), and with others behind its
// last.
func AppendObject(dst, obj []byte, drop func(key []byte) bool, members []byte) []byte {
	empty := SkipSpace(obj, 1) == len(obj)-1
	if drop != nil {
		obj, empty = dropMembers(obj, drop)
	}
	if len(members) == 0 {
		return append(dst, obj...)
	}
	last := len(obj) - 1
	for last > 1 && SkipSpace(obj[last-1:last], 0) == 1 {
		last--
	}
	dst = append(dst, obj[:last]...)
	if !empty {
		dst = append(dst, ',', ' ')
	}
	dst = append(dst, members...)
	return append(dst, obj[last:]...)
}

// dropMembers returns an object without some members, and whether it is empty then. It is the object itself where
// nothing is dropped.
func dropMembers(obj []byte, drop func([]byte) bool) (out []byte, empty bool) {
	changed, n := false, 0
	out = append(make([]byte, 0, len(obj)), '{')
	for at := 1; ; {
		m, ok := NextMember(obj, at)
		if !ok {
			if !changed {
				return obj, n == 0
			}
			return append(out, obj[at:]...), n == 0 // white space, brace
		}
		if drop(m.Key) {
			changed = true
		} else {
			if n == 0 { // the first that stays needs no comma
				at = behindComma(obj, at)
			}
			out = append(out, obj[at:m.End]...)
			n++
		}
		at = m.End
	}
}

// behindComma is the position behind the comma that separates members, if one stands there.
func behindComma(b []byte, i int) int {
	if k := SkipSpace(b, i); k < len(b) && b[k] == ',' {
		return k + 1
	}
	return i
}
