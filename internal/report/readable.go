package report

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// collective reads the names of kernels of one library: collective, then what else the library says of it.
type collective struct {
	library string
	re      *regexp.Regexp
}

var collectives = func() (list []collective) {
	for _, l := range vendors.Libraries() {
		if l.Kernel != "" {
			list = append(list, collective{l.Name, regexp.MustCompile(`^(?:void )?(?:` + l.Kernel + `)([A-Za-z]+)(?:_(.*?))?(?:\(.*)?$`)})
		}
	}
	return list
}()

var namespaces = vendors.Namespaces()

// unnamed takes out namespaces without a name, as demanglers write them: the second is Nsight Systems'.
var unnamed = strings.NewReplacer("(anonymous namespace)::", "", "<unnamed>::", "")

// Readable makes the name of a kernel fit for a table: return types, namespaces of PyTorch, template and call arguments
// are folded; kernels of libraries of collectives read as library, collective, operation, type, algorithm.
func Readable(name string) string { return Names(nil).Readable(name) }

// Names are the libraries of collectives that a trace has under the names of other ones', by those: RCCL by NCCL.
type Names map[string]string

// NamesOf are those of a trace.
func NamesOf(tr *trace.Trace) Names { return vendors.Renamed(tr.Syms) }

// Readable is a name as [Readable] makes it, with the library that it is of.
func (n Names) Readable(name string) string {
	if name == trace.StepPrefix+"*" { // all steps
		return strings.TrimSuffix(trace.StepPrefix, "#")
	}
	for _, c := range collectives {
		if m := c.re.FindStringSubmatch(name); m != nil {
			parts := []string{n.library(c.library), m[1]}
			for _, w := range strings.Split(strings.TrimSuffix(m[2], "_t"), "_") { // as in int8_t
				if w != "" {
					parts = append(parts, w)
				}
			}
			return strings.Join(parts, " ")
		}
	}
	if s := demangled(name); s != "" {
		return s
	}
	if m := tail.FindStringSubmatchIndex(name); m != nil {
		for k := 2; k < len(m); k += 2 { // one pattern fits, and it has one group
			if m[k] >= 0 {
				return name[:m[0]] + " " + name[m[k]:m[k+1]] + name[m[1]:]
			}
		}
	}
	if !strings.ContainsAny(name, "<(") || strings.HasPrefix(name, "Mem") || strings.Contains(name, ".py(") || strings.HasPrefix(name, "<") || strings.HasPrefix(name, "enumerate(") {
		return name
	}
	s := fold(unnamed.Replace(strings.TrimPrefix(name, "void ")))
	for _, ns := range namespaces {
		s = strings.ReplaceAll(s, ns, "")
	}
	if s == "" {
		return name
	}
	return s
}

func (n Names) library(name string) string { return cmp.Or(n[name], name) }

// Hotspot is a hotspot as it is shown: a kernel that does all collectives of a library by the one that is recorded.
func (n Names) Hotspot(h *critpath.Hotspot) string {
	switch readable := n.Readable(h.Name); {
	case h.Collective != "":
	case vendors.IsCollective(h.Name) && vendors.OperationIn(h.Name) == "":
		return readable + " (which is not recorded)"
	default:
		return readable
	}
	return strings.TrimSpace(n.library(vendors.LibraryOf(h.Name)) + " " + vendors.OperationWords(h.Collective))
}

// ReadableList is several names in order.
func (n Names) ReadableList(names []string) string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = n.Readable(name)
	}
	return strings.Join(short, tables.Arrow)
}

// fold keeps the outermost template argument that names something ("CUDAFunctor_add") and drops the rest.
func fold(s string) string {
	i := strings.IndexAny(s, "<(")
	if i <= 0 {
		return s
	}
	base := s[:i]
	if name := base[strings.LastIndexByte(base, ':')+1:]; s[i] == '<' && strings.EqualFold(strings.TrimRight(name, "0123456789"), "kernel") {
		if inner := innerName.FindString(s[i+1:]); inner != "" { // the name of a kernel that says no more than what it is
			return inner
		}
	}
	if f := work(s[i:]); f != "" && !strings.Contains(base, f) {
		return base + "<" + f + ">"
	}
	if s[i] == '<' {
		return base + "<…>"
	}
	return base
}

// work is what template arguments say that a kernel does: the first functor that does not pass the work on.
func work(args string) string {
	all := functor.FindAllString(args, 8)
	for _, f := range all {
		if !slices.Contains(wrappers, f) {
			return f
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return ""
}

// demangled is the function that a symbol of C++ names, without its namespaces, template arguments and parameters; "" for
// what is no such symbol. The form of symbols is that of the Itanium C++ ABI: _Z, N for a nested name, then lengths and
// identifiers.
func demangled(symbol string) string {
	s, ok := strings.CutPrefix(symbol, "_Z")
	if !ok {
		return ""
	}
	s = strings.TrimLeft(s, "NKV")
	last := ""
	for {
		n := 0
		for len(s) > 0 && s[0] >= '0' && s[0] <= '9' && n < len(symbol) {
			n, s = 10*n+int(s[0]-'0'), s[1:]
		}
		if n == 0 || n > len(s) {
			break
		}
		last, s = s[:n], s[n:]
	}
	if last != "" && strings.HasPrefix(s, "I") {
		last += "<…>"
	}
	return last
}

// innerName is the name that a template argument begins with.
var innerName = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9:]*`)

var wrappers = vendors.Wrappers()

// tail finds the end of a name of which its group is enough.
var tail = regexp.MustCompile(strings.Join(vendors.Tails(), "|"))

// functor finds what an elementwise kernel does.
var functor = regexp.MustCompile(strings.Join(vendors.Functors(), "|"))

// Shorten cuts the middle out of a name that is longer than n characters.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	if n < 4 {
		return string(r[:max(n, 0)])
	}
	head := (n - 1) * 3 / 5
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}
