package vendors

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// renamed is, by the name of a library, the one that its names are of: where a vendor's library has the names of another one's, and that
// vendor is not there. list are the vendors of a trace.
func renamed(list []string) map[string]string {
	as := map[string]string{}
	for i := range known.vendors {
		for k := range known.vendors[i].Libraries {
			l := &known.vendors[i].Libraries[k]
			switch there := slices.Contains(list, known.vendors[i].Name); {
			case there && l.NamedAs == "":
				as[l.Name] = l.Name
			case there && as[l.NamedAs] == "":
				as[l.NamedAs] = l.Name
			}
		}
	}
	return as
}

// Renamed are the libraries of collectives that a trace has under the names of other ones', by those. syms are its strings, categories
// among them.
func Renamed(syms []string) map[string]string {
	return renamed(Seen(func(category string) bool { return slices.Contains(syms, category) }, syms))
}

// LibraryOf is the library whose names a communication kernel has, "" where none is known by a name of its own.
func LibraryOf(kernel string) string {
	kernel = strings.ToLower(kernel)
	for _, l := range Libraries() {
		if l.Name == "" || l.Kernels == "" {
			continue
		}
		for word := range strings.SplitSeq(l.Kernels, "|") {
			if slices.ContainsFunc(spellings(word), func(s string) bool { return strings.Contains(kernel, s) }) {
				return l.Name
			}
		}
	}
	return ""
}

// operations are how libraries of collectives spell what their kernels do. The first that occurs in a name holds, so longer words come
// before those that they contain.
var operations = []string{"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "Broadcast", "SendRecv", "Barrier", "Reduce", "Gather", "Scatter", "Send", "Recv"}

// operation finds a collective in the name of a kernel: ncclDevKernel_AllReduce_Sum_bf16_RING_LL.
var operation = regexp.MustCompile(`(?i)all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|send_?recv|reduce|send|recv`)

// OperationIn is the part of the name of a kernel that says which collective it is, in lower case and without underscores; "" where the
// library has one kernel for several, as RCCL's ncclDevKernel_Generic.
func OperationIn(kernel string) string {
	return strings.ToLower(strings.ReplaceAll(operation.FindString(kernel), "_", ""))
}

// OperationWords spells what PyTorch recorded of a collective, such as _allgather_base, as libraries do; what is not known stays as it is.
func OperationWords(recorded string) string {
	plain := strings.ToLower(strings.ReplaceAll(recorded, "_", ""))
	for _, word := range operations {
		if strings.Contains(plain, strings.ToLower(word)) {
			return word
		}
	}
	return recorded
}

// Seen names the vendors and then the libraries whose marks a trace has.
func Seen(has func(category string) bool, names []string) (list []string) {
	for i := range known.vendors {
		if v := &known.vendors[i]; v.Marks.found(has, names) {
			list = append(list, v.Name)
		}
	}
	as := renamed(list)
	for _, l := range Libraries() {
		if name := cmp.Or(as[l.Name], l.Name); l.Marks.found(has, names) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
