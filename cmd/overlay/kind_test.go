package main

import (
	"testing"

	"overlay/internal/container"
)

// TestKind: what an event takes is known of one trace that is reported or drawn, and of nothing else.
func TestKind(t *testing.T) {
	report := reportOptions{reports: true}
	for _, c := range []struct {
		o    options
		want container.Kind
	}{
		{options{command: "check"}, container.Other},
		{options{reportOptions: report}, container.Usual},
		{options{reportOptions: report, inputOptions: inputOptions{many: true}}, container.Other},
		{options{reportOptions: report, pictureOptions: pictureOptions{onlyCritical: true}}, container.Slim},
		{options{reportOptions: reportOptions{reports: true, analyses: []string{"idle"}}}, container.All},
	} {
		if got := c.o.kind(); got != c.want {
			t.Errorf("%+v: kind %d, want %d", c.o, got, c.want)
		}
	}
}
