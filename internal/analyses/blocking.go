package analyses

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// BlockingCall groups synchronising calls by what made them.
type BlockingCall struct {
	Call     string `json:"call"`
	Operator string `json:"operator" about:"outermost known cause around it, such as aten::item; else the innermost operator"`
	Caller   string `json:"caller" about:"innermost Python frame of the user's code"`
	Count    int    `json:"count" unit:"count"`
	Waited   int    `json:"waited" unit:"count" about:"calls that really waited for the GPU"`
	NS       int64  `json:"ns" unit:"ns" about:"inside the calls"`
	WaitNS   int64  `json:"waited_ns" unit:"ns" about:"of it, until the operation that they waited for had ended"`
	Critical int64  `json:"critical_ns" unit:"ns"`
	Hint     string `json:"hint,omitempty" about:"what to do"`
}

// causes are operators that block by their nature, with what to do about them.
var causes = map[string]string{
	"aten::item":                "reads a value back to Python: keep it on the GPU, or read it once a step",
	"aten::_local_scalar_dense": "reads a value back to Python: keep it on the GPU, or read it once a step",
	"aten::nonzero":             "its result's size is known only on the GPU: use a mask or torch.where",
	"aten::is_nonzero":          "a Python condition on a tensor: use torch.where",
	"aten::copy_":               "copies to pageable memory wait: pin the memory and copy with non_blocking=True",
	"aten::masked_select":       "its result's size is known only on the GPU: use a mask or torch.where",
	"aten::unique_dim":          "its result's size is known only on the GPU",
}

// blocking lists the calls that can wait for the GPU, most critical time first, then most time.
func blocking(s *Set, o Options) []BlockingCall {
	o = o.withDefaults()
	d := s.graph
	caller := critpath.CallerOf(s.graph)
	verbs := make([]vendors.Verb, len(s.Trace.Syms))
	for i, n := range s.Trace.Syms {
		verbs[i] = vendors.VerbOf(n)
	}
	cause := s.causeAround()
	type key struct {
		call, op trace.Sym
		caller   string
	}
	at := map[key]int{}
	callers := map[trace.Sym]string{} // frames of one function differ in the address of its object
	var out []BlockingCall
	for i := range s.Host {
		h := &s.Host[i]
		if !h.Kind.Call() {
			continue
		}
		wait, waited := Interval{}, false
		if a := d.ActOf[h.Event]; a != cdg.NoAct {
			wait, waited = s.waitOf(a)
		}
		if !waited && !verbs[h.Name].Blocks() {
			continue
		}
		frame := caller(h.Event)
		if _, known := callers[frame]; !known {
			callers[frame] = critpath.NormalName(s.Trace.Str(frame))
		}
		k := key{h.Name, cause(int32(i)), callers[frame]}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			b := BlockingCall{Call: s.Trace.Str(k.call), Operator: s.Trace.Str(k.op), Caller: k.caller}
			b.Hint = causes[b.Operator]
			if b.Hint == "" && verbs[k.call] == vendors.EventSync {
				b.Hint = "Event.synchronize: let a stream wait for the event instead"
			}
			out = append(out, b)
		}
		b := &out[n]
		b.Count++
		b.NS += h.End - h.Start
		b.Critical += s.criticalOf(h.Event)
		if waited {
			b.Waited++
			b.WaitNS += wait.End - wait.Start
		}
	}
	slices.SortFunc(out, func(a, b BlockingCall) int {
		return cmp.Or(cmp.Compare(b.Critical, a.Critical), cmp.Compare(b.NS, a.NS), cmp.Compare(a.Call, b.Call), cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Caller, b.Caller))
	})
	return head(out, o.Top)
}

// causeAround returns what names the outermost operator with a known cause around a call, else the innermost operator;
// 0 without one.
func (s *Set) causeAround() func(call int32) trace.Sym {
	type around struct{ known, inner trace.Sym } // at a slice or around it
	list := make([]around, len(s.Host))
	for i := range s.Host {
		h, a := &s.Host[i], &list[i]
		if h.Parent >= 0 {
			*a = list[h.Parent] // a parent comes before its children
		}
		if h.Kind != trace.CPUOp {
			continue
		}
		a.inner = h.Name
		if a.known == 0 && causes[s.Trace.Str(h.Name)] != "" {
			a.known = h.Name
		}
	}
	return func(call int32) trace.Sym {
		p := s.Host[call].Parent
		switch {
		case p < 0:
			return 0
		case list[p].known != 0:
			return list[p].known
		}
		return list[p].inner
	}
}
