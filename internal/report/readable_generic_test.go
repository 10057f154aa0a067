package report_test

import (
	"bytes"
	"strings"
	"testing"

	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/testtrace/reported"
)

// TestGenericKernel: where one kernel does all collectives of a library, hotspots are told apart by what the trace records of each, and
// the library is that of the vendor.
func TestGenericKernel(t *testing.T) {
	r := reported.ByMethod(t, "generic", reported.Generic(t), true)["exact"]
	var kernels []string
	for _, h := range r.Hotspots {
		if h.Kind == "comm" {
			kernels = append(kernels, h.Readable+" "+h.Collective)
		}
	}
	if got, want := strings.Join(kernels, ", "), "RCCL AllReduce allreduce, RCCL Broadcast broadcast, RCCL Generic (which is not recorded) "; got != want {
		t.Errorf("hotspots %s, want %s", got, want)
	}
	saves := map[string]int64{}
	for _, x := range r.Gains {
		saves[x.Shown] = x.AtMost
	}
	if one, both := saves["RCCL Broadcast"], saves["RCCL AllReduce"]; one <= 0 || both <= one {
		t.Errorf("without a part of the collectives as much is gained as without others: %v", saves)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text, report.TextOptions{Walk: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "NCCL") || !strings.Contains(text.String(), "RCCL Broadcast") {
		t.Errorf("the text speaks of another library:\n%s", text.String())
	}
	var html bytes.Buffer
	if err := page.WriteReport(&html, r, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(html.String(), "NCCL") || !strings.Contains(html.String(), "RCCL Broadcast") {
		t.Error("the page speaks of another library")
	}
	twice := *r
	twice.Hotspots = append([]report.Hotspot{}, r.Hotspots...)
	for i := range twice.Hotspots {
		if twice.Hotspots[i].Collective == "broadcast" {
			twice.Hotspots[i].NS *= 2
		}
	}
	if d := report.CompareRuns([]*report.Report{r}, []*report.Report{&twice}); d.Hotspots[0].Readable != "RCCL Broadcast" || d.Hotspots[0].Effect <= 0 || d.Hotspots[1].Effect != 0 {
		t.Errorf("the difference is not at the broadcast alone: %+v", d.Hotspots)
	}
}
