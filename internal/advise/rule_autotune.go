package advise

import (
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

const (
	tuneLong   = 2_000_000 // ns
	tuneFactor = 10        // times the median of the same shapes
	tuneTries  = 3         // times as many kernels
	tuneSame   = 3         // convolutions of the same shapes that tell what is usual
)

var _ = add(rule{
	id: "conv-autotune", group: Specific, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "a convolution that takes ten times as long as others of its shapes, and launches three times as many kernels",
	title:    "convolutions try out algorithms inside the window",
	cause:    "with cudnn.benchmark, and in MIOpen, the first convolution of each shape runs all algorithms once and waits for each",
	scenario: "each of these convolutions takes as long as others of its shapes, with as many kernels",
	action: []string{"fixed shapes: pad, or sort into a few sizes", "torch.backends.cudnn.benchmark = False where shapes change all the time",
		"MIOpen: keep its user database between runs (MIOPEN_USER_DB_PATH)"},
	verify: "convolutions of the same shapes take about as long",
	find: func(r *run) *found {
		if !r.tr.Shapes {
			return nil
		}
		type shape struct{ name, dims string }
		same := map[shape][]cdg.ActID{}
		var order []shape
		ops := r.outermost(r.named(opKinds, oneOf("aten::cudnn_convolution", "aten::miopen_convolution", "aten::convolution_backward", "aten::cudnn_convolution_transpose")))
		for _, a := range ops {
			v, ok := r.tr.Arg(r.g.Acts[a].Event, "Input Dims")
			if !ok {
				continue
			}
			s := shape{r.name(a), v.Text}
			if same[s] == nil {
				order = append(order, s)
			}
			same[s] = append(same[s], a)
		}
		in := r.within(ops)
		kernels := map[cdg.ActID][]cdg.ActID{}
		for _, o := range r.ops {
			if c := in.by(o); c != cdg.NoAct {
				kernels[c] = append(kernels[c], o)
			}
		}
		var long, gone []cdg.ActID
		f := &found{change: r.scenario(), do: "fixed shapes, or cudnn.benchmark = False"}
		for _, s := range order {
			list := same[s]
			if len(list) < tuneSame {
				continue
			}
			var durs, launched []int64
			for _, a := range list {
				durs, launched = append(durs, r.dur(a)), append(launched, int64(len(kernels[a])))
			}
			usual, few := median(durs), median(launched)
			for _, a := range list {
				if k := kernels[a]; r.dur(a) > tuneLong && r.dur(a) > tuneFactor*usual && few > 0 && int64(len(k)) >= tuneTries*few {
					long = append(long, a)
					gone = append(gone, k[:len(k)-int(few)]...) // the last are those that were chosen
					f.change.shrink([]cdg.ActID{a}, usual)
				}
			}
		}
		if len(long) == 0 {
			return nil
		}
		slices.Sort(gone)
		f.events = events{list: long}
		f.change.remove(gone)
		f.change.noWait(r.waitsIn(r.within(long)))
		f.saw = fmt.Sprintf("%s, %s", tables.Counted(len(long), "convolution"), tables.Duration(sum(long, r.dur)))
		f.numbers = []Number{countOf("convolutions", len(long)), timeOf("in them", sum(long, r.dur)), countOf("kernels tried", len(gone))}
		return f
	},
})
