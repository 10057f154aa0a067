package analyses

import "testing"

// TestStreamName: the device is named where there are several.
func TestStreamName(t *testing.T) {
	one, two := &Set{Streams: []Stream{{Device: 3}, {Device: 3}}}, &Set{Streams: []Stream{{Device: 3}, {Device: 4}}}
	if got := streamName(one, 3, 7); got != "stream 7" {
		t.Error(got)
	}
	if got := streamName(two, 3, 7); got != "GPU 3 stream 7" {
		t.Error(got)
	}
}
