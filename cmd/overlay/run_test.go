package main

import (
	"strings"
	"testing"
)

// TestNextStep: an output that a browser's viewer can hardly hold is not sent there.
func TestNextStep(t *testing.T) {
	for n, want := range map[int64]string{5000: "overlay open a.pftrace", muchForBrowser - 1: "overlay open a.pftrace", muchForBrowser: "trace_processor --httpd a.pftrace"} {
		if got := nextStep(&output{shown: "a.pftrace", temp: "x", n: n}); !strings.HasPrefix(got, "next  "+want) {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
	if got := nextStep(&output{shown: "-", n: muchForBrowser}); !strings.Contains(got, viewerOrigin) {
		t.Error(got)
	}
}
