package report

import (
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// How to record what is missing is said in the words of the profiler that recorded, and as PyTorch's only of its own traces.
func TestHowToRecord(t *testing.T) {
	for _, c := range []struct {
		reason critpath.Reason
		by     trace.Recorder
		waits  bool // the device has records of waits
		want   string
	}{
		{critpath.PythonUnrecorded, vendors.PyTorch, true, "with_stack=True"},
		{critpath.PythonUnrecorded, vendors.XLA, true, "jax.profiler.TraceAnnotation"},
		{critpath.OutsidePython, vendors.XLA, true, "jax.profiler.TraceAnnotation"},
		{critpath.CallsOnly, vendors.PyTorch, true, "CPU activities"},
		{critpath.CallsOnly, vendors.NsightSystems, true, "NVTX"},
		{critpath.CallsOnly, vendors.Rocprof, true, "roctx"},
		{critpath.HostNotRecorded, vendors.Rocprof, true, "--runtime-trace"},
		{critpath.HostNotRecorded, vendors.PyTorch, true, "calls of the host"},
		{critpath.NoReason, vendors.PyTorch, true, "enable_cuda_sync_events"},
		{critpath.NoReason, vendors.PyTorch, false, "no setting"},
		{critpath.NoReason, vendors.XLA, true, "no setting"},
		{critpath.EventNotRecorded, vendors.PyTorch, true, "enable_cuda_sync_events"},
		{critpath.EventNotRecorded, vendors.NsightSystems, true, "record all processes that share the device"},
		{critpath.QueuedBefore, vendors.XLA, true, "synchronise the device"},
	} {
		got := howToRecord(c.reason, c.by, func() bool { return c.waits })
		if !strings.Contains(got, c.want) || c.by != vendors.PyTorch && strings.Contains(got, "enable_cuda") {
			t.Errorf("%v by %d: %q, want %q", c.reason, c.by, got, c.want)
		}
	}
}
