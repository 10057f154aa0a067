package analyses

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
)

// BlockingCall groups synchronising calls by what made them.
type BlockingCall struct {
	Call     string `json:"call"`
	Operator string `json:"operator"` // outermost known cause around it: aten::item, aten::nonzero, aten::copy_, else the innermost operator
	Caller   string `json:"caller"`   // innermost Python frame of the user's code
	Count    int    `json:"count"`
	Waited   int    `json:"waited"`    // calls that really waited for the GPU
	NS       int64  `json:"ns"`        // inside the calls
	WaitNS   int64  `json:"waited_ns"` // of it, until the operation that they waited for had ended
	Critical int64  `json:"critical_ns"`
	Hint     string `json:"hint,omitempty"`
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

// Blocking lists the calls that can wait for the GPU, most critical time first, then most time.
func Blocking(s *Set, o Options) []BlockingCall {
	o = o.withDefaults()
	d := s.graph
	caller := critpath.CallerOf(s.graph)
	blocks := make([]bool, len(s.Trace.Syms))
	for i, n := range s.Trace.Syms {
		blocks[i] = strings.Contains(n, "Synchronize") || strings.Contains(n, "synchronizeStream")
	}
	type key struct{ call, op, caller kineto.Sym }
	at := map[key]int{}
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
		if !waited && !blocks[h.Name] {
			continue
		}
		k := key{h.Name, s.causeOf(int32(i)), caller(h.Event)}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			b := BlockingCall{Call: s.Trace.Str(k.call), Operator: s.Trace.Str(k.op), Caller: critpath.NormalName(s.Trace.Str(k.caller))}
			b.Hint = causes[b.Operator]
			if b.Hint == "" && strings.Contains(b.Call, "EventSynchronize") {
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

// causeOf names the outermost operator with a known cause around a call, else the innermost operator; 0 without one.
func (s *Set) causeOf(i int32) kineto.Sym {
	var known, inner kineto.Sym
	for p := s.Host[i].Parent; p >= 0; p = s.Host[p].Parent {
		if s.Host[p].Kind != kineto.CPUOp {
			continue
		}
		name := s.Host[p].Name
		if inner == 0 {
			inner = name
		}
		if causes[s.Trace.Str(name)] != "" {
			known = name
		}
	}
	if known != 0 {
		return known
	}
	return inner
}
