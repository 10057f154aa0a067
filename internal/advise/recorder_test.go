package advise

import (
	"strings"
	"testing"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// TestOtherRecorders: who did not record with PyTorch's profiler is not told of its settings, and who runs JAX of nothing that is PyTorch's.
func TestOtherRecorders(t *testing.T) {
	for _, c := range []struct {
		by         trace.Recorder
		not, names string
	}{
		{vendors.PyTorch, "jax", "record_function profile(schedule"},
		{vendors.XLA, "torch profile( record_function bucket_cap_mb", "jax.profiler.TraceAnnotation jax.profiler.StepTraceAnnotation xla_gpu"},
		{vendors.NsightSystems, "torch.profiler profile( record_function", "nvtx NVTX"},
		{vendors.Rocprof, "torch.profiler profile( record_function", "roctx"},
	} {
		var words []string
		var a *Advice
		for id, plant := range map[string]func(*scene){
			"unseen-time":  func(s *scene) { s.annotate("my phase", 50_000_000, nothing) },
			"comm-exposed": func(s *scene) { s.allReduce(20_000_000, 1<<32, true) },
		} {
			s := newScene()
			s.work(1)
			plant(s)
			s.work(1)
			tr := s.b.Parse(t)
			tr.Recorder = c.by
			a = adviseOn(t, tr)
			f := a.find(id)
			if f == nil {
				t.Fatalf("%d: no %s among %v", c.by, id, a.ids())
			}
			words = append(append(words, f.Do), f.Action...)
		}
		for _, u := range a.Unknown {
			words = append(words, u.Record)
		}
		all := strings.Join(words, "\n")
		for w := range strings.FieldsSeq(c.not) {
			if strings.Contains(all, w) {
				t.Errorf("%d: speaks of %s:\n%s", c.by, w, all)
			}
		}
		for w := range strings.FieldsSeq(c.names) {
			if !strings.Contains(all, w) {
				t.Errorf("%d: nothing of %s:\n%s", c.by, w, all)
			}
		}
	}
}
