package page

import (
	"bytes"
	"strings"
	"testing"

	"overlay/internal/report"
	"overlay/internal/testtrace/reported"
)

// TestRooflineForms: text and page say how much of the device is used, and what to record where that is not known.
func TestRooflineForms(t *testing.T) {
	r := reported.ByMethod(t, "shapes", reported.Shaped(t), true)["exact"]
	var text bytes.Buffer
	if err := r.WriteText(&text, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	page := htmlOf(t, r)
	for _, want := range []string{"A100 40GB SXM", "work is known of 91.7 % of the kernels' time", "Products (824.63 GFLOP in bf16)", "88.1 %", "compute   aten::mm bf16", "memory    aten::relu fp32", "ProfilerStep#1"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, want := range []string{"824.63 GFLOP", "aten::mm bf16", "near the memory&#39;s bandwidth", "85.7 %"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	wholePage(t, "shapes", r)

	text.Reset()
	plain := reported.ByMethod(t, "streams", reported.Traces(t)["streams"], true)["exact"]
	if err := plain.WriteText(&text, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "no work is known: record\nprofile(record_shapes=True)") {
		t.Errorf("nothing says what to record:\n%s", text.String())
	}
	if strings.Contains(htmlOf(t, plain), "close operators come") {
		t.Error("an empty section on the page")
	}
}
