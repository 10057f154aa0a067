package vendors

import (
	"regexp"
	"slices"
	"strings"

	"overlay/internal/trace"
)

// index answers questions about one table. Questions about names cost as much as a search: ask once a symbol.
type index struct {
	vendors    []Vendor
	kinds      map[string]trace.Kind
	names      map[string]Verb // of calls
	calls      []Call          // with parts, by verb
	endings    []string
	named      map[string]map[string]trace.Kind // per category whose names tell kinds
	collective *regexp.Regexp
	speltOut   []string // all that collective matches, in lower case
}

// known is the index of the table. It is complete before any package that imports this one is initialised.
var known = newIndex(table)

func newIndex(vendors []Vendor) *index {
	x := &index{vendors: vendors, kinds: map[string]trace.Kind{}, names: map[string]Verb{}, named: map[string]map[string]trace.Kind{}}
	for i := range vendors {
		v := &vendors[i]
		for kind, list := range v.Categories {
			for _, c := range list {
				x.kinds[c] = kind
			}
		}
		if v.Named != "" {
			x.named[v.Named] = v.Names
		}
		for _, c := range v.Calls {
			for _, name := range c.Names {
				x.names[name] = c.Verb
			}
			if len(c.Parts) > 0 {
				x.calls = append(x.calls, c)
			}
		}
		x.endings = append(x.endings, v.Endings...)
	}
	slices.SortStableFunc(x.calls, func(a, b Call) int { return int(a.Verb) - int(b.Verb) })
	pattern := strings.Join(x.ofLibraries(func(l *Library) string { return l.Kernels }), "|")
	x.collective = regexp.MustCompile(`(?i)` + pattern)
	for word := range strings.SplitSeq(pattern, "|") {
		x.speltOut = append(x.speltOut, spellings(word)...)
	}
	return x
}

// spellings lists what a pattern of letters matches, each of which may be followed by a question mark.
func spellings(pattern string) []string {
	i := strings.IndexByte(pattern, '?')
	if i < 0 {
		if strings.ContainsAny(pattern, `\.+*()[]{}^$`) {
			panic("vendors: internal error: " + pattern + " is no pattern of letters")
		}
		return []string{strings.ToLower(pattern)}
	}
	rest := pattern[i+1:]
	return append(spellings(pattern[:i-1]+rest), spellings(pattern[:i]+rest)...)
}

// KindOf is the kind of events of a category, KindOther for one that nobody is known to write.
func KindOf(category string) trace.Kind {
	category = strings.ToLower(category)
	if k, ok := known.kinds[category]; ok {
		return k
	}
	_, what, _ := strings.Cut(category, "_")
	return forked[what]
}

// forked are the kinds of categories in the forks of Kineto that makers of devices keep: the maker's word stands in place of cuda or gpu
// (ActivityType.cpp of Moore Threads, Cambricon, Enflame; musa_runtime, mlu_memcpy, GCU_USER_ANNOTATION).
var forked = map[string]trace.Kind{"runtime": trace.Runtime, "driver": trace.Driver, "memcpy": trace.Memcpy, "memset": trace.Memset,
	"user_annotation": trace.GPUAnnotation}

// KindsByName are the kinds of events of a category by their names, where the names tell them; nil elsewhere.
func KindsByName(category string) map[string]trace.Kind { return known.named[category] }

// VerbOf says what a call does, by its name.
func VerbOf(name string) Verb {
	verb, _ := known.call(name)
	return verb
}

// HintOf is the part of the name of a call that says what the call does, "" if none does or the whole name is needed.
func HintOf(name string) string {
	_, parts := known.call(name)
	return strings.Join(parts, "")
}

