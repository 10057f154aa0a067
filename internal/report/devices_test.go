package report_test

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/report"
	"overlay/internal/testtrace"
)

// TestDeviceUse: what runs at once on several streams counts once, and what is launched and waits leaves the queue not empty.
func TestDeviceUse(t *testing.T) {
	const lines = `
op 1 aten::a 0 1000
call 1 cudaLaunchKernel 0 5 1
call 1 cudaLaunchKernel 10 5 2
call 1 cudaLaunchKernel 500 5 3
kernel 7 a 100 100 1
kernel 8 b 150 100 2
kernel 7 c 600 300 3
`
	g, err := graph.Build(testtrace.Lines(t, lines), cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	r := report.New(report.Source{Name: "x", Graph: g, Path: p})
	// Busy 100 to 250 and 600 to 900; something is launched from 0 to 250 and from 500 to 900.
	want := report.DeviceUse{Device: 0, Busy: 450_000, Share: 0.45, Empty: 350_000, None: 0.35}
	if len(r.DeviceUse) != 1 || r.DeviceUse[0] != want {
		t.Errorf("%+v, want %+v", r.DeviceUse, want)
	}
	if got := r.Devices(); got != "GPU 0 busy 45 %, its queue empty 35 %" {
		t.Error(got)
	}
	r.Path.ByKind["gpu_unrecorded"] = r.Window.Duration / 2
	if got := r.Devices(); got != "GPU 0 busy 45 %, its queue empty 35 %, as far as it was recorded" {
		t.Error(got)
	}
	delete(r.Path.ByKind, "gpu_unrecorded")
	r.DeviceUse = append(r.DeviceUse, report.DeviceUse{Device: 1, Share: 0.9}, report.DeviceUse{Device: 2, Share: 0.2, None: 0.8}, report.DeviceUse{Device: 3, Share: 0.5})
	if got := r.Devices(); got != "4 GPUs: from GPU 2 busy 20 %, its queue empty 80 % to GPU 1 busy 90 %, its queue empty 0 %" {
		t.Error(got)
	}
}
