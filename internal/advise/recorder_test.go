package advise

import (
	"strings"
	"testing"
)

// TestOtherRecorders: who did not record with PyTorch's profiler is not told of its settings, and who runs JAX of nothing that is PyTorch's.
func TestOtherRecorders(t *testing.T) {
	for _, c := range []struct{ form, not, names string }{
		{"", "jax", "record_function profile(schedule"},
		{"Perfetto", "jax", "record_function profile(schedule"},
		{"XLA's xplane.pb", "torch profile( record_function bucket_cap_mb", "jax.profiler.TraceAnnotation jax.profiler.StepTraceAnnotation xla_gpu"},
		{"Nsight Systems database", "torch.profiler profile( record_function", "nvtx NVTX"},
		{"rocprofv3 JSON", "torch.profiler profile( record_function", "roctx"},
		{"rocpd database", "torch.profiler profile( record_function", "roctx"},
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
			tr.Recorder = c.form
			a = adviseOn(t, tr)
			f := a.find(id)
			if f == nil {
				t.Fatalf("%s: no %s among %v", c.form, id, a.ids())
			}
			words = append(append(words, f.Do), f.Action...)
		}
		for _, u := range a.Unknown {
			words = append(words, u.Record)
		}
		all := strings.Join(words, "\n")
		for w := range strings.FieldsSeq(c.not) {
			if strings.Contains(all, w) {
				t.Errorf("%s: speaks of %s:\n%s", c.form, w, all)
			}
		}
		for w := range strings.FieldsSeq(c.names) {
			if !strings.Contains(all, w) {
				t.Errorf("%s: nothing of %s:\n%s", c.form, w, all)
			}
		}
	}
}
