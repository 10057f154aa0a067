package viewer

import "overlay/internal/wire"

// spec takes what render stages refer to: their kinds, and the queues that they run on.
func (s *sequence) spec(f *wire.Fields) {
	wire.Each(f.S, func(g *wire.Fields) {
		if g.Num == 1 {
			s.specs[g.V] = true
		}
	})
}

// stage takes a GpuRenderStageEvent, as gpu_event_parser.cc does: one whose queue was not sent is dropped without a word. The viewer's
// tables of kernels are made of them; what they say stands in slices too, and nothing more is read here.
func (rd *reader) stage(p []byte, s *sequence) {
	var queue, kind uint64
	wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 13:
			queue = f.V
		case 14:
			kind = f.V
		}
	})
	switch {
	case !s.specs[queue]:
		rd.problem("render_stage_without_queue")
	case !s.specs[kind]:
		rd.problem("render_stage_without_kind")
	}
}
