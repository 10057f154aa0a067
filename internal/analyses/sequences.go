package analyses

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/trace"
)

// Sequence is a sequence of operations that an operator launches, with how often it occurs.
type Sequence struct {
	Operator string   `json:"operator"`
	Kernels  []string `json:"kernels" about:"by start"`
	Count    int      `json:"count" unit:"count"`
	GPU      int64    `json:"gpu_ns" unit:"ns"`
	CPU      int64    `json:"cpu_ns" unit:"ns"`
	Critical int64    `json:"critical_ns" unit:"ns" about:"of the operators and operations of all occurrences"`
}

// sequences counts frequent kernel sequences (cuda_kernel_analysis.py, get_frequent_cuda_kernel_sequences) below the
// outermost operators, or below the outermost slices whose name contains one of Options.Operators. HTA takes, of the
// matching slices, those of the smallest depth of the whole trace.
func sequences(s *Set, o Options) []Sequence {
	return s.sequencesBelow(s.outermost(o.Operators), o.withDefaults())
}

// sequencesBelow counts the sequences below the slices that are marked.
func (s *Set) sequencesBelow(roots []bool, o Options) []Sequence {
	below := s.operationsBelow(roots)
	known := launchPatterns{}
	var out []Sequence
	for i := range s.Host {
		if !roots[i] || len(below[i]) == 0 {
			continue
		}
		ops := below[i]
		slices.SortFunc(ops, func(a, b int32) int {
			return cmp.Or(cmp.Compare(s.Ops[a].Start, s.Ops[b].Start), cmp.Compare(s.Ops[a].Event, s.Ops[b].Event))
		})
		h := &s.Host[i]
		n := known.number(s, h, ops)
		if n == len(out) {
			out = append(out, Sequence{Operator: s.Trace.Str(h.Name), Kernels: s.namesOf(ops)})
		}
		q := &out[n]
		q.Count++
		q.CPU += h.End - h.Start
		q.Critical += s.criticalOf(h.Event)
		for _, id := range ops {
			q.GPU += s.Ops[id].End - s.Ops[id].Start
			q.Critical += s.criticalOf(s.Ops[id].Event)
		}
	}
	slices.SortFunc(out, func(a, b Sequence) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Operator, b.Operator), slices.Compare(a.Kernels, b.Kernels))
	})
	return head(out, o.Top)
}

// outermost marks the operators that no operator encloses; with names, the slices whose name contains one of them and
// that no such slice encloses.
func (s *Set) outermost(names []string) []bool {
	match := make([]bool, len(s.Trace.Syms))
	for i, n := range s.Trace.Syms {
		match[i] = slices.ContainsFunc(names, func(part string) bool { return strings.Contains(n, part) })
	}
	roots := make([]bool, len(s.Host))
	inside := make([]bool, len(s.Host)) // the slice or one around it is a root
	for i := range s.Host {
		h := &s.Host[i]
		takes := match[h.Name]
		if len(names) == 0 {
			takes = h.Kind == trace.CPUOp
		}
		around := h.Parent >= 0 && inside[h.Parent]
		roots[i] = takes && !around
		inside[i] = takes || around
	}
	return roots
}

// operationsBelow lists for each root the operations that it and the slices inside it launched.
func (s *Set) operationsBelow(roots []bool) [][]int32 {
	below := make([][]int32, len(s.Host))
	root := make([]int32, len(s.Host)) // nearest root around or at the slice
	for i := range s.Host {
		switch p := s.Host[i].Parent; {
		case roots[i]:
			root[i] = int32(i)
		case p >= 0:
			root[i] = root[p]
		default:
			root[i] = -1
		}
		if r := root[i]; r >= 0 && s.Host[i].Kind.Call() {
			below[r] = append(below[r], s.launched(s.Host[i].Event)...)
		}
	}
	return below
}

// Operator is an aten operator with the operations that it launches itself.
type Operator struct {
	Operator    string   `json:"operator"`
	Kernels     []string `json:"kernels" about:"by start"`
	Count       int      `json:"count" unit:"count"`
	LaunchDelay float64  `json:"launch_delay_ns" unit:"ns" about:"mean: start of the operator to its first launch"`
	KernelDelay float64  `json:"kernel_delay_ns" unit:"ns" about:"mean: start of the first launch to its operation"`
	Critical    int64    `json:"critical_ns" unit:"ns"`
}

// operators groups launches by the aten operator right around them (cuda_kernel_analysis.py,
// get_aten_op_kernels_and_delay).
func operators(s *Set, o Options) []Operator {
	aten := make([]bool, len(s.Trace.Syms))
	for i, n := range s.Trace.Syms {
		aten[i] = strings.HasPrefix(n, "aten::")
	}
	type sums struct{ launch, kernel int64 }
	known := launchPatterns{}
	var out []Operator
	var total []sums
	own := make([][]int32, len(s.Host)) // launches whose deepest aten operator it is, in time order
	deepest := make([]int32, len(s.Host))
	for i := range s.Host {
		h, around := &s.Host[i], int32(-1)
		if h.Parent >= 0 {
			around = deepest[h.Parent]
		}
		if around >= 0 && h.Kind.Call() && len(s.launched(h.Event)) > 0 {
			own[around] = append(own[around], int32(i))
		}
		if deepest[i] = around; aten[h.Name] {
			deepest[i] = int32(i)
		}
	}
	for i := range s.Host {
		if len(own[i]) == 0 {
			continue
		}
		h := &s.Host[i]
		var ops []int32
		for _, l := range own[i] {
			ops = append(ops, s.launched(s.Host[l].Event)...)
		}
		n := known.number(s, h, ops)
		if n == len(out) {
			out, total = append(out, Operator{Operator: s.Trace.Str(h.Name), Kernels: s.namesOf(ops)}), append(total, sums{})
		}
		first := &s.Host[own[i][0]]
		out[n].Count++
		out[n].Critical += s.criticalOf(h.Event)
		for _, id := range ops {
			out[n].Critical += s.criticalOf(s.Ops[id].Event)
		}
		total[n].launch += first.Start - h.Start
		total[n].kernel += s.Ops[ops[0]].Start - first.Start
	}
	for n := range out {
		out[n].LaunchDelay = float64(total[n].launch) / float64(out[n].Count)
		out[n].KernelDelay = float64(total[n].kernel) / float64(out[n].Count)
	}
	slices.SortFunc(out, func(a, b Operator) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Operator, b.Operator), slices.Compare(a.Kernels, b.Kernels))
	})
	return head(out, o.withDefaults().Top)
}

// launchPatterns numbers slices by their name and the names of the operations that they launched, in order of first
// appearance.
type launchPatterns map[string]int

func (p launchPatterns) number(s *Set, h *Host, ops []int32) int {
	key := []byte(s.Trace.Str(h.Name))
	for _, id := range ops {
		key = append(append(key, '|'), s.Trace.Str(s.Ops[id].Name)...)
	}
	n, ok := p[string(key)]
	if !ok {
		n = len(p)
		p[string(key)] = n
	}
	return n
}

// namesOf are the names of operations; nil for none.
func (s *Set) namesOf(ops []int32) (names []string) {
	for _, id := range ops {
		names = append(names, s.Trace.Str(s.Ops[id].Name))
	}
	return names
}

// head keeps the first n rows; all when n is negative.
func head[T any](rows []T, n int) []T {
	if n >= 0 && n < len(rows) {
		return rows[:n]
	}
	return rows
}