func (x *index) call(name string) (Verb, []string) {
	for _, e := range x.endings {
		name = strings.TrimSuffix(name, e)
	}
	if v := x.names[name]; v != NoVerb {
		return v, nil
	}
	for i := range x.calls {
		if c := &x.calls[i]; containsAll(name, c.Parts) {
			return c.Verb, c.Parts
		}
	}
	return NoVerb, nil
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// IsCollective reports whether a kernel of that name communicates. Names of kernels are long and there are many: a search
// for each spelling is some twenty times as fast as the pattern.
func IsCollective(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(known.speltOut, func(s string) bool { return strings.Contains(name, s) })
}

// CollectiveIn is the part of a name that speaks of a collective, "" if none does.
func CollectiveIn(name string) string { return known.collective.FindString(name) }

// found reports whether a trace has marks.
func (m *Marks) found(has func(category string) bool, names []string) bool {
	return slices.ContainsFunc(m.Categories, has) || len(m.Starts) > 0 && slices.ContainsFunc(names, func(n string) bool {
		return slices.ContainsFunc(m.Starts, func(s string) bool { return strings.HasPrefix(n, s) })
	})
}

// CanRecordWaits reports whether the profiler could have been asked to record what waited for what: not where all vendors whose marks a
// trace has are known to have no such records. syms are its strings, categories among them.
func CanRecordWaits(syms []string) bool {
	has := func(category string) bool { return slices.Contains(syms, category) }
	seen := false
	for i := range known.vendors {
		if v := &known.vendors[i]; v.Marks.found(has, syms) {
			if seen = true; v.SyncsAsked {
				return true
			}
		}
	}
	return !seen
}

// Interface is the number that Perfetto gives to the programming interface of a call by its name; 0 where it has none.
func Interface(call string) int {
	for i := range table {
		for _, start := range table[i].Marks.Starts {
			if strings.HasPrefix(call, start) {
				return table[i].Interface
			}
		}
	}
	return 0
}

// CallCategory is Kineto's category for a call of CUDA that is known by its name alone: calls of the driver begin with cu and
// a capital.
func CallCategory(name string) string {
	if rest, ok := strings.CutPrefix(name, "cu"); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
		return "cuda_driver"
	}
	return "cuda_runtime"
}

// PythonFrame is the name that PyTorch gives a frame of Python whose name is XLA's: "train.py(12): step" of "$train.py:12 step". Other names
// are left as they are.
func PythonFrame(name string) (frame string, ok bool) {
	frame, ok = strings.CutPrefix(name, "$")
	place, function, _ := strings.Cut(frame, " ")
	if file, line, has := strings.Cut(place, ":"); ok && has && function != "" {
		frame = file + "(" + line + "): " + function
	}
	return frame, ok
}

// WrittenFrame is the name that XLA gives a frame of Python, by PyTorch's.
func WrittenFrame(name string) string {
	if place, function, ok := strings.Cut(name, "): "); ok {
		if i := strings.LastIndexByte(place, '('); i >= 0 {
			name = place[:i] + ":" + place[i+1:] + " " + function
		}
	}
	return "$" + name
}

// Recording is what a frame of Python does with the profiler that records it.
type Recording uint8

// What it may do.
const (
	Starts Recording = 1 + iota
	Stops
)

// RecordingOf reads the name of a frame of jax.profiler, which is named without folders. Both are in the recording, and last as long as many
// steps: JAX makes its buffers in the one and gathers what devices recorded in the other.
func RecordingOf(frame string) Recording {
	rest, ok := strings.CutPrefix(frame, "profiler.py(")
	switch _, function, _ := strings.Cut(rest, "): "); {
	case ok && function == "start_trace":
		return Starts
	case ok && function == "stop_trace":
		return Stops
	}
	return 0
}

// DeviceOf names a device by its properties where the profiler left its name empty, as ROCm does in containers without the file that has the
// names; "" where the properties are those of several. Recorded traces with a name have the same numbers.
func DeviceOf(major, minor, units, bytes int64) string {
	if major == 9 && minor == 4 && units == 304 && bytes>>30 == 191 { // gfx942; MI325X has as many units and more memory
		return "AMD Instinct MI300X"
	}
	return ""
}

// gather joins lists of all vendors.
func gather[T any](of func(*Vendor) []T) (list []T) {
	for i := range known.vendors {
		list = append(list, of(&known.vendors[i])...)
	}
	return list
}

// ofLibraries lists what some libraries have, each once.
func (x *index) ofLibraries(of func(*Library) string) (list []string) {
	for i := range x.vendors {
		for k := range x.vendors[i].Libraries {
			if s := of(&x.vendors[i].Libraries[k]); s != "" && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

// Libraries are all libraries of collectives.
func Libraries() []Library {
	return gather(func(v *Vendor) []Library { return v.Libraries })
}
