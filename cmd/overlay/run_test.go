package main

import (
	"strings"
	"testing"
)

// TestNextStep: an output that a browser's viewer can hardly hold is not sent there.
func TestNextStep(t *testing.T) {
	for n, want := range map[int64]string{5000: "overlay open a.pftrace", muchForBrowser - 1: "overlay open a.pftrace", muchForBrowser: "trace_processor --httpd a.pftrace"} {
		if got := nextStep("a.pftrace", n, false); !strings.HasPrefix(got, "next  "+want) {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
	if got := nextStep("-", muchForBrowser, true); !strings.Contains(got, viewerOrigin) {
		t.Error(got)
	}
}
