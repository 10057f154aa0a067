package chrome

import (
	"strconv"
	"unicode/utf8"
)

// Arg is one typed argument: Int, Str when IsStr, or Int as ns written in µs when IsTime.
type Arg struct {
	Key    string
	Int    int64
	Str    string
	IsStr  bool
	IsTime bool
}

// Slice is a complete event (ph X). Times are ns.
type Slice struct {
	Name, Category string
	PID, TID       int64
	Start, Dur     int64
	Args           []Arg
}

// AppendSlice appends a slice as JSON.
func AppendSlice(dst []byte, s *Slice) []byte {
	dst = append(dst, `{"ph":"X","cat":`...)
	dst = AppendString(dst, s.Category)
	dst = append(dst, `,"name":`...)
	dst = AppendString(dst, s.Name)
	dst = appendRow(dst, s.PID, s.TID)
	dst = append(dst, `,"ts":`...)
	dst = AppendMicros(dst, s.Start)
	dst = append(dst, `,"dur":`...)
	dst = AppendMicros(dst, s.Dur)
	return append(appendArgList(dst, s.Args), '}')
}

// Flow is one end of an arrow.
type Flow struct {
	Name, Category string
	ID             int64
	PID, TID, TS   int64 // ns
	Finish         bool  // ph f; else s
	Next           bool  // a finish that binds to the slice of its row that begins next
	Args           []Arg
}

// AppendFlow appends the end of an arrow as JSON. Both ends bind to the innermost slice around them, but for Next.
func AppendFlow(dst []byte, f *Flow) []byte {
	if f.Next {
		dst = append(dst, `{"ph":"f","id":`...)
	} else if f.Finish {
		dst = append(dst, `{"ph":"f","bp":"e","id":`...)
	} else {
		dst = append(dst, `{"ph":"s","id":`...)
	}
	dst = strconv.AppendInt(dst, f.ID, 10)
	dst = append(dst, `,"cat":`...)
	dst = AppendString(dst, f.Category)
	dst = append(dst, `,"name":`...)
	dst = AppendString(dst, f.Name)
	dst = appendRow(dst, f.PID, f.TID)
	dst = append(dst, `,"ts":`...)
	dst = AppendMicros(dst, f.TS)
	return append(appendArgList(dst, f.Args), '}')
}

// Meta is a metadata event (ph M): a name or sort index of a process or thread.
type Meta struct {
	Kind     string // process_name, process_sort_index, thread_name, thread_sort_index
	Category string // "" for none
	PID, TID int64
	Args     []Arg
}

// AppendMeta appends a metadata event as JSON.
func AppendMeta(dst []byte, m *Meta) []byte {
	dst = append(dst, `{"ph":"M","name":`...)
	dst = AppendString(dst, m.Kind)
	if m.Category != "" {
		dst = append(dst, `,"cat":`...)
		dst = AppendString(dst, m.Category)
	}
	dst = appendRow(dst, m.PID, m.TID)
	dst = append(dst, `,"ts":0`...)
	return append(appendArgList(dst, m.Args), '}')
}

// AppendCounter appends a value of a counter as JSON. The viewer names its row after name and key.
func AppendCounter(dst []byte, category, name, key string, pid, ts int64, value float64) []byte {
	dst = append(dst, `{"ph":"C","cat":`...)
	dst = AppendString(dst, category)
	dst = append(dst, `,"name":`...)
	dst = AppendString(dst, name)
	dst = append(dst, `,"pid":`...)
	dst = strconv.AppendInt(dst, pid, 10)
	dst = append(dst, `,"ts":`...)
	dst = AppendMicros(dst, ts)
	dst = append(dst, `,"args":{`...)
	dst = AppendString(dst, key)
	dst = append(dst, ':')
	dst = strconv.AppendFloat(dst, value, 'f', -1, 64)
	return append(dst, '}', '}')
}

func appendRow(dst []byte, pid, tid int64) []byte {
	dst = append(dst, `,"pid":`...)
	dst = strconv.AppendInt(dst, pid, 10)
	dst = append(dst, `,"tid":`...)
	return strconv.AppendInt(dst, tid, 10)
}

func appendArgList(dst []byte, args []Arg) []byte {
	if len(args) == 0 {
		return dst
	}
	dst = append(dst, `,"args":{`...)
	dst = AppendMembers(dst, args)
	return append(dst, '}')
}

// AppendMembers appends arguments as members of a JSON object, without its braces.
func AppendMembers(dst []byte, args []Arg) []byte {
	for i := range args {
		a := &args[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, a.Key)
		dst = append(dst, ':')
		switch {
		case a.IsStr:
			dst = AppendString(dst, a.Str)
		case a.IsTime:
			dst = AppendMicros(dst, a.Int)
		default:
			dst = strconv.AppendInt(dst, a.Int, 10)
		}
	}
	return dst
}

const hex = "0123456789abcdef"

// AppendString appends a JSON string. Bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		dst = append(dst, s[done:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		}
		i++
		done = i
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}
